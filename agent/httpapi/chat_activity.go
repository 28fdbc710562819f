package httpapi

import (
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
)

// ActiveTurn is the conversation's newest turn, and how many turns of everybody are to be taken before it.
type ActiveTurn struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Ahead  int    `json:"ahead"`
}

// Activity is what a conversation does now, for people who wait.
type Activity struct {
	Turn    *ActiveTurn `json:"turn,omitempty"`
	Sandbox string      `json:"sandbox"` // none, starting, running, paused, stopped
}

func (a *API) getActivity(c *gin.Context) error {
	conv, err := a.conversation(c, c.Param("id"), false)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	turns, err := a.c.Turns.Turns(ctx, owner(c), conv.ID, journal.Page{Limit: 1})
	if err != nil {
		return err
	}
	answer := Activity{Sandbox: "none"}
	if len(turns) > 0 {
		t := turns[0]
		answer.Turn = &ActiveTurn{ID: t.ID, Status: string(t.Outcome.Status)}
		if t.Outcome.Status == journal.Queued {
			if answer.Turn.Ahead, err = a.c.Turns.Ahead(ctx, t); err != nil {
				return err
			}
		}
	}
	if a.c.Sandboxes != nil {
		// A sandbox host that doesn't answer is no reason to hide the queue.
		if answer.Sandbox, err = a.c.Sandboxes.State(ctx, conv.ID); err != nil {
			a.c.Log.WarnContext(ctx, "the state of a sandbox could not be read", slog.Any("error", err))
			answer.Sandbox = "none"
		}
	}
	c.JSON(http.StatusOK, answer)
	return nil
}
