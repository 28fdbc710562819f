package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func (a *API) removeSchedule(c *gin.Context) error {
	v, err := a.schedule(c, stopping)
	if err != nil {
		return err
	}
	if err := a.c.Schedules.Remove(c.Request.Context(), v.Org, v.ID); err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}
