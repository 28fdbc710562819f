package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// runSchedule starts a run beside the clock.
func (a *API) runSchedule(c *gin.Context) error {
	v, err := a.schedule(c, owning)
	if err != nil {
		return err
	}
	r, err := a.c.ScheduleRuns.RunNow(c.Request.Context(), v)
	if err != nil {
		return err
	}
	c.JSON(http.StatusAccepted, scheduleRunOf(r))
	return nil
}
