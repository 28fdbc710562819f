package vpic

func (d *DataSet) readAbout(r *reader) {
	d.Date, d.Origin, d.Complete = r.text(), r.text(), r.bool()
}

func (d *DataSet) readElements(r *reader) {
	d.Elements = make([]Element, r.count())
	d.element = make(map[int32]int32, len(d.Elements))
	for i := range d.Elements {
		d.Elements[i] = Element{
			ID: int32(r.uint()), Name: r.text(), Code: r.text(), Lookup: r.text(), Group: r.text(), Type: r.text(),
			Weight: int32(r.uint()), Present: r.bool(),
		}
		d.element[d.Elements[i].ID] = int32(i)
	}
	if len(d.Elements) > 255 {
		r.fail("there are too many elements")
	}
}

func (d *DataSet) readLookups(r *reader) {
	n := r.count()
	d.lookups = make(map[string]map[int32]string, n)
	for range n {
		name := r.text()
		list := r.names()
		table := make(map[int32]string, len(list))
		for _, v := range list {
			table[v.ID] = v.Text
		}
		d.lookups[name] = table
	}
}

func (d *DataSet) readMakes(r *reader)  { d.Makes = r.names() }
func (d *DataSet) readMakers(r *reader) { d.Makers = r.names() }

func (d *DataSet) readModels(r *reader) {
	names := r.names()
	d.Models = make([]Model, len(names))
	for i, n := range names {
		d.Models[i] = Model{ID: n.ID, Text: n.Text, Make: r.ref(len(d.Makes))}
	}
}

// ref reads an index that is one higher than it is, 0 for none.
func (r *reader) ref(size int) int32 {
	i := r.uint() - 1
	if i >= size {
		r.fail("it refers to something that isn't there")
		return noIndex
	}
	return int32(i)
}

// at reads an index that must exist.
func (r *reader) at(size int) int32 {
	i := r.uint()
	if i >= size {
		r.fail("it refers to something that isn't there")
		return 0
	}
	return int32(i)
}

func (d *DataSet) readWMIs(r *reader) {
	codes := r.front()
	d.WMIs = make([]WMI, len(codes))
	for i, code := range codes {
		d.WMIs[i].Code = code
	}
	d.wmi = make(map[string]int32, len(d.WMIs))
	for i := range d.WMIs {
		d.wmi[d.WMIs[i].Code] = int32(i)
		d.WMIs[i].Maker = r.ref(len(d.Makers))
	}
	for i := range d.WMIs {
		w := &d.WMIs[i]
		w.Type, w.TruckType, w.Country = int32(r.uint()), int32(r.uint()), int32(r.uint())
	}
	for i := range d.WMIs {
		// Never public: a day that doesn't come.
		if d.WMIs[i].PublicSince = int32(r.uint()) - 1; d.WMIs[i].PublicSince < 0 {
			d.WMIs[i].PublicSince = 1 << 30
		}
	}
	for i := range d.WMIs {
		d.WMIs[i].makes.from = uint32(len(d.WMIMakes))
		for range r.count() {
			d.WMIMakes = append(d.WMIMakes, r.at(len(d.Makes)))
		}
		d.WMIs[i].makes.to = uint32(len(d.WMIMakes))
	}
}

func (d *DataSet) readLinks(r *reader) {
	before := 0
	for i := range d.WMIs {
		d.WMIs[i].links.from = uint32(len(d.Links))
		for range r.count() {
			before += r.int()
			from := 2000 + r.int()
			to := r.uint()
			if to == 0 {
				to = openYear
			} else {
				to += from - 2
			}
			if before < 0 || from < 0 || from > openYear || to > openYear {
				r.fail("a range of years is impossible")
				return
			}
			d.Links = append(d.Links, Link{Schema: int32(before), From: int16(from), To: int16(to)})
		}
		d.WMIs[i].links.to = uint32(len(d.Links))
	}
}

func (d *DataSet) readSchemas(r *reader) {
	d.Schemas = make([]Schema, r.count())
	id := 0
	for i := range d.Schemas {
		n := r.uint()
		id += n >> 1
		d.Schemas[i].ID, d.Schemas[i].Unready = int32(id), n&1 == 1
	}
	for i := range d.Schemas {
		d.Schemas[i].Name = r.text()
	}
}

func (d *DataSet) readKeys(r *reader) {
	texts := r.front()
	d.Keys.grow(len(texts))
	for _, t := range texts {
		d.Keys.add(t)
	}
}

func (d *DataSet) readValues(r *reader) {
	d.Attributes = make([][]Attribute, len(d.Elements))
	for e := range d.Elements {
		byID := r.bool()
		list := make([]Attribute, r.count())
		lookup := d.resolver(int32(e))
		for i := range list {
			if !byID {
				text := r.text()
				list[i] = Attribute{ID: noIndex, Text: text}
				continue
			}
			id := int32(r.int())
			list[i] = Attribute{ID: id, Text: lookup(id)}
		}
		d.Attributes[e] = list
	}
}

// resolver returns the look-up of an element's ids.
func (d *DataSet) resolver(e int32) func(int32) string {
	switch name := d.Elements[e].Lookup; d.Elements[e].ID {
	case ElementModel:
		return func(id int32) string {
			if i, ok := d.model(id); ok {
				return d.Models[i].Text
			}
			return ""
		}
	default:
		table := d.lookups[name]
		return func(id int32) string { return table[id] }
	}
}

// model finds a model by its id.
func (d *DataSet) model(id int32) (int, bool) {
	lo, hi := 0, len(d.Models)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if d.Models[mid].ID < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(d.Models) && d.Models[lo].ID == id
}

// MakeOfModel returns the make of a model as an index in Makes.
func (d *DataSet) MakeOfModel(id int32) (int32, bool) {
	i, ok := d.model(id)
	if !ok || d.Models[i].Make < 0 {
		return noIndex, false
	}
	return d.Models[i].Make, true
}

func (d *DataSet) readGroups(r *reader) {
	d.Groups = make([]Group, 0, len(r.b)/2)
	for i := range d.Schemas {
		d.Schemas[i].groups.from = uint32(len(d.Groups))
		key := 0
		for range r.count() {
			key += r.uint()
			if key >= len(d.Keys.Text) {
				r.fail("a schema refers to a key that isn't there")
				return
			}
			d.Groups = append(d.Groups, Group{Key: uint32(key)})
		}
		d.Schemas[i].groups.to = uint32(len(d.Groups))
	}
	row := 0
	for i := range d.Groups {
		d.Groups[i].Row = uint32(row)
		row += r.uint()
	}
	d.Rows.Element = make([]uint8, 0, row)
	if row > maxUnpacked {
		r.fail("there are too many rows")
	}
}

func (d *DataSet) readRows(r *reader) {
	n := r.count()
	if n != cap(d.Rows.Element) || n > len(r.b)-r.p {
		r.fail("the number of rows is wrong")
		return
	}
	d.Rows.Element = append(d.Rows.Element, r.b[r.p:r.p+n]...)
	r.p += n
	d.Rows.Attribute = make([]uint32, n)
	for i, e := range d.Rows.Element {
		if int(e) >= len(d.Attributes) {
			r.fail("a row refers to an element that isn't there")
			return
		}
		v := r.uint()
		if v >= len(d.Attributes[e]) {
			r.fail("a row refers to a value that isn't there")
			return
		}
		d.Rows.Attribute[i] = uint32(v)
	}
}

func (d *DataSet) readRanks(r *reader) {
	d.Rows.Rank = make([]uint32, len(d.Rows.Element))
	last := make([]int, len(d.Elements))
	for s := range d.Schemas {
		g := d.Schemas[s].groups
		if g.from == g.to {
			continue
		}
		clear(last)
		for i := d.Groups[g.from].Row; i < d.RowEnd(g.to-1); i++ {
			e := d.Rows.Element[i]
			last[e] += r.int()
			d.Rows.Rank[i] = uint32(last[e])
		}
	}
}
