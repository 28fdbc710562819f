package reconcile

import (
	"fmt"
	"strings"

	"bordereau/tools/guideline"
	"bordereau/tools/vin"
)

// note is how one fact came about.
type note struct {
	fields      []*Field
	decode      *vin.Checked
	stated      string
	expected    string
	explanation string
}

// sheet holds the facts of one entity and its submission, each with its proof.
type sheet struct {
	facts *guideline.Facts
	notes map[string]note
	least float64 // confidence below which a value counts as not read
	err   error   // the first fault in our own use of the vocabulary
}

func newSheet(g *guideline.Guideline) *sheet {
	s := &sheet{facts: g.NewFacts(), notes: map[string]note{}}
	if v, ok := g.Parameter("min_confidence"); ok {
		if f, is := v.(float64); is {
			s.least = f
		}
	}
	return s
}

func (s *sheet) clear() {
	s.facts.Clear()
	clear(s.notes)
}

// next forgets the entity that was described last.
func (s *sheet) next(scope guideline.Scope) {
	s.facts.ClearScope(scope)
	for name := range s.notes {
		if strings.HasPrefix(name, string(scope)+".") {
			delete(s.notes, name)
		}
	}
}

func (s *sheet) keep(err error) {
	if err != nil && s.err == nil {
		s.err = err
	}
}

// set records a fact that is known, unless what it rests on was hardly readable.
func (s *sheet) set(name string, value any, fields ...*Field) {
	for _, f := range fields {
		if f != nil && f.confidence() < s.least {
			s.missing(name, fmt.Sprintf("%s in %s was read with a confidence of only %.2f", f.Name, f.doc.Filename, f.Confidence), fields...)
			return
		}
	}
	s.keep(s.facts.Set(name, value))
	s.note(name, fields)
}

// missing records a fact that can't be told, and why.
func (s *sheet) missing(name, why string, fields ...*Field) {
	s.keep(s.facts.Missing(name, why))
	s.note(name, fields)
}

func (s *sheet) note(name string, fields []*Field) {
	n := s.notes[name]
	n.fields = n.fields[:0:0]
	for _, f := range fields {
		if f != nil {
			n.fields = append(n.fields, f)
		}
	}
	s.notes[name] = n
}

// match records a comparison.
func (s *sheet) match(name string, c comparison) {
	if c.class == "" {
		s.missing(name, c.missing, c.fields...)
	} else {
		s.set(name, c.class, c.fields...)
	}
	n := s.notes[name]
	n.stated, n.expected, n.explanation = c.stated, c.expected, c.explanation
	s.notes[name] = n
}

// verdict records what the VIN says of one stated field.
func (s *sheet) verdict(name string, checked *vin.Checked, field string, silent bool, fields ...*Field) {
	c, ok := checked.Check(field)
	class := guideline.Single
	switch {
	case !ok:
		s.missing(name, field+" is not stated", fields...)
		return
	case c.Verdict == vin.Agrees:
		class = guideline.Consistent
	case c.Verdict == vin.Variant:
		class = guideline.BenignVariant
	case c.Verdict == vin.Conflict:
		class = guideline.Conflict
	case !silent:
		s.missing(name, c.Note, fields...)
		s.decoded(name, checked, c)
		return
	}
	s.set(name, class, fields...)
	s.decoded(name, checked, c)
}

func (s *sheet) decoded(name string, checked *vin.Checked, c vin.FieldCheck) {
	n := s.notes[name]
	n.decode, n.stated, n.expected, n.explanation = checked, c.Stated, c.Decoded, c.Note
	s.notes[name] = n
}

// proves names the decode that a fact about the VIN itself rests on.
func (s *sheet) proves(name string, checked *vin.Checked, c vin.FieldCheck) {
	n := s.notes[name]
	n.decode, n.explanation = checked, c.Note
	s.notes[name] = n
}

func (s *sheet) number(name string, f *Field) {
	s.read(name, f, func(t string) (any, error) { return parseNumber(t) })
}

func (s *sheet) count(name string, f *Field) {
	s.read(name, f, func(t string) (any, error) { return parseInt(t) })
}

func (s *sheet) yesno(name string, f *Field) {
	s.read(name, f, func(t string) (any, error) { return parseBool(t) })
}

func (s *sheet) text(name string, f *Field) {
	s.read(name, f, func(t string) (any, error) { return t, nil })
}

// read records the value of a field, or why it has none. A field that isn't there stays missing by itself.
func (s *sheet) read(name string, f *Field, parse func(string) (any, error)) {
	if f == nil {
		return
	}
	v, err := parse(f.Value)
	if err != nil {
		s.missing(name, fmt.Sprintf("%s in %s: %v", f.Name, f.doc.Filename, err), f)
		return
	}
	s.set(name, v, f)
}
