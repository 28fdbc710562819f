package httpapi

import (
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
	"bordereau/agent/schedule"
)

// Destination is where a report or an alert goes.
type Destination struct {
	Kind string `json:"kind"`
	To   string `json:"to"`
	// Secret is what a webhook's receiver checks signatures with; only the schedule's person sees it.
	Secret string `json:"secret,omitempty"`
}

// Member is a colleague, as others see her.
type Member struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Schedule is a task that the clock starts.
type Schedule struct {
	ID        string        `json:"id"`
	Person    Member        `json:"person"`
	Name      string        `json:"name"`
	Task      string        `json:"task"`
	Model     string        `json:"model"`
	Cron      string        `json:"cron"`
	Zone      string        `json:"zone"`
	Missed    string        `json:"missed"`
	Overlap   string        `json:"overlap"`
	Deliver   []Destination `json:"deliver"`
	Alert     []Destination `json:"alert"`
	Paused    bool          `json:"paused"`
	PausedWhy string        `json:"paused_why,omitempty"`
	Next      []time.Time   `json:"next"`
	Last      *ScheduleRun  `json:"last,omitempty"` // in a list, without its files and deliveries
	Created   time.Time     `json:"created"`
	Updated   time.Time     `json:"updated"`
	Mine      bool          `json:"mine"`
}

// ScheduleDraft is what a person writes of a schedule. In a change, what is left out stays as it is.
type ScheduleDraft struct {
	Name    *string        `json:"name,omitempty"`
	Task    *string        `json:"task,omitempty"`
	Model   *string        `json:"model,omitempty"`
	Cron    *string        `json:"cron,omitempty"`
	Zone    *string        `json:"zone,omitempty"`
	Missed  *string        `json:"missed,omitempty"`
	Overlap *string        `json:"overlap,omitempty"`
	Deliver *[]Destination `json:"deliver,omitempty"`
	Alert   *[]Destination `json:"alert,omitempty"`
	Paused  *bool          `json:"paused,omitempty"`
}

// onto puts what is written over what there was.
func (d ScheduleDraft) onto(v schedule.Schedule) (schedule.Draft, bool) {
	out := schedule.Draft{Name: v.Name, Task: v.Task, Model: v.Model, Cron: v.Cron, Zone: v.Zone, Missed: v.Missed, Overlap: v.Overlap, Deliver: v.Deliver, Alert: v.Alert}
	for _, f := range []struct {
		to   *string
		from *string
	}{
		{&out.Name, d.Name},
		{&out.Task, d.Task},
		{&out.Model, d.Model},
		{&out.Cron, d.Cron},
		{&out.Zone, d.Zone},
		{(*string)(&out.Missed), d.Missed},
		{(*string)(&out.Overlap), d.Overlap},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if d.Deliver != nil {
		out.Deliver = destinations(*d.Deliver)
	}
	if d.Alert != nil {
		out.Alert = destinations(*d.Alert)
	}
	paused := v.Paused
	if d.Paused != nil {
		paused = *d.Paused
	}
	return out, paused
}

func destinations(all []Destination) []schedule.Destination {
	out := make([]schedule.Destination, 0, len(all))
	for _, d := range all {
		out = append(out, schedule.Destination{Kind: schedule.Kind(d.Kind), To: d.To})
	}
	return out
}

// shownNext is how many of the next runs are shown.
const shownNext = 5

// scheduleOf shows a schedule to who asks.
func (a *API) scheduleOf(c *gin.Context, v schedule.Schedule, names map[string]string) Schedule {
	s := Schedule{
		ID: v.ID, Person: Member{ID: v.Person, Name: names[v.Person]}, Name: v.Name, Task: v.Task, Model: v.Model, Cron: v.Cron, Zone: v.Zone,
		Missed: string(v.Missed), Overlap: string(v.Overlap), Paused: v.Paused, PausedWhy: v.PausedWhy, Created: v.Created, Updated: v.Updated, Mine: v.Person == principal(c).Person,
		Next: append([]time.Time{}, a.c.Schedules.Next(v, shownNext)...),
	}
	show := func(all []schedule.Destination) []Destination {
		out := make([]Destination, 0, len(all))
		for _, d := range all {
			shown := Destination{Kind: string(d.Kind), To: d.To}
			if s.Mine {
				shown.Secret = a.c.Schedules.Secret(v, d)
			}
			out = append(out, shown)
		}
		return out
	}
	s.Deliver, s.Alert = show(v.Deliver), show(v.Alert)
	return s
}

// names are those of the organisation's people, by id.
func (a *API) names(c *gin.Context) (map[string]string, error) {
	people, err := a.c.People.People(c.Request.Context(), principal(c).Org)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(people))
	for _, p := range people {
		names[p.ID] = p.Name
	}
	return names, nil
}

// mayWrite says what a person may do with a schedule: everything with her own. An admin may stop anybody's.
type mayWrite int

const (
	reading  mayWrite = iota
	stopping          // pause or remove
	owning            // change, run, try again
)

// schedule finds a schedule that the person may do that with. What she may not see is not there.
func (a *API) schedule(c *gin.Context, may mayWrite) (schedule.Schedule, error) {
	p := principal(c)
	v, err := a.c.Schedules.Get(c.Request.Context(), p.Org, c.Param("id"))
	if err != nil {
		return v, err
	}
	switch {
	case v.Person == p.Person:
		return v, nil
	case !slices.Contains([]string{identity.Auditor, identity.Admin}, p.Role):
		return v, schedule.ErrNotFound
	case may == reading, may == stopping && p.Role == identity.Admin:
		return v, nil
	}
	return v, &Error{Status: http.StatusForbidden, Code: Denied, Message: "only the person whose schedule it is may do that", Hint: "an administrator can pause or remove it"}
}

// answerSchedule writes one schedule.
func (a *API) answerSchedule(c *gin.Context, status int, v schedule.Schedule) error {
	names, err := a.names(c)
	if err != nil {
		return err
	}
	c.JSON(status, a.scheduleOf(c, v, names))
	return nil
}
