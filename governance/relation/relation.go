// Package relation says what the relations of every organisation's data mean, as far as a role sees them.
package relation

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"bordereau/governance/policy"
)

// meanings is what the relations mean. A test keeps it equal with docs/DATA.md. Its examples are made up: they are of nobody's data.
//
//go:embed relations.json
var meanings []byte

// Relation is one relation.
type Relation struct {
	Name    string   `json:"name"`
	Meaning string   `json:"meaning"`
	Time    string   `json:"time,omitempty"` // the column that its date range is of
	Example string   `json:"example"`
	Columns []Column `json:"columns"`
}

// Column is one of its columns.
type Column struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Meaning string `json:"meaning,omitempty"`
	Example string `json:"example,omitempty"`
}

// All returns every relation.
func All() ([]Relation, error) {
	var out []Relation
	if err := json.Unmarshal(meanings, &out); err != nil {
		return nil, fmt.Errorf("relation: relations.json: %w", err)
	}
	return out, nil
}

// Seen returns those of all that a role may name, without the columns that are hidden from it.
func Seen(all []Relation, p *policy.Policy, name string) []Relation {
	role, ok := p.Roles[name]
	if !ok {
		return nil
	}
	var out []Relation
	for _, r := range all {
		if role.Relations != nil && !slices.Contains(role.Relations, r.Name) {
			continue
		}
		hidden := role.Hidden[r.Name]
		r.Columns = slices.DeleteFunc(slices.Clone(r.Columns), func(c Column) bool { return slices.Contains(hidden, c.Name) })
		out = append(out, r)
	}
	return out
}
