package guideline

import (
	"slices"
)

// Verdict is what became of one rule for one entity.
type Verdict struct {
	Rule     *Rule
	Outcome  Outcome
	Check    int // index of the check that decided, -1 when none did
	Severity string
	Action   string
	Field    string
	Message  string   // of a failed check
	Expected string   // of a failed check
	Facts    []string // what the deciding condition looked at, sorted
	Missing  []string // the facts that are missing, when the outcome is Unknown
}

// Evaluate asks every rule of the scope about the facts, in the document's order.
func (g *Guideline) Evaluate(scope Scope, f *Facts) ([]Verdict, error) {
	rules := g.rulesOf[scope]
	verdicts := make([]Verdict, 0, len(rules))
	for _, r := range rules {
		v, err := r.evaluate(f)
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

func (r *Rule) evaluate(f *Facts) (Verdict, error) {
	v := Verdict{Rule: r, Outcome: Pass, Check: -1, Severity: r.Severity, Action: r.Action, Field: r.Field}
	if r.when != nil {
		got, err := r.when.eval(f)
		if err != nil {
			return v, err
		}
		switch {
		case !got.known:
			// Whether the rule applies can't be told; a rule that would be met in any case still passes.
			v.Outcome, v.Missing, v.Facts = Unknown, got.missing, r.when.facts
		case !got.value:
			v.Outcome = NotApplicable
			return v, nil
		}
	}
	applies := v.Outcome != Unknown
	untold := v
	met := true
	for i := range r.Checks {
		c := &r.Checks[i]
		got, err := c.require.eval(f)
		if err != nil {
			return v, err
		}
		if got.known && got.value {
			continue
		}
		met = false
		if !applies {
			break
		}
		if got.known {
			return r.failed(v, i, f), nil
		}
		if untold.Outcome != Unknown {
			untold.Outcome, untold.Check, untold.Facts = Unknown, i, c.require.facts
			c.override(&untold)
		}
		untold.Missing = append(untold.Missing, got.missing...)
	}
	if met {
		v.Outcome, v.Missing, v.Facts = Pass, nil, nil
		return v, nil
	}
	slices.Sort(untold.Missing)
	untold.Missing = slices.Compact(untold.Missing)
	return untold, nil
}

func (r *Rule) failed(v Verdict, i int, f *Facts) Verdict {
	c := &r.Checks[i]
	v.Outcome, v.Check, v.Missing = Fail, i, nil
	c.override(&v)
	v.Facts = c.require.facts
	v.Message = c.message.fill(f)
	v.Expected = r.expected.fill(f)
	return v
}

func (c *Check) override(v *Verdict) {
	if c.Severity != "" {
		v.Severity = c.Severity
	}
	if c.Action != "" {
		v.Action = c.Action
	}
	if c.Field != "" {
		v.Field = c.Field
	}
}
