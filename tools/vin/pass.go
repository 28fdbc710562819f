package vin

import (
	"bordereau/tools/vin/vpic"
)

// elementIDs are the indices in the data set of the elements with a part of their own, -1 if the data set lacks one.
type elementIDs struct {
	body, engine, gvwr, gvwrTo, make, maker, model, year, vehicle int32
	multi                                                         [256]bool
	fillable                                                      [256]bool
}

// newElementIDs finds them.
func newElementIDs(data *vpic.DataSet) elementIDs {
	at := data.ElementIndex
	ids := elementIDs{
		body: at(vpic.ElementBodyClass), engine: at(vpic.ElementEngineModel), gvwr: at(vpic.ElementGVWR), gvwrTo: at(vpic.ElementGVWRTo), make: at(vpic.ElementMake),
		maker: at(vpic.ElementManufacturer), model: at(vpic.ElementModel), year: at(vpic.ElementModelYear), vehicle: at(vpic.ElementVehicleType),
	}
	// Notes and the like may hold several values.
	for _, id := range []int32{114, 121, 129, 150, 154, 155, 169, 186} {
		if i := at(id); i >= 0 {
			ids.multi[i] = true
			ids.fillable[i] = true
		}
	}
	if i := at(1); i >= 0 {
		ids.fillable[i] = true
	}
	return ids
}

const (
	priorityFormula = 100
	priorityEngine  = 50
)

// found is a fact while a pass is on.
type found struct {
	source   Source
	priority int32
	rank     uint32
	key      int32 // index of the pattern's key, -1 if none
	schema   int32 // index of the schema, -1 if none
	id       int32 // NHTSA's id of the value, -1 if none
	text     string
	keyText  string // shown instead of the key
	group    uint32
}

// fromPattern is true for facts that a key of a schema gave.
func (f *found) fromPattern() bool { return f.key >= 0 }

// pass decodes a VIN for one year.
type pass struct {
	d    *Decoder
	vin  string
	wmi  *vpic.WMI
	year int
	// yearKey is where the year came from: the VIN, its descriptor or the caller.
	yearKey string
	hinted  bool

	key     [14]uint64 // positions 4-8, a bar, positions 10-17, as sets of one character
	keyLen  int
	keyText [14]byte

	best   []found // by element index
	set    []bool
	filled []int32 // elements in the order in which they were found
	more   []multiple

	codes     codeSet
	suggested string
	possible  string
	unused    []int
	invalid   string
	check     checkState
	suspect   bool
	// unexplained are positions whose characters the reduced data set doesn't know, though they may well be right.
	unexplained string
}

// multiple is a further value of an element that may have several.
type multiple struct {
	element int32
	found
}

// reset prepares a pass, reusing its memory.
func (p *pass) reset(d *Decoder, vin string, wmi *vpic.WMI) {
	n := len(d.data.Elements)
	best, set, filled, more := p.best, p.set, p.filled[:0], p.more[:0]
	if cap(best) < n {
		best, set = make([]found, n), make([]bool, n)
	}
	clear(set)
	*p = pass{d: d, vin: vin, wmi: wmi, best: best[:n], set: set[:n], filled: filled, more: more}
	if len(vin) > 3 {
		for i := 3; i < min(8, len(vin)); i++ {
			p.keyText[p.keyLen] = vin[i]
			p.keyLen++
		}
		if len(vin) > 9 {
			p.keyText[p.keyLen] = '|'
			p.keyLen++
			for i := 9; i < min(vinLength, len(vin)); i++ {
				p.keyText[p.keyLen] = vin[i]
				p.keyLen++
			}
		}
	}
	for i := range p.keyLen {
		p.key[i] = vpic.Bit(p.keyText[i])
	}
}

// run decodes for the year; 0 means that the VIN tells no year, and every schema counts.
func (p *pass) run() {
	if p.wmi == nil {
		p.codes.add(codeWMI)
	} else {
		p.match()
		p.engineFacts()
		p.makeAndMaker()
		p.convert()
		p.specs()
	}
	p.judge()
}

// match compares the VIN with every key of the manufacturer's schemas of that year.
func (p *pass) match() {
	data := p.d.data
	for _, l := range data.LinksOf(p.wmi) {
		if p.year != 0 && (p.year < int(l.From) || p.year > int(l.To)) || data.Schemas[l.Schema].Unready {
			continue
		}
		from, to := data.GroupRange(l.Schema)
		for g := from; g < to; g++ {
			key := data.Groups[g].Key
			if p.matches(data.Keys.Of(key)) {
				p.take(g, key, l)
			} else if data.Keys.Formula[key] {
				p.formula(g, key, l)
			}
		}
	}
}

// matches is true if the key's sets hold the VIN's characters; what follows the key is free.
func (p *pass) matches(sets []uint64) bool {
	if len(sets) > p.keyLen {
		return false
	}
	for i, s := range sets {
		if s&p.key[i] == 0 {
			return false
		}
	}
	return true
}

// take offers the rows of a key that matched.
func (p *pass) take(g, key uint32, l vpic.Link) {
	data := p.d.data
	for r := data.Groups[g].Row; r < data.RowEnd(g); r++ {
		e := int32(data.Rows.Element[r])
		// Most rows lose; look before building the fact.
		if p.set[e] && !p.d.ids.multi[e] {
			if b := &p.best[e]; !outranks(data, int32(l.From), data.Rows.Rank[r], int32(key), b) {
				continue
			}
		}
		a := &data.Attributes[e][data.Rows.Attribute[r]]
		p.offer(e, found{source: SourcePattern, priority: int32(l.From), rank: data.Rows.Rank[r], key: int32(key), schema: l.Schema, id: a.ID, text: a.Text, group: g})
	}
}

// formula reads a value out of the VIN itself: digits stand at each # of the key.
func (p *pass) formula(g, key uint32, l vpic.Link) {
	data := p.d.data
	text := data.Keys.Text[key]
	if len(text) > p.keyLen {
		return
	}
	first, last := -1, -1
	for i := range len(text) {
		c := p.keyText[i]
		switch {
		case text[i] == '#':
			if !digit(c) {
				return
			}
			if first < 0 {
				first = i
			}
			last = i
		case text[i] == '*' || text[i] == '_':
		case digit(c), text[i] != c:
			// NHTSA replaces every digit of the VIN by # first, so a digit in the key never matches.
			return
		}
	}
	if first < 0 {
		return
	}
	for r := data.Groups[g].Row; r < data.RowEnd(g); r++ {
		e := int32(data.Rows.Element[r])
		p.offer(e, found{
			source: SourceFormula, priority: priorityFormula, rank: data.Rows.Rank[r], key: int32(key), schema: l.Schema, id: -1,
			text: string(p.keyText[first : last+1]), group: g,
		})
	}
}

// outranks is NHTSA's order: priority, the newer change, the shorter key without stars, the first key without brackets.
func outranks(data *vpic.DataSet, priority int32, rank uint32, key int32, b *found) bool {
	if priority != b.priority {
		return priority > b.priority
	}
	if rank != b.rank {
		return rank > b.rank
	}
	if key < 0 || b.key < 0 {
		return false
	}
	return data.Keys.Less(uint32(key), uint32(b.key))
}

// offer takes a fact if it is the first of its element or outranks the one there.
func (p *pass) offer(e int32, f found) {
	if p.d.ids.multi[e] && p.set[e] {
		p.more = append(p.more, multiple{e, f})
		return
	}
	if !p.set[e] {
		p.put(e, f)
		return
	}
	if b := &p.best[e]; outranks(p.d.data, f.priority, f.rank, f.key, b) {
		*b = f
	}
}

func (p *pass) put(e int32, f found) {
	if e < 0 {
		return
	}
	p.best[e] = f
	if !p.set[e] {
		p.set[e] = true
		p.filled = append(p.filled, e)
	}
}

func (p *pass) get(e int32) *found {
	if e < 0 || !p.set[e] {
		return nil
	}
	return &p.best[e]
}

// engineFacts adds what the engine model implies.
func (p *pass) engineFacts() {
	engine := p.get(p.d.ids.engine)
	if engine == nil {
		return
	}
	key, schema, group := engine.key, engine.schema, engine.group
	for _, f := range p.d.data.Engines[vpic.EngineName(engine.text)] {
		p.offer(f.Element, found{source: SourceEngine, priority: priorityEngine, key: key, schema: schema, id: f.Attribute.ID, text: f.Attribute.Text, group: group})
	}
}
