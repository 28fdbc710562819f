package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"bordereau/tools/guideline"
	"bordereau/tools/vin"
)

// vehicle is one row of the schedule with its decode.
type vehicle struct {
	*row
	label    string
	vin      string
	kind     string
	value    float64
	hasValue bool
	checked  vin.Checked
}

func normalVIN(s string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, s))
}

// loadVehicles takes the schedule's rows, or the application's where there is no schedule, and decodes their VINs.
func (e *evaluation) loadVehicles() {
	rows := e.x.tables[schedule+"/vehicles"]
	if len(rows) == 0 {
		rows = e.x.tables[application+"/vehicles"]
	}
	e.byVIN, e.byUnit = map[string][]*vehicle{}, map[string]*vehicle{}
	e.papers = map[string]map[string]*row{}
	for _, docType := range []string{registration, application} {
		at := map[string]*row{}
		for _, r := range e.x.tables[docType+"/vehicles"] {
			if v := normalVIN(r.text("vin")); v != "" && at[v] == nil {
				at[v] = r
			}
		}
		e.papers[docType] = at
	}
	var ask []vin.Row
	for _, r := range rows {
		v := &vehicle{row: r, vin: normalVIN(r.text("vin")), kind: vehicleType(r.text("body_type"))}
		if v.label = "unit " + r.text("unit_no"); r.text("unit_no") == "" {
			v.label = fmt.Sprintf("vehicle row %d", r.index)
		}
		if f := r.cells["stated_value"]; f != nil {
			if n, err := parseNumber(f.Value); err == nil {
				v.value, v.hasValue = n, true
			}
		}
		year, _ := parseInt(r.text("year"))
		gvw, _ := parseInt(r.text("gvw"))
		ask = append(ask, vin.Row{Ref: r.id, VIN: v.vin, Year: year, Make: r.text("make"), Model: r.text("model"), BodyType: r.text("body_type"), GVW: gvw})
		e.vehicles = append(e.vehicles, v)
		e.byVIN[v.vin] = append(e.byVIN[v.vin], v)
		if unit := strings.ToUpper(strings.TrimSpace(r.text("unit_no"))); e.byUnit[unit] == nil {
			e.byUnit[unit] = v
		}
	}
	for i, c := range e.decoder.Check(ask) {
		if i < len(e.vehicles) {
			e.vehicles[i].checked = c
		}
	}
}

func (e *evaluation) fleetFacts() {
	if len(e.vehicles) == 0 {
		for _, n := range []string{"fleet.rows", "fleet.power_units", "fleet.tractors", "fleet.tiv_summed", "operations.heavy"} {
			e.sheet.missing(n, "no vehicle schedule is in the submission")
		}
		return
	}
	s := e.sheet
	units, tractors, sum := 0, 0, 0.0
	var unread, bodies, values []*Field
	heavy, unknownHeavy := false, false
	for _, v := range e.vehicles {
		body := v.cells["body_type"]
		switch v.kind {
		case "":
			unread = append(unread, v.fields("unit_no", "vin")...)
		case "trailer":
		default:
			units++
			bodies = append(bodies, body)
			if v.kind == "tractor" {
				tractors++
				heavy = true
			} else if gvw, err := parseInt(v.text("gvw")); err != nil {
				unknownHeavy = true
			} else if gvw > 10000 {
				heavy = true
			}
		}
		sum += v.value
		if f := v.cells["stated_value"]; f != nil {
			values = append(values, f)
		}
	}
	s.set("fleet.rows", len(e.vehicles), firstOf(e.vehicles)...)
	if len(unread) > 0 {
		s.missing("fleet.power_units", "the body type of a vehicle is not stated", unread...)
		s.missing("fleet.tractors", "the body type of a vehicle is not stated", unread...)
	} else {
		s.set("fleet.power_units", units, few(bodies)...)
		s.set("fleet.tractors", tractors, few(bodies)...)
	}
	if len(values) < len(e.vehicles) {
		if len(values) > 0 {
			s.missing("fleet.tiv_summed", fmt.Sprintf("%d of %d vehicles have no stated value", len(e.vehicles)-len(values), len(e.vehicles)), few(values)...)
		} else {
			s.missing("fleet.tiv_summed", "no vehicle has a stated value")
		}
	} else {
		s.set("fleet.tiv_summed", sum, few(values)...)
	}
	if heavy || !unknownHeavy {
		s.set("operations.heavy", heavy)
	} else {
		s.missing("operations.heavy", "the gross weight of a power unit is not stated")
	}
}

// few keeps the evidence of a sum readable: the first of its rows and the weakest.
func few(fields []*Field) []*Field {
	if len(fields) <= 4 {
		return fields
	}
	weakest := slices.MinFunc(fields, func(a, b *Field) int {
		switch {
		case a.confidence() < b.confidence():
			return -1
		case a.confidence() > b.confidence():
			return 1
		}
		return 0
	})
	out := slices.Clone(fields[:3])
	if !slices.Contains(out, weakest) {
		out = append(out, weakest)
	}
	return out
}

func firstOf(vs []*vehicle) []*Field {
	var all []*Field
	for _, v := range vs {
		all = append(all, v.fields("unit_no")...)
	}
	return few(all)
}

func (e *evaluation) vehicleFacts(v *vehicle) {
	s := e.sheet
	unit := v.cells["unit_no"]
	s.text("vehicle.unit_no", unit)
	if f := v.cells["vin"]; f != nil {
		s.set("vehicle.vin", v.vin, f)
		s.set("vehicle.vin_length", len([]rune(v.vin)), f)
		s.set("vehicle.vin_legal", strings.Trim(v.vin, "ABCDEFGHJKLMNPRSTUVWXYZ0123456789") == "", f)
		if right, ok := v.checked.Result.CheckDigitOK(); ok {
			s.set("vehicle.vin_check_digit", right, f)
		} else {
			s.missing("vehicle.vin_check_digit", "no check digit can be computed for this VIN", f)
		}
		same := []*Field{f}
		for _, other := range e.byVIN[v.vin] {
			if other != v {
				same = append(same, other.cells["vin"])
			}
		}
		if near := v.checked.Near; len(near) > 0 && len(same) == 1 {
			s.missing("vehicle.vin_rows", fmt.Sprintf("VIN %s is almost VIN %s of another row: a misreading or another vehicle", v.vin, near[0].VIN), f)
		} else {
			s.set("vehicle.vin_rows", len(same), few(same)...)
		}
		s.verdict("vehicle.vin_match", &v.checked, vin.FieldVIN, false, f)
		if check, ok := v.checked.Check(vin.FieldVIN); ok {
			for _, name := range []string{"vehicle.vin_length", "vehicle.vin_legal", "vehicle.vin_check_digit"} {
				s.proves(name, &v.checked, check)
			}
		}
		s.verdict("vehicle.year_match", &v.checked, vin.FieldYear, false, v.fields("year", "vin")...)
		s.verdict("vehicle.make_match", &v.checked, vin.FieldMake, false, v.fields("make", "vin")...)
		model, _ := v.checked.Check(vin.FieldModel)
		s.verdict("vehicle.model_match", &v.checked, vin.FieldModel, v.kind == "trailer" || model.Decoded == "", v.fields("model", "vin")...)
		s.verdict("vehicle.type_match", &v.checked, vin.FieldBodyType, false, v.fields("body_type", "vin")...)
		s.verdict("vehicle.gvw_match", &v.checked, vin.FieldGVW, true, v.fields("gvw", "vin")...)
		if t := decodedType(&v.checked.Result); t != "" {
			s.set("vehicle.decoded_type", t, f)
		}
		s.set("vehicle.decoded_model", v.checked.Result.Model(), f)
	}
	s.count("vehicle.year", v.cells["year"])
	s.text("vehicle.make", v.cells["make"])
	s.text("vehicle.model", v.cells["model"])
	if v.kind != "" {
		s.set("vehicle.type", v.kind, v.cells["body_type"])
	}
	s.count("vehicle.gvw", v.cells["gvw"])
	if year, err := parseInt(v.text("year")); err == nil && !e.effective.IsZero() {
		s.set("vehicle.age", e.effective.Year()-year, v.cells["year"])
	}
	s.number("vehicle.stated_value", v.cells["stated_value"])
	e.garagingFacts(v)
	e.registrationFacts(v)
}

func decodedType(r *vin.Result) string {
	if !r.Decoded() {
		return ""
	}
	if t := vehicleType(r.BodyClass()); t != "" && t != "other" {
		return t
	}
	return vehicleType(r.VehicleType())
}

func (e *evaluation) garagingFacts(v *vehicle) {
	s := e.sheet
	state := v.cells["garaging_state"]
	if state != nil {
		code, ok := e.geo.state(state.Value)
		if !ok {
			s.missing("vehicle.garaging_state", fmt.Sprintf("%q is no state", state.Value), state)
		} else {
			s.set("vehicle.garaging_state", code, state)
		}
	}
	if f := v.cells["garaging_address"]; f != nil {
		s.set("vehicle.garaging_po_box", poBox(f.Value), f)
	}
	city, home, homeState := v.cells["garaging_city"], e.x.one(application, "terminal_city"), e.x.one(application, "terminal_state")
	if city == nil || state == nil || home == nil || homeState == nil {
		return
	}
	if n, ok := e.geo.miles(city.Value, state.Value, home.Value, homeState.Value); ok {
		s.set("vehicle.garaging_miles", n, city, home)
	} else {
		s.missing("vehicle.garaging_miles", fmt.Sprintf("the distance between %s and %s is not known", city.Value, home.Value), city, home)
	}
}

// registrationFacts compares the row with the registration and the application's own row of the same VIN.
func (e *evaluation) registrationFacts(v *vehicle) {
	for _, other := range []struct{ fact, docType string }{{"vehicle.registration_match", registration}, {"vehicle.application_match", application}} {
		c := comparison{class: guideline.Silent}
		if r := e.papers[other.docType][v.vin]; r != nil && r.id != v.id {
			c = e.sameVehicle(v, r)
		}
		e.sheet.match(other.fact, c)
	}
}

func (e *evaluation) sameVehicle(v *vehicle, r *row) comparison {
	c := comparison{class: guideline.Consistent, fields: append(v.fields("vin"), r.fields("vin")...)}
	for _, name := range []string{"year", "gvw"} {
		a, b := v.cells[name], r.cells[name]
		if a == nil || b == nil {
			continue
		}
		na, errA := parseInt(a.Value)
		nb, errB := parseInt(b.Value)
		if errA == nil && errB == nil && na != nb {
			return comparison{
				class: guideline.Conflict, stated: a.Value, expected: b.Value, fields: []*Field{a, b},
				explanation: fmt.Sprintf("%s: %s says %s, %s says %s", name, a.doc.Filename, a.Value, b.doc.Filename, b.Value),
			}
		}
		c.fields = append(c.fields, a, b)
	}
	return c
}
