package vpic

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Write builds the compact file from NHTSA's tables. It uses the tables up.
func Write(out io.Writer, t *Tables) error {
	b, err := newBuild(t)
	if err != nil {
		return err
	}
	var all writer
	for _, s := range []struct {
		name string
		make func(*writer)
	}{
		{"about", b.about},
		{"elements", b.elements},
		{"lookups", b.lookups},
		{"makes", b.makes},
		{"makers", b.makers},
		{"models", b.models},
		{"wmis", b.wmis},
		{"links", b.links},
		{"schemas", b.schemas},
		{"keys", b.keys},
		{"values", b.values},
		{"groups", b.groups},
		{"rows", b.rows},
		{"ranks", b.ranks},
		{"rules", b.rules},
		{"engines", b.engines},
		{"specs", b.specs},
	} {
		var w writer
		s.make(&w)
		all.text(s.name)
		all.uint(len(w.b))
		all.b = append(all.b, w.b...)
		if b.err != nil {
			return fmt.Errorf("vpic: writing section %s: %w", s.name, b.err)
		}
	}
	if _, err := io.WriteString(out, magic); err != nil {
		return err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
	if err != nil {
		return err
	}
	// What was collected is written; compressing needs the room.
	b.rowList, b.rank, t.Keys, t.Values = nil, nil, Strings{}, Strings{}
	// In one piece, so that the head of the frame tells the reader how much room it needs.
	_, err = out.Write(enc.EncodeAll(all.b, nil))
	return err
}

// build is the state of writing: the tables in the order and numbering of the file.
type build struct {
	t   *Tables
	err error

	elementList []ElementRow
	elementAt   map[int32]int // by id: index in elementList
	schemaList  []SchemaRow
	schemaAt    map[int32]int
	keyOrder    []uint32 // sorted: file number -> tables number
	valueLists  [][]uint32
	rowList     []PatternRow
	rank        []uint32
	wmiList     []WMIRow
	wmiAt       map[int32]int
	modelList   []Name
	makeList    []Name
	makerList   []Name
	modelMake   map[int32]int32
}

// valueOf is a value of an element, by the file's number of the element plus one.
type valueOf struct {
	element int32
	value   uint32
}

// served tells whether rows of an element may be answered: it is public and its decode is known.
func (e ElementRow) served() bool { return !e.Private && e.Decode != "" }

func newBuild(t *Tables) (*build, error) {
	b := &build{t: t, elementAt: map[int32]int{}, schemaAt: map[int32]int{}, wmiAt: map[int32]int{}, modelMake: map[int32]int32{}}
	if len(t.Elements) == 0 || len(t.WMIs) == 0 || len(t.Patterns) == 0 || len(t.WMISchemas) == 0 || len(t.Models) == 0 || len(t.Makes) == 0 || len(t.Schemas) == 0 {
		return nil, fmt.Errorf("vpic: the tables are not complete: %d elements, %d manufacturers' codes, %d patterns, %d schemas, %d models, %d makes",
			len(t.Elements), len(t.WMIs), len(t.Patterns), len(t.Schemas), len(t.Models), len(t.Makes))
	}
	for _, e := range t.Elements {
		if e.served() {
			b.elementList = append(b.elementList, e)
		}
	}
	slices.SortFunc(b.elementList, func(x, y ElementRow) int { return cmp.Compare(x.ID, y.ID) })
	if len(b.elementList) > 255 {
		return nil, fmt.Errorf("vpic: %d elements are more than the format holds", len(b.elementList))
	}
	for i, e := range b.elementList {
		b.elementAt[e.ID] = i
	}
	b.pickSchemas()
	b.pickRows()
	b.sortKeys()
	b.numberValues()
	b.sortRows()
	b.rank = rankRows(b)
	b.pickNames()
	return b, nil
}

// pickSchemas keeps the schemas that some manufacturer uses.
func (b *build) pickSchemas() {
	used := map[int32]bool{}
	for _, l := range b.t.WMISchemas {
		used[l.Schema] = true
	}
	for _, s := range b.t.Schemas {
		if used[s.ID] {
			b.schemaList = append(b.schemaList, s)
		}
	}
	slices.SortFunc(b.schemaList, func(x, y SchemaRow) int { return cmp.Compare(x.ID, y.ID) })
	for i, s := range b.schemaList {
		b.schemaAt[s.ID] = i
	}
	b.wmiList = slices.Clone(b.t.WMIs)
	slices.SortFunc(b.wmiList, func(x, y WMIRow) int { return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.ID, y.ID)) })
	b.wmiList = slices.CompactFunc(b.wmiList, func(x, y WMIRow) bool { return x.Code == y.Code })
	for i, w := range b.wmiList {
		b.wmiAt[w.ID] = i
	}
}

// pickRows keeps the rows that the decoder can use, in place of the tables' own, and numbers their schemas and elements as the file does:
// element n of the file is n+1, and 0 is none. A row of a private element stays for its key alone: the key still says which characters are
// legal. Make, manufacturer, year and type never come from patterns.
func (b *build) pickRows() {
	rows := b.t.Patterns[:0]
	for _, p := range b.t.Patterns {
		schema, ok := b.schemaAt[p.Schema]
		if !ok {
			continue
		}
		p.Schema = int32(schema)
		element, ok := b.elementAt[p.Element]
		switch {
		case !ok, p.Element == ElementMake, p.Element == ElementManufacturer, p.Element == ElementModelYear, p.Element == ElementVehicleType:
			p.Element = 0
		default:
			p.Element = int32(element + 1)
		}
		rows = append(rows, p)
	}
	b.rowList, b.t.Patterns = rows, nil
}

// sortKeys numbers the keys in their order.
func (b *build) sortKeys() {
	number := make([]uint32, len(b.t.Keys.List))
	used := make([]bool, len(b.t.Keys.List))
	for _, p := range b.rowList {
		used[p.Key] = true
	}
	for i, u := range used {
		if u {
			b.keyOrder = append(b.keyOrder, uint32(i))
		}
	}
	slices.SortFunc(b.keyOrder, func(x, y uint32) int { return strings.Compare(b.t.Keys.List[x], b.t.Keys.List[y]) })
	for i, k := range b.keyOrder {
		number[k] = uint32(i)
	}
	for i := range b.rowList {
		b.rowList[i].Key = number[b.rowList[i].Key]
	}
}

// numberValues numbers each element's values, the most frequent first, so that most take one byte.
func (b *build) numberValues() {
	count := map[valueOf]int{}
	for _, p := range b.rowList {
		if p.Element != 0 {
			count[valueOf{p.Element, p.Value}]++
		}
	}
	b.valueLists = make([][]uint32, len(b.elementList))
	for v := range count {
		b.valueLists[v.element-1] = append(b.valueLists[v.element-1], v.value)
	}
	number := make(map[valueOf]uint32, len(count))
	for e, list := range b.valueLists {
		of := int32(e + 1)
		slices.SortFunc(list, func(x, y uint32) int {
			return cmp.Or(cmp.Compare(count[valueOf{of, y}], count[valueOf{of, x}]), strings.Compare(b.t.Values.List[x], b.t.Values.List[y]))
		})
		for i, v := range list {
			number[valueOf{of, v}] = uint32(i)
		}
	}
	for i := range b.rowList {
		if p := &b.rowList[i]; p.Element != 0 {
			p.Value = number[valueOf{p.Element, p.Value}]
		}
	}
}

func (b *build) sortRows() {
	slices.SortFunc(b.rowList, func(x, y PatternRow) int {
		return cmp.Or(cmp.Compare(x.Schema, y.Schema), cmp.Compare(x.Key, y.Key), cmp.Compare(x.Element, y.Element), cmp.Compare(y.Changed, x.Changed),
			cmp.Compare(x.Value, y.Value))
	})
}

// pickNames keeps the makes, models and manufacturers that an answer can name.
func (b *build) pickNames() {
	models, makes, makers := map[int32]bool{}, map[int32]bool{}, map[int32]bool{}
	if e, ok := b.elementAt[ElementModel]; ok {
		for _, v := range b.valueLists[e] {
			if id, err := strconv.ParseInt(b.t.Values.List[v], 10, 32); err == nil {
				models[int32(id)] = true
			}
		}
	}
	for _, s := range b.t.SpecFacts {
		if id, err := strconv.ParseInt(s.Value, 10, 32); err == nil && s.Element == ElementModel {
			models[int32(id)] = true
		}
	}
	for _, m := range b.t.SpecModels {
		models[m.B] = true
	}
	for _, m := range b.t.ModelMakes {
		// A model with several makes keeps the oldest.
		if old, ok := b.modelMake[m.A]; models[m.A] && (!ok || m.B < old) {
			b.modelMake[m.A] = m.B
		}
	}
	for _, m := range b.modelMake {
		makes[m] = true
	}
	for _, m := range b.t.WMIMakes {
		if _, ok := b.wmiAt[m.A]; ok {
			makes[m.B] = true
		}
	}
	for _, w := range b.wmiList {
		makers[w.Maker] = true
	}
	pick := func(list []Name, used map[int32]bool) (out []Name) {
		for _, n := range list {
			if used[n.ID] {
				out = append(out, n)
			}
		}
		slices.SortFunc(out, func(x, y Name) int { return cmp.Compare(x.ID, y.ID) })
		return out
	}
	b.modelList, b.makeList, b.makerList = pick(b.t.Models, models), pick(b.t.Makes, makes), pick(b.t.Makers, makers)
}
