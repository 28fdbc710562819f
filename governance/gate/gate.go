// Package gate is the only way SQL reaches data: it records the question, reads it, decides, has it run, and records what became of it.
package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"bordereau/governance/audit"
	"bordereau/governance/fault"
	"bordereau/governance/policy"
	"bordereau/governance/statement"
)

const component = "gate"

// Config is what a Gate needs. All of it is required.
type Config struct {
	Reader   *statement.Reader
	Policy   *policy.Policy
	Pinner   Pinner
	Runner   Runner
	Recorder Recorder
	Log      *slog.Logger
	Now      func() time.Time
	NewID    func() string // of audit records, never twice the same
}

// Gate answers questions in SQL.
type Gate struct {
	c       Config
	sources map[string]map[string]*statement.Source // by role and relation
	memory  *memory
}

var _ Querier = (*Gate)(nil)

// New returns a Gate, once the policy's row filters have been read with DuckDB's own parser.
func New(ctx context.Context, c Config) (*Gate, error) {
	if c.Reader == nil || c.Policy == nil || c.Pinner == nil || c.Runner == nil || c.Recorder == nil || c.Log == nil || c.Now == nil || c.NewID == nil {
		return nil, errors.New("gate: Reader, Policy, Pinner, Runner, Recorder, Log, Now and NewID are required")
	}
	sources, err := Sources(ctx, c.Reader, c.Policy)
	if err != nil {
		return nil, err
	}
	return &Gate{c: c, sources: sources, memory: newMemory()}, nil
}

// Sources reads the hidden columns and row filters of every role of a policy. What is wrong with them comes back as a policy.InvalidError.
func Sources(ctx context.Context, r *statement.Reader, p *policy.Policy) (map[string]map[string]*statement.Source, error) {
	out := map[string]map[string]*statement.Source{}
	var wrong policy.InvalidError
	governed := func(relation string) bool { return p.Catalogue[relation] != nil }
	for name, role := range p.Roles {
		out[name] = map[string]*statement.Source{}
		for relation := range p.Catalogue {
			filter := role.Rows[relation]
			if len(role.Hidden[relation]) == 0 && filter.SQL == "" {
				continue
			}
			source, err := r.Source(ctx, relation, role.Hidden[relation], filter.SQL, governed)
			var f *fault.Error
			switch {
			case errors.As(err, &f) && (f.Code == fault.Denied || f.Code == fault.Invalid):
				wrong.Problems = append(wrong.Problems, policy.Problem{
					Line: filter.Line, Message: fmt.Sprintf("roles.%s.rows.%s: %s", name, relation, f.Message),
				})
			case err != nil:
				return nil, fmt.Errorf("reading the row filter of %s on %s: %w", name, relation, err)
			}
			out[name][relation] = source
		}
	}
	if len(wrong.Problems) > 0 {
		wrong.File = "policy"
		return nil, &wrong
	}
	return out, nil
}

// budgetWindow is what a person's and an organisation's budgets are for.
const budgetWindow = 24 * time.Hour

// Query answers one question. An error is always a *fault.Error that names the audit record, if there is one.
func (g *Gate) Query(ctx context.Context, p Principal, r Request, sink Sink) (Answer, error) {
	q := &question{g: g, p: p, r: r}
	if p.Org == "" || p.Role == "" || p.Subject == "" {
		return Answer{}, &fault.Error{Code: fault.Auth, Component: component, Message: "the question has no organisation, person or role"}
	}
	if err := q.asked(ctx); err != nil {
		return Answer{}, err
	}
	answer, err := q.answer(ctx, sink)
	if recorded := q.outcome(ctx, err); recorded != nil {
		return Answer{}, recorded // no record, no answer
	}
	if err != nil {
		f := *fault.Of(err, component)
		f.AuditID = q.entry.AuditID
		return Answer{}, &f
	}
	return answer, nil
}

// question is one Query under way.
type question struct {
	g        *Gate
	p        Principal
	r        Request
	entry    audit.Entry
	decision policy.Decision
	read     *statement.Statement
	run      *statement.Statement
}

// keptSQL is how much of a statement's text a record keeps. What is longer has been refused.
const keptSQL = 32 << 10

func kept(sql string) string {
	if len(sql) <= keptSQL {
		return sql
	}
	return sql[:keptSQL] + " …"
}

// asked writes the first record. Nothing has been read yet, so every literal is left out; the outcome has them.
func (q *question) asked(ctx context.Context) error {
	q.entry = audit.Entry{
		Org: q.p.Org, AuditID: q.g.c.NewID(), At: q.g.c.Now(), Subject: q.p.Subject, Role: q.p.Role, Via: q.p.Via,
		Conversation: q.p.Conversation, Turn: q.p.Turn, Epoch: q.p.Epoch, Sandbox: q.p.Sandbox, RequestKey: q.r.Key,
	}
	q.entry.SQLAsked, _ = q.recorded(statement.RedactText(kept(q.r.SQL)), 0)
	if err := q.g.c.Recorder.Asked(ctx, q.entry); err != nil {
		return q.unrecorded(ctx, err)
	}
	return nil
}

// recorded is the text and a place in it as they go into the record, which tells plans from runs.
func (q *question) recorded(r statement.Redaction, position int) (text string, place int64) {
	const explain = "EXPLAIN "
	text, place = kept(r.Text), int64(r.Place(position))
	if q.r.Explain {
		text = explain + text
		if place > 0 {
			place += int64(len(explain))
		}
	}
	return text, place
}

func (q *question) unrecorded(ctx context.Context, err error) error {
	q.g.c.Log.ErrorContext(ctx, "audit record not written", "org", q.p.Org, "audit_id", q.entry.AuditID, "error", err)
	return (&fault.Error{
		Code: fault.Unavailable, Component: "audit", Message: "the audit record could not be written, so there is no answer", Retryable: true,
	}).Because(err)
}

// answer goes from text to rows.
func (q *question) answer(ctx context.Context, sink Sink) (Answer, error) {
	q.entry.Decision = audit.Refused
	if err := q.afford(ctx); err != nil {
		return Answer{}, err
	}
	limits := q.g.c.Policy.Roles[q.p.Role].Limits // of an unknown role none, which the policy refuses
	rows, timeout := limits.Rows, limits.Time
	if q.r.MaxRows > 0 {
		rows = min(rows, q.r.MaxRows)
	}
	if q.r.Timeout > 0 {
		timeout = min(timeout, q.r.Timeout)
	}
	if limits.Time > 0 { // reading and waiting for a worker are part of it
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if err := q.pass(ctx, rows); err != nil {
		return Answer{}, err
	}
	q.entry.Decision = audit.Allowed
	profile := q.decision.Role.Profile
	pinned, release, err := q.g.c.Pinner.Pin(ctx, q.p.Org, profile, q.r.Generation)
	if err != nil {
		return Answer{}, fault.Of(err, "dataset")
	}
	defer release()
	q.entry.Generation, q.entry.SHA256, q.entry.Profile = pinned.Generation, pinned.SHA256, profile
	ran, err := q.g.c.Runner.Run(ctx, Job{
		Org: q.p.Org, Path: pinned.Path, SQL: q.run.SQL, Relations: q.run.RelationNames(), Explain: q.r.Explain, Timeout: timeout, MaxRows: rows, MaxBytes: limits.Bytes, Memory: limits.Memory,
	}, sink)
	q.entry.Rows, q.entry.Bytes, q.entry.Truncated = int64(ran.Rows), ran.Bytes, ran.Truncated
	q.entry.Queue, q.entry.Run = ran.Queue, ran.Run
	if err != nil {
		return Answer{}, err
	}
	return Answer{
		AuditID: q.entry.AuditID, Generation: pinned.Generation, Columns: ran.Columns, Rows: ran.Rows, Truncated: ran.Truncated,
		MillisRun: float64(ran.Run.Microseconds()) / 1000, SQLAsRun: q.run.SQL,
	}, nil
}

// pass reads the statement, asks the policy and rewrites it, unless all that has been done before.
func (q *question) pass(ctx context.Context, rows int) error {
	key := memoryKey{role: q.p.Role, sql: q.r.SQL, rows: rows}
	if p, ok := q.g.memory.get(key); ok {
		q.read, q.run, q.decision = p.read, p.run, p.decision
		q.entry.Relations, q.entry.Columns = q.decision.Relations, q.decision.Columns
		return nil
	}
	var err error
	if q.read, err = q.g.c.Reader.Read(ctx, q.r.SQL); err != nil {
		return err
	}
	q.decision, err = q.g.c.Policy.Decide(q.p.Role, q.read)
	q.entry.Relations, q.entry.Columns = q.decision.Relations, q.decision.Columns
	if err != nil {
		return err
	}
	if q.run, err = q.g.c.Reader.Rewrite(ctx, q.read, q.g.sources[q.p.Role], rows); err != nil {
		return err
	}
	q.g.memory.put(passed{key: key, read: q.read, run: q.run, decision: q.decision})
	return nil
}

// afford refuses when a budget is used up. What runs meanwhile may overdraw it by what runs at once.
func (q *question) afford(ctx context.Context) error {
	spent, err := q.g.c.Recorder.Spent(ctx, audit.Scope{Org: q.p.Org, Turn: q.p.Turn, Subject: q.p.Subject, Window: budgetWindow})
	if err != nil {
		return (&fault.Error{Code: fault.Unavailable, Component: "audit", Message: "budgets can't be read", Retryable: true}).Because(err)
	}
	b := q.g.c.Policy.Budgets
	for _, c := range []struct {
		name, again string
		have        policy.Budget
		used        audit.Use
	}{
		{"turn", "Answer with what you have; the next turn has a budget of its own.", b.Turn, spent.Turn},
		{"person", "Ask again tomorrow, or ask an administrator.", b.Person, spent.Person},
		{"organisation", "Ask again tomorrow, or ask an administrator.", b.Organisation, spent.Org},
	} {
		if c.used.Queries >= c.have.Queries || c.used.Run >= c.have.Run || c.used.Bytes >= c.have.Bytes {
			return &fault.Error{
				Code: fault.RateLimited, Component: component, Rule: "budget_" + c.name, Message: "the budget of the " + c.name + " is used up", Hint: c.again,
			}
		}
	}
	return nil
}

// outcome writes the second record.
func (q *question) outcome(ctx context.Context, err error) error {
	e := q.entry
	e.At = q.g.c.Now()
	e.Outcome = audit.Answered
	position := 0
	if err != nil {
		f := fault.Of(err, component)
		e.Outcome, e.Rule, e.Message, e.Hint, position = string(f.Code), f.Rule, statement.RedactMessage(f.Message), f.Hint, f.Position
		if f.Code == fault.Internal {
			q.g.c.Log.ErrorContext(ctx, "query failed", "org", e.Org, "audit_id", e.AuditID, "error", f.Unwrap())
		}
	}
	asked := statement.RedactText(kept(q.r.SQL))
	if q.read != nil {
		asked = q.read.Redact(q.g.c.Policy.Sensitive)
	}
	e.SQLAsked, e.Position = q.recorded(asked, position)
	if q.run != nil {
		e.SQLRun = q.run.Redact(q.g.c.Policy.Sensitive).Text
	}
	if err := q.g.c.Recorder.Outcome(ctx, e); err != nil {
		return q.unrecorded(ctx, err)
	}
	return nil
}
