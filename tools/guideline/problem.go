package guideline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Problem is one thing that is wrong in a guideline document.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty"` // from 1; 0 where the document doesn't tell
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// String returns "file:line:column: message (hint)".
func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d: ", p.File, p.Line)
	if p.Column > 0 {
		s = fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
	}
	s += p.Message
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Problems is the error of a document that can't be used.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p
}

// place is where something stands. What a guideline inherits stands in another file.
type place struct {
	file         string
	line, column int // from 1; 0 where it can't be told
}

func (l *loader) at(n *yaml.Node) place { return place{l.file, n.Line, n.Column} }

// textAt is where a text itself begins: a block text begins below its mark, a quoted one after its quote.
func (l *loader) textAt(n *yaml.Node) place {
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return place{l.file, n.Line + 1, 0}
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return place{l.file, n.Line, n.Column + 1}
	}
	return l.at(n)
}

// plus is the place of something in a text that begins at p.
func (p place) plus(f fault) place {
	if f.line > 1 || p.column == 0 {
		return place{p.file, p.line + f.line - 1, 0}
	}
	return place{p.file, p.line, p.column + f.column}
}

func (l *loader) problem(at place, hint, format string, args ...any) {
	l.problems = append(l.problems, Problem{at.file, at.line, at.column, fmt.Sprintf(format, args...), hint})
}

func (l *loader) bad(n *yaml.Node, hint, format string, args ...any) {
	l.problem(l.at(n), hint, format, args...)
}

// nearest returns the candidate that s is probably a misspelling of, "" if none is near.
func nearest(s string, candidates []string) string {
	best, at := "", 3
	for _, c := range candidates {
		if d := distance(s, c); d < at {
			best, at = c, d
		}
	}
	return best
}

func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
