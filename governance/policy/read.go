package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Parse reads a policy file's text; name is how messages call the file. All that is wrong with it comes back at once.
func Parse(name string, raw []byte, c Catalogue) (*Policy, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return nil, &InvalidError{File: name, Problems: []Problem{{yamlLine(err), strings.TrimPrefix(err.Error(), "yaml: ")}}}
	}
	r := &reader{catalogue: c}
	p := r.policy(&doc)
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int { return a.Line - b.Line })
		return nil, &InvalidError{File: name, Problems: r.problems}
	}
	return p, nil
}

func yamlLine(err error) int {
	var line int
	if _, scan := fmt.Sscanf(err.Error(), "yaml: line %d:", &line); scan != nil {
		return 1
	}
	return line
}

// reader walks the nodes of a file and gathers problems with their lines.
type reader struct {
	catalogue Catalogue
	problems  []Problem
}

func (r *reader) problem(n *yaml.Node, format string, args ...any) {
	line := 1
	if n != nil && n.Line > 0 {
		line = n.Line
	}
	r.problems = append(r.problems, Problem{Line: line, Message: fmt.Sprintf(format, args...)})
}

// mapping returns the fields of a mapping. Fields that are not known, given twice or missing are problems; known nil lets any name in.
func (r *reader) mapping(n *yaml.Node, what string, required, optional []string) map[string]*yaml.Node {
	out := map[string]*yaml.Node{}
	if n == nil || n.Kind != yaml.MappingNode {
		r.problem(n, "%s: want a mapping", what)
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		known := slices.Concat(required, optional)
		if len(known) > 0 && !slices.Contains(known, key.Value) {
			r.problem(key, "%s: unknown field %q; known are %s", what, key.Value, strings.Join(known, ", "))
			continue
		}
		if out[key.Value] != nil {
			r.problem(key, "%s: field %q is given twice", what, key.Value)
		}
		out[key.Value] = n.Content[i+1]
	}
	for _, f := range required {
		if out[f] == nil {
			r.problem(n, "%s: field %q is missing", what, f)
		}
	}
	return out
}

func (r *reader) policy(doc *yaml.Node) *Policy {
	p := &Policy{Profiles: map[string]Profile{}, Roles: map[string]Role{}, Catalogue: r.catalogue}
	var top *yaml.Node
	if len(doc.Content) > 0 {
		top = doc.Content[0]
	}
	f := r.mapping(top, "policy", []string{"version", "profiles", "roles", "budgets"}, nil)
	if v := f["version"]; v != nil && v.Value != "1" {
		r.problem(v, "version: want 1")
	}
	if n := f["profiles"]; n != nil {
		for name, node := range r.mapping(n, "profiles", []string{Standard, Full}, nil) {
			p.Profiles[name] = r.profile(name, node)
		}
	}
	if n := f["roles"]; n != nil {
		roles := r.mapping(n, "roles", nil, []string{"underwriter", "analyst", "auditor", "admin", "reconciler"})
		if len(roles) == 0 {
			r.problem(n, "roles: want at least one")
		}
		for name, node := range roles {
			p.Roles[name] = r.role(name, node)
		}
	}
	if n := f["budgets"]; n != nil {
		b := r.mapping(n, "budgets", []string{"turn", "person", "organisation"}, nil)
		p.Budgets = Budgets{r.budget(b["turn"], "turn"), r.budget(b["person"], "person"), r.budget(b["organisation"], "organisation")}
	}
	return p
}

// profile reads what one variant masks. The full profile is as imported, and the standard one leaves no sensitive field open: what a policy
// doesn't name is masked as it is built in.
func (r *reader) profile(name string, n *yaml.Node) Profile {
	out, can, what := Profile{Mask: map[string]Mask{}}, masks(), "profiles."+name
	if name != Full {
		for field, all := range can {
			out.Mask[field] = all[0]
		}
	}
	f := r.mapping(n, what, []string{"mask"}, nil)
	if f["mask"] == nil {
		return out
	}
	for field, node := range r.mapping(f["mask"], what+".mask", nil, nil) {
		switch all := can[field]; {
		case name == Full:
			r.problem(node, "%s.mask.%s: the full profile is as imported; give the role the standard one", what, field)
		case all == nil:
			r.problem(node, "%s.mask.%s: masks are for ssn, fein, license_number and date_of_birth; hide the column from the role instead", what, field)
		case !slices.Contains(all, Mask(node.Value)):
			r.problem(node, "%s.mask.%s: want one of %s", what, field, maskNames(all))
		}
		out.Mask[field] = Mask(node.Value)
	}
	return out
}

// masks lists the masks that each masked field can have, the built-in one first.
func masks() map[string][]Mask {
	id := []Mask{Last4 + joins + Token, Last4, Token, Null}
	return map[string][]Mask{"ssn": id, "fein": id, "license_number": id, "date_of_birth": {Year + joins + Token, Year, Token, Null}}
}

func maskNames(all []Mask) string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = string(m)
	}
	return strings.Join(out, ", ")
}

func (r *reader) role(name string, n *yaml.Node) Role {
	what := "roles." + name
	out := Role{Name: name, Hidden: map[string][]string{}, Rows: map[string]Filter{}}
	f := r.mapping(n, what, []string{"profile", "limits"}, []string{"relations", "hidden", "rows"})
	if v := f["profile"]; v != nil {
		if out.Profile = v.Value; v.Value != Standard && v.Value != Full {
			r.problem(v, "%s.profile: want standard or full", what)
		}
	}
	if v := f["limits"]; v != nil {
		out.Limits = r.limits(v, what+".limits")
	}
	if v := f["relations"]; v != nil {
		out.Relations = r.names(v, what+".relations", func(s string) bool { return r.catalogue[s] != nil })
	}
	if v := f["hidden"]; v != nil {
		for relation, node := range r.relations(v, what+".hidden") {
			out.Hidden[relation] = r.names(node, what+".hidden."+relation, func(s string) bool { return r.catalogue.Has(relation, s) })
			if len(out.Hidden[relation]) >= len(r.catalogue[relation]) {
				r.problem(node, "%s.hidden.%s: nothing is left; leave the relation out of relations instead", what, relation)
			}
		}
	}
	if v := f["rows"]; v != nil {
		for relation, node := range r.relations(v, what+".rows") {
			if strings.TrimSpace(node.Value) == "" {
				r.problem(node, "%s.rows.%s: want a condition in SQL", what, relation)
			}
			out.Rows[relation] = Filter{SQL: node.Value, Line: node.Line}
		}
	}
	return out
}

func (r *reader) relations(n *yaml.Node, what string) map[string]*yaml.Node {
	f := r.mapping(n, what, nil, nil)
	for relation, node := range f {
		if r.catalogue[relation] == nil {
			r.problem(node, "%s: there is no relation %q", what, relation)
			delete(f, relation)
		}
	}
	return f
}

func (r *reader) names(n *yaml.Node, what string, known func(string) bool) []string {
	out := []string{}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.problem(n, "%s: want a list of names", what)
		return out
	}
	for _, e := range n.Content {
		if !known(e.Value) {
			r.problem(e, "%s: there is no %q", what, e.Value)
		}
		out = append(out, e.Value)
	}
	return out
}

// The smallest and largest memory that a statement may have: DuckDB needs the one to open a file, a worker's ceiling is above the other.
const (
	minMemory = 64 << 20
	maxMemory = 16 << 30
)

func (r *reader) limits(n *yaml.Node, what string) Limits {
	f := r.mapping(n, what, []string{"rows", "bytes", "seconds", "memory"}, nil)
	l := Limits{
		Rows:   int(r.number(f["rows"], what+".rows", 100_000_000)),
		Bytes:  r.size(f["bytes"], what+".bytes", 1024, 1<<40),
		Time:   time.Duration(r.number(f["seconds"], what+".seconds", 3600)) * time.Second,
		Memory: r.size(f["memory"], what+".memory", minMemory, maxMemory),
	}
	return l
}

func (r *reader) budget(n *yaml.Node, name string) Budget {
	what := "budgets." + name
	if n == nil {
		return Budget{} // reported as missing
	}
	f := r.mapping(n, what, []string{"queries", "seconds", "bytes"}, nil)
	return Budget{
		Queries: r.number(f["queries"], what+".queries", 1<<40),
		Run:     time.Duration(r.number(f["seconds"], what+".seconds", 1<<30)) * time.Second,
		Bytes:   r.size(f["bytes"], what+".bytes", 1, 1<<60),
	}
}

// number reads a whole number from 1 to high.
func (r *reader) number(n *yaml.Node, what string, high int64) int64 {
	if n == nil {
		return 0
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || v < 1 || v > high {
		r.problem(n, "%s: want a whole number from 1 to %d", what, high)
	}
	return v
}

func (r *reader) size(n *yaml.Node, what string, low, high int64) int64 {
	if n == nil {
		return 0
	}
	text, unit := n.Value, int64(1)
	for _, u := range []struct {
		suffix string
		bytes  int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}} {
		if s, ok := strings.CutSuffix(text, u.suffix); ok {
			text, unit = s, u.bytes
		}
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v > high/unit || v*unit < low {
		r.problem(n, "%s: want a size from %d to %d bytes, such as 64MiB", what, low, high)
		return 0
	}
	return v * unit
}
