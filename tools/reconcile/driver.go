package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"bordereau/tools/guideline"
)

// driver is one person, put together from the driver list, the MVR packet and the loss runs.
type driver struct {
	name   string
	label  string
	list   []*row
	record []*row
	losses []*row
	key    string // the same for names that can be one person's
	how    string // how the rows were put together
}

// cell returns the list's statement, else the record's.
func (d *driver) cell(name string) *Field {
	for _, r := range append(slices.Clone(d.list), d.record...) {
		if f := r.cells[name]; f != nil {
			return f
		}
	}
	return nil
}

func (d *driver) recorded(name string) *Field {
	for _, r := range d.record {
		if f := r.cells[name]; f != nil {
			return f
		}
	}
	return nil
}

func (d *driver) row() *row {
	for _, rows := range [][]*row{d.list, d.record, d.losses} {
		if len(rows) > 0 {
			return rows[0]
		}
	}
	return nil
}

// loadDrivers puts people together: by licence number, else by name and birth date, else by name.
func (e *evaluation) loadDrivers() {
	list := e.x.tables[driverList+"/drivers"]
	if len(list) == 0 {
		list = e.x.tables[application+"/drivers"]
	}
	e.byLicence, e.byName = map[string]*driver{}, map[string][]*driver{}
	for _, r := range list {
		d := &driver{name: r.text("name"), list: []*row{r}}
		e.know(d)
		if number := licence(r.text("license_number"), r.text("license_state")); number != "" && e.byLicence[number] == nil {
			e.byLicence[number] = d
		}
	}
	for _, r := range e.x.tables[mvr+"/drivers"] {
		d, how := e.findDriver(r)
		if d == nil {
			d = &driver{name: r.text("name")}
			e.know(d)
		} else {
			d.how = how
		}
		d.record = append(d.record, r)
	}
	for _, r := range e.x.tables[lossRun+"/losses"] {
		name := strings.TrimSpace(r.text("driver"))
		if name == "" || strings.EqualFold(name, "unknown") || strings.EqualFold(name, "none") {
			continue
		}
		d := e.driverNamed(name)
		if d == nil {
			d = &driver{name: name}
			e.know(d)
		}
		d.losses = append(d.losses, r)
	}
	for _, d := range e.drivers {
		d.label, d.key = "driver "+d.name, parsePerson(d.name).key()
	}
	slices.SortStableFunc(e.drivers, func(a, b *driver) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.name, b.name))
	})
}

func (e *evaluation) know(d *driver) {
	e.drivers = append(e.drivers, d)
	key := parsePerson(d.name).key()
	e.byName[key] = append(e.byName[key], d)
}

func (e *evaluation) driverNamed(name string) *driver {
	for _, d := range e.byName[parsePerson(name).key()] {
		if people(d.name, name).class != guideline.Conflict {
			return d
		}
	}
	return nil
}

func (e *evaluation) findDriver(r *row) (*driver, string) {
	if number := licence(r.text("license_number"), r.text("license_state")); number != "" && e.byLicence[number] != nil {
		return e.byLicence[number], "put together by licence number"
	}
	for _, d := range e.byName[parsePerson(r.text("name")).key()] {
		if len(d.list) == 0 || people(d.name, r.text("name")).class == guideline.Conflict {
			continue
		}
		if dates(d.list[0].text("date_of_birth"), r.text("date_of_birth")).class != guideline.Conflict {
			return d, "put together by name and birth date"
		}
		return d, "put together by name alone"
	}
	return nil, ""
}

func (e *evaluation) driverCounts() {
	n := 0
	var fields []*Field
	for _, d := range e.drivers {
		if len(d.list) > 0 {
			n++
			fields = append(fields, d.list[0].fields("name")...)
		}
	}
	if n == 0 {
		e.sheet.missing("fleet.drivers", "no driver list is in the submission")
		return
	}
	e.sheet.set("fleet.drivers", n, few(fields)...)
}

func (e *evaluation) driverFacts(d *driver) {
	s := e.sheet
	any := d.row()
	nameField := any.cells["name"]
	if nameField == nil {
		nameField = any.cells["driver"]
	}
	s.set("driver.name", d.name, nameField)
	haveList := len(e.x.tables[driverList+"/drivers"])+len(e.x.tables[application+"/drivers"]) > 0
	if haveList {
		s.set("driver.on_list", len(d.list) > 0, nameField)
	} else {
		s.missing("driver.on_list", "no driver list is in the submission", nameField)
	}
	if len(e.x.tables[mvr+"/drivers"]) > 0 {
		s.set("driver.on_mvr", len(d.record) > 0, nameField)
	} else {
		s.missing("driver.on_mvr", "no MVR is in the submission", nameField)
	}
	s.set("driver.in_losses", len(d.losses) > 0, nameField)
	n := s.notes["driver.on_list"]
	n.explanation = d.how
	s.notes["driver.on_list"] = n
	if f := d.cell("date_of_birth"); f != nil && !e.effective.IsZero() {
		if t, err := parseDate(f.Value); err == nil {
			s.set("driver.age", ageOn(t, e.effective), f)
		} else {
			s.missing("driver.age", "the birth date can't be read", f)
		}
	}
	s.number("driver.years_experience", d.cell("years_experience"))
	if f := d.cell("license_class"); f != nil {
		s.set("driver.license_class", strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(f.Value)), "CLASS "), f)
	}
	if f := d.cell("license_state"); f != nil {
		_, ok := e.geo.state(f.Value)
		s.set("driver.license_state_valid", ok, f)
	}
	if f := d.cell("license_status"); f != nil {
		if r := d.recorded("license_status"); r != nil {
			f = r
		}
		s.text("driver.license_status", f)
	}
	if f := d.recorded("mvr_run_date"); f != nil && !e.effective.IsZero() {
		if t, err := parseDate(f.Value); err == nil {
			s.set("driver.mvr_age_days", days(t, e.effective), f)
		} else {
			s.missing("driver.mvr_age_days", err.Error(), f)
		}
	}
	s.count("driver.moving_violations", d.recorded("moving_violations"))
	s.count("driver.accidents", d.recorded("accidents"))
	s.count("driver.major_violations", d.recorded("major_violations"))
	s.match("driver.identity_match", d.identity())
}

// identity compares licence, state and birth date on list and MVR. The values themselves are personal, so sentences don't say them.
func (d *driver) identity() comparison {
	if len(d.list) == 0 || len(d.record) == 0 {
		return comparison{class: guideline.Single}
	}
	l, r := d.list[0], d.record[0]
	c := comparison{class: guideline.Consistent, fields: append(l.fields("license_number"), r.fields("license_number")...), explanation: d.how}
	for _, one := range []struct {
		name string
		same func() likeness
	}{
		{"license_number", func() likeness {
			if licence(l.text("license_number"), l.text("license_state")) == licence(r.text("license_number"), r.text("license_state")) {
				return likeness{class: guideline.Consistent}
			}
			return likeness{guideline.Conflict, "the licence numbers differ"}
		}},
		{"license_state", func() likeness {
			if strings.EqualFold(l.text("license_state"), r.text("license_state")) {
				return likeness{class: guideline.Consistent}
			}
			return likeness{guideline.Conflict, "the licence states differ"}
		}},
		{"date_of_birth", func() likeness {
			k := dates(l.text("date_of_birth"), r.text("date_of_birth"))
			switch k.class {
			case guideline.Conflict:
				k.why = "the birth dates differ"
			case "":
				k.why = "a birth date can't be read"
			}
			return k
		}},
	} {
		if l.cells[one.name] == nil || r.cells[one.name] == nil {
			continue
		}
		if k := one.same(); weight(k.class) > weight(c.class) {
			c.class, c.missing = k.class, k.why
			c.explanation = fmt.Sprintf("%s; %s", d.how, k.why)
			c.fields = append(l.fields(one.name), r.fields(one.name)...)
			c.stated, c.expected = masked(one.name, l.text(one.name)), masked(one.name, r.text(one.name))
		}
	}
	return c
}
