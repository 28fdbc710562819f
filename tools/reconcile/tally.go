package reconcile

// gravest is how many findings a tally keeps.
const gravest = 20

// Tally counts what a run came to.
type Tally struct {
	Submissions int
	Findings    int
	Decisions   map[string]int
	Severities  map[string]int
	Rules       map[string]int
	// first has the first findings of each severity.
	first map[string][]Finding
}

func newTally() Tally {
	return Tally{
		Decisions:  map[string]int{"decline": 0, "refer": 0, "clear": 0},
		Severities: map[string]int{"critical": 0, "major": 0, "minor": 0, "note": 0},
		Rules:      map[string]int{}, first: map[string][]Finding{},
	}
}

func (t *Tally) add(o *outcome) {
	t.Submissions++
	t.Decisions[o.submission.Decision]++
	t.Findings += len(o.findings)
	for _, f := range o.findings {
		t.Severities[f.Severity]++
		t.Rules[f.RuleID]++
		if first := t.first[f.Severity]; len(first) < gravest {
			t.first[f.Severity] = append(first, f)
		}
	}
}

// Gravest returns the gravest findings, at most twenty, in the run's order among equals.
func (t *Tally) Gravest() []Finding {
	out := []Finding{}
	for _, severity := range []string{"critical", "major", "minor", "note"} {
		first := t.first[severity]
		out = append(out, first[:min(len(first), gravest-len(out))]...)
	}
	return out
}
