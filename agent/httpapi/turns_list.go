package httpapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
)

// Turn is one answer in the making, or made.
type Turn struct {
	ID           string          `json:"id"`
	Conversation string          `json:"conversation"`
	Person       string          `json:"person"`
	Model        string          `json:"model"`
	Cause        string          `json:"cause"`
	Outcome      journal.Outcome `json:"outcome"`
	Epoch        int64           `json:"epoch"`
	Created      time.Time       `json:"created"`
	Started      *time.Time      `json:"started,omitempty"`
	Ended        *time.Time      `json:"ended,omitempty"`
}

// TurnList is one page, the newest first.
type TurnList struct {
	Turns []Turn `json:"turns"`
}

func turnOf(t journal.Turn) Turn {
	return Turn{
		ID: t.ID, Conversation: t.Conversation, Person: t.Person, Model: t.Model, Cause: t.Cause, Outcome: t.Outcome, Epoch: t.Epoch,
		Created: t.Created, Started: set(t.Started), Ended: set(t.Ended),
	}
}

func set(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (a *API) listTurns(c *gin.Context) error {
	conv, err := a.conversation(c, c.Param("id"), false)
	if err != nil {
		return err
	}
	p, err := page(c)
	if err != nil {
		return err
	}
	all, err := a.c.Turns.Turns(c.Request.Context(), owner(c), conv.ID, p)
	if err != nil {
		return err
	}
	list := TurnList{Turns: make([]Turn, 0, len(all))}
	for _, t := range all {
		list.Turns = append(list.Turns, turnOf(t))
	}
	c.JSON(http.StatusOK, list)
	return nil
}
