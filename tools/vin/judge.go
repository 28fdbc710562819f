package vin

import (
	"fmt"
	"strings"

	"bordereau/tools/vin/vpic"
)

// judge finds the error codes of a pass, the corrected VIN and the defaults, in NHTSA's order of steps.
func (p *pass) judge() {
	light := p.wmi != nil && p.wmi.Light() && (len(p.vin) <= 2 || p.vin[2] != '9')
	if p.wmi != nil {
		if p.anyPattern() {
			p.correct(light)
			p.findUnused()
		} else {
			p.codes.add(codeNoData)
		}
	}
	body := int32(-1)
	if f := p.get(p.d.ids.body); f != nil {
		body = f.id
	}
	offRoad := offRoadBody(body)
	if body == bodyGlider {
		p.codes.add(codeGlider)
	}
	if offRoad {
		p.codes.add(codeOffRoad)
	}
	if p.year == 0 {
		p.codes.add(codeYear)
	}
	excused := p.d.data.Exceptions[p.vin]
	p.checkCharacters(digitsFrom(p.vin, light), offRoad || excused)
	if p.hinted {
		p.codes.add(codeHint)
	}
	p.addDefaults()
	if len(p.vin) < vinLength {
		p.codes.add(codeIncomplete)
	} else {
		p.checkDigit(light, excused)
	}
	p.finish()
}

// anyPattern is true if the data explains anything beyond the manufacturer's code.
func (p *pass) anyPattern() bool {
	for _, e := range p.filled {
		if f := &p.best[e]; f.fromPattern() || f.source == SourceSpecs {
			return true
		}
	}
	return false
}

// correct looks for characters that no key of that manufacturer and year allows: codes 2 to 5.
func (p *pass) correct(light bool) {
	if p.year == 0 {
		return
	}
	sets := p.d.charsOf(p.wmi, p.year)
	if sets == nil {
		return
	}
	last := 14
	if len(p.wmi.Code) == 6 {
		last = 11
	}
	wrong := []byte(p.vin)
	var replacements strings.Builder
	errors, at := 0, 0
	for i := 4; i <= min(last, len(p.vin)); i++ {
		set := sets[i-4]
		if i == 9 || i == 10 || set == 0 || set&vpic.Bit(p.vin[i-1]) != 0 {
			continue
		}
		fmt.Fprintf(&replacements, "(%d:%s)", i, vpic.Chars(set))
		wrong[i-1] = '!'
		errors++
		at = i
	}
	switch {
	case errors == 0:
		return
	case p.mayLackKeys(errors, at, light):
		p.unexplained = replacements.String()
		return
	case errors > 1:
		p.codes.add(codeSomeWrong)
		p.suggested, p.possible = string(wrong), replacements.String()
	default:
		p.correctOne(at, vpic.Chars(sets[at-4]), string(wrong))
	}
	p.suspect = true
}

// mayLackKeys is true if wrong characters are more likely a gap of a reduced data set than of the VIN: the check digit is right, and either
// the vehicle is a light one, whose keys for belts, air bags and trims such a set lacks, or a single position of a known model is concerned.
func (p *pass) mayLackKeys(wrong int, at int, light bool) bool {
	if p.d.data.Complete || !checkable(p.vin, light) || CheckDigit(p.vin) != p.vin[8] {
		return false
	}
	return light || wrong == 1 && at <= 8 && p.get(p.d.ids.model) != nil
}

// correctOne tries the characters that are possible at the only wrong position.
func (p *pass) correctOne(at int, possible, marked string) {
	with := func(c byte) string { return p.vin[:at-1] + string(c) + p.vin[at:] }
	if len(possible) == 1 {
		p.codes.add(codeCorrected)
		p.suggested, p.possible = with(possible[0]), fmt.Sprintf("(%d:%s)", at, possible)
		return
	}
	var good []byte
	for i := range len(possible) {
		// NHTSA tests the correction with its stricter function, in which position 13 and 14 are digits for everybody but small manufacturers.
		if v := with(possible[i]); len(v) == vinLength && checkable(v, true) && CheckDigit(v) == v[8] {
			good = append(good, possible[i])
		}
	}
	if len(good) == 1 {
		p.codes.add(codeByCheck)
		p.suggested, p.possible = with(good[0]), fmt.Sprintf("(%d:%c)", at, good[0])
		return
	}
	p.codes.add(codeOneWrong)
	p.suggested, p.possible = marked, fmt.Sprintf("(%d:%s)", at, possible)
}

// findUnused lists the positions among 4 to 8 and 11 that no winning pattern reads. The keys of elements that a reduced data set lacks
// would read some of them, so there the list becomes code 14 only if something else is wrong with the decode too.
func (p *pass) findUnused() {
	var used [14]bool
	mark := func(key int32) {
		if key < 0 {
			return
		}
		for i, s := range p.d.data.Keys.Of(uint32(key)) {
			// A formula's # stands for a digit that was read.
			if i < len(used) && s != vpic.Any {
				used[i] = true
			}
		}
	}
	for _, e := range p.filled {
		if f := &p.best[e]; f.source != SourceConversion {
			mark(f.key)
		}
	}
	for i := range p.more {
		mark(p.more[i].key)
	}
	for _, position := range [...]int{4, 5, 6, 7, 8, 11} {
		if position <= len(p.vin) && !used[position-4] {
			p.unused = append(p.unused, position)
		}
	}
	if len(p.unused) == 0 {
		return
	}
	if p.d.data.Complete || p.suspect || p.get(p.d.ids.model) == nil {
		p.codes.add(codeUnused)
	}
}

// checkCharacters finds characters that may not stand where they do: code 400.
func (p *pass) checkCharacters(digits int, skipCheckDigit bool) {
	var invalid strings.Builder
	for i := range len(p.vin) {
		if i == 8 && skipCheckDigit || legal(i+1, p.vin[i], digits) {
			continue
		}
		if p.suggested == "" {
			p.suggested = p.vin
		}
		fmt.Fprintf(&invalid, ", %d:%c", i+1, p.vin[i])
		if i < len(p.suggested) {
			p.suggested = p.suggested[:i] + "!" + p.suggested[i+1:]
		}
	}
	if invalid.Len() > 0 {
		p.codes.add(codeCharacters)
		p.invalid = invalid.String()[2:]
	}
}

// checkDigit compares position 9: code 1.
func (p *pass) checkDigit(light, excused bool) {
	if checkable(p.vin, light) {
		if CheckDigit(p.vin) == p.vin[8] {
			p.check = checkRight
			return
		}
		p.check = checkWrong
	}
	if !excused {
		p.codes.add(codeCheckDigit)
	} else {
		p.check = checkRight
	}
}

// finish adds code 0 for a clean decode, which may stand with 14, 9, 10 and 12.
func (p *pass) finish() {
	rest := p.codes &^ (codeBit(codeGlider) | codeBit(codeOffRoad) | codeBit(codeHint) | codeBit(codeUnused))
	if rest != 0 {
		return
	}
	p.codes.add(codeClean)
	if p.get(p.d.ids.model) == nil {
		p.codes.add(codeUnused)
	}
}

// additional is NHTSA's further explanation.
func (p *pass) additional(conclusive bool) string {
	var parts []string
	if p.codes.has(codeOneWrong) {
		parts = append(parts, additionalOneWrong)
	}
	if p.codes.has(codeSomeWrong) {
		parts = append(parts, additionalSomeWrong)
	}
	if p.codes.has(codeUnused) && len(p.unused) > 0 {
		parts = append(parts, "Unused position(s): "+joinInts(p.unused)+".")
	}
	if p.invalid != "" {
		parts = append(parts, "Invalid character(s): "+p.invalid+".")
	}
	body := p.get(p.d.ids.body)
	if p.wmi != nil && p.wmi.Type == vpic.TypeIncomplete || body != nil && incompleteBody(body.id) {
		parts = append(parts, additionalIncomplete)
	}
	if !conclusive {
		parts = append(parts, additionalYear)
	}
	text := strings.Join(parts, " ")
	return text[:min(500, len(text))]
}

func joinInts(list []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ",")
}
