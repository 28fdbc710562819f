package guideline

import (
	"reflect"
	"strings"
)

var reflectStrings = reflect.TypeFor[[]string]()

// template is a sentence with {names} of facts and parameters.
type template struct {
	parts []string // text, name, text, name, …, text
}

func parseTemplate(s string) template {
	var t template
	for {
		before, rest, open := strings.Cut(s, "{")
		name, after, shut := strings.Cut(rest, "}")
		if !open || !shut {
			t.parts = append(t.parts, s)
			return t
		}
		t.parts = append(t.parts, before, name)
		s = after
	}
}

func (t template) names() []string {
	var out []string
	for i := 1; i < len(t.parts); i += 2 {
		out = append(out, t.parts[i])
	}
	return out
}

func (t template) fill(f *Facts) string {
	var b strings.Builder
	for i, p := range t.parts {
		if i%2 == 1 {
			if p = f.Text(p); p == "" {
				p = "(not stated)"
			}
		}
		b.WriteString(p)
	}
	return b.String()
}
