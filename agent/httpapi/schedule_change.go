package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

func (a *API) changeSchedule(c *gin.Context) error {
	var d ScheduleDraft
	if err := readJSON(c, &d, false); err != nil {
		return err
	}
	may := owning
	if d == (ScheduleDraft{Paused: d.Paused}) && d.Paused != nil && *d.Paused {
		may = stopping
	}
	v, err := a.schedule(c, may)
	if err != nil {
		return err
	}
	draft, paused := d.onto(v)
	if v, err = a.c.Schedules.Change(c.Request.Context(), v, draft, paused); err != nil {
		return err
	}
	return a.answerSchedule(c, http.StatusOK, v)
}
