package guideline

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// CasesSchema is the form of a document of test cases.
const CasesSchema = "bordereau.guideline-cases/1"

// Case is one example that a guideline must judge as its author says.
type Case struct {
	Name   string             `yaml:"name"`
	Scope  Scope              `yaml:"scope"`
	Facts  map[string]any     `yaml:"facts"`
	Expect map[string]Outcome `yaml:"expect"`
}

// CaseResult is what became of one expectation.
type CaseResult struct {
	Case    string
	Rule    string
	Want    Outcome
	Got     Outcome
	Missing []string
}

// OK is true if the rule judged as expected.
func (r CaseResult) OK() bool { return r.Want == r.Got }

// String returns the result as one line.
func (r CaseResult) String() string {
	if r.OK() {
		return fmt.Sprintf("ok    %s: %s is %s", r.Case, r.Rule, r.Got)
	}
	s := fmt.Sprintf("FAIL  %s: %s is %s, not %s", r.Case, r.Rule, r.Got, r.Want)
	if len(r.Missing) > 0 {
		s += "; missing: " + strings.Join(r.Missing, ", ")
	}
	return s
}

// LoadCases reads a document of test cases.
func LoadCases(name string, data []byte) ([]Case, error) {
	var doc struct {
		Schema string `yaml:"schema"`
		Cases  []Case `yaml:"cases"`
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	dec.KnownFields(true)
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if doc.Schema != CasesSchema {
		return nil, fmt.Errorf("%s: the schema is %q, not %q", name, doc.Schema, CasesSchema)
	}
	if len(doc.Cases) == 0 {
		return nil, fmt.Errorf("%s: there are no cases", name)
	}
	return doc.Cases, nil
}

// Test judges each case and holds the outcomes against what the case expects.
func (g *Guideline) Test(cases []Case) ([]CaseResult, error) {
	var out []CaseResult
	f := g.NewFacts()
	for _, c := range cases {
		f.Clear()
		if c.Scope == "" {
			c.Scope = Submission
		}
		for name, value := range c.Facts {
			if err := f.Set(name, plainValue(value)); err != nil {
				return nil, fmt.Errorf("case %q: %w", c.Name, err)
			}
		}
		verdicts, err := g.Evaluate(c.Scope, f)
		if err != nil {
			return nil, fmt.Errorf("case %q: %w", c.Name, err)
		}
		var rules []string
		for id := range c.Expect {
			rules = append(rules, id)
		}
		slices.Sort(rules)
		for _, id := range rules {
			i := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Rule.ID == id })
			if i < 0 {
				return nil, fmt.Errorf("case %q: %s has no rule %s of scope %s", c.Name, g.Key(), id, c.Scope)
			}
			out = append(out, CaseResult{c.Name, id, c.Expect[id], verdicts[i].Outcome, verdicts[i].Missing})
		}
	}
	return out, nil
}

// plainValue turns YAML's list of anything into a list of texts.
func plainValue(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = fmt.Sprint(one)
	}
	return out
}
