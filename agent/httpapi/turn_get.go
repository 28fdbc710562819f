package httpapi

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
)

// Step is one side effect of a turn.
type Step struct {
	N          int             `json:"n"`
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	State      string          `json:"state"`
	Epoch      int64           `json:"epoch"`
	Attempt    int             `json:"attempt"`
	ErrorClass string          `json:"error_class,omitempty"`
	Request    json.RawMessage `json:"request,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Started    time.Time       `json:"started"`
	Ended      *time.Time      `json:"ended,omitempty"`
}

// TurnDetail is a turn with its steps. Requests and results come with ?full=true.
type TurnDetail struct {
	Turn  Turn   `json:"turn"`
	Steps []Step `json:"steps"`
}

// turnFor finds a turn whose conversation the person may read.
func (a *API) turnFor(c *gin.Context) (journal.Turn, error) {
	t, err := a.c.Turns.Turn(c, owner(c), c.Param("id"))
	if err != nil {
		return journal.Turn{}, err
	}
	if _, err := a.conversation(c, t.Conversation, false); err != nil {
		return journal.Turn{}, err
	}
	return t, nil
}

func (a *API) getTurn(c *gin.Context) error {
	t, err := a.turnFor(c)
	if err != nil {
		return err
	}
	steps, err := a.c.Turns.Steps(c, owner(c), t.ID)
	if err != nil {
		return err
	}
	full := c.Query("full") == "true"
	detail := TurnDetail{Turn: turnOf(t), Steps: make([]Step, 0, len(steps))}
	for _, s := range steps {
		step := Step{N: s.N, Kind: string(s.Kind), Name: s.Name, State: string(s.State), Epoch: s.Epoch, Attempt: s.Attempt,
			ErrorClass: s.ErrorClass, Started: s.Started, Ended: set(s.Ended)}
		if full {
			step.Request, step.Result = s.Request, s.Result
		}
		detail.Steps = append(detail.Steps, step)
	}
	c.JSON(http.StatusOK, detail)
	return nil
}
