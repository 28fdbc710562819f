package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bordereau/governance/fault"
	"bordereau/governance/statement"
)

const component = "policy"

// Decision is what a role may have of a statement.
type Decision struct {
	Role      Role
	Relations []string // that it reads, sorted
	Columns   []string // relation.column that it may read, sorted; * for all of a relation
}

// Decide tells whether a role may run a statement. A refusal is a *fault.Error with the rule, the place and how to rewrite.
func (p *Policy) Decide(role string, s *statement.Statement) (Decision, error) {
	r, ok := p.Roles[role]
	if !ok {
		return Decision{}, &fault.Error{
			Code: fault.Denied, Component: component, Rule: "role", Message: "this role may not query",
			Hint: "Ask an administrator for a role that may: " + strings.Join(slices.Sorted(maps.Keys(p.Roles)), ", ") + ".",
		}
	}
	d := Decision{Role: r, Relations: s.RelationNames()}
	for _, c := range s.CTEs {
		if p.Catalogue[c.Name] != nil {
			return d, refuse("cte_shadows_relation", c.Position, "a CTE has the name of the relation "+c.Name, "Give the CTE another name.")
		}
	}
	for _, rel := range s.Relations {
		if p.Catalogue[rel.Name] == nil {
			return d, refuse("relation", rel.Position, "there is no relation of that name", p.relationHint(r, rel.Name))
		}
		if r.Relations != nil && !slices.Contains(r.Relations, rel.Name) {
			return d, refuse("relation_role", rel.Position, "the role "+role+" may not read "+rel.Name, p.relationHint(r, rel.Name))
		}
	}
	if err := p.hidden(r, d.Relations, s); err != nil {
		return d, err
	}
	d.Columns = p.columns(r, d.Relations, s)
	return d, nil
}

func refuse(rule string, position int, message, hint string) *fault.Error {
	return &fault.Error{Code: fault.Denied, Component: component, Rule: rule, Position: position, Message: message, Hint: hint}
}

// relationHint names the relations of the role, the one that looks most like name first.
func (p *Policy) relationHint(r Role, name string) string {
	names := r.Relations
	if names == nil {
		names = slices.Sorted(maps.Keys(p.Catalogue))
	}
	for _, n := range names {
		if strings.HasPrefix(n, name) || strings.HasPrefix(name, n) {
			return fmt.Sprintf("Did you mean %s? The relations are %s.", n, strings.Join(names, ", "))
		}
	}
	return "The relations are " + strings.Join(names, ", ") + ". Name them without schema."
}

// hidden refuses a column that is hidden wherever it could come from; where another relation has it visibly, the rewritten statement
// settles it, for there the hidden one is not.
func (p *Policy) hidden(r Role, relations []string, s *statement.Statement) error {
	for _, c := range s.Columns {
		hidden, visible := "", false
		for _, rel := range relations {
			if slices.Contains(r.Hidden[rel], c) {
				hidden = rel
			} else if p.Catalogue.Has(rel, c) {
				visible = true
			}
		}
		if hidden != "" && !visible {
			return refuse("hidden_column", 0, fmt.Sprintf("the column %s of %s is not there for the role %s", c, hidden, r.Name), "Leave it out.")
		}
	}
	return nil
}

// columns lists what the statement may read. It tells too much rather than too little: names are not bound here.
func (p *Policy) columns(r Role, relations []string, s *statement.Statement) []string {
	var out []string
	for _, rel := range relations {
		if s.Star || slices.Contains(s.Columns, rel) {
			out = append(out, rel+".*")
			continue
		}
		for _, c := range p.Catalogue[rel] {
			if slices.Contains(s.Columns, c) && !slices.Contains(r.Hidden[rel], c) {
				out = append(out, rel+"."+c)
			}
		}
	}
	slices.Sort(out)
	return out
}
