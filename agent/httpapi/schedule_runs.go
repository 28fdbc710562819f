package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/schedule"
)

// ScheduleRun is one tick of a schedule and what came of it.
type ScheduleRun struct {
	ID           string     `json:"id"`
	Tick         time.Time  `json:"tick"`
	Cause        string     `json:"cause"` // clock or person
	State        string     `json:"state"`
	Note         string     `json:"note,omitempty"`
	Missed       int        `json:"missed,omitempty"` // earlier ticks that it stands for
	Conversation string     `json:"conversation,omitempty"`
	Turn         string     `json:"turn,omitempty"`
	Found        *int       `json:"found,omitempty"`
	Alert        string     `json:"alert,omitempty"`
	Created      time.Time  `json:"created"`
	Ended        *time.Time `json:"ended,omitempty"`
	Artifacts    []Artifact `json:"artifacts,omitempty"`
	Deliveries   []Delivery `json:"deliveries,omitempty"`
}

// Delivery brings a run's report or alert to one destination.
type Delivery struct {
	ID       string            `json:"id"`
	Parcel   string            `json:"parcel"` // report or alert
	Kind     string            `json:"kind"`
	To       string            `json:"to"`
	State    string            `json:"state"`
	NextTry  *time.Time        `json:"next_try,omitempty"`
	Attempts []DeliveryAttempt `json:"attempts"`
}

// DeliveryAttempt is one try of a delivery.
type DeliveryAttempt struct {
	N       int        `json:"n"`
	Outcome string     `json:"outcome"`
	Message string     `json:"message,omitempty"`
	Hint    string     `json:"hint,omitempty"`
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended,omitempty"`
}

// ScheduleRunList is one page of a schedule's history, the newest tick first.
type ScheduleRunList struct {
	Runs []ScheduleRun `json:"runs"`
}

func scheduleRunOf(r schedule.Run) ScheduleRun {
	out := ScheduleRun{
		ID: r.ID, Tick: r.Tick, Cause: string(r.Cause), State: string(r.State), Note: r.Note, Missed: r.Missed, Conversation: r.Conversation, Turn: r.Turn,
		Alert: r.Alert, Created: r.Created, Ended: set(r.Ended),
	}
	if r.Found != schedule.Unknown {
		out.Found = &r.Found
	}
	for _, d := range r.Deliveries {
		shown := Delivery{ID: d.ID, Parcel: string(d.Parcel), Kind: string(d.Destination.Kind), To: d.Destination.To, State: string(d.State), Attempts: []DeliveryAttempt{}}
		if d.State == schedule.Due {
			shown.NextTry = set(d.NextTry)
		}
		for _, x := range d.Attempts {
			shown.Attempts = append(shown.Attempts, DeliveryAttempt{N: x.N, Outcome: string(x.Outcome), Message: x.Message, Hint: x.Hint, Started: x.Started, Ended: set(x.Ended)})
		}
		out.Deliveries = append(out.Deliveries, shown)
	}
	return out
}

// listScheduleRuns shows the history with files and deliveries.
func (a *API) listScheduleRuns(c *gin.Context) error {
	v, err := a.schedule(c, reading)
	if err != nil {
		return err
	}
	p, err := page(c)
	if err != nil {
		return err
	}
	runs, err := a.c.ScheduleRuns.History(c.Request.Context(), v.Org, v.ID, p.Before, p.Limit)
	if err != nil {
		return err
	}
	list := ScheduleRunList{Runs: make([]ScheduleRun, 0, len(runs))}
	for _, r := range runs {
		shown := scheduleRunOf(r)
		if r.Conversation != "" {
			files, err := a.c.Turns.Artifacts(c.Request.Context(), owner(c), r.Conversation)
			if err != nil {
				return err
			}
			for _, f := range files {
				if f.Turn == r.Turn {
					shown.Artifacts = append(shown.Artifacts, artifactOf(f))
				}
			}
		}
		list.Runs = append(list.Runs, shown)
	}
	c.JSON(http.StatusOK, list)
	return nil
}
