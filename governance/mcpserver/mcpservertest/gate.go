package mcpservertest

import (
	"bytes"
	"context"
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
func (r Reconciler) Reconcile(ctx context.Context, id string, as gate.Principal, ask mcpserver.ReconcileAsk, progress func(string)) (any, error) {
	progress("reading submissions")
	read, err := r.Gate.Query(ctx, as, gate.Request{SQL: "SELECT 1 FROM submissions"}, nobody{})
	if err != nil {
		return nil, err
	}
	findings := []map[string]any{}
	n := 2
	if ask.Guideline == "many" {
		n = 3000
	}
	for i := range n {
		findings = append(findings, map[string]any{
			"id": fmt.Sprintf("F-%04d", i+1), "submission_id": "S-1", "rule_id": "vin_check_digit", "severity": "major", "action": "refer",
			"outcome": "fail", "entity": "unit 1", "field": "vin", "message": strings.Repeat("The check digit is wrong. ", 20),
		})
	}
	return map[string]any{
		"schema": "bordereau.run/1", "run_id": id, "org": ask.Org, "generation": "gen-1",
		"guideline":   map[string]any{"id": "northstar", "carrier": "northstar", "name": "Northstar", "version": "3"},
		"submissions": []map[string]any{{"id": "S-1", "decision": "refer"}}, "findings": findings,
		"queries": []map[string]any{{"audit_id": read.AuditID}},
	}, nil
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
