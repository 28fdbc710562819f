package reconcile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"bordereau/tools/guideline"
)

// term is one policy term of the loss runs.
type term struct {
	*row
	carrier    string
	policy     string
	start, end time.Time
	premium    float64
	hasPremium bool
}

func (e *evaluation) loadLosses() {
	e.losses = e.x.tables[lossRun+"/losses"]
	for _, r := range e.x.tables[lossRun+"/terms"] {
		t := &term{row: r, carrier: r.text("carrier"), policy: r.text("policy_number")}
		t.start, _ = parseDate(r.text("term_start"))
		t.end, _ = parseDate(r.text("term_end"))
		if n, err := parseNumber(r.text("premium")); err == nil {
			t.premium, t.hasPremium = n, true
		}
		if !t.start.IsZero() && !t.end.IsZero() {
			e.terms = append(e.terms, t)
		}
	}
	slices.SortStableFunc(e.terms, func(a, b *term) int { return a.start.Compare(b.start) })
}

func (e *evaluation) lossFacts() {
	s := e.sheet
	if !e.x.has(lossRun) {
		for _, n := range []string{
			"loss_run.valuation_age_days", "loss_run.years", "loss_run.gap_days", "loss_run.unmatched_carriers",
			"loss_run.claims", "loss_run.loss_ratio", "loss_run.frequency", "loss_run.total_stated", "loss_run.total_summed",
		} {
			s.missing(n, "no loss run is in the submission")
		}
		return
	}
	s.set("loss_run.claims", len(e.losses))
	e.valuationFacts()
	e.termFacts()
	e.lossTotals()
}

func (e *evaluation) valuationFacts() {
	var oldest time.Time
	var at *Field
	all := slices.Clone(e.x.loose[lossRun]["valuation_date"])
	for _, r := range e.losses {
		if f := r.cells["valuation_date"]; f != nil {
			all = append(all, f)
		}
	}
	for _, f := range all {
		t, err := parseDate(f.Value)
		if err != nil {
			e.sheet.missing("loss_run.valuation_age_days", err.Error(), f)
			return
		}
		if at == nil || t.Before(oldest) {
			oldest, at = t, f
		}
	}
	if at != nil && !e.effective.IsZero() {
		e.sheet.set("loss_run.valuation_age_days", days(oldest, e.effective), at, e.effectiveField)
	}
}

func (e *evaluation) termFacts() {
	s := e.sheet
	if len(e.terms) == 0 {
		return
	}
	var fields []*Field
	total, gap := 0, 0
	end := e.terms[0].start
	var gapFields []*Field
	for _, t := range e.terms {
		fields = append(fields, t.fields("term_start", "term_end")...)
		if d := days(end, t.start); d > gap {
			gap, gapFields = d, t.fields("term_start")
		}
		if t.end.After(end) {
			total += days(maxTime(end, t.start), t.end)
			end = t.end
		}
	}
	s.set("loss_run.years", math.Round(float64(total)/365.25*100)/100, few(fields)...)
	if gap == 0 {
		gapFields = few(fields)
	}
	s.set("loss_run.gap_days", gap, gapFields...)
	e.carriersOfTerms()
	e.lossRatio()
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (e *evaluation) carriersOfTerms() {
	prior := e.x.one(application, "prior_carriers")
	if prior == nil {
		return
	}
	var named []string
	for p := range strings.SplitSeq(prior.Value, ";") {
		if p = strings.TrimSpace(p); p != "" {
			named = append(named, p)
		}
	}
	fields := []*Field{prior}
	unmatched := []string{}
	seen := []string{}
	for _, t := range e.terms {
		if t.carrier == "" {
			continue
		}
		seen = append(seen, t.carrier)
		if !slices.ContainsFunc(named, func(n string) bool { return companies(n, t.carrier).class != guideline.Conflict }) && !slices.Contains(unmatched, t.carrier) {
			unmatched = append(unmatched, t.carrier)
			fields = append(fields, t.fields("carrier")...)
		}
	}
	for _, n := range named {
		if !slices.ContainsFunc(seen, func(c string) bool { return companies(n, c).class != guideline.Conflict }) {
			unmatched = append(unmatched, n)
		}
	}
	slices.Sort(unmatched)
	e.sheet.set("loss_run.unmatched_carriers", unmatched, fields...)
}

func (e *evaluation) lossRatio() {
	s := e.sheet
	since := e.effective.AddDate(-3, -6, 0)
	premium, incurred, claims, span := 0.0, 0.0, 0, 0
	var fields []*Field
	for _, t := range e.terms {
		if t.start.Before(since) {
			continue
		}
		if !t.hasPremium {
			s.missing("loss_run.loss_ratio", "a term of the loss runs states no premium", t.fields("term_start")...)
			return
		}
		premium += t.premium
		span += days(t.start, t.end)
		fields = append(fields, t.fields("premium")...)
		for _, l := range e.losses {
			if l.text("policy_number") != t.policy {
				continue
			}
			claims++
			n, err := parseNumber(l.text("incurred"))
			if err != nil {
				s.missing("loss_run.loss_ratio", fmt.Sprintf("claim %s: %v", l.text("claim_number"), err), l.fields("claim_number")...)
				return
			}
			incurred += n
			fields = append(fields, l.fields("incurred")...)
		}
	}
	if premium <= 0 || span == 0 {
		return
	}
	round := func(x float64) float64 { return math.Round(x*100) / 100 }
	s.set("loss_run.premium_3y", premium, few(fields)...)
	s.set("loss_run.incurred_3y", round(incurred), few(fields)...)
	s.set("loss_run.loss_ratio", round(incurred/premium*100), few(fields)...)
	if units := e.powerUnits(); units > 0 {
		s.set("loss_run.frequency", round(float64(claims)/(float64(units)*float64(span)/365.25)), few(fields)...)
	} else {
		s.missing("loss_run.frequency", "the number of power units is not known")
	}
}

func (e *evaluation) powerUnits() int {
	n := 0
	for _, v := range e.vehicles {
		if v.kind != "trailer" && v.kind != "" {
			n++
		}
	}
	return n
}

func (e *evaluation) lossTotals() {
	s := e.sheet
	sum := 0.0
	var fields []*Field
	for _, l := range e.losses {
		n, err := parseNumber(l.text("incurred"))
		if err != nil {
			s.missing("loss_run.total_summed", fmt.Sprintf("claim %s states no incurred amount that can be read", l.text("claim_number")), l.fields("claim_number")...)
			sum = math.NaN()
			break
		}
		sum += n
		fields = append(fields, l.fields("incurred")...)
	}
	if !math.IsNaN(sum) {
		s.set("loss_run.total_summed", math.Round(sum*100)/100, few(fields)...)
	}
	stated := 0.0
	totals := e.x.loose[lossRun]["total_incurred"]
	for _, f := range totals {
		n, err := parseNumber(f.Value)
		if err != nil {
			s.missing("loss_run.total_stated", err.Error(), f)
			return
		}
		stated += n
	}
	if len(totals) > 0 {
		s.set("loss_run.total_stated", math.Round(stated*100)/100, totals...)
	}
}

func (e *evaluation) claimFacts(l *row) {
	s := e.sheet
	s.text("loss.claim_number", l.cells["claim_number"])
	for _, n := range []string{"incurred", "paid", "reserve", "recovered"} {
		s.number("loss."+n, l.cells[n])
	}
	s.set("loss.narrative", strings.TrimSpace(l.text("description")) != "", l.fields("claim_number", "description")...)
	loss := l.cells["date_of_loss"]
	var at time.Time
	if loss != nil {
		at, _ = parseDate(loss.Value)
	}
	start, end, from := e.termOf(l)
	if !at.IsZero() && !start.IsZero() && !end.IsZero() {
		s.set("loss.in_term", !at.Before(start) && at.Before(end.AddDate(0, 0, 1)), append(from, loss)...)
	}
	if f := l.cells["date_reported"]; f != nil && !at.IsZero() {
		if t, err := parseDate(f.Value); err == nil {
			s.set("loss.reported_in_order", !t.Before(at), f, loss)
		}
	}
	s.match("loss.vehicle_match", e.lossVehicle(l))
}

func (e *evaluation) termOf(l *row) (start, end time.Time, from []*Field) {
	for _, t := range e.terms {
		if t.policy == l.text("policy_number") {
			return t.start, t.end, t.fields("term_start", "term_end")
		}
	}
	start, _ = parseDate(l.text("term_start"))
	end, _ = parseDate(l.text("term_end"))
	if end.IsZero() && !start.IsZero() {
		end = start.AddDate(1, 0, 0)
	}
	return start, end, l.fields("term_start", "term_end")
}

// lossVehicle compares unit and VIN of a claim with the schedule. A unit that was sold since is no conflict; the same unit with another VIN is.
func (e *evaluation) lossVehicle(l *row) comparison {
	unit, id := l.cells["unit_no"], l.cells["vin"]
	if unit == nil || id == nil {
		return comparison{class: guideline.Silent}
	}
	if v := e.byUnit[strings.ToUpper(strings.TrimSpace(unit.Value))]; v != nil {
		if v.vin == normalVIN(id.Value) {
			return comparison{class: guideline.Consistent, fields: []*Field{unit, id}}
		}
		return comparison{
			class: guideline.Conflict, stated: id.Value, expected: v.vin, fields: append(v.fields("vin"), id),
			explanation: "the schedule has another VIN for unit " + unit.Value,
		}
	}
	return comparison{class: guideline.Single, fields: []*Field{unit}}
}
