package console

import (
	"net/http"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
)

// asking is a statement to run.
type asking struct {
	SQL        string `json:"sql"`
	MaxRows    int    `json:"max_rows"`   // 0: as many as the role may have
	Seconds    int    `json:"seconds"`    // 0: as long as the role may take
	Generation string `json:"generation"` // "": the newest
}

func (a asking) request() (gate.Request, error) {
	if a.SQL == "" || a.MaxRows < 0 || a.Seconds < 0 || len(a.Generation) > 128 {
		return gate.Request{}, invalid("there is no statement, or a limit below zero", "Send sql, and max_rows and seconds of 0 or more.")
	}
	return gate.Request{SQL: a.SQL, MaxRows: a.MaxRows, Timeout: time.Duration(a.Seconds) * time.Second, Generation: a.Generation}, nil
}

// ran is the last line of an answer's rows.
type ran struct {
	gate.Answer
	SQLRun  string `json:"sql_run"`
	Clipped int    `json:"clipped,omitempty"` // long values that were cut
}

// runQuery answers POST /api/console/query with a stream of rows. A caller that goes away stops the statement.
func (c *Console) runQuery(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	var ask asking
	if err := decode(r, &ask); err != nil {
		return err
	}
	request, err := ask.request()
	if err != nil {
		return err
	}
	out := newStreamed(w)
	answer, err := c.c.Gate.Query(r.Context(), p, request, out)
	if err != nil {
		if out.begun {
			_ = out.end(failure{typed(err)}) // the caller may have left
		}
		return err
	}
	if !out.begun {
		return &fault.Error{Code: fault.Internal, Component: component, Message: "the answer has no head", AuditID: answer.AuditID}
	}
	return out.end(map[string]ran{"answer": {answer, answer.SQLAsRun, out.clipped}})
}
