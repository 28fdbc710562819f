package sample

import (
	"math/rand/v2"
	"strconv"

	"bordereau/tools/vin"
)

func checkDigit(v string) byte { return vin.CheckDigit(v) }

func (b *bundle) list() *sheetTable   { return b.paper("driver_list").table("drivers") }
func (b *bundle) record() *sheetTable { return b.paper("mvr").table("drivers") }

// driver names the entity of a driver.
func (b *bundle) driver(i int) string { return "driver " + b.driversOf[i] }

func driverPlants() []plant {
	record := func(name, rule, col, value string) plant {
		return plant{name, "driver0", func(b *bundle, _ *rand.Rand) { b.record().set(0, col, value); b.fails(rule, b.driver(0)) }}
	}
	born := func(b *bundle, i, age int) {
		d := day(b.effective.AddDate(-age, -2, 0))
		b.list().set(i, "date_of_birth", d)
		b.record().set(i, "date_of_birth", d)
	}
	return []plant{
		{"young driver", "driver1", func(b *bundle, _ *rand.Rand) {
			born(b, 1, 21)
			b.list().set(1, "years_experience", "3")
			b.fails("DRV-01", b.driver(1))
		}},
		{"old driver", "driver1", func(b *bundle, _ *rand.Rand) { born(b, 1, 76); b.fails("DRV-01", b.driver(1)) }},
		{"driver of 71", "driver1", func(b *bundle, _ *rand.Rand) { born(b, 1, 71); b.when("birch", "DRV-01", b.driver(1)) }},
		{"little experience", "driver2", func(b *bundle, _ *rand.Rand) {
			b.list().set(2, "years_experience", "0")
			b.fails("DRV-02", b.driver(2))
		}},
		{"year and a half", "driver2", func(b *bundle, _ *rand.Rand) {
			b.list().set(2, "years_experience", "1.5")
			b.when("alder birch", "DRV-02", b.driver(2))
		}},
		{"driver without mvr", "driver3", func(b *bundle, _ *rand.Rand) {
			b.record().remove(3)
			b.fails("DRV-03", b.driver(3))
			b.untold("DRV-07", b.driver(3))
		}},
		{"loss driver not listed", "driver3", func(b *bundle, _ *rand.Rand) {
			t := b.paper("loss_run").table("losses")
			t.set(0, "driver", "Quince Overleigh")
			b.fails("DRV-03", "driver Quince Overleigh")
		}},
		{"old mvr", "driver2", func(b *bundle, _ *rand.Rand) {
			b.record().set(2, "mvr_run_date", day(b.effective.AddDate(0, 0, -130)))
			b.fails("DRV-04", b.driver(2))
		}},
		{"mvr of 75 days", "driver2", func(b *bundle, _ *rand.Rand) {
			b.record().set(2, "mvr_run_date", day(b.effective.AddDate(0, 0, -75)))
			b.when("birch", "DRV-04", b.driver(2))
		}},
		record("violations", "DRV-05", "moving_violations", "4"),
		record("accidents", "DRV-05", "accidents", "2"),
		record("major violation", "DRV-06", "major_violations", "1"),
		record("suspended", "DRV-07", "license_status", "Suspended"),
		{"class b", "driver0", func(b *bundle, _ *rand.Rand) {
			b.list().set(0, "license_class", "B")
			b.record().set(0, "license_class", "B")
			b.fails("DRV-07", b.driver(0))
		}},
		{"licence differs", "driver0", func(b *bundle, _ *rand.Rand) {
			b.record().set(0, "license_number", "X9999999")
			b.fails("XDC-09", b.driver(0))
		}},
		{"birth date differs", "driver1", func(b *bundle, _ *rand.Rand) {
			b.record().set(1, "date_of_birth", day(b.effective.AddDate(-39, -5, -3)))
			b.list().set(1, "date_of_birth", day(b.effective.AddDate(-37, -5, -3)))
			b.fails("XDC-09", b.driver(1))
		}},
		{"drivers stated", "count", func(b *bundle, _ *rand.Rand) {
			b.app().set("driver_count", strconv.Itoa(len(b.list().rows)+2))
			b.fails("XDC-06", sub)
		}},
		{"few drivers", "alone", func(b *bundle, _ *rand.Rand) {
			// Three drivers fewer than power units; claims name only those who stay.
			for len(b.list().rows) > 2 {
				n := len(b.list().rows) - 1
				b.list().remove(n)
				b.record().remove(n)
			}
			t := b.paper("loss_run").table("losses")
			for i := range t.rows {
				t.set(i, "driver", b.driversOf[0])
			}
			b.app().set("driver_count", "2")
			b.when("alder birch", "DRV-08", sub)
		}},
	}
}

func lossPlants() []plant {
	loss := func(b *bundle) *paper { return b.paper("loss_run") }
	retotal := func(b *bundle) {
		sum := 0
		t := loss(b).table("losses")
		for i := range t.rows {
			n, _ := strconv.Atoi(t.get(i, "incurred"))
			sum += n
		}
		loss(b).set("total_incurred", money(sum))
	}
	grow := func(b *bundle, incurred int) {
		t := loss(b).table("losses")
		t.set(0, "paid", money(incurred))
		t.set(0, "reserve", "0")
		t.set(0, "recovered", "0")
		t.set(0, "incurred", money(incurred))
		for i := 1; i < len(t.rows); i++ {
			for _, c := range []string{"paid", "reserve", "recovered", "incurred"} {
				t.set(i, c, "0")
			}
		}
		retotal(b)
	}
	return []plant{
		{"old valuation", "valuation", func(b *bundle, _ *rand.Rand) {
			loss(b).set("valuation_date", day(b.effective.AddDate(0, 0, -170)))
			b.fails("LOS-01", sub)
		}},
		{"gap", "terms", func(b *bundle, _ *rand.Rand) {
			loss(b).table("terms").set(0, "term_start", day(b.effective.AddDate(-3, -2, 0)))
			loss(b).table("terms").set(0, "term_end", day(b.effective.AddDate(-2, 0, -30)))
			b.holdInTerm()
			b.fails("LOS-02", sub)
		}},
		{"few years", "terms", func(b *bundle, _ *rand.Rand) {
			t := loss(b).table("terms")
			t.set(0, "term_start", day(b.effective.AddDate(-2, -2, 0)))
			b.holdInTerm()
			b.fails("LOS-02", sub)
		}},
		{"carrier not named", "terms", func(b *bundle, _ *rand.Rand) {
			b.app().set("prior_carriers", loss(b).table("terms").get(0, "carrier"))
			b.fails("LOS-02", sub)
		}},
		{"loss ratio", "losses", func(b *bundle, _ *rand.Rand) {
			grow(b, b.units*9000*3*75/100)
			b.fails("LOS-03", sub)
		}},
		{"loss ratio of 55", "losses", func(b *bundle, _ *rand.Rand) {
			grow(b, b.units*9000*3*55/100)
			b.when("birch", "LOS-03", sub)
		}},
		{"incurred off", "losses", func(b *bundle, _ *rand.Rand) {
			t := loss(b).table("losses")
			n, _ := strconv.Atoi(t.get(0, "incurred"))
			t.set(0, "incurred", money(n+777))
			retotal(b)
			b.fails("LOS-04", "claim "+t.get(0, "claim_number"))
		}},
		{"total off", "losses", func(b *bundle, _ *rand.Rand) {
			n, _ := strconv.Atoi(loss(b).get("total_incurred"))
			loss(b).set("total_incurred", money(n+5000))
			b.fails("LOS-04T", sub)
		}},
		{"no narrative", "losses", func(b *bundle, _ *rand.Rand) {
			t := loss(b).table("losses")
			grow(b, 51000)
			t.set(0, "description", "")
			b.raisePremium()
			b.fails("LOS-05", "claim "+t.get(0, "claim_number"))
		}},
		{"says no losses", "losses", func(b *bundle, _ *rand.Rand) { b.app().set("no_losses", "Yes"); b.fails("XDC-10", sub) }},
		{"outside term", "lossdate", func(b *bundle, _ *rand.Rand) {
			t := loss(b).table("losses")
			t.set(0, "date_of_loss", day(b.effective.AddDate(-4, 0, 0)))
			b.fails("XDC-11", "claim "+t.get(0, "claim_number"))
		}},
		{"reported before", "lossdate", func(b *bundle, _ *rand.Rand) {
			t := loss(b).table("losses")
			t.set(0, "date_reported", day(b.effective.AddDate(-3, 0, -40)))
			b.fails("XDC-11", "claim "+t.get(0, "claim_number"))
		}},
		{"claim's vin", "vehicle0", func(b *bundle, rng *rand.Rand) {
			t := loss(b).table("losses")
			t.set(0, "unit_no", b.vehicles().get(0, "unit_no"))
			t.set(0, "vin", makeVIN(rng, tractors[0], 2019))
			b.fails("XDC-12", "claim "+t.get(0, "claim_number"))
		}},
		{"no loss run", "alone", func(b *bundle, _ *rand.Rand) {
			b.remove("loss_run")
			for _, r := range []string{"LOS-01", "LOS-02", "LOS-03", "LOS-04T", "XDC-10"} {
				if r != "XDC-10" {
					b.untold(r, sub)
				}
			}
		}},
	}
}

// holdInTerm moves the claims of the first term into it after the term was changed.
func (b *bundle) holdInTerm() {
	terms, t := b.paper("loss_run").table("terms"), b.paper("loss_run").table("losses")
	for i := range t.rows {
		if t.get(i, "policy_number") == terms.get(0, "policy_number") {
			t.set(i, "date_of_loss", day(b.effective.AddDate(-2, -1, -10)))
			t.set(i, "date_reported", day(b.effective.AddDate(-2, -1, -8)))
		}
	}
}

// raisePremium keeps the loss ratio low beside a large claim.
func (b *bundle) raisePremium() {
	t := b.paper("loss_run").table("terms")
	for i := range t.rows {
		t.set(i, "premium", "90000")
	}
}

func operationPlants() []plant {
	return []plant{
		{"local radius", "radius", func(b *bundle, _ *rand.Rand) {
			b.far()
			b.app().set("radius", "50")
			b.fails("OPS-01", sub)
		}},
		{"state not stated", "states", func(b *bundle, _ *rand.Rand) {
			t := b.paper("ifta").table("ifta")
			home := b.home
			t.rows = append(t.rows, []string{b.vehicles().get(0, "unit_no"), home.neighboursOfNeighbour(), "200"})
			b.fails("OPS-02", sub)
		}},
		{"excluded commodity", "goods", func(b *bundle, _ *rand.Rand) {
			b.app().set("commodities", "household goods 70%; lumber 30%")
			b.fails("OPS-03", sub)
		}},
		{"hazmat denied", "goods", func(b *bundle, _ *rand.Rand) {
			b.app().set("commodities", "gasoline 70%; lumber 30%")
			b.fails("OPS-03", sub)
		}},
		{"bulk gas", "goods", func(b *bundle, _ *rand.Rand) {
			b.app().set("commodities", "propane 70%; lumber 30%")
			b.app().set("hazmat", "Yes")
			b.fails("COV-01", sub)
		}},
		{"limit too low", "limit", func(b *bundle, _ *rand.Rand) { b.limit("500000"); b.fails("COV-01", sub) }},
		{"limit of 750,000", "limit", func(b *bundle, _ *rand.Rand) { b.limit("750000"); b.when("cedar", "COV-01", sub) }},
		{"no filings", "filings", func(b *bundle, _ *rand.Rand) { b.app().set("filings_requested", "MCS-90"); b.fails("COV-02", sub) }},
		{"effective date differs", "dates", func(b *bundle, _ *rand.Rand) {
			b.paper("broker_email").set("effective_date", day(b.effective.AddDate(0, 0, 9)))
			b.fails("COV-03", sub)
		}},
		{"limit differs", "limit", func(b *bundle, _ *rand.Rand) {
			b.paper("broker_email").set("csl_limit", "2000000")
			b.fails("COV-03", sub)
		}},
		{"split limit", "limit", func(b *bundle, _ *rand.Rand) {
			b.app().table("coverages").set(0, "limit_basis", "each accident")
			b.fails("COV-04", "coverage Auto Liability")
		}},
		{"limit without basis", "limit", func(b *bundle, _ *rand.Rand) {
			b.app().table("coverages").set(0, "limit_basis", "")
			b.untold("COV-04", "coverage Auto Liability")
		}},
		{"high deductible", "value", func(b *bundle, _ *rand.Rand) {
			b.app().table("coverages").set(1, "deductible", "25000")
			b.fails("COV-05", "coverage Physical Damage")
		}},
		{"symbol differs", "dates", func(b *bundle, _ *rand.Rand) {
			b.app().table("coverages").set(0, "symbol", "1")
			b.fails("COV-03", sub)
		}},
		{"declared change", "limit", func(b *bundle, _ *rand.Rand) {
			m := b.paper("broker_email")
			m.received = b.received.AddDate(0, 0, 0).Add(3600e9)
			m.set("csl_limit", "2000000")
			m.set("declared_change", "Please change the csl limit from 1000000 to 2000000.")
			b.note("COV-03", sub, "pass", "supersession")
		}},
		{"ifta unit", "ifta", func(b *bundle, _ *rand.Rand) {
			t := b.paper("ifta").table("ifta")
			t.rows = append(t.rows, []string{"999", b.home.state, "150"})
			b.fails("XDC-13", sub)
		}},
		{"too many miles", "miles", func(b *bundle, _ *rand.Rand) {
			b.app().set("annual_mileage", "90000")
			b.fails("XDC-14", sub)
		}},
		{"no ifta", "alone", func(b *bundle, _ *rand.Rand) {
			b.remove("ifta")
			b.untold("OPS-01", sub)
			b.untold("OPS-02", sub)
			b.untold("XDC-14", sub)
		}},
	}
}

// limit writes the liability limit everywhere.
func (b *bundle) limit(v string) {
	b.app().set("csl_limit", v)
	b.app().table("coverages").set(0, "limit_amount", v)
	b.paper("broker_email").set("csl_limit", v)
}

// far adds miles in Maine, which is three borders or more from every terminal, and states it as a state of operation.
func (b *bundle) far() {
	t := b.paper("ifta").table("ifta")
	t.rows = append(t.rows, []string{b.vehicles().get(0, "unit_no"), "ME", "300"})
	b.app().set("states_of_operation", b.app().get("states_of_operation")+", ME")
}

// neighboursOfNeighbour is a state near enough for the stated radius that is not a stated state of operation.
func (p place) neighboursOfNeighbour() string {
	return map[string]string{"TX": "NM", "OK": "MO", "TN": "MS", "GA": "FL", "NC": "GA", "OH": "MI", "IN": "MI", "IL": "MO", "IA": "WI", "MO": "NE", "CO": "UT", "AZ": "UT"}[p.state]
}
