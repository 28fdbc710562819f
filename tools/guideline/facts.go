package guideline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Facts is what is known of one entity and its submission. A fact that nobody set is missing. Not safe for concurrent use.
type Facts struct {
	vocab    *Vocabulary
	values   []ref.Val
	why      map[int]string
	params   map[string]ref.Val
	unknowns []ref.Val
}

// NewFacts returns facts of which none is known.
func (g *Guideline) NewFacts() *Facts {
	f := &Facts{
		vocab: g.vocab, values: make([]ref.Val, len(g.vocab.names)), why: map[int]string{},
		params: map[string]ref.Val{}, unknowns: make([]ref.Val, len(g.vocab.names)),
	}
	for i, n := range g.vocab.names {
		f.unknowns[i] = types.NewUnknown(int64(i+1), types.NewAttributeTrail(n.Name))
	}
	for _, p := range g.Parameters {
		f.params["param."+p.Name] = types.DefaultTypeAdapter.NativeToValue(p.Value)
	}
	return f
}

// Clear forgets every fact.
func (f *Facts) Clear() {
	clear(f.values)
	clear(f.why)
}

// ClearScope forgets the facts of one scope, so that the next entity of the same submission can be described.
func (f *Facts) ClearScope(s Scope) {
	for i, n := range f.vocab.names {
		if n.Scope == s {
			f.values[i] = nil
			delete(f.why, i)
		}
	}
}

// Set says that a fact is known. It fails on a name or a type that the vocabulary doesn't have.
func (f *Facts) Set(name string, value any) error {
	i, ok := f.vocab.index[name]
	if !ok {
		return fmt.Errorf("guideline: no fact is called %q", name)
	}
	var v ref.Val
	kind := f.vocab.names[i].Kind
	switch t := value.(type) {
	case int:
		v = types.Int(t)
		if kind == Double {
			v = types.Double(t)
		} else {
			ok = kind == Int
		}
	case float64:
		v, ok = types.Double(t), kind == Double
	case bool:
		v, ok = types.Bool(t), kind == Bool
	case string:
		v, ok = types.String(t), kind == String || kind == Class
	case []string:
		v, ok = types.DefaultTypeAdapter.NativeToValue(t), kind == List
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("guideline: the fact %s is of type %s, not %T", name, kind, value)
	}
	f.values[i] = v
	delete(f.why, i)
	return nil
}

// Missing says that a fact can't be told, and why.
func (f *Facts) Missing(name, why string) error {
	i, ok := f.vocab.index[name]
	if !ok {
		return fmt.Errorf("guideline: no fact is called %q", name)
	}
	f.values[i] = nil
	f.why[i] = why
	return nil
}

// Why returns the reason given for a missing fact, or a general one.
func (f *Facts) Why(name string) string {
	i, ok := f.vocab.index[name]
	if !ok {
		return name
	}
	if w := f.why[i]; w != "" {
		return w
	}
	meaning := f.vocab.names[i].Meaning
	if end := strings.IndexAny(meaning, ":,;("); end > 0 {
		meaning = strings.TrimSpace(meaning[:end])
	}
	return meaning + " is not stated"
}

// Text returns a fact or parameter as a person would write it, "" when it is missing.
func (f *Facts) Text(name string) string {
	if v, ok := f.params[name]; ok {
		return displayVal(v)
	}
	i, ok := f.vocab.index[name]
	if !ok || f.values[i] == nil {
		return ""
	}
	return f.vocab.names[i].Unit.write(displayVal(f.values[i]))
}

// ResolveName gives CEL a fact, a parameter, or the mark of a missing fact.
func (f *Facts) ResolveName(name string) (any, bool) {
	if i, ok := f.vocab.index[name]; ok {
		if v := f.values[i]; v != nil {
			return v, true
		}
		return f.unknowns[i], true
	}
	v, ok := f.params[name]
	return v, ok
}

// Parent returns nil: there is nothing behind the facts.
func (f *Facts) Parent() cel.Activation { return nil }

func displayVal(v ref.Val) string {
	if list, err := v.ConvertToNative(reflectStrings); err == nil {
		if s, ok := list.([]string); ok {
			return display(s)
		}
	}
	return display(v.Value())
}

// display writes a value for a sentence: thousands separated, lists with commas.
func display(value any) string {
	switch v := value.(type) {
	case []string:
		s := slices.Clone(v)
		return strings.Join(s, ", ")
	case int64:
		return thousands(strconv.FormatInt(v, 10))
	case float64:
		s := strconv.FormatFloat(v, 'f', 2, 64)
		return thousands(strings.TrimSuffix(strings.TrimRight(s, "0"), "."))
	case bool:
		if v {
			return "yes"
		}
		return "no"
	default:
		return fmt.Sprint(v)
	}
}

func thousands(s string) string {
	sign, rest := "", s
	if strings.HasPrefix(s, "-") {
		sign, rest = "-", s[1:]
	}
	whole, frac, _ := strings.Cut(rest, ".")
	if len(whole) > 3 {
		var b strings.Builder
		for i, c := range whole {
			if i > 0 && (len(whole)-i)%3 == 0 {
				b.WriteByte(',')
			}
			b.WriteRune(c)
		}
		whole = b.String()
	}
	if frac != "" {
		whole += "." + frac
	}
	return sign + whole
}
