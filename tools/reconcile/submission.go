package reconcile

import (
	"slices"
	"strings"
	"time"

	"bordereau/tools/guideline"
)

// The document types that reconciliation reads. Others never matter to it.
const (
	application  = "application"
	schedule     = "vehicle_schedule"
	driverList   = "driver_list"
	mvr          = "mvr"
	lossRun      = "loss_run"
	ifta         = "ifta"
	fmcsa        = "fmcsa_snapshot"
	brokerEmail  = "broker_email"
	registration = "registration"
)

// effective is the date that ages are reckoned at: the registered one, else the application's.
func (x *indexed) effectiveDate() (time.Time, *Field) {
	f := x.current("effective_date", x.all("effective_date", application, brokerEmail))
	if f != nil {
		if t, err := parseDate(f.Value); err == nil {
			return t, f
		}
	}
	return x.Effective, nil
}

func (e *evaluation) submissionFacts() {
	x, s := e.x, e.sheet
	s.set("submission.workflow", x.Workflow)
	s.set("submission.line_of_business", x.Line)
	eff, f := x.effectiveDate()
	e.effective, e.effectiveField = eff, f
	if !eff.IsZero() {
		s.set("policy.days_to_effective", days(e.today, eff), f)
		if ef := x.current("expiry_date", x.all("expiry_date", application, brokerEmail)); ef != nil {
			if t, err := parseDate(ef.Value); err == nil {
				s.set("policy.term_days", days(eff, t), f, ef)
			}
		}
	}
	e.carrierFacts()
	e.applicantFacts()
	e.matchFacts()
}

func (e *evaluation) carrierFacts() {
	x, s := e.x, e.sheet
	s.text("carrier.usdot", x.one(application, "usdot"))
	if status := x.pick("status_code", fmcsa); status != nil {
		s.set("carrier.fmcsa_found", true, status)
		s.text("carrier.status_code", status)
	} else if nf := x.one(fmcsa, "found"); nf != nil {
		s.yesno("carrier.fmcsa_found", nf)
	} else {
		for _, n := range []string{
			"fmcsa_found", "status_code", "allowed_to_operate", "safety_rating", "common_authority", "contract_authority", "bipd_on_file",
			"mcs150_age_months", "driver_oos_rate", "inspections", "power_units", "drivers",
		} {
			s.missing("carrier."+n, "no FMCSA snapshot is in the submission")
		}
	}
	s.yesno("carrier.allowed_to_operate", x.one(fmcsa, "allowed_to_operate"))
	s.text("carrier.safety_rating", x.one(fmcsa, "safety_rating"))
	s.text("carrier.common_authority", x.one(fmcsa, "common_authority"))
	s.text("carrier.contract_authority", x.one(fmcsa, "contract_authority"))
	if f := x.one(fmcsa, "bipd_on_file"); f != nil {
		if n, err := parseInt(f.Value); err == nil {
			if n < 10000 {
				n *= 1000 // FMCSA writes thousands.
			}
			s.set("carrier.bipd_on_file", n, f)
		} else {
			s.missing("carrier.bipd_on_file", err.Error(), f)
		}
	}
	if f := x.one(fmcsa, "mcs150_date"); f != nil {
		if t, err := parseDate(f.Value); err == nil {
			s.set("carrier.mcs150_age_months", monthsBetween(t, e.today), f)
		} else {
			s.missing("carrier.mcs150_age_months", err.Error(), f)
		}
	}
	s.number("carrier.driver_oos_rate", x.one(fmcsa, "driver_oos_rate"))
	s.count("carrier.inspections", x.one(fmcsa, "inspections"))
	s.count("carrier.power_units", x.one(fmcsa, "power_units"))
	s.count("carrier.drivers", x.one(fmcsa, "drivers"))
}

func (e *evaluation) applicantFacts() {
	x, s := e.x, e.sheet
	s.number("applicant.years_in_business", x.one(application, "years_in_business"))
	s.text("applicant.naics", x.one(application, "naics"))
	s.count("fleet.power_units_stated", x.one(application, "power_unit_count"))
	s.count("fleet.vehicles_stated", x.pick("vehicle_count", application, schedule))
	s.count("fleet.drivers_stated", x.one(application, "driver_count"))
	s.number("fleet.tiv_stated", x.pick("total_insured_value", application, schedule))
	s.yesno("fleet.physical_damage", x.one(application, "physical_damage"))
	s.count("operations.radius_stated", x.one(application, "radius"))
	s.count("fleet.radius_miles", x.one(application, "radius"))
	s.count("operations.annual_miles_stated", x.one(application, "annual_mileage"))
	s.yesno("operations.hazmat_declared", x.one(application, "hazmat"))
	s.yesno("operations.for_hire", x.one(application, "for_hire"))
	s.yesno("operations.interstate", x.one(application, "interstate"))
	s.yesno("loss_run.no_losses_stated", x.one(application, "no_losses"))
	if f := x.one(application, "states_of_operation"); f != nil {
		s.set("operations.states", e.states(parseList(f.Value)), f)
	}
	if f := x.one(application, "filings_requested"); f != nil {
		var list []string
		for _, one := range parseList(strings.ToUpper(f.Value)) {
			list = append(list, strings.ReplaceAll(one, " ", "-"))
		}
		s.set("operations.filings", list, f)
	} else if x.has(application) {
		s.missing("operations.filings", "the application does not say which filings are asked for")
	}
	e.commodityFacts()
	csl := x.current("csl_limit", x.all("csl_limit", application, brokerEmail))
	s.count("liability.csl", csl)
	if f := x.one(application, "csl_basis"); f != nil {
		s.text("liability.csl_basis", f)
	}
}

// states turns names into codes, sorted; what is no state stays as written.
func (e *evaluation) states(list []string) []string {
	out := []string{}
	for _, one := range list {
		if code, ok := e.geo.state(one); ok {
			one = code
		}
		out = append(out, one)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (e *evaluation) commodityFacts() {
	f := e.x.one(application, "commodities")
	if f == nil {
		return
	}
	list := parseCommodities(f.Value)
	e.sheet.set("operations.commodities", list, f)
	holding := func(param string) []string {
		v, _ := e.g.Parameter(param)
		goods, _ := v.([]string)
		found := []string{}
		for _, c := range list {
			if slices.ContainsFunc(goods, func(g string) bool { return strings.Contains(c, g) }) {
				found = append(found, c)
			}
		}
		return found
	}
	e.sheet.set("operations.hazmat_commodities", holding("hazmat_goods"), f)
	switch {
	case len(holding("bulk_hazmat_goods")) > 0:
		e.sheet.set("operations.hazmat_class", "bulk", f)
	case len(holding("oil_goods")) > 0:
		e.sheet.set("operations.hazmat_class", "listed", f)
	default:
		e.sheet.set("operations.hazmat_class", "none", f)
	}
}

// matchFacts compares what several documents say of the submission.
func (e *evaluation) matchFacts() {
	x, s := e.x, e.sheet
	names := x.all("named_insured", application)
	names = append(names, x.all("legal_name", fmcsa)...)
	names = append(names, x.all("named_insured", lossRun, schedule, driverList, ifta, brokerEmail)...)
	c := x.compare("named_insured", names, companies)
	switch {
	case x.one(application, "named_insured") == nil:
		c.class, c.missing = "", "no application states the named insured"
	case x.one(fmcsa, "legal_name") == nil && c.class != guideline.Conflict:
		c.class, c.missing = "", "no FMCSA snapshot states the legal name"
	}
	s.match("match.legal_name", c)

	dba := append(x.all("dba", application), x.all("dba_name", fmcsa)...)
	s.match("match.dba", x.compare("dba", dba, companies))
	s.match("match.usdot", x.compare("usdot", x.all("usdot", application, fmcsa, ifta, brokerEmail), digitsOf("USDOT number")))
	s.match("match.mc_number", x.compare("mc_number", x.all("mc_number", application, fmcsa, brokerEmail), digitsOf("MC number")))
	s.match("match.fein", x.compare("fein", x.all("fein", application, lossRun, ifta, brokerEmail), digitsOf("FEIN")))
	s.match("match.mailing_address", x.compare("mailing_address", x.all("mailing_address", application, fmcsa, lossRun), addresses))
	coverage := func(name string) []*Field {
		out := x.all(name, application, brokerEmail)
		for _, r := range x.tables[application+"/coverages"] {
			if f := r.cells[name]; f != nil && strings.Contains(strings.ToLower(r.text("coverage")), "liability") {
				out = append(out, f)
			}
		}
		return out
	}
	s.match("match.effective_date", x.compare("effective_date", coverage("effective_date"), dates))
	s.match("match.expiry_date", x.compare("expiry_date", coverage("expiry_date"), dates))
	csl := x.all("csl_limit", application, brokerEmail)
	csl = append(csl, coverage("limit_amount")...)
	s.match("match.csl", x.compare("csl_limit", csl, limits))
	symbol := append(x.all("liability_symbol", application), coverage("symbol")...)
	s.match("match.symbol", x.compare("liability_symbol", symbol, symbols))
}
