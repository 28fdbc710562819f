package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"bordereau/tools/guideline"
)

// The kinds of failure that a caller may want to tell apart.
var (
	// ErrCut means that a limit of the gate cut the smallest part that can be asked for.
	ErrCut = errors.New("the answer was cut by a limit")
	// ErrChanged means that the data changed between two queries of one run; asking again helps.
	ErrChanged = errors.New("the data changed during the run")
)

// Config holds what a Reconciler needs.
type Config struct {
	Decoder    Decoder
	Guidelines Guidelines
	Workers    int // packets evaluated at once; 0: two
	Batch      int // submissions a query; 0: 100
}

// Reconciler runs reconciliations. It is safe for concurrent use.
type Reconciler struct {
	cfg Config
	geo *geography
}

// New returns a reconciler.
func New(cfg Config) (*Reconciler, error) {
	if cfg.Decoder == nil {
		return nil, errors.New("reconcile: a decoder of VINs is needed")
	}
	if cfg.Guidelines == nil {
		return nil, errors.New("reconcile: guidelines are needed")
	}
	if cfg.Workers <= 0 {
		cfg.Workers = 2
	}
	if cfg.Batch <= 0 {
		cfg.Batch = 100
	}
	return &Reconciler{cfg: cfg, geo: newGeography()}, nil
}

// With returns a reconciler that judges by other guidelines.
func (r *Reconciler) With(g Guidelines) *Reconciler {
	c := *r
	c.cfg.Guidelines = g
	return &c
}

// Run reads the submissions in scope, compares and judges them. The same data, guideline, scope and clock give the same run.
// It holds the whole run; Stream doesn't.
func (r *Reconciler) Run(ctx context.Context, scope Scope, q Querier, clock Clock) (Run, error) {
	c := r.collector(scope, clock().UTC().Truncate(time.Second))
	if err := r.read(ctx, scope, q, c); err != nil {
		return Run{}, err
	}
	return c.finish(), nil
}

// read hands the submissions in scope to the collector, batch by batch.
func (r *Reconciler) read(ctx context.Context, scope Scope, q Querier, c *collector) error {
	rd := &reader{q: q}
	packets, err := rd.submissions(ctx, scope)
	if err != nil {
		return err
	}
	for start := 0; start < len(packets); start += r.cfg.Batch {
		batch := packets[start:min(start+r.cfg.Batch, len(packets))]
		if err := rd.fill(ctx, batch); err != nil {
			return err
		}
		if err := c.take(ctx, batch); err != nil {
			return err
		}
		for i, p := range batch {
			p.Documents, packets[start+i] = nil, nil // What a packet held is in the result by now.
		}
	}
	c.run.Queries = append(c.run.Queries, rd.queries...)
	c.run.Generation = rd.generation
	return nil
}

// Packets reconciles packets that are already in memory, such as an import that isn't published yet.
func (r *Reconciler) Packets(ctx context.Context, scope Scope, packets []*Packet, now time.Time) (Run, error) {
	c := r.collector(scope, now.UTC().Truncate(time.Second))
	sorted := slices.Clone(packets)
	slices.SortFunc(sorted, func(a, b *Packet) int { return strings.Compare(a.ID, b.ID) })
	if err := c.take(ctx, sorted); err != nil {
		return Run{}, err
	}
	return c.finish(), nil
}

// collector gathers outcomes in the order of the submissions.
type collector struct {
	r     *Reconciler
	scope Scope
	run   Run
	used  map[string]*guideline.Guideline
	none  map[string]error // carriers without a guideline
	// emit takes what a submission came to; the run keeps it unless a stream does.
	emit  func(s SubmissionResult, found []Finding) error
	tally Tally
}

func (r *Reconciler) collector(s Scope, now time.Time) *collector {
	c := &collector{r: r, scope: s, tally: newTally(), used: map[string]*guideline.Guideline{}, none: map[string]error{}, run: Run{
		Schema: Schema, Org: s.Org, Title: s.Title, Clock: now,
		Scope:       RunScope{From: s.From, To: s.To, Workflow: s.Workflow, Submissions: s.Submissions},
		Submissions: []SubmissionResult{}, Findings: []Finding{}, Queries: []Query{}, Log: []LogEntry{},
	}}
	c.emit = func(s SubmissionResult, found []Finding) error {
		c.run.Submissions = append(c.run.Submissions, s)
		c.run.Findings = append(c.run.Findings, found...)
		return nil
	}
	return c
}

func (c *collector) log(format string, args ...any) {
	c.run.Log = append(c.run.Log, LogEntry{At: c.run.Clock, Message: fmt.Sprintf(format, args...)})
}

// guidelineFor finds the rules for a packet.
func (c *collector) guidelineFor(p *Packet) (*guideline.Guideline, error) {
	day := time.Date(c.run.Clock.Year(), c.run.Clock.Month(), c.run.Clock.Day(), 0, 0, 0, 0, time.UTC)
	if c.scope.Guideline != "" {
		return c.r.cfg.Guidelines.Named(c.scope.Guideline, day)
	}
	return c.r.cfg.Guidelines.For(p.Carrier, day)
}

// take evaluates a batch on several workers and appends the outcomes in order.
func (c *collector) take(ctx context.Context, batch []*Packet) error {
	rules := make([]*guideline.Guideline, len(batch))
	for i, p := range batch {
		g, err := c.guidelineFor(p)
		if err != nil {
			if c.scope.Guideline != "" {
				return fmt.Errorf("reconcile: %w", err)
			}
			c.none[p.Carrier] = err
			continue
		}
		rules[i] = g
		c.used[g.Key()] = g
	}
	outcomes := make([]outcome, len(batch))
	errs := make([]error, c.r.cfg.Workers)
	var wg sync.WaitGroup
	for w := range c.r.cfg.Workers {
		wg.Go(func() {
			sheets := map[*guideline.Guideline]*sheet{}
			for i := w; i < len(batch); i += c.r.cfg.Workers {
				if errs[w] = ctx.Err(); errs[w] != nil {
					return
				}
				if rules[i] == nil {
					continue
				}
				s := sheets[rules[i]]
				if s == nil {
					s = newSheet(rules[i])
					sheets[rules[i]] = s
				}
				e := &evaluation{x: index(batch[i]), g: rules[i], sheet: s, decoder: c.r.cfg.Decoder, geo: c.r.geo, today: c.run.Clock}
				if outcomes[i], errs[w] = e.run(); errs[w] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range outcomes {
		o := &outcomes[i]
		if rules[i] == nil {
			o = c.unruled(batch[i])
		}
		if err := c.append(o); err != nil {
			return err
		}
		outcomes[i] = outcome{}
	}
	return nil
}

// unruled keeps a submission whose carrier has no guideline in the run: it can't be cleared.
func (c *collector) unruled(p *Packet) *outcome {
	err := c.none[p.Carrier]
	return &outcome{
		submission: SubmissionResult{
			ID: p.ID, Insured: p.Insured, Broker: p.Broker, Workflow: p.Workflow, Received: p.Received, Decision: "refer",
			Documents: []DocumentResult{}, Vehicles: []Item{}, Drivers: []Item{}, Losses: []Item{}, Coverages: []Item{},
		},
		findings: []Finding{{
			SubmissionID: p.ID, RuleID: "GUIDELINE", Severity: "major", Action: "refer", Outcome: "unknown", Class: "unresolved", Entity: "submission",
			Field: "carrier", Stated: p.Carrier, Message: fmt.Sprintf("No rules could be applied: %v.", err), Missing: []string{"guideline"},
			Evidence: []Evidence{{Kind: "query", AuditID: p.AuditID, Value: "carrier of submission " + p.ID}},
		}},
	}
}

func (c *collector) append(o *outcome) error {
	for i := range o.findings {
		o.findings[i].ID = fmt.Sprintf("F-%04d", c.tally.Findings+i+1)
	}
	for _, items := range [][]Item{o.submission.Vehicles, o.submission.Drivers, o.submission.Losses, o.submission.Coverages} {
		for i := range items {
			for _, n := range o.rowsOf[items[i].ID] {
				items[i].Findings = append(items[i].Findings, o.findings[n].ID)
			}
		}
	}
	c.tally.add(o)
	return c.emit(o.submission, o.findings)
}

func (c *collector) finish() Run {
	var keys []string
	for k := range c.used {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var all []RunGuideline
	for _, k := range keys {
		all = append(all, describe(c.used[k]))
	}
	switch len(all) {
	case 0:
		c.run.Guideline = RunGuideline{ID: "none", Carrier: "none", Name: "no guideline applied", Rules: []RunRule{}}
	case 1:
		c.run.Guideline = all[0]
	default:
		c.run.Guideline, c.run.Guidelines = union(all), all
	}
	var carriers []string
	for carrier := range c.none {
		carriers = append(carriers, carrier)
	}
	slices.Sort(carriers)
	for _, carrier := range carriers {
		c.log("carrier %q: %v", carrier, c.none[carrier])
	}
	c.log("%d submissions compared under %s: %d findings", c.tally.Submissions, strings.Join(keys, ", "), c.tally.Findings)
	if c.run.RunID = c.scope.RunID; c.run.RunID == "" {
		c.run.RunID = c.runID()
	}
	return c.run
}

// runID names the run by what went into it.
func (c *collector) runID() string {
	h := sha256.New()
	// Encoding plain structs of strings and times can't fail.
	_ = json.NewEncoder(h).Encode(struct {
		Scope      Scope
		Clock      time.Time
		Generation string
		Guideline  string
		N          int
	}{c.scope, c.run.Clock, c.run.Generation, c.run.Guideline.SHA256, c.tally.Findings})
	return "run-" + hex.EncodeToString(h.Sum(nil))[:16]
}
