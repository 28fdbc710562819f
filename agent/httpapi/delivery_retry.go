package httpapi

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"bordereau/agent/schedule"
)

// retryDelivery tries a delivery again that was given up.
func (a *API) retryDelivery(c *gin.Context) error {
	v, err := a.schedule(c, owning)
	if err != nil {
		return err
	}
	err = a.c.ScheduleRuns.Retry(c.Request.Context(), v.Org, v.ID, c.Param("delivery"))
	if errors.Is(err, schedule.ErrNotFound) {
		return &Error{Status: http.StatusConflict, Code: Invalid, Message: "only a delivery that was given up is tried again", Hint: "what was sent is not sent twice; what is due is tried by itself"}
	}
	if err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
	return nil
}
