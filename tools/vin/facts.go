package vin

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"bordereau/tools/vin/vpic"
)

// makeAndMaker adds the facts that come from the manufacturer's code, and the make, which the model decides if there is one.
func (p *pass) makeAndMaker() {
	data, ids := p.d.data, p.d.ids
	wmi := func(id int32, text string) found {
		return found{source: SourceWMI, priority: priorityFormula, key: -1, schema: -1, id: id, text: text, keyText: p.wmi.Code}
	}
	if name, ok := data.Lookup("vehicletype", p.wmi.Type); ok {
		p.put(ids.vehicle, wmi(p.wmi.Type, strings.ToUpper(name)))
	}
	if p.wmi.Maker >= 0 {
		m := data.Makers[p.wmi.Maker]
		p.put(ids.maker, wmi(m.ID, strings.ToUpper(m.Text)))
	}
	if p.year != 0 {
		p.put(ids.year, found{source: SourceYear, priority: priorityFormula, key: -1, schema: -1, id: -1, text: strconv.Itoa(p.year), keyText: p.yearKey})
	}
	if model := p.get(ids.model); model != nil {
		if i, ok := data.MakeOfModel(model.id); ok {
			p.put(ids.make, found{source: SourceModelMake, key: model.key, schema: model.schema, group: model.group, id: data.Makes[i].ID, text: strings.ToUpper(data.Makes[i].Text)})
		}
		return
	}
	// A code that several makes share tells none.
	if makes := data.MakesOf(p.wmi); len(makes) == 1 {
		m := data.Makes[makes[0]]
		p.put(ids.make, wmi(m.ID, strings.ToUpper(m.Text)))
	}
}

// convert computes displacements from one another where the data gives only one.
func (p *pass) convert() {
	n := len(p.filled)
	for i, c := range p.d.data.Conversions {
		to := p.d.data.ElementIndex(c.To)
		from := p.d.data.ElementIndex(c.From)
		if to < 0 || from < 0 || p.set[to] || !p.set[from] || !contains(p.filled[:n], from) {
			continue
		}
		f := p.best[from]
		value := p.d.converted(f.text, i, c)
		p.put(to, found{source: SourceConversion, priority: priorityFormula, key: f.key, schema: f.schema, group: f.group, id: -1, text: value})
	}
}

// conversion is one value that was converted.
type conversion struct {
	text string
	rule int // in the data set's conversions
}

// maxConverted bounds what is remembered; the data set has some hundred displacements.
const maxConverted = 10_000

// converted calculates, or remembers: exact decimals are slow, and the same few displacements come again and again.
func (d *Decoder) converted(text string, rule int, c vpic.Conversion) string {
	known := conversion{text, rule}
	if v, ok := d.conversions.Load(known); ok {
		return v.(string) //nolint:forcetypeassert // nothing else is stored
	}
	value, ok := calculate(text, c)
	if !ok {
		value = "0" // as NHTSA does when the arithmetic fails
	}
	if d.remembered.Add(1) <= maxConverted {
		d.conversions.Store(known, value)
	}
	return value
}

func contains(list []int32, n int32) bool {
	return slices.Contains(list, n)
}

// calculate multiplies or divides as NHTSA's database does with decimals: a product keeps all decimal places, a quotient has as many as the
// dividend plus the divisor's digits plus one, at least six, and is cut off there, not rounded.
func calculate(x string, c vpic.Conversion) (string, bool) {
	x = strings.TrimSpace(x)
	a, ok := new(big.Rat).SetString(x)
	b, ok2 := new(big.Rat).SetString(strings.TrimSuffix(c.Factor, "."))
	if !ok || !ok2 || len(x) > 20 || strings.ContainsAny(x, "eE/_xX") {
		return "", false
	}
	places := decimals(x)
	if c.Divide {
		digits := len(strings.TrimLeft(strings.Replace(c.Factor, ".", "", 1), "0"))
		if strings.HasPrefix(c.Factor, "0.") {
			digits = decimals(c.Factor)
		}
		return quotient(a, b, max(6, places+digits+1))
	}
	return new(big.Rat).Mul(a, b).FloatString(places + decimals(c.Factor)), true
}

// quotient divides and cuts off after that many places.
func quotient(a, b *big.Rat, places int) (string, bool) {
	if b.Sign() == 0 {
		return "", false
	}
	q := new(big.Rat).Quo(a, b)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	whole := new(big.Int).Quo(new(big.Int).Mul(q.Num(), scale), q.Denom())
	return new(big.Rat).SetFrac(whole, scale).FloatString(places), true
}

func decimals(s string) int {
	_, after, _ := strings.Cut(s, ".")
	return len(after)
}

// specs adds the facts of the model's sheets whose conditions hold. The newest fact of an element wins.
func (p *pass) specs() {
	model, ids := p.get(p.d.ids.model), p.d.ids
	if model == nil || model.id < 0 {
		return
	}
	sheets := p.d.data.Specs[model.id]
	if len(sheets) == 0 {
		return
	}
	newest := map[int32]vpic.SpecFact{}
	sheetOf := map[int32]int32{}
	for i := range sheets {
		s := &sheets[i]
		if s.Type != p.wmi.Type || !p.makesInclude(s.Make) || s.Years != nil && !contains(s.Years, int32(p.year)) || !p.holds(s.Keys) {
			continue
		}
		for _, f := range s.Facts {
			if p.set[f.Element] && !ids.fillable[f.Element] {
				continue
			}
			if old, ok := newest[f.Element]; !ok || f.Changed > old.Changed {
				newest[f.Element] = f
				sheetOf[f.Element] = s.ID
			}
		}
	}
	for e := range int32(len(p.d.data.Elements)) {
		f, ok := newest[e]
		if !ok {
			continue
		}
		fact := found{
			source: SourceSpecs, priority: -100, key: -1, schema: -1, id: f.Attribute.ID, text: f.Attribute.Text,
			keyText: "sheet " + strconv.Itoa(int(sheetOf[e])),
		}
		if p.set[e] {
			p.more = append(p.more, multiple{e, fact})
			continue
		}
		p.put(e, fact)
	}
}

// makesInclude is true if the manufacturer's code is used by that make.
func (p *pass) makesInclude(id int32) bool {
	for _, i := range p.d.data.MakesOf(p.wmi) {
		if p.d.data.Makes[i].ID == id {
			return true
		}
	}
	return false
}

// holds is true if every condition is a decoded fact.
func (p *pass) holds(keys []vpic.SpecFact) bool {
	for _, k := range keys {
		f := p.get(k.Element)
		if f == nil {
			return false
		}
		if k.Attribute.ID >= 0 && f.id >= 0 {
			if k.Attribute.ID != f.id {
				return false
			}
		} else if !strings.EqualFold(k.Attribute.Text, f.text) {
			return false
		}
	}
	return true
}

// addDefaults adds what vehicles of that type have unless told otherwise. An element that this data set lacks gets its default only where
// it says that the type can't have it: anything else would pass for a decode.
func (p *pass) addDefaults() {
	if p.wmi == nil {
		return
	}
	for _, def := range p.d.data.Defaults[p.wmi.Type] {
		if p.set[def.Element] {
			continue
		}
		e := &p.d.data.Elements[def.Element]
		f := found{source: SourceDefault, priority: 10, key: -1, schema: -1, id: -1, text: def.Value}
		if e.Lookup != "" || e.Type == "lookup" {
			if def.Value == "0" {
				f.text = notApplicable
			} else if id, err := strconv.ParseInt(def.Value, 10, 32); err == nil && e.Present {
				f.id = int32(id)
				f.text, _ = p.d.data.Lookup(e.Lookup, f.id)
			} else {
				continue
			}
		} else if !e.Present {
			continue
		}
		p.put(def.Element, f)
	}
}
