package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
)

// AdminEntry is one line of the admin log: who did what to whom.
type AdminEntry struct {
	ID        string    `json:"id"`
	At        time.Time `json:"at"`
	Actor     string    `json:"actor"`     // a person's id; empty: the operator's command line, or nobody who is known
	ActorName string    `json:"actorName"` // as it was then
	Action    string    `json:"action"`
	Subject   string    `json:"subject"`
	Detail    string    `json:"detail"`
	Address   string    `json:"address"`
}

// AdminLog is one page, the newest first.
type AdminLog struct {
	Entries []AdminEntry `json:"entries"`
	Next    string       `json:"next,omitempty"` // before, for the next page
}

// maxLogPage is the most lines of one page.
const maxLogPage = 500

func (a *API) listAdminLog(c *gin.Context) error {
	limit := 100
	if text := c.Query("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLogPage {
			return invalid("limit is no number from 1 to 500", "leave it out, or send one")
		}
		limit = n
	}
	all, err := a.c.People.Log(c.Request.Context(), principal(c).Org, c.Query("before"), limit)
	if err != nil {
		return err
	}
	out := AdminLog{Entries: make([]AdminEntry, 0, len(all))}
	for _, e := range all {
		out.Entries = append(out.Entries, AdminEntry{
			ID: e.ID, At: e.At, Actor: e.Actor, ActorName: e.ActorName, Action: e.Action, Subject: e.Subject, Detail: e.Detail, Address: e.Address,
		})
	}
	if len(all) == limit {
		out.Next = all[limit-1].ID
	}
	c.JSON(http.StatusOK, out)
	return nil
}
