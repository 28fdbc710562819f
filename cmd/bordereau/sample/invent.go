package sample

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"bordereau/tools/vin"
)

// Submission is one invented submission with its files.
type Submission struct {
	ID, Workflow, Status, Insured, Broker, Carrier string
	Effective, Expiry, Received, Completed         time.Time
	Documents                                      []*File
	Planted                                        []Planted
	Injected                                       bool
}

var workflows = []string{"New Business Intake", "Claims Intake", "Renewal Intake"}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// invent makes one submission: clean, then with what its plan plants, laid out, extracted and edited.
func invent(cfg Config, rng *rand.Rand, org string, i int, received, today time.Time, todo planned, book *blank) (*Submission, error) {
	b := &bundle{id: fmt.Sprintf("%s-%d-%05d", strings.ToUpper(org[:2]), received.Year(), i+1), carrier: todo.carrier, received: received, weak: map[string]bool{}}
	b.effective = time.Date(received.Year(), received.Month(), received.Day(), 0, 0, 0, 0, time.UTC).AddDate(0, 0, 15+rng.IntN(25))
	clean(b, rng)
	benign(b, rng)
	for _, p := range todo.plants {
		p.spoil(b, rng)
	}
	if todo.inject {
		inject(b, rng)
	}
	if err := proveVINs(cfg, b); err != nil {
		return nil, err
	}
	s := &Submission{
		ID: b.id, Workflow: workflows[i%3], Insured: b.insuredName, Broker: b.broker, Carrier: b.carrier,
		Effective: b.effective, Expiry: b.effective.AddDate(1, 0, 0), Received: received, Status: "received", Planted: b.expect, Injected: todo.inject,
	}
	if age := today.Sub(received); age > 30*24*time.Hour {
		s.Status, s.Completed = pick(rng, []string{"completed", "completed", "bound", "declined"}), received.Add(time.Duration(26+rng.IntN(120))*time.Hour)
	} else if age > 3*24*time.Hour {
		s.Status = "in_review"
	}
	slices.SortFunc(b.papers, func(a, c *paper) int { return strings.Compare(a.file, c.file) })
	for n, p := range b.papers {
		f, err := lay(p, book)
		if err != nil {
			return nil, fmt.Errorf("sample: %s of %s: %w", p.file, b.id, err)
		}
		f.ID = fmt.Sprintf("D-%s-%d", b.id, n+1)
		extract(f, b, s, rng, today)
		s.Documents = append(s.Documents, f)
	}
	return s, nil
}

// proveVINs holds every clean row's VIN against the decoder: a template that doesn't decode to what is stated is an error here, not a puzzle later.
func proveVINs(cfg Config, b *bundle) error {
	if len(b.expect) > 0 {
		return nil // A planted row contradicts its VIN on purpose.
	}
	t := b.vehicles()
	rows := make([]vin.Row, len(t.rows))
	for i := range t.rows {
		year := 0
		if _, err := fmt.Sscan(t.get(i, "year"), &year); err != nil {
			return fmt.Errorf("sample: year of row %d: %w", i, err)
		}
		rows[i] = vin.Row{VIN: t.get(i, "vin"), Year: year, Make: t.get(i, "make"), BodyType: t.get(i, "body_type")}
	}
	for i, c := range cfg.Decoder.Check(rows) {
		if c.Worst == vin.Conflict {
			return fmt.Errorf("sample: VIN %s does not decode to %d %s: %+v", rows[i].VIN, rows[i].Year, rows[i].Make, c.Checks)
		}
	}
	return nil
}

// clean fills a bundle with a consistent packet that every carrier's guideline clears.
func clean(b *bundle, rng *rand.Rand) {
	b.home = pick(rng, places)
	form := pick(rng, forms)
	base := pick(rng, firstWords) + " " + pick(rng, secondWords) + " " + pick(rng, trades)
	b.insuredName = base + " " + form
	b.broker = pick(rng, brokers)
	b.units = 4 + rng.IntN(4)
	dot := fmt.Sprint(1000000 + rng.IntN(2999999))
	mc := "MC-" + fmt.Sprint(100000+rng.IntN(899999))
	fein := fmt.Sprintf("%02d-%07d", 10+rng.IntN(80), 1000000+rng.IntN(8999999))
	address := fmt.Sprintf("%d %s, %s, %s %s", 100+rng.IntN(8900), pick(rng, streets), b.home.city, b.home.state, b.home.zip)
	eff, exp := day(b.effective), day(b.effective.AddDate(1, 0, 0))

	vehicles, sum := fleet(b, rng)
	list, record, names := people(b, rng)
	states := append([]string{b.home.state}, b.home.neighbours...)
	miles := b.units * (70000 + rng.IntN(20000))
	prior := pickInsurers(rng)

	app := &paper{kind: "application", file: "application.pdf", media: "application/pdf", title: "Commercial Auto Application", received: b.received}
	for _, f := range []pair{
		{"named_insured", b.insuredName},
		{"dba", base},
		{"fein", fein},
		{"usdot", dot},
		{"mc_number", mc},
		{"entity_type", form},
		{"mailing_address", address},
		{"terminal_city", b.home.city},
		{"terminal_state", b.home.state},
		{"naics", "484121"},
		{"years_in_business", fmt.Sprint(4 + rng.IntN(25))},
		{"effective_date", eff},
		{"expiry_date", exp},
		{"power_unit_count", fmt.Sprint(b.units)},
		{"vehicle_count", fmt.Sprint(len(vehicles.rows))},
		{"driver_count", fmt.Sprint(len(list.rows))},
		{"total_insured_value", money(sum)},
		{"physical_damage", "Yes"},
		{"radius", fmt.Sprint(300 + 50*rng.IntN(4))},
		{"states_of_operation", strings.Join(states, ", ")},
		{"annual_mileage", fmt.Sprint(miles)},
		{"commodities", fmt.Sprintf("%s 60%%; %s 40%%", goods[rng.IntN(3)], goods[3+rng.IntN(4)])},
		{"hazmat", "No"},
		{"for_hire", "Yes"},
		{"interstate", "Yes"},
		{"filings_requested", "BMC-91X, MCS-90"},
		{"csl_limit", "1000000"},
		{"csl_basis", "CSL"},
		{"liability_symbol", "7, 8, 9"},
		{"prior_carriers", strings.Join(prior, "; ")},
		{"no_losses", "No"},
	} {
		app.set(f.name, f.value)
	}
	app.tables = append(app.tables, &sheetTable{name: "coverages", cols: []string{"coverage", "limit_amount", "limit_basis", "deductible", "symbol", "effective_date", "expiry_date", "premium"}, rows: [][]string{
		{"Auto Liability", "1000000", "CSL", "0", "7, 8, 9", eff, exp, money(b.units * 9800)},
		{"Physical Damage", money(sum), "ACV", "2500", "7", eff, exp, money(sum / 40)},
	}})

	schedule := &paper{kind: "vehicle_schedule", file: "vehicle-schedule.xlsx", media: xlsxType, title: "Vehicle Schedule", received: b.received, tables: []*sheetTable{vehicles}}
	schedule.set("named_insured", b.insuredName)
	schedule.set("vehicle_count", fmt.Sprint(len(vehicles.rows)))
	schedule.set("total_insured_value", money(sum))
	drivers := &paper{kind: "driver_list", file: "driver-list.xlsx", media: xlsxType, title: "Driver List", received: b.received, tables: []*sheetTable{list}}
	drivers.set("named_insured", b.insuredName)
	mvrs := &paper{kind: "mvr", file: "mvr-packet.pdf", media: "application/pdf", title: "Motor Vehicle Records", received: b.received, tables: []*sheetTable{record}}
	b.papers = append(b.papers, app, schedule, drivers, mvrs, losses(b, rng, prior, fein, vehicles, names), iftaReturn(b, rng, miles, states, dot, vehicles), snapshot(b, rng, dot, mc, base, address), email(b))
	if rng.IntN(3) == 0 {
		b.papers = append(b.papers, registrations(b, vehicles))
	}
	b.driversOf = names
}

func pickInsurers(rng *rand.Rand) []string {
	n := rng.IntN(len(insurers))
	return []string{insurers[n], insurers[(n+1)%len(insurers)]}
}

func fleet(b *bundle, rng *rand.Rand) (*sheetTable, int) {
	t := &sheetTable{name: "vehicles", cols: []string{"unit_no", "year", "make", "model", "body_type", "vin", "gvw", "stated_value", "plate", "garaging_address", "garaging_city", "garaging_state", "garaging_zip", "radius"}}
	sum := 0
	add := func(m template) {
		newest := min(m.to, b.received.Year())
		oldest := max(m.from, b.effective.Year()-11)
		year := newest
		if newest > oldest {
			year = oldest + rng.IntN(newest-oldest+1)
		} else if oldest > m.to {
			year = m.to
		}
		value := 1000 * (m.low + (m.high-m.low)*(year-m.from)/max(1, m.to-m.from))
		value = max(value, 9000) + 100*rng.IntN(9)
		sum += value
		city, zip := b.home.city, b.home.zip
		if rng.IntN(3) == 0 {
			city, zip = b.home.suburb, b.home.suburbZIP
		}
		t.rows = append(t.rows, []string{
			unit(len(t.rows)), fmt.Sprint(year), m.make, m.model, m.body, makeVIN(rng, m, year), fmt.Sprint(m.gvw), money(value),
			fmt.Sprintf("%c%c%05d", 'A'+rng.IntN(26), 'A'+rng.IntN(26), rng.IntN(99999)), fmt.Sprintf("%d %s", 100+rng.IntN(8900), pick(rng, streets)), city, b.home.state, zip, fmt.Sprint(250 + 50*rng.IntN(3)),
		})
	}
	for i := range b.units {
		if i < 2 || rng.IntN(3) > 0 {
			add(pick(rng, tractors))
		} else {
			add(pick(rng, trucks))
		}
	}
	for range 1 + rng.IntN(3) {
		add(pick(rng, trailers))
	}
	return t, sum
}

func people(b *bundle, rng *rand.Rand) (list, record *sheetTable, names []string) {
	list = &sheetTable{name: "drivers", cols: []string{"name", "license_number", "license_state", "license_class", "date_of_birth", "hire_date", "years_experience"}}
	record = &sheetTable{name: "drivers", cols: []string{"name", "license_number", "license_state", "license_class", "license_status", "date_of_birth", "mvr_run_date", "moving_violations", "accidents", "major_violations"}}
	first, last := rng.Perm(len(givenNames)), rng.Perm(len(surnames))
	for i := range b.units {
		name := givenNames[first[i]] + " " + surnames[last[i]]
		age := 27 + rng.IntN(38)
		born := b.effective.AddDate(-age, -1-rng.IntN(9), -rng.IntN(27))
		number := fmt.Sprintf("%c%07d", 'A'+rng.IntN(26), 1000000+rng.IntN(8999999))
		hired := b.received.AddDate(-1-rng.IntN(3), -rng.IntN(11), 0)
		list.rows = append(list.rows, []string{name, number, b.home.state, "A", day(born), day(hired), fmt.Sprint(min(age-22, 4+rng.IntN(20)))})
		record.rows = append(record.rows, []string{name, number, b.home.state, "A", "Valid", day(born), day(b.received.AddDate(0, 0, -3-rng.IntN(12))), fmt.Sprint(rng.IntN(2)), "0", "0"})
		names = append(names, name)
	}
	return list, record, names
}

func losses(b *bundle, rng *rand.Rand, prior []string, fein string, vehicles *sheetTable, names []string) *paper {
	p := &paper{kind: "loss_run", file: "loss-run.pdf", media: "application/pdf", title: "Loss Run", received: b.received}
	terms := &sheetTable{name: "terms", cols: []string{"carrier", "policy_number", "term_start", "term_end", "premium"}}
	claims := &sheetTable{name: "losses", cols: []string{"claim_number", "policy_number", "date_of_loss", "date_reported", "status", "paid", "reserve", "recovered", "incurred", "driver", "unit_no", "vin", "description"}}
	total := 0
	for k := range 3 {
		start := b.effective.AddDate(-3+k, 0, 0)
		policy := fmt.Sprintf("CA%06d", 100000+rng.IntN(899999))
		carrier := prior[0]
		if k == 2 {
			carrier = prior[1]
		}
		terms.rows = append(terms.rows, []string{carrier, policy, day(start), day(start.AddDate(1, 0, 0)), money(b.units * 9000)})
		if k == 0 || k == 1 && rng.IntN(2) == 0 {
			paid, reserve, recovered := 900+rng.IntN(4000), rng.IntN(2)*1500, rng.IntN(2)*200
			at := start.AddDate(0, 1+rng.IntN(8), rng.IntN(20))
			row := rng.IntN(b.units)
			incurred := paid + reserve - recovered
			total += incurred
			claims.rows = append(claims.rows, []string{
				fmt.Sprintf("%s-%02d", policy, len(claims.rows)+1), policy, day(at), day(at.AddDate(0, 0, 1+rng.IntN(9))), pick(rng, []string{"Closed", "Open"}),
				money(paid), money(reserve), money(recovered), money(incurred), names[rng.IntN(len(names))], vehicles.get(row, "unit_no"), vehicles.get(row, "vin"), pick(rng, lossWords),
			})
		}
	}
	for _, f := range []pair{{"named_insured", b.insuredName}, {"fein", fein}, {"valuation_date", day(b.received.AddDate(0, 0, -4-rng.IntN(20)))}, {"total_incurred", money(total)}} {
		p.set(f.name, f.value)
	}
	p.tables = []*sheetTable{terms, claims}
	return p
}

func iftaReturn(b *bundle, rng *rand.Rand, miles int, states []string, dot string, vehicles *sheetTable) *paper {
	p := &paper{kind: "ifta", file: "ifta-return.pdf", media: "application/pdf", title: "IFTA Mileage by Vehicle, four quarters", received: b.received}
	p.set("named_insured", b.insuredName)
	p.set("usdot", dot)
	t := &sheetTable{name: "ifta", cols: []string{"unit_no", "state", "total_miles"}}
	each := miles / b.units
	for i := range b.units {
		left := each - 500
		for k, s := range states[:2+rng.IntN(len(states)-1)] {
			m := left / 2
			if k == 0 {
				m = left / 3
			}
			left -= m
			t.rows = append(t.rows, []string{vehicles.get(i, "unit_no"), s, fmt.Sprint(m)})
		}
	}
	p.tables = []*sheetTable{t}
	return p
}

func snapshot(b *bundle, rng *rand.Rand, dot, mc, base, address string) *paper {
	p := &paper{kind: "fmcsa_snapshot", file: "fmcsa-snapshot.pdf", media: "application/pdf", title: "Company Snapshot", received: b.received}
	for _, f := range []pair{
		{"legal_name", b.insuredName},
		{"dba_name", base},
		{"usdot", dot},
		{"mc_number", mc},
		{"mailing_address", address},
		{"status_code", "A"},
		{"allowed_to_operate", "Y"},
		{"power_units", fmt.Sprint(b.units)},
		{"drivers", fmt.Sprint(b.units)},
		{"safety_rating", "Satisfactory"},
		{"common_authority", "A"},
		{"contract_authority", "N"},
		{"bipd_on_file", "750"},
		{"mcs150_date", day(b.received.AddDate(0, -2-rng.IntN(15), 0))},
		{"driver_oos_rate", fmt.Sprintf("%.1f", 1+rng.Float64()*5)},
		{"inspections", fmt.Sprint(6 + rng.IntN(20))},
	} {
		p.set(f.name, f.value)
	}
	return p
}

func email(b *bundle) *paper {
	p := &paper{
		kind: "broker_email", file: "broker-email.eml", media: "message/rfc822", title: "New submission: " + b.insuredName, received: b.received,
		prose: []string{"Hello,", "please find attached the submission for the account below. Documents are attached separately.", "Thank you,", b.broker},
	}
	p.set("named_insured", b.insuredName)
	p.set("effective_date", day(b.effective))
	p.set("csl_limit", "1000000")
	return p
}

func registrations(b *bundle, vehicles *sheetTable) *paper {
	t := &sheetTable{name: "vehicles", cols: []string{"vin", "year", "gvw", "plate"}}
	for i := range 2 {
		t.rows = append(t.rows, []string{vehicles.get(i, "vin"), vehicles.get(i, "year"), vehicles.get(i, "gvw"), vehicles.get(i, "plate")})
	}
	return &paper{kind: "registration", file: "registrations.pdf", media: "application/pdf", title: "Vehicle Registrations", received: b.received, tables: []*sheetTable{t}}
}

// benign writes some of the same facts in another spelling. None of it is a discrepancy.
func benign(b *bundle, rng *rand.Rand) {
	f := b.paper("fmcsa_snapshot")
	if rng.IntN(2) == 0 {
		f.set("legal_name", strings.ToUpper(strings.ReplaceAll(strings.ReplaceAll(b.insuredName, "LLC", "L.L.C."), "Corp.", "Corporation")))
	}
	if rng.IntN(2) == 0 {
		f.set("mailing_address", strings.ToUpper(strings.NewReplacer("Street", "St", "Road", "Rd", "Avenue", "Ave", "Drive", "Dr", "Lane", "Ln", "Boulevard", "Blvd").Replace(f.get("mailing_address"))))
	}
	if rng.IntN(2) == 0 {
		f.set("mc_number", strings.TrimPrefix(f.get("mc_number"), "MC-"))
	}
	if rng.IntN(3) == 0 {
		l := b.paper("loss_run")
		l.set("fein", strings.ReplaceAll(l.get("fein"), "-", ""))
	}
	if rng.IntN(3) == 0 {
		b.paper("broker_email").set("effective_date", b.effective.Format("January 2, 2006"))
	}
	if rng.IntN(3) == 0 {
		b.app().set("csl_limit", "$1,000,000")
	}
	m := b.paper("mvr").table("drivers")
	for i := range m.rows {
		if rng.IntN(3) == 0 {
			given, family, _ := strings.Cut(m.get(i, "name"), " ")
			m.set(i, "name", strings.ToUpper(family)+", "+strings.ToUpper(given))
		}
	}
}

// inject writes instructions to a machine where a person would write to a person. They must change nothing.
func inject(b *bundle, rng *rand.Rand) {
	text := pick(rng, injections)
	mail := b.paper("broker_email")
	if claims := b.paper("loss_run"); claims != nil && rng.IntN(2) == 0 && claims.table("losses").get(0, "description") != "" {
		claims.table("losses").set(0, "description", text)
		return
	}
	if mail != nil {
		mail.prose = append(mail.prose, text)
	}
}
