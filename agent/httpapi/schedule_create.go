package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"bordereau/agent/schedule"
)

func (a *API) createSchedule(c *gin.Context) error {
	var d ScheduleDraft
	if err := readJSON(c, &d, false); err != nil {
		return err
	}
	draft, paused := d.onto(schedule.Schedule{})
	v, err := a.c.Schedules.Create(c.Request.Context(), principal(c).Org, principal(c).Person, draft, paused)
	if err != nil {
		return err
	}
	return a.answerSchedule(c, http.StatusCreated, v)
}
