package httpapi

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
)

// Stopped tells what stopping did.
type Stopped struct {
	Turn   string `json:"turn,omitempty"`
	Status string `json:"status"`
}

// stopChat cancels the conversation's live turn. Stopping what is over changes nothing.
func (a *API) stopChat(c *gin.Context) error {
	conv, err := a.conversation(c, c.Param("id"), true)
	if err != nil {
		return err
	}
	turns, err := a.c.Turns.Turns(c.Request.Context(), owner(c), conv.ID, journal.Page{Limit: 1})
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		c.JSON(http.StatusOK, Stopped{Status: "idle"})
		return nil
	}
	t := turns[0]
	if !t.Outcome.Status.Live() {
		c.JSON(http.StatusOK, Stopped{Turn: t.ID, Status: string(t.Outcome.Status)})
		return nil
	}
	if err := a.c.Runner.Cancel(c.Request.Context(), owner(c), t.ID); err != nil && !errors.Is(err, journal.ErrNotFound) {
		return err
	}
	c.JSON(http.StatusAccepted, Stopped{Turn: t.ID, Status: "stopping"})
	return nil
}
