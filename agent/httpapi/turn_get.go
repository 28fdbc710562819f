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

// Mark is one line of a turn's timeline.
type Mark struct {
	At    time.Time `json:"at"`
	Step  int       `json:"step,omitempty"` // 0 outside steps
	Epoch int64     `json:"epoch"`
	Kind  string    `json:"kind"`
	Took  float64   `json:"took_ms"`
	Note  string    `json:"note,omitempty"`
}

// TurnDetail is a turn with its steps and its timeline. Requests and results come with ?full=true.
type TurnDetail struct {
	Turn     Turn   `json:"turn"`
	Steps    []Step `json:"steps"`
	Timeline []Mark `json:"timeline"`
}

// turnFor finds a turn whose conversation the person may read.
func (a *API) turnFor(c *gin.Context) (journal.Turn, error) {
	t, err := a.c.Turns.Turn(c.Request.Context(), owner(c), c.Param("id"))
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
	steps, err := a.c.Turns.Steps(c.Request.Context(), owner(c), t.ID)
	if err != nil {
		return err
	}
	marks, err := a.c.Turns.Marks(c.Request.Context(), owner(c), t.ID)
	if err != nil {
		return err
	}
	full := c.Query("full") == "true"
	detail := TurnDetail{Turn: turnOf(t), Steps: make([]Step, 0, len(steps)), Timeline: make([]Mark, 0, len(marks))}
	for _, s := range steps {
		step := Step{
			N: s.N, Kind: string(s.Kind), Name: s.Name, State: string(s.State), Epoch: s.Epoch, Attempt: s.Attempt,
			ErrorClass: s.ErrorClass, Started: s.Started, Ended: set(s.Ended),
		}
		if full {
			step.Request, step.Result = s.Request, s.Result
		}
		detail.Steps = append(detail.Steps, step)
	}
	for _, m := range marks {
		detail.Timeline = append(detail.Timeline, Mark{At: m.At, Step: m.N, Epoch: m.Epoch, Kind: m.Kind, Took: float64(m.Took) / float64(time.Millisecond), Note: m.Note})
	}
	c.JSON(http.StatusOK, detail)
	return nil
}
