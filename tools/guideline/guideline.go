// Package guideline is a carrier's underwriting guideline: rules as data, checked on load and evaluated in three values.
package guideline

import (
	"strings"
	"time"
)

// Schema is the form of guideline document that this package reads.
const Schema = "bordereau.guideline/1"

// Scope says what a rule is asked about: once a submission, or once for each of its rows.
type Scope string

// The scopes.
const (
	Submission Scope = "submission"
	Vehicle    Scope = "vehicle"
	Driver     Scope = "driver"
	Loss       Scope = "loss"
	Coverage   Scope = "coverage"
)

// Scopes lists the scopes in the order in which a report shows them.
func Scopes() []Scope { return []Scope{Submission, Vehicle, Driver, Loss, Coverage} }

// Outcome is what became of one rule for one entity.
type Outcome string

// The outcomes. Missing facts make a rule Unknown, never Pass.
const (
	Pass          Outcome = "pass"
	Fail          Outcome = "fail"
	Unknown       Outcome = "unknown"
	NotApplicable Outcome = "not_applicable"
)

// Guideline is one version of one carrier's rules, compiled. It is immutable and safe for use by many goroutines.
type Guideline struct {
	ID         string
	Carrier    string
	Name       string
	Version    string
	Extends    string // "id@version" of the guideline that this one differs from, "" for none
	Effective  time.Time
	Expires    time.Time // zero: in force until a later version is
	Parameters []Parameter
	Rules      []*Rule
	SHA256     string // of the document, and of the one that it extends

	file  string
	vocab *Vocabulary
	// rulesOf holds the rules by scope, in the order of Rules.
	rulesOf map[Scope][]*Rule
}

// Parameter is a threshold or a list that the rules refer to as param.NAME, so that it can change without touching logic.
type Parameter struct {
	Name  string
	Value any // int64, float64, bool, string or []string
	Text  string

	at place
}

// String returns the parameter's value as a person would write it.
func (p Parameter) String() string { return display(p.Value) }

// Rule is one rule: what is asked, of what, and what follows when the answer is no.
type Rule struct {
	ID       string
	Text     string
	Severity string // critical, major, minor, note
	Action   string // decline, refer, note
	Scope    Scope
	Basis    string
	Field    string // the fact that the rule is about, for the finding's field
	Expected string // template of what would have passed
	When     string // CEL; "" means always
	Checks   []Check

	at       place
	when     *condition
	whenAt   place
	expected template
	params   []string
}

// Check is one requirement of a rule. The first that isn't met decides; one that can't be told leaves the rule untold unless another isn't met.
type Check struct {
	Require  string // CEL; true means met
	Message  string // template of one sentence, said when it isn't met
	Severity string // overrides the rule's
	Action   string // overrides the rule's
	Field    string // overrides the rule's

	at      place // of what it requires
	saidAt  place // of its message
	require *condition
	message template
}

// Uses returns the names of the parameters that the rule refers to, sorted.
func (r *Rule) Uses() []string { return r.params }

// RulesOf returns the rules of one scope, in the document's order.
func (g *Guideline) RulesOf(s Scope) []*Rule { return g.rulesOf[s] }

// Rule returns the rule with that id, or nil.
func (g *Guideline) Rule(id string) *Rule {
	for _, r := range g.Rules {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// Parameter returns the named parameter's value and whether there is one.
func (g *Guideline) Parameter(name string) (any, bool) {
	for _, p := range g.Parameters {
		if p.Name == name {
			return p.Value, true
		}
	}
	return nil, false
}

// Vocabulary returns the names that the guideline's conditions may use.
func (g *Guideline) Vocabulary() *Vocabulary { return g.vocab }

// InForce reports whether the guideline applies on that day.
func (g *Guideline) InForce(day time.Time) bool {
	return !day.Before(g.Effective) && (g.Expires.IsZero() || !day.After(g.Expires))
}

// Key names this version, such as "alder@2026.2".
func (g *Guideline) Key() string { return g.ID + "@" + g.Version }

var (
	severities = []string{"critical", "major", "minor", "note"}
	actions    = []string{"decline", "refer", "note"}
)

// Rank orders severities: 0 for critical, larger for weaker, and after all others what it doesn't know.
func Rank(severity string) int {
	for i, s := range severities {
		if s == severity {
			return i
		}
	}
	return len(severities)
}

// Decision is the strongest of the actions: decline, refer, or clear when neither is among them.
func Decision(taken []string) string {
	decision := "clear"
	for _, a := range taken {
		switch strings.ToLower(a) {
		case "decline":
			return "decline"
		case "refer":
			decision = "refer"
		}
	}
	return decision
}
