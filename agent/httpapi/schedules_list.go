package httpapi

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
)

// ScheduleList is a person's schedules, and what there is to choose from.
type ScheduleList struct {
	Schedules []Schedule `json:"schedules"`
	Kinds     []string   `json:"kinds"` // the ways of delivery that are set up
	Models    []string   `json:"models"`
}

// listSchedules lists one's own, or with of=all those of the organisation for who oversees it.
func (a *API) listSchedules(c *gin.Context) error {
	p := principal(c)
	person := p.Person
	if c.Query("of") == "all" {
		if !slices.Contains([]string{identity.Auditor, identity.Admin}, p.Role) {
			return &Error{Status: http.StatusForbidden, Code: Denied, Message: "only auditors and administrators see the schedules of others", Hint: "leave of out for one's own"}
		}
		person = ""
	}
	all, err := a.c.Schedules.List(c.Request.Context(), p.Org, person)
	if err != nil {
		return err
	}
	last, err := a.c.ScheduleRuns.Last(c.Request.Context(), p.Org)
	if err != nil {
		return err
	}
	names, err := a.names(c)
	if err != nil {
		return err
	}
	list := ScheduleList{Schedules: make([]Schedule, 0, len(all)), Kinds: []string{}, Models: a.c.Models.Names()}
	for _, k := range a.c.Schedules.Kinds() {
		list.Kinds = append(list.Kinds, string(k))
	}
	for _, v := range all {
		s := a.scheduleOf(c, v, names)
		if r, ok := last[v.ID]; ok {
			shown := scheduleRunOf(r)
			s.Last = &shown
		}
		list.Schedules = append(list.Schedules, s)
	}
	c.JSON(http.StatusOK, list)
	return nil
}
