package vin

import (
	"fmt"
	"slices"
	"strings"

	"bordereau/tools/vin/vpic"
)

// scratch is memory that decodes share one after the other.
type scratch struct{ passes [3]pass }

// Decode decodes one VIN. It answers any input: what isn't a VIN gets a code and a sentence.
func (d *Decoder) Decode(vin string, hint Hint) Result {
	c := clean(vin)
	r := Result{Input: vin, VIN: c.vin, Notes: c.notes, DataDate: d.data.Date, data: d.data, vehicle: -1}
	if c.refused {
		r.Codes = c.codes.list()
		return r
	}
	if c.vin == strings.Repeat(c.vin[:1], len(c.vin)) {
		r.Codes = append([]int{}, codeCharacters)
		r.Notes = append(r.Notes, "Not decoded: one character repeated is no VIN, even where the check digit happens to fit.")
		return r
	}
	r.WMI = wmiOf(c.vin)
	wmi := d.data.FindWMI(r.WMI)
	if wmi != nil && d.now.Unix()/86400 < int64(wmi.PublicSince) {
		wmi = nil
	}
	s, _ := d.pool.Get().(*scratch)
	if s == nil {
		s = &scratch{}
	}
	y := d.yearsOf(c.vin, wmi)
	passes := d.tryYears(s, c.vin, wmi, y, hint)
	slices.SortStableFunc(passes, func(a, b *pass) int { return comparePasses(a, b, hint.Year) })
	d.fill(&r, passes, y)
	d.pool.Put(s)
	return r
}

// tryYears runs a pass for each year that can be meant. A stated year that the VIN can't have is decoded alone, as NHTSA does, unless
// nothing is known of it.
func (d *Decoder) tryYears(s *scratch, vin string, wmi *vpic.WMI, y years, hint Hint) []*pass {
	passes := make([]*pass, 0, 3)
	try := func(year int, key string, hinted bool) *pass {
		p := &s.passes[len(passes)]
		p.reset(d, vin, wmi)
		p.year, p.yearKey, p.hinted = year, key, hinted
		p.run()
		passes = append(passes, p)
		return p
	}
	stated := hint.Year
	if stated < firstModelYear || stated > d.lastYear {
		stated = 0
	}
	if y.described {
		try(y.first, descriptorOf(vin), stated != 0 && stated != y.first)
		return passes
	}
	if stated != 0 && stated != y.first && stated != y.second {
		p := try(stated, fmt.Sprint(stated), true)
		if !p.codes.has(codeNoData) || y.first == 0 {
			return passes
		}
	}
	try(y.first, modelYearByVIN, stated != 0 && y.first != 0 && stated != y.first)
	if y.second != 0 {
		try(y.second, modelYearByVIN, stated != 0 && stated != y.second)
	}
	return passes
}

// comparePasses orders passes, the best first: the stated year if the data explains the VIN in that year, then the smaller sum of errors, then
// a known model, then the newer year. NHTSA counts weights of elements before the year, and the stated year last; that order favours old years
// where a data set lacks the elements of newer schemes, and lets a misread character move a vehicle by thirty years against its own document.
func comparePasses(a, b *pass, stated int) int {
	if x, y := a.settledBy(stated), b.settledBy(stated); x != y {
		return before(x)
	}
	if x, y := a.codes.weight(), b.codes.weight(); x != y {
		return y - x
	}
	if x, y := a.get(a.d.ids.model) != nil, b.get(b.d.ids.model) != nil; x != y {
		return before(x)
	}
	return b.year - a.year
}

func before(first bool) int {
	if first {
		return -1
	}
	return 1
}

// settledBy is true if the stated year is this pass's, the VIN allows it, and the data knows something of the vehicle in that year.
func (p *pass) settledBy(stated int) bool {
	return p.year == stated && stated != 0 && !p.hinted && !p.codes.has(codeNoData)
}

// fill moves the best pass into the result.
func (d *Decoder) fill(r *Result, passes []*pass, y years) {
	best := passes[0]
	r.Codes = best.codes.list()
	r.Conclusive = y.conclusive && y.first != 0
	r.SuggestedVIN, r.PossibleValues = best.suggested, best.possible
	r.check = best.check
	r.CheckDigit = CheckDigit(r.VIN)
	r.UnusedPositions = best.unused
	r.Suspicious = best.suspect
	r.additional, r.invalid = best.additional(y.conclusive), best.invalid
	r.year = best.year
	for i, p := range passes {
		c := Candidate{Year: p.year, Codes: p.codes.list(), Chosen: i == 0}
		if f := p.get(d.ids.make); f != nil {
			c.Make = f.text
		}
		if f := p.get(d.ids.model); f != nil {
			c.Model = f.text
		}
		if p.year != 0 {
			r.Candidates = append(r.Candidates, c)
		}
	}
	if best.wmi == nil && (best.codes.has(codeCharacters) || best.codes.has(codeIncomplete)) {
		// Nothing says that this is a VIN at all.
		r.year, r.Candidates, r.Conclusive = 0, nil, false
		r.Notes = append(r.Notes, fmt.Sprintf("Not decoded: no manufacturer %s is registered with NHTSA, and the rest isn't formed like a VIN.", r.WMI))
		return
	}
	d.fillElements(r, best)
	d.explain(r, best)
}

// fillElements lists the facts in the order of NHTSA's element ids.
func (d *Decoder) fillElements(r *Result, best *pass) {
	slices.Sort(best.filled)
	r.elements = make([]Element, 0, len(best.filled)+2)
	for _, e := range best.filled {
		f := &best.best[e]
		element := d.element(e, f)
		for i := range best.more {
			if m := &best.more[i]; m.element == e && m.text != "" && !strings.Contains(element.Value, m.text) {
				element.Value += "; " + m.text
			}
		}
		if element.Value != "" {
			r.elements = append(r.elements, element)
		}
	}
	if f := best.get(d.ids.gvwr); f != nil && f.source != SourceDefault {
		r.gvwr = weightRange(f.id)
		if to := best.get(d.ids.gvwrTo); to != nil && to.source != SourceDefault {
			r.gvwr = r.gvwr.joined(weightRange(to.id))
		}
	}
	if best.wmi != nil {
		r.vehicle = best.wmi.Type
	}
}

func (d *Decoder) element(e int32, f *found) Element {
	out := Element{Name: d.data.Elements[e].Code, Value: f.text, Source: f.source, Key: f.keyText, id: f.id}
	if f.key >= 0 {
		out.Key = d.data.Keys.Text[f.key]
	}
	if f.schema >= 0 {
		out.Schema = d.data.Schemas[f.schema].Name
	}
	return out
}

// explain adds sentences for a person.
func (d *Decoder) explain(r *Result, best *pass) {
	note := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	if best.codes.has(codeWMI) {
		note("The manufacturer's code %s is not registered with NHTSA; the year is read from position 10 only.", r.WMI)
	} else if best.codes.has(codeNoData) {
		note("No scheme of %s explains these characters in model year %d; make and type come from the manufacturer's code alone.", r.WMI, best.year)
	}
	if best.check == checkWrong {
		note("Position 9 holds %c; the other characters require %c.", r.VIN[8], r.CheckDigit)
	}
	if best.unexplained != "" {
		note("The loaded data doesn't know the characters at %s; it lacks some of NHTSA's elements, and the check digit is right.", best.unexplained)
	}
	if best.suspect {
		note("Characters stand at positions where no scheme of this manufacturer for model year %d allows them: a misreading or an invention.", best.year)
	}
	if !r.Conclusive && len(r.Candidates) > 1 {
		note("The year code stands for %d and %d; %d was taken.", min(r.Candidates[0].Year, r.Candidates[1].Year), max(r.Candidates[0].Year, r.Candidates[1].Year), best.year)
	}
}
