package vin

import (
	"slices"
	"sync/atomic"

	"bordereau/tools/vin/vpic"
)

// charSets are the characters that a manufacturer's keys allow at positions 4 to 14 in some years; 0 means anything.
type charSets [11]uint64

// charCache keeps what charsOf found. It grows with the data set's manufacturers and their spans of years only, never with the input.
type charCache struct {
	byWMI []atomic.Pointer[charSpans]
}

// charSpans cuts the years at every change of a manufacturer's schemes.
type charSpans struct {
	starts []int
	sets   []atomic.Pointer[charSets]
}

func newCharCache(wmis int) charCache {
	return charCache{byWMI: make([]atomic.Pointer[charSpans], wmis)}
}

// charsOf returns the characters that are allowed in that year, nil if there is no schema.
func (d *Decoder) charsOf(wmi *vpic.WMI, year int) *charSets {
	i, ok := d.data.IndexOfWMI(wmi.Code)
	if !ok {
		return nil
	}
	spans := d.chars.byWMI[i].Load()
	if spans == nil {
		spans = d.spansOf(wmi)
		d.chars.byWMI[i].Store(spans)
	}
	n, exact := slices.BinarySearch(spans.starts, year)
	if !exact {
		n--
	}
	if n < 0 {
		return nil
	}
	sets := spans.sets[n].Load()
	if sets == nil {
		sets = d.collectChars(wmi, year)
		spans.sets[n].Store(sets)
	}
	return sets
}

func (d *Decoder) spansOf(wmi *vpic.WMI) *charSpans {
	var starts []int
	for _, l := range d.data.LinksOf(wmi) {
		if l.From <= l.To {
			starts = append(starts, int(l.From), int(l.To)+1)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	return &charSpans{starts: starts, sets: make([]atomic.Pointer[charSets], len(starts))}
}

// collectChars joins the keys of all schemas of the year, also of those that NHTSA has yet to check.
func (d *Decoder) collectChars(wmi *vpic.WMI, year int) *charSets {
	var sets charSets
	// A range in a key may span letters that no VIN holds.
	inVIN := ^(vpic.Bit('I') | vpic.Bit('O') | vpic.Bit('Q'))
	for _, l := range d.data.LinksOf(wmi) {
		if year < int(l.From) || year > int(l.To) {
			continue
		}
		for _, g := range d.data.GroupsOf(l.Schema) {
			key := d.data.Keys.Of(g.Key)
			for i := range min(len(key), len(sets)) {
				if i == 5 || key[i] == vpic.Any {
					continue // the bar in the key's place of position 9, or a wildcard
				}
				sets[i] |= key[i] & inVIN
			}
			if d.data.Keys.Formula[g.Key] {
				d.addDigits(&sets, g.Key)
			}
		}
	}
	return &sets
}

// addDigits lets digits stand where a formula reads them.
func (d *Decoder) addDigits(sets *charSets, key uint32) {
	text := d.data.Keys.Text[key]
	for i := range min(len(text), len(sets)) {
		if text[i] == '#' {
			sets[i] |= 1<<10 - 1
		}
	}
}
