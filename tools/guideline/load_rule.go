package guideline

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

func (l *loader) rules(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		l.bad(n, "each rule begins with '- id:'", "rules must be a list")
		return
	}
	own := map[string]int{}
	for _, item := range n.Content {
		id := idOf(item)
		if line, twice := own[id]; twice && id != "" {
			l.bad(item, "", "rule %s is already on line %d", id, line)
			continue
		}
		own[id] = item.Line
		l.rule(id, item)
	}
}

func idOf(n *yaml.Node) string {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "id" {
			return strings.TrimSpace(n.Content[i+1].Value)
		}
	}
	return ""
}

// rule reads one rule. One with the id of an inherited rule changes only what it says.
func (l *loader) rule(id string, n *yaml.Node) {
	r := l.g.Rule(id)
	if r == nil || id == "" {
		r = &Rule{ID: id}
		l.g.Rules = append(l.g.Rules, r)
	}
	r.at = l.at(n)
	l.pairs(n, "rule "+id, []string{"id", "text", "severity", "action", "scope", "basis", "field", "expected", "when", "checks"}, func(key string, _, v *yaml.Node) {
		switch key {
		case "text":
			r.Text = l.text(v)
		case "severity":
			r.Severity = l.oneOf(v, "severity", severities)
		case "action":
			r.Action = l.oneOf(v, "action", actions)
		case "scope":
			var known []string
			for _, s := range Scopes() {
				known = append(known, string(s))
			}
			r.Scope = Scope(l.oneOf(v, "scope", known))
		case "basis":
			r.Basis = l.text(v)
		case "field":
			r.Field = l.text(v)
		case "expected":
			r.Expected = l.text(v)
		case "when":
			r.When, r.whenAt = l.text(v), l.textAt(v)
		case "checks":
			r.Checks = nil
			if v.Kind != yaml.SequenceNode {
				l.bad(v, "each check begins with '- require:'", "checks of rule %s must be a list", id)
				return
			}
			for _, c := range v.Content {
				r.Checks = append(r.Checks, l.check(id, c))
			}
		}
	})
	for _, m := range []struct{ what, value string }{{"id", r.ID}, {"text", r.Text}, {"severity", r.Severity}, {"action", r.Action}, {"scope", string(r.Scope)}} {
		if m.value == "" {
			l.bad(n, "", "rule %s has no %s", id, m.what)
		}
	}
	if len(r.Checks) == 0 {
		l.bad(n, "", "rule %s has no checks", id)
	}
}

func (l *loader) check(id string, n *yaml.Node) Check {
	c := Check{at: l.at(n), saidAt: l.at(n)}
	l.pairs(n, "a check of rule "+id, []string{"require", "message", "severity", "action", "field"}, func(key string, _, v *yaml.Node) {
		switch key {
		case "require":
			c.Require, c.at = l.text(v), l.textAt(v)
		case "message":
			c.Message, c.saidAt = l.text(v), l.textAt(v)
		case "severity":
			c.Severity = l.oneOf(v, "severity", severities)
		case "action":
			c.Action = l.oneOf(v, "action", actions)
		case "field":
			c.Field = l.text(v)
		}
	})
	if c.Require == "" {
		l.bad(n, "", "a check of rule %s has nothing that it requires", id)
	}
	if c.Message == "" {
		l.bad(n, "say in one sentence, with the figures, what is wrong when the check isn't met", "a check of rule %s has no message", id)
	}
	return c
}

func (l *loader) oneOf(n *yaml.Node, what string, known []string) string {
	v := l.text(n)
	if !slices.Contains(known, v) {
		hint := "known are " + strings.Join(known, ", ")
		if near := nearest(v, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		l.bad(n, hint, "%q is no %s", v, what)
	}
	return v
}
