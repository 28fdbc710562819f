package reconcile

import (
	"fmt"
	"strings"

	"bordereau/tools/guideline"
)

// comparison is what the documents of a packet say of one thing, and how that agrees.
type comparison struct {
	class       string // of guideline's classes; "" when it can't be told
	missing     string // why it can't be told
	explanation string
	stated      string // the first document's
	expected    string // the one that differs
	fields      []*Field
}

// weight orders classes: the gravest speaks for the whole comparison.
func weight(class string) int {
	switch class {
	case guideline.Conflict:
		return 4
	case "":
		return 3
	case guideline.Supersession:
		return 2
	case guideline.BenignVariant:
		return 1
	}
	return 0
}

// compare holds every statement against the first. A later document takes precedence only where its own text declares the change.
func (x *indexed) compare(name string, statements []*Field, like func(a, b string) likeness) comparison {
	switch len(statements) {
	case 0:
		return comparison{class: guideline.Silent}
	case 1:
		return comparison{class: guideline.Single, stated: statements[0].Value, fields: statements}
	}
	first := statements[0]
	c := comparison{class: guideline.Consistent, stated: first.Value, fields: []*Field{first}}
	for _, other := range statements[1:] {
		l := like(first.Value, other.Value)
		if l.class == guideline.Conflict {
			if text := x.declared(name, first, other); text != "" {
				l = likeness{guideline.Supersession, fmt.Sprintf("%s says: %q", other.doc.Filename, text)}
			}
		}
		if weight(l.class) > weight(c.class) {
			c.class, c.expected, c.fields = l.class, other.Value, []*Field{first, other}
			c.explanation = fmt.Sprintf("%s against %s: %s", first.doc.Filename, other.doc.Filename, l.why)
			c.missing = ""
			if l.class == "" {
				c.missing = l.why
			}
		} else if l.class == c.class && (l.class == guideline.Consistent || l.class == guideline.Conflict) {
			c.fields = append(c.fields, other)
		}
	}
	return c
}

// declared returns the sentence by which the document of later changes what the document of earlier says, "" when there is none.
// Recency alone changes nothing.
func (x *indexed) declared(name string, earlier, later *Field) string {
	if !later.doc.Received.After(earlier.doc.Received) {
		return ""
	}
	for _, f := range x.loose[later.doc.Type]["declared_change"] {
		if f.doc != later.doc {
			continue
		}
		text := strings.ToLower(f.Value)
		about := false
		for w := range strings.SplitSeq(name, "_") {
			about = about || len(w) > 2 && strings.Contains(text, w)
		}
		for _, verb := range []string{"change", "amend", "revise", "supersede", "replace", "instead of", "correct"} {
			if about && strings.Contains(text, verb) && strings.Contains(text, strings.ToLower(strings.TrimSpace(later.Value))) {
				return f.Value
			}
		}
	}
	return ""
}

// current returns the statement that is in force: the superseding one where a change was declared, else the first.
func (x *indexed) current(name string, statements []*Field) *Field {
	if len(statements) == 0 {
		return nil
	}
	at := statements[0]
	for _, other := range statements[1:] {
		if other.Value != at.Value && x.declared(name, at, other) != "" {
			at = other
		}
	}
	return at
}
