package statement

import (
	"regexp"
	"slices"
	"strings"
)

// root is one predicate or list element: the columns it reads, the literals it holds, the names it gives.
type root struct {
	refs  [][]string
	names []string
}

// literal is a constant of the text.
type literal struct {
	position int // 1-based, 0 when not known
	root     *root
}

func (w *walker) newRoot() *root {
	r := &root{}
	w.out.roots = append(w.out.roots, r)
	return r
}

func (w *walker) literal(position int) {
	if w.root == nil {
		w.root = w.newRoot()
	}
	w.out.literals = append(w.out.literals, literal{position: position, root: w.root})
}

// renamed notes names that columns are given without saying which.
func (w *walker) renamed(v any) {
	list, _ := v.([]any)
	for _, e := range list {
		if s, ok := e.(string); ok && s != "" {
			w.out.renamed = append(w.out.renamed, strings.ToLower(s))
		}
	}
}

// redacted stands for a literal that may be a masked value.
const redacted = "'[redacted]'"

// tokens that are masked values by their look, wherever they stand: SSN, FEIN and bare runs of nine digits.
var lookalike = regexp.MustCompile(`\b(\d{3}-\d{2}-\d{4}|\d{2}-\d{7}|\d{9})\b`)

// Redact returns text, which must be s.SQL, without the literals that stand in one predicate with a column that may hold masked
// values. It errs on the side of too much: where it can't tell, every literal goes.
func (s *Statement) Redact(sensitive func(column string) bool) string {
	tainted := s.tainted(sensitive)
	if tainted == nil {
		return lookalike.ReplaceAllString(s.SQL, "[redacted]")
	}
	spans := literals(s.SQL)
	all := false
	starts := map[int]bool{}
	for _, l := range s.literals {
		if len(l.root.refs) > 0 && !slices.ContainsFunc(l.root.refs, tainted) {
			continue
		}
		at := l.position - 1
		if !slices.ContainsFunc(spans, func(p span) bool { return p.start == at }) {
			all = true
			break
		}
		starts[at] = true
	}
	var b strings.Builder
	last := 0
	for _, p := range spans {
		if p.comment || all || starts[p.start] {
			b.WriteString(s.SQL[last:p.start])
			if p.comment {
				b.WriteByte(' ')
			} else {
				b.WriteString(redacted)
			}
			last = p.end
		}
	}
	b.WriteString(s.SQL[last:])
	return lookalike.ReplaceAllString(b.String(), "[redacted]")
}

// tainted tells which column references may hold a masked value, following names that the statement gives. It is nil when none can.
func (s *Statement) tainted(sensitive func(string) bool) func([]string) bool {
	names := map[string]bool{}
	for _, c := range s.Columns {
		if sensitive(c) {
			names[c] = true
		}
	}
	if len(names) == 0 && !s.Star {
		return nil
	}
	hit := func(ref []string) bool { return slices.ContainsFunc(ref, func(p string) bool { return names[p] }) }
	// Lists of new names, and whole rows under a relation's name, may hold anything.
	for _, list := range [][]string{s.renamed, s.aliases} {
		for _, n := range list {
			if !slices.ContainsFunc(s.roots, func(r *root) bool { return qualifies(r.refs, n) }) || slices.Contains(s.renamed, n) {
				names[n] = true
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, r := range s.roots {
			if !slices.ContainsFunc(r.refs, hit) {
				continue
			}
			for _, n := range r.names {
				if !names[n] {
					names[n], changed = true, true
				}
			}
		}
	}
	return hit
}

// qualifies tells whether name is only ever the qualifier of a column in refs.
func qualifies(refs [][]string, name string) bool {
	for _, r := range refs {
		if len(r) > 1 && r[0] == name {
			return true
		}
	}
	return false
}

// RedactText is for text that can't be read as a statement: every literal and comment goes.
func RedactText(text string) string {
	var b strings.Builder
	last := 0
	for _, p := range literals(text) {
		b.WriteString(text[last:p.start])
		if p.comment {
			b.WriteByte(' ')
		} else {
			b.WriteString(redacted)
		}
		last = p.end
	}
	b.WriteString(text[last:])
	return lookalike.ReplaceAllString(b.String(), "[redacted]")
}
