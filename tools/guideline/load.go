package guideline

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Resolver finds the guideline that another one extends, by "id@version".
type Resolver func(key string) (*Guideline, error)

// Load reads and checks a guideline document. name is what messages call the file. The error is Problems when the document is at fault.
func Load(name string, data []byte, extends Resolver) (*Guideline, error) {
	l := &loader{file: name, g: &Guideline{file: name, vocab: NewVocabulary(), rulesOf: map[Scope][]*Rule{}}}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, Problems{{File: name, Line: yamlLine(err), Message: "not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}}
	}
	if len(doc.Content) == 0 {
		return nil, Problems{{File: name, Line: 1, Message: "the document is empty", Hint: "begin with 'schema: " + Schema + "'"}}
	}
	sum := sha256.Sum256(data)
	l.hash = hex.EncodeToString(sum[:])
	l.document(doc.Content[0], extends)
	if len(l.problems) == 0 {
		l.compile()
	}
	if len(l.problems) > 0 {
		return nil, l.problems.sorted()
	}
	return l.g, nil
}

type loader struct {
	file     string
	hash     string
	g        *Guideline
	base     *Guideline
	problems Problems
	omit     []string
}

// pairs calls f with each key and value of a mapping, and reports keys that aren't known or come twice.
func (l *loader) pairs(n *yaml.Node, what string, known []string, f func(key string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		l.bad(n, "", "%s must be a mapping of names to values", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if seen[k.Value] {
			l.bad(k, "", "%s says %q twice", what, k.Value)
			continue
		}
		seen[k.Value] = true
		if known != nil && !slices.Contains(known, k.Value) {
			hint := "known are " + strings.Join(known, ", ")
			if near := nearest(k.Value, known); near != "" {
				hint = "did you mean " + near + "?"
			}
			l.bad(k, hint, "%s has no key %q", what, k.Value)
			continue
		}
		f(k.Value, k, v)
	}
}

func (l *loader) document(n *yaml.Node, extends Resolver) {
	g := l.g
	var params, rules *yaml.Node
	schema := ""
	l.pairs(n, "a guideline", []string{"schema", "id", "carrier", "name", "version", "effective", "expires", "extends", "omit", "parameters", "rules"},
		func(key string, _, v *yaml.Node) {
			switch key {
			case "schema":
				schema = l.text(v)
			case "id":
				g.ID = l.text(v)
			case "carrier":
				g.Carrier = l.text(v)
			case "name":
				g.Name = l.text(v)
			case "version":
				g.Version = l.text(v)
			case "effective":
				g.Effective = l.date(v)
			case "expires":
				g.Expires = l.date(v)
			case "extends":
				l.extend(v, extends)
			case "omit":
				l.omit = l.list(v)
				for i, id := range l.omit {
					if l.base != nil && l.base.Rule(id) == nil {
						l.bad(v.Content[i], "", "%s has no rule %q to omit", l.base.Key(), id)
					}
				}
			case "parameters":
				params = v
			case "rules":
				rules = v
			}
		})
	if schema != Schema {
		l.bad(n, "the first line should be 'schema: "+Schema+"'", "the schema is %q, not %q", schema, Schema)
	}
	for what, v := range map[string]string{"id": g.ID, "version": g.Version, "carrier": g.Carrier} {
		if v == "" {
			l.bad(n, "", "the guideline has no %s", what)
		}
	}
	if g.Effective.IsZero() {
		l.bad(n, "write it as 2026-01-31", "the guideline has no effective date")
	}
	if !g.Expires.IsZero() && g.Expires.Before(g.Effective) {
		l.bad(n, "", "it expires on %s, before it becomes effective on %s", g.Expires.Format(time.DateOnly), g.Effective.Format(time.DateOnly))
	}
	l.inherit()
	if params != nil {
		l.pairs(params, "parameters", nil, l.parameter)
	}
	if rules != nil {
		l.rules(rules)
	}
	if len(g.Rules) == 0 {
		l.bad(n, "", "the guideline has no rules")
	}
	g.SHA256 = l.hash
	if l.base != nil {
		sum := sha256.Sum256([]byte(l.hash + l.base.SHA256))
		g.SHA256 = hex.EncodeToString(sum[:])
	}
}

func (l *loader) extend(v *yaml.Node, extends Resolver) {
	l.g.Extends = l.text(v)
	if extends == nil {
		l.bad(v, "", "%q can't be found: nothing to look it up in", l.g.Extends)
		return
	}
	base, err := extends(l.g.Extends)
	if err != nil {
		l.bad(v, "", "extends %s: %v", l.g.Extends, err)
		return
	}
	l.base = base
}

// inherit copies what the extended guideline has. Rules are copied as texts: they are compiled with this one's parameters.
func (l *loader) inherit() {
	if l.base == nil {
		return
	}
	l.g.Parameters = append(l.g.Parameters, l.base.Parameters...)
	for _, r := range l.base.Rules {
		if slices.Contains(l.omit, r.ID) {
			continue
		}
		c := *r
		c.Checks = slices.Clone(r.Checks)
		l.g.Rules = append(l.g.Rules, &c)
	}
}

func (l *loader) parameter(name string, k, v *yaml.Node) {
	p := Parameter{Name: name, at: l.at(k)}
	value := v
	if v.Kind == yaml.MappingNode {
		l.pairs(v, "parameter "+name, []string{"value", "text"}, func(key string, _, v *yaml.Node) {
			if key == "text" {
				p.Text = l.text(v)
			} else {
				value = v
			}
		})
	}
	p.Value = l.value(value)
	if p.Value == nil {
		l.bad(k, "", "parameter %s must be a number, a text, yes or no, or a list of texts", name)
		return
	}
	for i, old := range l.g.Parameters {
		if old.Name == name {
			if kindOf(old.Value) == Double && kindOf(p.Value) == Int {
				p.Value = float64(p.Value.(int64))
			}
			if kindOf(old.Value) != kindOf(p.Value) {
				l.bad(k, "", "parameter %s is of type %s in %s, and of type %s here", name, kindOf(old.Value), l.g.Extends, kindOf(p.Value))
				return
			}
			if p.Text == "" {
				p.Text = old.Text
			}
			l.g.Parameters[i] = p
			return
		}
	}
	l.g.Parameters = append(l.g.Parameters, p)
}

func (l *loader) value(n *yaml.Node) any {
	if n.Kind == yaml.SequenceNode {
		return l.list(n)
	}
	var v any
	if n.Kind != yaml.ScalarNode || n.Decode(&v) != nil {
		return nil
	}
	switch t := v.(type) {
	case int:
		return int64(t)
	case float64, bool, string:
		return t
	}
	return nil
}

func (l *loader) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		l.bad(n, "", "a text was expected here")
		return ""
	}
	return strings.TrimSpace(n.Value)
}

func (l *loader) list(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		l.bad(n, "write [a, b]", "a list was expected here")
		return nil
	}
	out := make([]string, len(n.Content))
	for i, c := range n.Content {
		out[i] = l.text(c)
	}
	return out
}

func (l *loader) date(n *yaml.Node) time.Time {
	t, err := time.Parse(time.DateOnly, l.text(n))
	if err != nil {
		l.bad(n, "write it as 2026-01-31", "%q is not a date", n.Value)
	}
	return t
}

func yamlLine(err error) int {
	var line int
	if _, e := fmt.Sscanf(err.Error(), "yaml: line %d:", &line); e == nil {
		return line
	}
	if _, ok := errors.AsType[*yaml.TypeError](err); ok {
		return 1
	}
	return 1
}
