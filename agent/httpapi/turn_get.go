package httpapi

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/journal"
	"bordereau/agent/turn"
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

// Line is one line of a turn's timeline: a wait, an attempt of a step, or a moment.
type Line struct {
	At      time.Time `json:"at"`
	Since   float64   `json:"since_ms"` // since the message was accepted
	Took    float64   `json:"took_ms"`
	Epoch   int64     `json:"epoch"`
	Step    int       `json:"step,omitempty"` // 0 outside steps
	Attempt int       `json:"attempt,omitempty"`
	Kind    string    `json:"kind"`
	Name    string    `json:"name,omitempty"`
	State   string    `json:"state,omitempty"`
	Class   string    `json:"class,omitempty"`
	Fault   string    `json:"fault,omitempty"` // of a failed attempt: infrastructure or model
	Note    string    `json:"note,omitempty"`
}

// TurnDetail is a turn with its steps and its timeline. Requests and results come with ?full=true.
type TurnDetail struct {
	Turn     Turn   `json:"turn"`
	Steps    []Step `json:"steps"`
	Timeline []Line `json:"timeline"`
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
	attempts, err := a.c.Turns.Attempts(c.Request.Context(), owner(c), t.ID)
	if err != nil {
		return err
	}
	marks, err := a.c.Turns.Marks(c.Request.Context(), owner(c), t.ID)
	if err != nil {
		return err
	}
	lines := turn.Lines(t, steps, attempts, marks)
	full := c.Query("full") == "true"
	detail := TurnDetail{Turn: turnOf(t), Steps: make([]Step, 0, len(steps)), Timeline: make([]Line, 0, len(lines))}
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
	for _, l := range lines {
		detail.Timeline = append(detail.Timeline, Line{
			At: l.At, Since: millis(l.Since), Took: millis(l.Took), Epoch: l.Epoch, Step: l.Step, Attempt: l.Attempt, Kind: l.Kind, Name: l.Name,
			State: l.State, Class: l.Class, Fault: l.Fault, Note: l.Note,
		})
	}
	c.JSON(http.StatusOK, detail)
	return nil
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
