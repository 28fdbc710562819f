package mcpservertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/mcpserver"
)

// Reply is what the scripted gate says to a statement.
type Reply struct {
	Columns   []gate.Column
	Rows      [][]any
	Truncated bool
	Err       error
	Wait      func(ctx context.Context) error // before the rows
}

// Gate answers each statement by the first entry of its script whose text the statement holds, else with one row of 42.
type Gate struct {
	Script []struct {
		Holds string
		Reply Reply
	}
	mu    sync.Mutex
	asked []Asked
}

// Asked is one question that came.
type Asked struct {
	Principal gate.Principal
	Request   gate.Request
}

var _ gate.Querier = (*Gate)(nil)

// On adds to the script.
func (g *Gate) On(holds string, r Reply) *Gate {
	g.Script = append(g.Script, struct {
		Holds string
		Reply Reply
	}{holds, r})
	return g
}

// Query implements gate.Querier.
func (g *Gate) Query(ctx context.Context, p gate.Principal, r gate.Request, sink gate.Sink) (gate.Answer, error) {
	g.mu.Lock()
	g.asked = append(g.asked, Asked{p, r})
	id := fmt.Sprintf("audit-%d", len(g.asked))
	g.mu.Unlock()
	reply := Reply{Columns: []gate.Column{{Name: "n", Type: "BIGINT"}}, Rows: [][]any{{int64(42)}}}
	for _, s := range g.Script {
		if strings.Contains(r.SQL, s.Holds) {
			reply = s.Reply
			break
		}
	}
	if reply.Wait != nil {
		if err := reply.Wait(ctx); err != nil {
			return gate.Answer{}, &fault.Error{Code: fault.Interrupted, Component: "duck", Message: "the query was stopped", AuditID: id}
		}
	}
	if reply.Err != nil {
		return gate.Answer{}, reply.Err
	}
	if err := sink.Begin(reply.Columns); err != nil {
		return gate.Answer{}, fault.Of(err, "gate")
	}
	rows := reply.Rows
	cut := reply.Truncated
	if r.MaxRows > 0 && len(rows) > r.MaxRows {
		rows, cut = rows[:r.MaxRows], true
	}
	for _, row := range rows {
		if err := sink.Row(row); err != nil {
			return gate.Answer{}, fault.Of(err, "gate")
		}
	}
	return gate.Answer{AuditID: id, Generation: "gen-1", Columns: reply.Columns, Rows: len(rows), Truncated: cut}, nil
}

// Questions is what was asked so far.
func (g *Gate) Questions() []Asked {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Asked(nil), g.asked...)
}

// Reconciler makes a run of one submission and as many findings as asked for by the guideline "many".
type Reconciler struct{ Gate gate.Querier }

var _ mcpserver.Reconciler = Reconciler{}

// Reconcile implements mcpserver.Reconciler.
func (r Reconciler) Reconcile(ctx context.Context, id string, as gate.Principal, ask mcpserver.ReconcileAsk, progress func(string), body io.Writer) (mcpserver.Reconciled, error) {
	progress("reading submissions")
	read, err := r.Gate.Query(ctx, as, gate.Request{SQL: "SELECT 1 FROM submissions"}, nobody{})
	if err != nil {
		return mcpserver.Reconciled{}, err
	}
	n := 2
	if ask.Guideline == "many" {
		n = 3000
	}
	findings := make([]mcpserver.Finding, n)
	for i := range findings {
		findings[i] = mcpserver.Finding{
			ID: fmt.Sprintf("F-%04d", i+1), SubmissionID: "S-1", RuleID: "vin_check_digit", Severity: "major", Action: "refer",
			Outcome: "fail", Entity: "unit 1", Field: "vin", Message: strings.Repeat("The check digit is wrong. ", 20),
		}
	}
	guideline := mcpserver.Guideline{ID: "northstar", Carrier: "northstar", Name: "Northstar", Version: "3"}
	head := mcpserver.Reconciled{
		Generation: "gen-1", Guideline: guideline, Submissions: 1, Findings: n, Gravest: findings[:min(n, 20)], AuditIDs: []string{read.AuditID},
		Decisions:  map[string]int{"decline": 0, "refer": 1, "clear": 0},
		Severities: map[string]int{"critical": 0, "major": n, "minor": 0, "note": 0}, Rules: map[string]int{"vin_check_digit": n},
	}
	return head, json.NewEncoder(body).Encode(map[string]any{
		"schema": "bordereau.run/1", "run_id": id, "org": ask.Org, "generation": "gen-1", "guideline": guideline,
		"submissions": []map[string]any{{"id": "S-1", "decision": "refer"}}, "findings": findings, "queries": []map[string]any{{"audit_id": read.AuditID}},
	})
}

// nobody is a sink that forgets the rows.
type nobody struct{}

func (nobody) Begin([]gate.Column) error { return nil }
func (nobody) Row([]any) error           { return nil }

// Guidelines knows one.
type Guidelines struct{}

// Guidelines implements mcpserver.Guidelines.
func (Guidelines) Guidelines(context.Context, string) ([]mcpserver.Guideline, error) {
	return []mcpserver.Guideline{{ID: "northstar", Carrier: "northstar", Name: "Northstar", Version: "3"}}, nil
}

// Documents has D-1, of two and a half parts.
type Documents struct{}

// Document implements mcpserver.Documents.
func (Documents) Document(_ context.Context, org, id string) (io.ReadCloser, error) {
	if org != "acme" || id != "D-1" {
		return nil, &fault.Error{Code: fault.NotFound, Component: "dataset", Message: "no such document"}
	}
	return io.NopCloser(bytes.NewReader(bytes.Repeat([]byte("0123456789abcdef"), 5<<15))), nil
}

// Described adds what describe_data asks to the script.
func (g *Gate) Described() *Gate {
	day := time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
	g.On("UNION ALL", Reply{
		Columns: []gate.Column{{Name: "relation", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}, {Name: "first", Type: "TIMESTAMP"}, {Name: "last", Type: "TIMESTAMP"}},
		Rows:    [][]any{{"submissions", int64(325), day.AddDate(0, -7, 0), day}, {"vehicles", int64(900), nil, nil}},
	})
	return g.On("GROUP BY workflow", Reply{
		Columns: []gate.Column{{Name: "workflow", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}, {Name: "first", Type: "TIMESTAMP"}, {Name: "last", Type: "TIMESTAMP"}},
		Rows:    [][]any{{"Claims Intake", int64(100), day.AddDate(0, -7, 0), day}},
	})
}
