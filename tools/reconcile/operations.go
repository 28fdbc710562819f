package reconcile

import (
	"slices"
	"strings"

	"bordereau/tools/guideline"
)

// iftaFacts describes where and how far the vehicles went.
func (e *evaluation) iftaFacts() {
	s := e.sheet
	rows := e.x.tables[ifta+"/ifta"]
	if len(rows) == 0 {
		for _, n := range []string{"operations.ifta_states", "operations.states_outside", "operations.ifta_border_hops", "operations.annual_miles_ifta"} {
			s.missing(n, "no IFTA return is in the submission")
		}
		s.match("match.ifta_units", comparison{class: guideline.Silent})
		return
	}
	stated := e.x.one(application, "states_of_operation")
	var allowed []string
	if stated != nil {
		allowed = e.states(parseList(stated.Value))
	}
	var found, outside []string
	var outsideFields, stateFields, mileFields []*Field
	miles := 0.0
	unread := ""
	for _, r := range rows {
		f := r.cells["state"]
		if f == nil {
			continue
		}
		n, err := parseNumber(firstText(r, "total_miles", "identified_miles"))
		if err != nil {
			unread = err.Error()
			continue
		}
		if n <= 0 {
			continue
		}
		miles += n
		mileFields = append(mileFields, r.fields("total_miles")...)
		code, ok := e.geo.state(f.Value)
		if !ok {
			code = strings.TrimSpace(f.Value)
		}
		stateFields = append(stateFields, f)
		found = append(found, code)
		if !slices.Contains(allowed, code) {
			outside = append(outside, code)
			outsideFields = append(outsideFields, f)
		}
	}
	sortCompact := func(list []string) []string {
		slices.Sort(list)
		return append([]string{}, slices.Compact(list)...)
	}
	found = sortCompact(found)
	s.set("operations.ifta_states", found, few(stateFields)...)
	if stated != nil {
		if len(outsideFields) == 0 {
			outsideFields = few(stateFields)
		}
		s.set("operations.states_outside", sortCompact(outside), append([]*Field{stated}, few(outsideFields)...)...)
	}
	if unread == "" {
		s.set("operations.annual_miles_ifta", int(miles+0.5), few(mileFields)...)
	} else {
		s.missing("operations.annual_miles_ifta", unread, few(mileFields)...)
	}
	e.reach(found, stateFields)
	e.iftaUnits(rows)
}

func firstText(r *row, names ...string) string {
	for _, n := range names {
		if t := r.text(n); t != "" {
			return t
		}
	}
	return ""
}

// reach is how many borders lie between the terminal and the farthest state with miles.
func (e *evaluation) reach(found []string, fields []*Field) {
	home := e.x.one(application, "terminal_state")
	if home == nil {
		e.sheet.missing("operations.ifta_border_hops", "the application states no terminal")
		return
	}
	from, ok := e.geo.state(home.Value)
	if !ok {
		return
	}
	far := 0
	for _, to := range found {
		far = max(far, e.geo.hops(from, to))
	}
	var at []*Field
	for _, f := range fields {
		if code, ok := e.geo.state(f.Value); ok && e.geo.hops(from, code) == far {
			at = append(at, f)
			break
		}
	}
	e.sheet.set("operations.ifta_border_hops", far, append([]*Field{home}, at...)...)
}

func (e *evaluation) iftaUnits(rows []*row) {
	c := comparison{class: guideline.Consistent}
	if len(e.vehicles) == 0 {
		c.class = guideline.Single
	}
	strange := []string{}
	for _, r := range rows {
		unit := r.cells["unit_no"]
		if unit == nil || c.class == guideline.Single {
			continue
		}
		if e.byUnit[strings.ToUpper(strings.TrimSpace(unit.Value))] == nil && !slices.Contains(strange, unit.Value) {
			strange = append(strange, unit.Value)
			c.fields = append(c.fields, unit)
		}
	}
	if len(strange) > 0 {
		slices.Sort(strange)
		c.class, c.stated, c.fields = guideline.Conflict, strings.Join(strange, ", "), few(c.fields)
		c.explanation = "units with IFTA miles that the schedule doesn't have"
	}
	e.sheet.match("match.ifta_units", c)
}

func (e *evaluation) coverageFacts(r *row) {
	s := e.sheet
	s.text("coverage.name", r.cells["coverage"])
	s.count("coverage.limit", r.cells["limit_amount"])
	s.text("coverage.limit_basis", r.cells["limit_basis"])
	s.count("coverage.deductible", r.cells["deductible"])
	s.text("coverage.symbol", r.cells["symbol"])
	s.number("coverage.premium", r.cells["premium"])
}
