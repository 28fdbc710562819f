package vpic

func (d *DataSet) readRules(r *reader) {
	d.Defaults = map[int32][]Default{}
	for range r.count() {
		t := int32(r.uint())
		d.Defaults[t] = append(d.Defaults[t], Default{Element: r.at(len(d.Elements)), Value: r.text()})
	}
	n := r.count()
	d.Descriptors = make(map[string]int32, n)
	for range n {
		text := r.text()
		d.Descriptors[text] = int32(r.uint())
	}
	n = r.count()
	d.Exceptions = make(map[string]bool, n)
	for range n {
		d.Exceptions[r.text()] = true
	}
	for range r.count() {
		d.Conversions = append(d.Conversions, Conversion{ID: int32(r.uint()), From: int32(r.uint()), To: int32(r.uint()), Factor: r.text(), Divide: r.bool()})
	}
	d.ErrorTexts = map[int]ErrorText{}
	for range r.count() {
		id := r.uint()
		d.ErrorTexts[id] = ErrorText{Text: r.text(), Additional: r.text(), Weight: int32(r.int())}
	}
}

// attribute resolves a value as a table holds it.
func (d *DataSet) attribute(e int32, raw string) Attribute {
	if d.Elements[e].Lookup == "" {
		return Attribute{ID: noIndex, Text: raw}
	}
	id := 0
	for _, c := range raw {
		if c < '0' || c > '9' || id > 1<<30 {
			return Attribute{ID: noIndex, Text: raw}
		}
		id = id*10 + int(c-'0')
	}
	return Attribute{ID: int32(id), Text: d.resolver(e)(int32(id))}
}

func (d *DataSet) readEngines(r *reader) {
	n := r.count()
	d.Engines = make(map[string][]EngineFact, n)
	for range n {
		name := r.text()
		list := make([]EngineFact, r.count())
		for i := range list {
			e := r.at(len(d.Elements))
			list[i] = EngineFact{Element: e, Attribute: d.attribute(e, r.text())}
			if r.err != nil {
				return
			}
		}
		d.Engines[name] = list
	}
}

func (d *DataSet) readSpecs(r *reader) {
	d.Specs = map[int32][]Spec{}
	for range r.count() {
		s := Spec{ID: int32(r.uint()), Schema: int32(r.uint()), Make: int32(r.uint()), Type: int32(r.uint())}
		models := make([]int32, r.count())
		for i := range models {
			models[i] = int32(r.uint())
		}
		for range r.count() {
			s.Years = append(s.Years, int32(r.uint()))
		}
		for range r.count() {
			n := r.uint()
			if n>>1 >= len(d.Elements) {
				r.fail("a sheet refers to an element that isn't there")
				return
			}
			f := SpecFact{Element: int32(n >> 1), Attribute: d.attribute(int32(n>>1), r.text()), Changed: int64(r.uint())}
			if n&1 == 1 {
				s.Keys = append(s.Keys, f)
			} else {
				s.Facts = append(s.Facts, f)
			}
		}
		for _, m := range models {
			d.Specs[m] = append(d.Specs[m], s)
		}
	}
}
