package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/identity"
	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// UsageGroup is what one person, model, day or turn used.
type UsageGroup struct {
	Key      string      `json:"key"`
	Person   string      `json:"person,omitempty"` // of a turn
	Attempts int64       `json:"attempts"`         // calls of models
	Turns    int64       `json:"turns"`
	Usage    model.Usage `json:"usage"`
}

// UsageList is usage by person, model, day or turn: the dearest first, days the newest first.
type UsageList struct {
	By     string       `json:"by"`
	All    bool         `json:"all"` // of the organisation; else one's own
	Groups []UsageGroup `json:"groups"`
}

// listUsage sums charges: an auditor's and an admin's of the organisation, everybody else's of her own.
func (a *API) listUsage(c *gin.Context) error {
	o := owner(c)
	f := journal.SpentFilter{Org: o.Org, Person: o.Person, By: journal.Grouping(c.DefaultQuery("by", string(journal.ByDay)))}
	all := slices.Contains([]string{identity.Auditor, identity.Admin}, o.Role)
	if all {
		f.Person = c.Query("person")
	}
	var err error
	if f.From, err = day(c, "from"); err != nil {
		return err
	}
	if f.To, err = day(c, "to"); err != nil {
		return err
	}
	if text := c.Query("limit"); text != "" {
		if f.Limit, err = strconv.Atoi(text); err != nil || f.Limit < 1 || f.Limit > 1000 {
			return invalid("limit is no number from 1 to 1000", "leave it out, or send one")
		}
	}
	groups, err := a.c.Turns.SpentBy(c.Request.Context(), f)
	if err != nil {
		return err
	}
	list := UsageList{By: string(f.By), All: all, Groups: make([]UsageGroup, 0, len(groups))}
	for _, g := range groups {
		list.Groups = append(list.Groups, UsageGroup{
			Key: g.Key, Person: g.Person, Attempts: g.Attempts, Turns: g.Turns,
			Usage: model.Usage{Input: g.Input, Output: g.Output, CacheRead: g.CacheRead, CacheWrite: g.CacheWrite, CostMicros: g.CostMicros},
		})
	}
	c.JSON(http.StatusOK, list)
	return nil
}

// day reads a UTC day from the query, zero where there is none.
func day(c *gin.Context, name string) (time.Time, error) {
	text := c.Query(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, invalid(name+" is no day", "write it as 2026-11-29")
	}
	return t, nil
}
