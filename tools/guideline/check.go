package guideline

import (
	"slices"
	"strings"
)

// compile turns the texts into programs and reports unknown names, wrong types, and rules that can never speak.
func (l *loader) compile() {
	g := l.g
	c, err := newCompiler(g.vocab, g.Parameters)
	if err != nil {
		l.problem(place{l.file, 1, 0}, "", "%v", err)
		return
	}
	used := map[string]bool{}
	for _, r := range g.Rules {
		l.compileRule(c, r)
		for _, p := range r.params {
			used[p] = true
		}
		g.rulesOf[r.Scope] = append(g.rulesOf[r.Scope], r)
	}
	if len(l.problems) > 0 {
		return
	}
	for _, p := range g.Parameters {
		inherited := false
		if l.base != nil {
			_, inherited = l.base.Parameter(p.Name)
		}
		if !used[p.Name] && !inherited && !slices.Contains(readerParameters, p.Name) {
			l.problem(p.at, "", "parameter %s is used by no rule", p.Name)
		}
	}
	l.reach()
}

// readerParameters are read by reconciliation itself, not by a rule.
var readerParameters = []string{"min_confidence", "hazmat_goods", "oil_goods", "bulk_hazmat_goods"}

func (l *loader) compileRule(c *compiler, r *Rule) {
	params := map[string]bool{}
	one := func(text string, at place) *condition {
		cond, faults := c.compile(r.Scope, text)
		for _, f := range faults {
			l.problem(at.plus(f), l.hint(r.Scope, f.message), "rule %s: %s", r.ID, f.message)
		}
		if cond != nil {
			for _, p := range cond.params {
				params[p] = true
			}
		}
		return cond
	}
	said := func(text string, at place) template {
		t := parseTemplate(text)
		for _, n := range t.names() {
			if !l.known(r.Scope, n) {
				l.problem(at, l.hint(r.Scope, "'"+n+"'"), "rule %s: the sentence names {%s}, which is no fact or parameter here", r.ID, n)
			}
			if p, is := strings.CutPrefix(n, "param."); is {
				params[p] = true
			}
		}
		return t
	}
	r.when = nil
	if r.When != "" {
		r.when = one(r.When, r.whenAt)
	}
	r.expected = said(r.Expected, r.at)
	fieldOK := func(f string, at place) {
		if f != "" && !l.known(r.Scope, f) {
			l.problem(at, l.hint(r.Scope, "'"+f+"'"), "rule %s: the field %q is no fact", r.ID, f)
		}
	}
	fieldOK(r.Field, r.at)
	for i := range r.Checks {
		ch := &r.Checks[i]
		ch.require = one(ch.Require, ch.at)
		ch.message = said(ch.Message, ch.saidAt)
		fieldOK(ch.Field, ch.at)
	}
	r.params = nil
	for p := range params {
		r.params = append(r.params, p)
	}
	slices.Sort(r.params)
}

func (l *loader) known(s Scope, name string) bool {
	if p, is := strings.CutPrefix(name, "param."); is {
		_, ok := l.g.Parameter(p)
		return ok
	}
	n, ok := l.g.vocab.Lookup(name)
	return ok && (n.Scope == Submission || n.Scope == s)
}

// hint names what was probably meant by an undeclared name in a message.
func (l *loader) hint(s Scope, message string) string {
	_, rest, ok := strings.Cut(message, "'")
	name, _, ok2 := strings.Cut(rest, "'")
	if !ok || !ok2 || strings.Contains(message, "overload") || strings.Contains(message, "scope") {
		return ""
	}
	var candidates []string
	for _, n := range l.g.vocab.visible(s) {
		candidates = append(candidates, n.Name)
	}
	for _, p := range l.g.Parameters {
		candidates = append(candidates, "param."+p.Name)
	}
	if near := nearest(name, candidates); near != "" && near != name {
		return "did you mean " + near + "?"
	}
	return "'bordereau guideline names' lists all facts"
}

// reach evaluates each condition with the parameters known and no fact known: what is decided even so doesn't depend on any submission.
func (l *loader) reach() {
	f := l.g.NewFacts()
	asked := map[string]string{}
	for _, r := range l.g.Rules {
		if r.when != nil {
			if got, err := r.when.eval(f); err == nil && got.known && !got.value {
				l.problem(r.whenAt, "", "rule %s can never apply: its 'when' is false whatever a submission says", r.ID)
			}
		}
		for i := range r.Checks {
			c := &r.Checks[i]
			if got, err := c.require.eval(f); err == nil && got.known {
				if got.value {
					l.problem(c.at, "", "rule %s: this check can never fail", r.ID)
				} else {
					l.problem(c.at, "", "rule %s: this check always fails, so what follows it is never reached", r.ID)
				}
			}
			key := string(r.Scope) + "\x00" + r.When + "\x00" + c.Require
			if other, twice := asked[key]; twice {
				l.problem(c.at, "", "rule %s: this check can never decide anything, since rule %s asks the same", r.ID, other)
			}
			asked[key] = r.ID
		}
	}
}
