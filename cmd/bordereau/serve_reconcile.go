package main

import (
	"context"
	"io"
	"time"

	"bordereau/governance/gate"
	"bordereau/governance/mcpserver"
	"bordereau/tools/guideline"
	"bordereau/tools/reconcile"
)

// reconcilerRole is the policy's role of reconciliation: it compares unmasked values and prints none that is masked.
// No person can have it.
const reconcilerRole = "reconciler"

// reconciler runs reconciliations over the gate.
type reconciler struct {
	gate   gate.Querier
	engine *reconcile.Reconciler
}

var _ mcpserver.Reconciler = reconciler{}

func newReconciler(g gate.Querier, decoder reconcile.Decoder, library *guideline.Library) (reconciler, error) {
	engine, err := reconcile.New(reconcile.Config{Decoder: decoder, Guidelines: library})
	return reconciler{g, engine}, err
}

// Reconcile runs one reconciliation on behalf of as, whose name stays on each audit record.
func (r reconciler) Reconcile(ctx context.Context, id string, as gate.Principal, ask mcpserver.ReconcileAsk, progress func(string), body io.Writer) (mcpserver.Reconciled, error) {
	as.Role = reconcilerRole
	progress("reading submissions and comparing their documents")
	run, tally, err := r.engine.Stream(ctx, reconcile.Scope{
		RunID: id, Org: ask.Org, Title: "Discrepancy report", From: ask.From, To: ask.To, Workflow: ask.Workflow, Submissions: ask.SubmissionIDs, Guideline: ask.Guideline,
	}, governed{r.gate, as}, time.Now, body, "")
	if err != nil {
		return mcpserver.Reconciled{}, err
	}
	g := run.Guideline
	out := mcpserver.Reconciled{
		Generation: run.Generation, CutShort: run.CutShort, Guideline: mcpserver.Guideline{ID: g.ID, Carrier: g.Carrier, Name: g.Name, Version: g.Version},
		Submissions: tally.Submissions, Findings: tally.Findings, Decisions: tally.Decisions, Severities: tally.Severities, Rules: tally.Rules,
		Gravest: []mcpserver.Finding{}, AuditIDs: []string{},
	}
	for _, f := range tally.Gravest() {
		out.Gravest = append(out.Gravest, mcpserver.Finding{
			ID: f.ID, SubmissionID: f.SubmissionID, RuleID: f.RuleID, Severity: f.Severity, Action: f.Action, Outcome: f.Outcome, Entity: f.Entity, Field: f.Field, Message: f.Message,
		})
	}
	for _, q := range run.Queries {
		out.AuditIDs = append(out.AuditIDs, q.AuditID)
	}
	return out, nil
}

// governed is the gate for one principal.
type governed struct {
	gate gate.Querier
	as   gate.Principal
}

var _ reconcile.Querier = governed{}

// Query runs one statement and hands its rows on as they come.
func (g governed) Query(ctx context.Context, sql string, row func([]any) error) (reconcile.Answer, error) {
	a, err := g.gate.Query(ctx, g.as, gate.Request{SQL: sql}, rowSink(row))
	return reconcile.Answer{AuditID: a.AuditID, Generation: a.Generation, Rows: a.Rows, Truncated: a.Truncated}, err
}

// rowSink is a sink that cares for rows alone.
type rowSink func([]any) error

// Begin does nothing.
func (rowSink) Begin([]gate.Column) error { return nil }

// Row hands a row on.
func (s rowSink) Row(values []any) error { return s(values) }
