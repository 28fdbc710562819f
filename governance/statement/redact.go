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

// Redact returns s.SQL without the literals that stand in one predicate with a column that may hold masked values. It errs on the side of
// too much: where it can't tell, every literal goes.
func (s *Statement) Redact(sensitive func(column string) bool) Redaction {
	tainted := s.tainted(sensitive)
	if tainted == nil {
		return redact(s.SQL, nil)
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
	return redact(s.SQL, slices.DeleteFunc(spans, func(p span) bool { return !p.comment && !all && !starts[p.start] }))
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
func RedactText(text string) Redaction { return redact(text, literals(text)) }

// RedactMessage is for what the parser or the database says: it leaves out what they quote of a statement that can't be read, and tokens
// that look like masked values.
func RedactMessage(message string) string {
	message, _, _ = strings.Cut(message, " at or near ")
	return lookalike.ReplaceAllString(message, "[redacted]")
}

// Redaction is a text without some of its parts.
type Redaction struct {
	Text string
	cuts []replaced
}

// replaced is a part of the original, and the end of what stands for it.
type replaced struct{ start, end, at, until int }

// Redacted tells whether anything but comments was left out, so that the text no longer asks what it asked.
func (r Redaction) Redacted() bool { return strings.Contains(r.Text, "[redacted]") }

// Place returns where a place of the original is in the text. Places are 1-based byte offsets, 0 for none.
func (r Redaction) Place(position int) int {
	if position <= 0 {
		return 0
	}
	shift := 0
	for _, c := range r.cuts {
		if position-1 < c.start {
			break
		}
		if position-1 < c.end {
			return c.at + 1
		}
		shift = c.until - c.end
	}
	return position + shift
}

// redact leaves the spans out, and what looks like a masked value between them.
func redact(text string, cut []span) Redaction {
	var b strings.Builder
	var out Redaction
	replace := func(start, end int, by string) {
		at := b.Len()
		b.WriteString(by)
		out.cuts = append(out.cuts, replaced{start, end, at, b.Len()})
	}
	plain := func(from, to int) {
		done := from
		for _, m := range lookalike.FindAllStringIndex(text[from:to], -1) {
			b.WriteString(text[done : from+m[0]])
			replace(from+m[0], from+m[1], "[redacted]")
			done = from + m[1]
		}
		b.WriteString(text[done:to])
	}
	last := 0
	for _, p := range cut {
		plain(last, p.start)
		if p.comment {
			replace(p.start, p.end, " ")
		} else {
			replace(p.start, p.end, redacted)
		}
		last = p.end
	}
	plain(last, len(text))
	out.Text = b.String()
	return out
}
