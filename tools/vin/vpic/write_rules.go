package vpic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// rules writes the small tables: defaults, descriptors, exceptions, conversions, error texts.
func (b *build) rules(w *writer) {
	var defaults []DefaultRow
	for _, d := range b.t.Defaults {
		if _, ok := b.elementAt[d.Element]; ok && d.Value != "" {
			defaults = append(defaults, d)
		}
	}
	slices.SortFunc(defaults, func(x, y DefaultRow) int {
		return cmp.Or(cmp.Compare(x.Type, y.Type), cmp.Compare(x.Element, y.Element))
	})
	w.uint(len(defaults))
	for _, d := range defaults {
		w.uint(int(d.Type))
		w.uint(b.elementAt[d.Element])
		w.text(d.Value)
	}
	w.uint(len(b.t.Descriptors))
	for _, d := range b.t.Descriptors {
		w.text(d.Descriptor)
		w.uint(int(d.Year))
	}
	w.uint(len(b.t.Exceptions))
	for _, v := range b.t.Exceptions {
		w.text(v)
	}
	conversions := slices.Clone(b.t.Conversions)
	slices.SortFunc(conversions, func(x, y ConversionRow) int { return cmp.Compare(x.ID, y.ID) })
	w.uint(len(conversions))
	for _, c := range conversions {
		factor, divide, err := formula(c.Formula)
		if err != nil {
			b.err = err
			return
		}
		w.uint(int(c.ID))
		w.uint(int(c.From))
		w.uint(int(c.To))
		w.text(factor)
		w.bool(divide)
	}
	w.uint(len(b.t.ErrorCodes))
	for _, e := range b.t.ErrorCodes {
		w.uint(int(e.ID))
		w.text(strings.TrimSpace(e.Text))
		w.text(e.Additional)
		w.int(int(e.Weight))
	}
}

// formula reads "#x# * 1000" and "#x# / 16.387064", the only two forms that NHTSA uses.
func formula(s string) (factor string, divide bool, err error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "#x#")
	rest = strings.TrimSpace(rest)
	if !ok || len(rest) < 2 || rest[0] != '*' && rest[0] != '/' || strings.Trim(strings.TrimSpace(rest[1:]), "0123456789.") != "" {
		return "", false, fmt.Errorf("the conversion %q has an unknown form", s)
	}
	return strings.TrimSpace(rest[1:]), rest[0] == '/', nil
}

// engines writes what each engine model implies. Engines of the same name are joined, as NHTSA joins them by name.
func (b *build) engines(w *writer) {
	facts := map[int32][]EngineFactRow{}
	for _, f := range b.t.EngineFacts {
		if _, ok := b.elementAt[f.Element]; ok {
			facts[f.Engine] = append(facts[f.Engine], f)
		}
	}
	byName := map[string][]EngineFactRow{}
	for _, e := range b.t.Engines {
		name := EngineName(e.Text)
		byName[name] = append(byName[name], facts[e.ID]...)
	}
	var names []string
	for n, list := range byName {
		if len(list) > 0 {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	w.uint(len(names))
	for _, n := range names {
		list := byName[n]
		// Newest first: the first fact of an element wins.
		slices.SortStableFunc(list, func(x, y EngineFactRow) int { return cmp.Compare(y.Changed, x.Changed) })
		w.text(n)
		w.uint(len(list))
		for _, f := range list {
			w.uint(b.elementAt[f.Element])
			w.text(f.Value)
		}
	}
}

// EngineName is the form in which engine models are compared.
func EngineName(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// specs writes the sheets of facts about models.
func (b *build) specs(w *writer) {
	schemas := map[int32]SpecSchemaRow{}
	for _, s := range b.t.SpecSchemas {
		if !s.Unready {
			schemas[s.ID] = s
		}
	}
	models, years := groupPairs(b.t.SpecModels), groupPairs(b.t.SpecYears)
	facts := map[int32][]SpecFactRow{}
	for _, f := range b.t.SpecFacts {
		if _, ok := b.elementAt[f.Element]; ok {
			facts[f.Sheet] = append(facts[f.Sheet], f)
		}
	}
	type sheet struct{ id, schema int32 }
	var sheets []sheet
	for _, p := range b.t.SpecSheets {
		// A sheet without keys or without a model applies to nothing.
		hasKey := slices.ContainsFunc(facts[p.A], func(f SpecFactRow) bool { return f.Key })
		if _, ok := schemas[p.B]; ok && hasKey && len(models[p.B]) > 0 {
			sheets = append(sheets, sheet{p.A, p.B})
		}
	}
	slices.SortFunc(sheets, func(x, y sheet) int { return cmp.Or(cmp.Compare(x.schema, y.schema), cmp.Compare(x.id, y.id)) })
	w.uint(len(sheets))
	for _, s := range sheets {
		schema := schemas[s.schema]
		w.uint(int(s.id))
		w.uint(int(s.schema))
		w.uint(int(schema.Make))
		w.uint(int(schema.Type))
		for _, list := range [][]int32{models[s.schema], years[s.schema]} {
			w.uint(len(list))
			for _, id := range list {
				w.uint(int(id))
			}
		}
		list := facts[s.id]
		slices.SortStableFunc(list, func(x, y SpecFactRow) int { return cmp.Compare(x.Element, y.Element) })
		w.uint(len(list))
		for _, f := range list {
			w.uint(b.elementAt[f.Element]*2 + boolInt(f.Key))
			w.text(f.Value)
			w.uint(int(max(0, f.Changed)))
		}
	}
}

func groupPairs(pairs []Pair) map[int32][]int32 {
	out := map[int32][]int32{}
	for _, p := range pairs {
		out[p.A] = append(out[p.A], p.B)
	}
	for k := range out {
		slices.Sort(out[k])
	}
	return out
}
