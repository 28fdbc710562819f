package console

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"bordereau/governance/audit"
	"bordereau/governance/gate"
)

// planned is how the database would run a statement.
type planned struct {
	AuditID    string          `json:"audit_id"` // of the asking for the plan
	Generation string          `json:"generation"`
	Role       string          `json:"role"` // whose row filters it has
	SQLRun     string          `json:"sql_run"`
	Plan       json.RawMessage `json:"plan"` // a list of operators: name, extra_info, children
}

// explain answers POST /api/console/explain.
func (c *Console) explain(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	var ask asking
	if err := decode(r, &ask); err != nil {
		return err
	}
	return c.plan(w, r, p, ask)
}

// planStatement answers POST /api/console/statements/{id}/plan: the plan on the generation that the statement was run on.
func (c *Console) planStatement(w http.ResponseWriter, r *http.Request, p gate.Principal) error {
	s, err := c.statement(r.Context(), p, r.PathValue("id"))
	if err != nil {
		return err
	}
	sql, err := again(s)
	if err != nil {
		return err
	}
	return c.plan(w, r, p, asking{SQL: sql, Generation: s.Generation})
}

// again is the text by which a recorded statement can be asked again.
func again(s audit.Statement) (string, error) {
	switch {
	case s.Decision == audit.Refused:
		return "", invalid("the statement was refused, so it has no plan and no rows", "Rewrite it as its record says, and run that.")
	case s.Event == audit.Asked:
		return "", invalid("the statement has no outcome yet", "Ask again when it has ended.")
	case redacted(s):
		return "", invalid("values that may be masked were left out of the record, so it can't be asked again as it stands", "Copy it to Run SQL and fill them in.")
	}
	if sql, ok := cutExplain(s.SQLAsked); ok {
		return sql, nil
	}
	return s.SQLAsked, nil
}

func cutExplain(sql string) (string, bool) {
	const explain = "EXPLAIN "
	if len(sql) > len(explain) && sql[:len(explain)] == explain {
		return sql[len(explain):], true
	}
	return sql, false
}

func (c *Console) plan(w http.ResponseWriter, r *http.Request, p gate.Principal, ask asking) error {
	out, err := c.planOf(r.Context(), p, ask)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func (c *Console) planOf(ctx context.Context, p gate.Principal, ask asking) (planned, error) {
	request, err := ask.request()
	if err != nil {
		return planned{}, err
	}
	request.Explain = true
	var text planText
	answer, err := c.c.Gate.Query(ctx, p, request, &text)
	if err != nil {
		return planned{}, err
	}
	if !json.Valid(text.json) {
		return planned{}, errors.New("the database's plan is not JSON")
	}
	return planned{AuditID: answer.AuditID, Generation: answer.Generation, Role: p.Role, SQLRun: answer.SQLAsRun, Plan: text.json}, nil
}

// planText is a sink for the one row of a plan: its kind and its text.
type planText struct{ json []byte }

// Begin implements gate.Sink.
func (*planText) Begin([]gate.Column) error { return nil }

// Row implements gate.Sink.
func (t *planText) Row(values []any) error {
	if text, ok := values[len(values)-1].(string); ok {
		t.json = []byte(text)
	}
	return nil
}
