package guideline

import (
	"fmt"
	"time"
)

// Change is one difference between two versions.
type Change struct {
	What string `json:"what"` // "rule FMC-01", "parameter mvr_days", "effective"
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// String returns the change as one line.
func (c Change) String() string {
	switch {
	case c.From == "":
		return fmt.Sprintf("+ %s: %s", c.What, c.To)
	case c.To == "":
		return fmt.Sprintf("- %s: %s", c.What, c.From)
	}
	return fmt.Sprintf("~ %s: %s -> %s", c.What, c.From, c.To)
}

// Diff lists what changes from a to b: heads, parameters, rules. Equal guidelines give none.
func Diff(a, b *Guideline) []Change {
	var out []Change
	differ := func(what, from, to string) {
		if from != to {
			out = append(out, Change{what, from, to})
		}
	}
	date := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(time.DateOnly)
	}
	differ("name", a.Name, b.Name)
	differ("carrier", a.Carrier, b.Carrier)
	differ("effective", date(a.Effective), date(b.Effective))
	differ("expires", date(a.Expires), date(b.Expires))
	for _, p := range a.Parameters {
		to := ""
		for _, q := range b.Parameters {
			if q.Name == p.Name {
				to = q.String()
			}
		}
		differ("parameter "+p.Name, p.String(), to)
	}
	for _, q := range b.Parameters {
		if _, ok := a.Parameter(q.Name); !ok {
			differ("parameter "+q.Name, "", q.String())
		}
	}
	for _, r := range a.Rules {
		s := b.Rule(r.ID)
		if s == nil {
			differ("rule "+r.ID, r.Text, "")
			continue
		}
		at := "rule " + r.ID + " "
		differ(at+"text", r.Text, s.Text)
		differ(at+"severity", r.Severity, s.Severity)
		differ(at+"action", r.Action, s.Action)
		differ(at+"scope", string(r.Scope), string(s.Scope))
		differ(at+"basis", r.Basis, s.Basis)
		differ(at+"when", r.When, s.When)
		for i := range max(len(r.Checks), len(s.Checks)) {
			var from, to Check
			if i < len(r.Checks) {
				from = r.Checks[i]
			}
			if i < len(s.Checks) {
				to = s.Checks[i]
			}
			check := fmt.Sprintf("%scheck %d ", at, i+1)
			differ(check+"requires", from.Require, to.Require)
			differ(check+"message", from.Message, to.Message)
			differ(check+"severity", from.Severity, to.Severity)
			differ(check+"action", from.Action, to.Action)
		}
	}
	for _, s := range b.Rules {
		if a.Rule(s.ID) == nil {
			differ("rule "+s.ID, "", s.Text)
		}
	}
	return out
}
