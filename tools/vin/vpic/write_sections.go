package vpic

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func (b *build) about(w *writer) {
	w.text(b.t.Date)
	w.text(b.t.Origin)
	w.bool(b.t.Complete)
}

func (b *build) elements(w *writer) {
	present := map[int32]bool{ElementMake: true, ElementManufacturer: true, ElementModelYear: true, ElementVehicleType: true}
	for _, f := range b.t.SpecFacts {
		present[f.Element] = present[f.Element] || !f.Key
	}
	for _, f := range b.t.EngineFacts {
		present[f.Element] = true
	}
	for e, list := range b.valueLists {
		present[b.elementList[e].ID] = present[b.elementList[e].ID] || len(list) > 0
	}
	for _, c := range b.t.Conversions {
		present[c.To] = present[c.To] || present[c.From]
	}
	w.uint(len(b.elementList))
	for _, e := range b.elementList {
		w.uint(int(e.ID))
		w.text(e.Name)
		w.text(e.Code)
		w.text(e.Lookup)
		w.text(e.Group)
		w.text(e.Type)
		w.uint(int(e.Weight))
		w.bool(present[e.ID] || e.Decode == "Decoding")
	}
}

// lookups keeps the tables that public elements name, beside vehicle types.
func (b *build) lookups(w *writer) {
	used := map[string]bool{"vehicletype": true, "country": true}
	for _, e := range b.elementList {
		if e.Lookup != "" && e.Lookup != "model" && e.Lookup != "make" && e.Lookup != "manufacturer" {
			used[e.Lookup] = true
		}
	}
	var names []string
	for n := range b.t.Lookups {
		if used[n] {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	w.uint(len(names))
	for _, n := range names {
		w.text(n)
		list := slices.Clone(b.t.Lookups[n])
		slices.SortFunc(list, func(x, y Name) int { return cmp.Compare(x.ID, y.ID) })
		w.names(list)
	}
}

func (b *build) makes(w *writer)  { w.names(b.makeList) }
func (b *build) makers(w *writer) { w.names(b.makerList) }

func (b *build) models(w *writer) {
	w.names(b.modelList)
	for _, m := range b.modelList {
		w.uint(indexOf(b.makeList, b.modelMake[m.ID]) + 1)
	}
}

func indexOf(list []Name, id int32) int {
	i, ok := slices.BinarySearchFunc(list, id, func(n Name, id int32) int { return cmp.Compare(n.ID, id) })
	if !ok {
		return -1
	}
	return i
}

func (b *build) wmis(w *writer) {
	makes := make([][]int, len(b.wmiList))
	for _, m := range b.t.WMIMakes {
		if i, ok := b.wmiAt[m.A]; ok {
			if k := indexOf(b.makeList, m.B); k >= 0 {
				makes[i] = append(makes[i], k)
			}
		}
	}
	codes := make([]string, len(b.wmiList))
	for i, m := range b.wmiList {
		codes[i] = m.Code
	}
	w.front(codes)
	for _, m := range b.wmiList {
		w.uint(indexOf(b.makerList, m.Maker) + 1)
	}
	for _, m := range b.wmiList {
		w.uint(int(m.Type))
		w.uint(int(m.TruckType))
		w.uint(int(m.Country))
	}
	for _, m := range b.wmiList {
		if !m.HasPublic {
			w.uint(0)
			continue
		}
		w.uint(int(m.PublicSince) + 1)
	}
	for _, list := range makes {
		slices.Sort(list)
		w.uint(len(list))
		for _, k := range list {
			w.uint(k)
		}
	}
}

func (b *build) links(w *writer) {
	links := make([][]WMISchemaRow, len(b.wmiList))
	for _, l := range b.t.WMISchemas {
		i, ok := b.wmiAt[l.WMI]
		if _, known := b.schemaAt[l.Schema]; ok && known {
			links[i] = append(links[i], l)
		}
	}
	before := 0
	for _, list := range links {
		slices.SortFunc(list, func(x, y WMISchemaRow) int {
			return cmp.Or(cmp.Compare(x.Schema, y.Schema), cmp.Compare(x.From, y.From))
		})
		w.uint(len(list))
		for _, l := range list {
			s := b.schemaAt[l.Schema]
			w.int(s - before)
			before = s
			w.int(int(l.From) - 2000)
			if l.To == 0 {
				w.uint(0)
				continue
			}
			// A reversed range, of which NHTSA has some, covers no year and stays reversed.
			w.uint(int(max(l.To-l.From, -1)) + 2)
		}
	}
}

func (b *build) schemas(w *writer) {
	w.uint(len(b.schemaList))
	before := int32(0)
	for _, s := range b.schemaList {
		w.uint(int(s.ID-before)*2 + boolInt(s.Unready))
		before = s.ID
	}
	for _, s := range b.schemaList {
		w.text(strings.TrimSpace(s.Name))
	}
}

func boolInt(v bool) int {
	if v {
		return 1
	}
	return 0
}

func (b *build) keys(w *writer) {
	texts := make([]string, len(b.keyOrder))
	for i, k := range b.keyOrder {
		texts[i] = b.t.Keys.List[k]
	}
	w.front(texts)
}

// values writes each element's values: ids for look-ups, which the reader resolves, texts otherwise.
func (b *build) values(w *writer) {
	for e, list := range b.valueLists {
		ids := make([]int, 0, len(list))
		lookup := b.elementList[e].Lookup != ""
		for _, v := range list {
			id, err := strconv.Atoi(b.t.Values.List[v])
			if err != nil || strconv.Itoa(id) != b.t.Values.List[v] {
				lookup = false
				break
			}
			ids = append(ids, id)
		}
		w.bool(lookup)
		w.uint(len(list))
		for i, v := range list {
			if lookup {
				w.int(ids[i])
				continue
			}
			w.text(b.t.Values.List[v])
		}
	}
}

// groups writes for each schema its keys and how many rows each has.
func (b *build) groups(w *writer) {
	var counts writer
	n := 0
	for s := range b.schemaList {
		id := int32(s)
		var keys []uint32
		for n < len(b.rowList) && b.rowList[n].Schema == id {
			key, rows := b.rowList[n].Key, 0
			for n < len(b.rowList) && b.rowList[n].Schema == id && b.rowList[n].Key == key {
				if b.rowList[n].Element != 0 {
					rows++
				}
				n++
			}
			keys = append(keys, key)
			counts.uint(rows)
		}
		w.uint(len(keys))
		before := uint32(0)
		for _, k := range keys {
			w.uint(int(k - before))
			before = k
		}
	}
	w.b = append(w.b, counts.b...)
}

// rows writes the elements of all rows, then their values.
func (b *build) rows(w *writer) {
	n := 0
	for _, p := range b.rowList {
		if p.Element != 0 {
			n++
		}
	}
	w.uint(n)
	for _, p := range b.rowList {
		if p.Element != 0 {
			w.byte(byte(p.Element - 1))
		}
	}
	for _, p := range b.rowList {
		if p.Element != 0 {
			w.uint(int(p.Value))
		}
	}
}

// ranks writes each row's rank as the difference to the last row of the same element in the schema.
func (b *build) ranks(w *writer) {
	last := make([]uint32, len(b.elementList))
	schema := int32(-1)
	for i, p := range b.rowList {
		if p.Schema != schema {
			schema = p.Schema
			clear(last)
		}
		if p.Element == 0 {
			continue
		}
		e := p.Element - 1
		w.int(int(b.rank[i]) - int(last[e]))
		last[e] = b.rank[i]
	}
}
