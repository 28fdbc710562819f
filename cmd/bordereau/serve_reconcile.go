package main

import (
	"context"
	"io"
	"time"

	"bordereau/governance/gate"
	"bordereau/governance/guidelines"
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
	rules  *guidelines.Store
	engine *reconcile.Reconciler
}

var _ mcpserver.Reconciler = reconciler{}

func newReconciler(g gate.Querier, decoder reconcile.Decoder, rules *guidelines.Store) (reconciler, error) {
	engine, err := reconcile.New(reconcile.Config{Decoder: decoder, Guidelines: rules.Base()})
	return reconciler{g, rules, engine}, err
}

// Reconcile runs one reconciliation on behalf of as, whose name stays on each audit record.
func (r reconciler) Reconcile(ctx context.Context, id string, as gate.Principal, ask mcpserver.ReconcileAsk, progress func(string), body io.Writer) (mcpserver.Reconciled, error) {
	as.Role = reconcilerRole
	progress("reading submissions and comparing their documents")
	library, err := r.rules.Library(ctx, ask.Org)
	if err != nil {
		return mcpserver.Reconciled{}, err
	}
	run, tally, err := r.engine.With(library).Stream(ctx, reconcile.Scope{
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

// Try judges one submission by a guideline that isn't published; nothing is stored but the audit of what was read.
func (r reconciler) Try(ctx context.Context, as gate.Principal, library *guideline.Library, g *guideline.Guideline, submission string, body io.Writer) error {
	as.Role, as.Via = reconcilerRole, "try"
	// A text that keeps the version of what it came from is tried in its place.
	only := tried{library, g}
	_, _, err := r.engine.With(only).Stream(ctx, reconcile.Scope{
		RunID: "try", Org: as.Org, Title: "Trial", Submissions: []string{submission}, Guideline: g.Key(),
	}, governed{r.gate, as}, time.Now, body, "")
	return err
}

// tried is a library in which one guideline stands for every name.
type tried struct {
	*guideline.Library
	g *guideline.Guideline
}

// Named implements reconcile.Guidelines.
func (t tried) Named(string, time.Time) (*guideline.Guideline, error) { return t.g, nil }

// For implements reconcile.Guidelines.
func (t tried) For(string, time.Time) (*guideline.Guideline, error) { return t.g, nil }

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
