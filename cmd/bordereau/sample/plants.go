package sample

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// plant spoils a clean bundle in one way and notes what must be found.
type plant struct {
	name  string
	group string // two plants of one group would disturb each other
	spoil func(b *bundle, rng *rand.Rand)
}

func unitName(b *bundle, i int) string { return "unit " + b.vehicles().get(i, "unit_no") }

func has(list []string, s string) bool {
	return slices.Contains(list, s)
}

// when notes a failure only for the carriers whose threshold is crossed.
func (b *bundle) when(carriers, rule, entity string) {
	if has(strings.Fields(carriers), b.carrier) {
		b.fails(rule, entity)
	}
}

const sub = "submission"

func companyPlants() []plant {
	fm := func(name, rule string, set ...string) plant {
		return plant{name, "fmcsa", func(b *bundle, _ *rand.Rand) {
			for i := 0; i < len(set); i += 2 {
				b.paper("fmcsa_snapshot").set(set[i], set[i+1])
			}
			b.fails(rule, sub)
		}}
	}
	return []plant{
		fm("fmcsa inactive", "FMC-01", "status_code", "I"),
		fm("fmcsa not allowed", "FMC-01", "allowed_to_operate", "N"),
		fm("other legal name", "FMC-02", "legal_name", "Unrelated Meadow Holdings LLC"),
		fm("unsatisfactory", "FMC-03", "safety_rating", "Unsatisfactory"),
		fm("conditional", "FMC-03", "safety_rating", "Conditional"),
		fm("no authority", "FMC-04", "common_authority", "N", "contract_authority", "N"),
		fm("no filing", "FMC-04", "common_authority", "I", "bipd_on_file", "0"),
		fm("out of service", "FMC-06", "driver_oos_rate", "24.5"),
		{"old mcs150", "fmcsa", func(b *bundle, _ *rand.Rand) {
			b.paper("fmcsa_snapshot").set("mcs150_date", day(b.received.AddDate(-3, -1, 0)))
			b.fails("FMC-05", sub)
		}},
		{"no snapshot", "alone", func(b *bundle, _ *rand.Rand) {
			b.remove("fmcsa_snapshot")
			for _, r := range []string{"FMC-01", "FMC-02", "FMC-03", "FMC-04", "FMC-05", "FMC-06", "FLT-02"} {
				b.untold(r, sub)
			}
		}},
		{"young company", "applicant", func(b *bundle, _ *rand.Rand) { b.app().set("years_in_business", "1"); b.fails("BUS-01", sub) }},
		{"two and a half years", "applicant", func(b *bundle, _ *rand.Rand) {
			b.app().set("years_in_business", "2.5")
			b.when("birch", "BUS-01", sub)
		}},
		{"years hardly readable", "applicant", func(b *bundle, _ *rand.Rand) {
			b.weak["application/years_in_business"] = true
			b.untold("BUS-01", sub)
		}},
		{"years ambiguous", "applicant", func(b *bundle, _ *rand.Rand) {
			b.app().set("years_in_business", "twelve (13)")
			b.untold("BUS-01", sub)
		}},
		{"excluded naics", "applicant", func(b *bundle, _ *rand.Rand) { b.app().set("naics", "485510"); b.fails("BUS-02", sub) }},
		{"fein differs", "match", func(b *bundle, _ *rand.Rand) { b.paper("loss_run").set("fein", "98-7654321"); b.fails("XDC-01", sub) }},
		{"dot differs", "match", func(b *bundle, _ *rand.Rand) { b.paper("ifta").set("usdot", "4999999"); b.fails("XDC-02", sub) }},
		{"mc differs", "match", func(b *bundle, _ *rand.Rand) {
			b.paper("fmcsa_snapshot").set("mc_number", "MC-999001")
			b.fails("XDC-03", sub)
		}},
		{"dba differs", "match", func(b *bundle, _ *rand.Rand) {
			b.paper("fmcsa_snapshot").set("dba_name", "Second Lantern Movers")
			b.fails("XDC-04", sub)
		}},
		{"address differs", "match", func(b *bundle, _ *rand.Rand) {
			b.paper("fmcsa_snapshot").set("mailing_address", "77 Elsewhere Court, Reno, NV 89501")
			b.fails("XDC-05", sub)
		}},
		{"legal form differs", "match", func(b *bundle, _ *rand.Rand) {
			_, form, _ := strings.Cut(b.insuredName, " ")
			other := "LP"
			_ = form
			parts := strings.Fields(b.insuredName)
			b.paper("loss_run").set("named_insured", strings.Join(parts[:len(parts)-1], " ")+" "+other)
			b.fails("FMC-02", sub)
		}},
	}
}

func fleetPlants() []plant {
	return []plant{
		{"too many units", "alone", func(b *bundle, rng *rand.Rand) {
			// The count alone decides; the rows are copies with VINs of their own.
			v, d, m, i := b.vehicles(), b.paper("driver_list").table("drivers"), b.paper("mvr").table("drivers"), 0
			for b.units < 62 {
				t := tractors[i%15]
				row := append([]string(nil), v.rows[0]...)
				v.rows = append(v.rows, row)
				n := len(v.rows) - 1
				v.set(n, "unit_no", strconv.Itoa(201+i))
				v.set(n, "make", t.make)
				v.set(n, "model", t.model)
				v.set(n, "body_type", t.body)
				v.set(n, "gvw", strconv.Itoa(t.gvw))
				v.set(n, "year", "2020")
				v.set(n, "stated_value", "90000")
				v.set(n, "vin", makeVIN(rng, t, 2020))
				// A driver for each, with a record.
				name := fmt.Sprintf("%s %s%s", givenNames[i%len(givenNames)], surnames[(i*7)%len(surnames)], []string{"", "e", "worth", "by"}[i/24%4])
				number := fmt.Sprintf("Z%07d", 2000000+i*13)
				d.rows = append(d.rows, []string{name + " Q" + strconv.Itoa(i), number, b.home.state, "A", "03/04/1984", "02/01/2021", "9"})
				m.rows = append(m.rows, []string{name + " Q" + strconv.Itoa(i), number, b.home.state, "A", "Valid", "03/04/1984", m.get(0, "mvr_run_date"), "0", "0", "0"})
				b.units++
				i++
			}
			b.recount()
			b.retotal()
			b.app().set("driver_count", strconv.Itoa(len(d.rows)))
			b.fails("FLT-01", sub)
		}},
		{"units stated", "count", func(b *bundle, _ *rand.Rand) {
			b.app().set("power_unit_count", strconv.Itoa(b.units+2))
			b.fails("FLT-02", sub)
		}},
		{"fmcsa units", "fmcsa", func(b *bundle, _ *rand.Rand) {
			b.paper("fmcsa_snapshot").set("power_units", strconv.Itoa(b.units*4+5))
			b.fails("FLT-02", sub)
		}},
		{"vehicles stated", "count", func(b *bundle, _ *rand.Rand) {
			b.app().set("vehicle_count", strconv.Itoa(len(b.vehicles().rows)+3))
			b.fails("XDC-07", sub)
		}},
		{"vin short", "vehicle0", func(b *bundle, _ *rand.Rand) {
			v := b.vehicles()
			v.set(0, "vin", v.get(0, "vin")[:16])
			b.unlink(0)
			b.fails("VEH-01", unitName(b, 0))
		}},
		{"vin check digit", "vehicle0", func(b *bundle, _ *rand.Rand) {
			v := b.vehicles()
			s := []byte(v.get(0, "vin"))
			if s[8] == '0' {
				s[8] = '1'
			} else {
				s[8] = '0'
			}
			v.set(0, "vin", string(s))
			b.unlink(0)
			b.fails("VEH-01", unitName(b, 0))
		}},
		{"vin that no scheme allows", "vehicle0", func(b *bundle, _ *rand.Rand) {
			v := b.vehicles()
			s := []byte(v.get(0, "vin"))
			copy(s[3:8], "ZZZZZ")
			s[8] = checkDigit(string(s))
			v.set(0, "vin", string(s))
			b.unlink(0)
			b.fails("VEH-09", unitName(b, 0))
		}},
		{"vin twice", "alone", func(b *bundle, _ *rand.Rand) {
			v := b.vehicles()
			row := append([]string(nil), v.rows[0]...)
			v.rows = append(v.rows, row)
			v.set(len(v.rows)-1, "unit_no", "190")
			b.recount()
			b.retotal()
			b.fails("VEH-02", unitName(b, 0))
			b.fails("VEH-02", "unit 190")
		}},
		{"year off", "vehicle1", func(b *bundle, _ *rand.Rand) {
			v := b.vehicles()
			y, _ := strconv.Atoi(v.get(1, "year"))
			if y > b.effective.Year()-10 {
				y -= 2
			} else {
				y += 2
			}
			v.set(1, "year", strconv.Itoa(y))
			b.unlink(1)
			b.fails("VEH-03", unitName(b, 1))
		}},
		{"make off", "vehicle1", func(b *bundle, _ *rand.Rand) {
			v := b.vehicles()
			other := "Kenworth"
			if v.get(1, "make") == other {
				other = "Volvo"
			}
			v.set(1, "make", other)
			v.set(1, "model", "")
			b.fails("VEH-03", unitName(b, 1))
		}},
		{"trailer called tractor", "alone", func(b *bundle, _ *rand.Rand) {
			v := b.vehicles()
			n := len(v.rows) - 1
			v.set(n, "body_type", "Tractor")
			v.set(n, "gvw", "")
			v.set(n, "model", "")
			b.recount()
			v.set(n, "stated_value", "30000")
			b.retotal()
			b.addDriver()
			b.fails("VEH-04", unitName(b, n))
			b.untold("VEH-03", unitName(b, n))
			b.untold("VEH-05", unitName(b, n))
		}},
		{"gvw off", "vehicle1", func(b *bundle, _ *rand.Rand) {
			b.vehicles().set(1, "gvw", "14500")
			b.unlink(1)
			b.fails("VEH-05", unitName(b, 1))
		}},
		{"gvw silent", "vehicle1", func(b *bundle, _ *rand.Rand) {
			b.vehicles().set(1, "gvw", "")
			b.untold("VEH-05", unitName(b, 1))
		}},
		{"old tractor", "vehicle0", func(b *bundle, rng *rand.Rand) {
			v := b.vehicles()
			t := template{prefix: "1XP5DB9X", plant: "D", make: "Peterbilt", model: "379", body: "Tractor"}
			// 2006 is year code 6.
			s := t.prefix + "06" + t.plant + fmt.Sprintf("%06d", 800000+rng.IntN(90000))
			s = s[:8] + string(checkDigit(s)) + s[9:]
			for c, val := range map[string]string{"vin": s, "year": "2006", "make": t.make, "model": t.model, "body_type": t.body, "gvw": "52000", "stated_value": "21000"} {
				v.set(0, c, val)
			}
			b.unlink(0)
			b.retotal()
			b.fails("VEH-06", unitName(b, 0))
		}},
		{"value odd", "value", func(b *bundle, _ *rand.Rand) {
			b.vehicles().set(1, "stated_value", "990000")
			b.retotal()
			b.fails("VEH-07", unitName(b, 1))
		}},
		{"value silent", "value", func(b *bundle, _ *rand.Rand) {
			b.vehicles().set(1, "stated_value", "")
			b.untold("VEH-07", unitName(b, 1))
			b.untold("VEH-07T", sub)
		}},
		{"total off", "value", func(b *bundle, _ *rand.Rand) {
			n, _ := strconv.Atoi(b.app().get("total_insured_value"))
			b.app().set("total_insured_value", money(n*2))
			b.fails("VEH-07T", sub)
		}},
		{"po box", "garaging", func(b *bundle, _ *rand.Rand) {
			b.vehicles().set(2, "garaging_address", "P.O. Box 1207")
			b.fails("VEH-08", unitName(b, 2))
		}},
		{"garaged away", "garaging", func(b *bundle, _ *rand.Rand) {
			v := b.vehicles()
			v.set(2, "garaging_city", "Boston")
			v.set(2, "garaging_state", "MA")
			v.set(2, "garaging_zip", "02108")
			b.fails("VEH-08", unitName(b, 2))
		}},
		{"registration differs", "registration", func(b *bundle, _ *rand.Rand) {
			b.remove("registration")
			p := registrations(b, b.vehicles())
			p.table("vehicles").set(1, "gvw", "33000")
			b.papers = append(b.papers, p)
			b.fails("XDC-08", unitName(b, 1))
		}},
		{"application lists otherwise", "registration", func(b *bundle, _ *rand.Rand) {
			v := b.vehicles()
			b.app().tables = append(b.app().tables, &sheetTable{
				name: "vehicles", cols: []string{"unit_no", "year", "make", "vin"},
				rows: [][]string{{v.get(2, "unit_no"), "2013", v.get(2, "make"), v.get(2, "vin")}},
			})
			b.fails("XDC-15", unitName(b, 2))
		}},
		{"no physical damage", "value", func(b *bundle, _ *rand.Rand) {
			b.app().set("physical_damage", "No")
			b.when("cedar", "CED-01", sub)
		}},
	}
}

// unlink takes a row out of documents that name its VIN, so that one plant makes one discrepancy.
func (b *bundle) unlink(row int) {
	b.remove("registration")
	u := b.vehicles().get(row, "unit_no")
	if l := b.paper("loss_run"); l != nil {
		t := l.table("losses")
		for i := range t.rows {
			if t.get(i, "unit_no") == u {
				t.set(i, "unit_no", "")
				t.set(i, "vin", "")
			}
		}
	}
}

// addDriver keeps the ratio of drivers to power units when a plant adds a unit.
func (b *bundle) addDriver() {
	l, m := b.paper("driver_list").table("drivers"), b.paper("mvr").table("drivers")
	l.rows = append(l.rows, []string{"Yarrow Zealand", "Q7654321", b.home.state, "A", "05/06/1980", "02/01/2022", "12"})
	m.rows = append(m.rows, []string{"Yarrow Zealand", "Q7654321", b.home.state, "A", "Valid", "05/06/1980", m.get(0, "mvr_run_date"), "0", "0", "0"})
	b.app().set("driver_count", strconv.Itoa(len(l.rows)))
}
