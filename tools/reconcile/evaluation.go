package reconcile

import (
	"fmt"
	"strings"
	"time"

	"bordereau/tools/guideline"
)

// evaluation is one packet under one guideline.
type evaluation struct {
	x              *indexed
	g              *guideline.Guideline
	sheet          *sheet
	decoder        Decoder
	geo            *geography
	today          time.Time
	effective      time.Time
	effectiveField *Field
	vehicles       []*vehicle
	drivers        []*driver
	byVIN          map[string][]*vehicle
	byUnit         map[string]*vehicle
	byLicence      map[string]*driver
	byName         map[string][]*driver
	papers         map[string]map[string]*row // document type -> VIN -> row, of registrations and the application
	losses         []*row
	terms          []*term
	found          []Finding
	byRow          map[string][]int // row id -> indexes in found
}

// outcome is what an evaluation came to. Findings have no ids yet.
type outcome struct {
	submission SubmissionResult
	findings   []Finding
	rowsOf     map[string][]int
}

func (e *evaluation) run() (outcome, error) {
	e.byRow = map[string][]int{}
	e.sheet.clear()
	e.loadVehicles()
	e.loadLosses()
	e.loadDrivers()
	e.submissionFacts()
	e.fleetFacts()
	e.driverCounts()
	e.lossFacts()
	e.iftaFacts()
	if err := e.judge(guideline.Submission, nil); err != nil {
		return outcome{}, err
	}
	if err := e.judge(guideline.Vehicle, func(ask func(label, id string) error) error {
		for _, v := range e.vehicles {
			e.sheet.next(guideline.Vehicle)
			e.vehicleFacts(v)
			if err := ask(v.label, v.id); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return outcome{}, err
	}
	if err := e.judge(guideline.Driver, func(ask func(label, id string) error) error {
		for _, d := range e.drivers {
			e.sheet.next(guideline.Driver)
			e.driverFacts(d)
			if err := ask(d.label, d.row().id); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return outcome{}, err
	}
	if err := e.judge(guideline.Loss, func(ask func(label, id string) error) error {
		for _, l := range e.losses {
			e.sheet.next(guideline.Loss)
			e.claimFacts(l)
			label := "claim " + l.text("claim_number")
			if l.text("claim_number") == "" {
				label = fmt.Sprintf("loss row %d", l.index)
			}
			if err := ask(label, l.id); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return outcome{}, err
	}
	if err := e.judge(guideline.Coverage, func(ask func(label, id string) error) error {
		for _, r := range e.x.tables[application+"/coverages"] {
			e.sheet.next(guideline.Coverage)
			e.coverageFacts(r)
			if err := ask("coverage "+r.text("coverage"), r.id); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return outcome{}, err
	}
	if e.sheet.err != nil {
		return outcome{}, e.sheet.err
	}
	return outcome{submission: e.result(), findings: e.found, rowsOf: e.byRow}, nil
}

// open is a rule that can't be told, for one or several entities.
type open struct {
	finding  Finding
	labels   []string
	entities []string
}

// judge evaluates the rules of a scope once, or for each entity that the loop asks about.
// What can't be told for several entities for the same reason becomes one finding.
func (e *evaluation) judge(scope guideline.Scope, loop func(ask func(label, id string) error) error) error {
	if len(e.g.RulesOf(scope)) == 0 {
		return nil
	}
	var untold []*open
	at := map[string]*open{}
	ask := func(label, id string) error {
		verdicts, err := e.g.Evaluate(scope, e.sheet.facts)
		if err != nil {
			return fmt.Errorf("submission %s, %s: %w", e.x.ID, label, err)
		}
		for i := range verdicts {
			v := &verdicts[i]
			switch v.Outcome {
			case guideline.Fail:
				e.add(e.finding(v, label, id), id)
			case guideline.Pass:
				e.supersession(v, label, id)
			case guideline.Unknown:
				key := v.Rule.ID + "\x00" + fmt.Sprint(v.Missing)
				o := at[key]
				if o == nil {
					o = &open{finding: e.finding(v, label, id)}
					at[key] = o
					untold = append(untold, o)
				}
				o.labels = append(o.labels, label)
				o.entities = append(o.entities, id)
			}
		}
		return nil
	}
	var err error
	if loop == nil {
		err = ask("submission", "")
	} else {
		err = loop(ask)
	}
	if err != nil {
		return err
	}
	for _, o := range untold {
		e.add(o.merged(string(scope)), o.entities...)
	}
	return nil
}

func (e *evaluation) add(f Finding, rows ...string) {
	for _, id := range rows {
		if id != "" {
			e.byRow[id] = append(e.byRow[id], len(e.found))
		}
	}
	e.found = append(e.found, f)
}

func (o *open) merged(scope string) Finding {
	f := o.finding
	if n := len(o.labels); n > 1 {
		f.Entity = fmt.Sprintf("%d %ss", n, scope)
		if scope == "loss" {
			f.Entity = fmt.Sprintf("%d losses", n)
		}
		f.EntityID = ""
		names := o.labels
		more := ""
		if len(names) > 12 {
			more = fmt.Sprintf(" and %d more", len(names)-12)
			names = names[:12]
		}
		var list strings.Builder
		for i, l := range names {
			if i > 0 {
				list.WriteString(", ")
			}
			list.WriteString(l)
		}
		f.Explanation = "the same for " + list.String() + more
	}
	return f
}

// result describes the submission for the report.
func (e *evaluation) result() SubmissionResult {
	x := e.x
	r := SubmissionResult{
		ID: x.ID, Insured: x.Insured, Broker: x.Broker, Workflow: x.Workflow, Received: x.Received, Guideline: e.g.Key(),
		Documents: []DocumentResult{}, Vehicles: []Item{}, Drivers: []Item{}, Losses: []Item{}, Coverages: []Item{},
	}
	if !e.effective.IsZero() {
		r.Effective = e.effective.Format(time.DateOnly)
	}
	for _, d := range x.docs {
		r.Documents = append(r.Documents, DocumentResult{d.ID, d.Type, d.Filename, d.Pages, d.SHA256})
	}
	var taken []string
	for _, f := range e.found {
		taken = append(taken, f.Action)
	}
	r.Decision = guideline.Decision(taken)
	e.items(&r)
	return r
}
