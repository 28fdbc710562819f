package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/schedule"
)

// ScheduleTimes is a cron line and its time zone.
type ScheduleTimes struct {
	Cron string `json:"cron"`
	Zone string `json:"zone"`
}

// SchedulePreview is when that would be, or what is wrong with it.
type SchedulePreview struct {
	Next    []time.Time `json:"next"`
	Field   string      `json:"field,omitempty"` // cron or zone, when one is wrong
	Problem string      `json:"problem,omitempty"`
	Hint    string      `json:"hint,omitempty"`
}

// previewSchedule answers a wrong line too: it is asked at each keystroke, and an unfinished line is no failure.
func (a *API) previewSchedule(c *gin.Context) error {
	var t ScheduleTimes
	if err := readJSON(c, &t, false); err != nil {
		return err
	}
	preview := SchedulePreview{Next: []time.Time{}}
	next, err := a.c.Schedules.Preview(t.Cron, t.Zone, shownNext)
	if p, wrong := schedule.IsProblem(err); wrong {
		preview.Field, preview.Problem, preview.Hint = p.Field, p.Message, p.Hint
	} else if err != nil {
		return err
	}
	preview.Next = append(preview.Next, next...)
	c.JSON(http.StatusOK, preview)
	return nil
}
