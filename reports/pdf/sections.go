package pdf

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bordereau/reports"
)

// findings lists each submission with what was found, the worst first, with the sources below each finding.
func findings(c *canvas) {
	r := c.report
	if len(r.Findings) == 0 {
		return
	}
	c.section("Findings by submission")
	shown := r.Findings
	if len(shown) > maxFindings {
		shown = worst(r.Findings, maxFindings)
		c.write(left(r.Findings, shown), sizeBody, true, alarm)
		c.y += 6
	}
	bySubmission := map[string][]reports.Finding{}
	for _, f := range shown {
		bySubmission[f.SubmissionID] = append(bySubmission[f.SubmissionID], f)
	}
	for _, s := range r.Submissions {
		found := worst(bySubmission[s.ID], len(bySubmission[s.ID]))
		if len(found) == 0 {
			continue
		}
		c.room(130) // a heading never stands alone at the foot of a page
		c.heading(fmt.Sprintf("%s · %s", s.ID, s.Insured), s.ID+" "+s.Insured)
		c.write(strings.Join([]string{"Decision: " + s.Decision, s.Workflow, "broker " + s.Broker, "received " + s.Received.UTC().Format("2006-01-02 15:04")}, " · "), sizeBody, false, grey)
		c.y += 3
		t := c.table([]string{"No.", "Severity", "Rule", "What", "Finding", "Sources"}, []float64{8, 9, 8.5, 15, 34.5, 25})
		for _, f := range found {
			t.row(plain(f.ID), tagged(f.Severity), plain(f.RuleID), plain(f.Entity+"\n"+strings.ReplaceAll(f.Field, "_", " ")), plain(message(f)), plain(sources(f)))
		}
		c.y += 4
	}
}

// left says which findings are in the workbook only.
func left(all, shown []reports.Finding) string {
	counts := map[string]int{}
	for _, f := range all {
		counts[f.Severity]++
	}
	for _, f := range shown {
		counts[f.Severity]--
	}
	var kinds []string
	for _, severity := range severities {
		if n := counts[severity]; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, severity))
		}
	}
	return fmt.Sprintf("The %d gravest of %d findings are printed. In the workbook only: %s.", len(shown), len(all), strings.Join(kinds, ", "))
}

// message is what a finding says, with what stands against what.
func message(f reports.Finding) string {
	var b strings.Builder
	b.WriteString(f.Message)
	if f.Stated != "" {
		b.WriteString("\nStated: " + f.Stated)
	}
	if f.Expected != "" {
		b.WriteString("\nExpected: " + f.Expected)
	}
	if f.Explanation != "" && !strings.Contains(f.Message, f.Explanation) {
		b.WriteString("\n" + f.Explanation)
	}
	if f.Disposition != "" || f.Comment != "" {
		b.WriteString("\nReview: " + review(f))
	}
	return b.String()
}

// review is what a person said of a finding.
func review(f reports.Finding) string {
	text := strings.ReplaceAll(cmp.Or(f.Disposition, "comment"), "_", " ")
	if f.ReviewedBy != "" {
		text += " by " + f.ReviewedBy + f.ReviewedAt.UTC().Format(" on 2 January 2006")
	}
	if f.Comment != "" {
		text += ": " + f.Comment
	}
	return text
}

// sources names the evidence of a finding, a line a document's page or a decode.
func sources(f reports.Finding) string {
	type place struct {
		line   string
		times  int
		least  float64
		edited []string
	}
	var places []*place
	for _, e := range f.Evidence {
		line := cmp.Or(e.Filename, e.Source, e.Kind)
		if e.Page > 0 {
			line += fmt.Sprintf(", p. %d", e.Page)
		}
		i := slices.IndexFunc(places, func(p *place) bool { return p.line == line })
		if i < 0 {
			i = len(places)
			places = append(places, &place{line: line, least: e.Confidence})
		}
		p := places[i]
		p.times++
		p.least = min(p.least, e.Confidence)
		if e.EditedBy != "" && !slices.Contains(p.edited, e.EditedBy) {
			p.edited = append(p.edited, e.EditedBy)
		}
	}
	var lines []string
	for i, p := range places {
		if i == 6 {
			lines = append(lines, fmt.Sprintf("… and %d more in the workbook", len(places)-i))
			break
		}
		line := p.line
		switch {
		case p.times > 1:
			line += fmt.Sprintf(" (%d places, least %.0f%%)", p.times, 100*p.least)
		case p.least > 0:
			line += fmt.Sprintf(" (%.0f%%)", 100*p.least)
		}
		if len(p.edited) > 0 {
			line += ", edited by " + strings.Join(p.edited, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// vehicles is the appendix of vehicles whose row and decode contradict each other, or can't be compared where a finding says so.
// Other spellings of the same, and what no rule asks, are in the workbook alone.
func vehicles(c *canvas) {
	var t *table
	rows := 0
	for _, s := range c.report.Submissions {
		for _, v := range s.Vehicles {
			differs := func(x reports.Cell) bool {
				return x.Verdict == "conflict" || x.Verdict == "unresolved" && len(v.Findings) > 0
			}
			if !slices.ContainsFunc(v.Cells, differs) {
				continue
			}
			if t == nil {
				c.section("Vehicles that differ from their VIN")
				t = c.table([]string{"Submission", "Row", "Field", "Schedule says", "Decode says", "Verdict"}, []float64{17, 15, 15, 22, 22, 11})
			}
			for _, x := range v.Cells {
				if !differs(x) {
					continue
				}
				if rows++; rows <= maxVehicleRows {
					t.row(plain(s.ID), plain(v.Label), plain(strings.ReplaceAll(x.Field, "_", " ")), plain(x.Value), plain(x.Expected), tagged(x.Verdict))
				}
			}
		}
	}
	if rows > maxVehicleRows {
		c.write(fmt.Sprintf("%d more such cells are marked on the workbook's sheet Vehicles only.", rows-maxVehicleRows), sizeBody, true, alarm)
	}
}

// guidelines is the appendix of the rules as they were applied.
func guidelines(c *canvas) {
	c.section("Guideline")
	for _, g := range c.report.Applied() {
		c.heading(fmt.Sprintf("%s, version %s", g.Name, g.Version), g.Name)
		c.write(fmt.Sprintf("Carrier %s, effective %s, SHA-256 %s", g.Carrier, g.Effective, g.SHA256), sizeBody, false, grey)
		c.y += 4
		if len(g.Rules) == 0 {
			continue
		}
		t := c.table([]string{"Rule", "Severity", "Action", "Text", "Parameters"}, []float64{10, 10, 9, 46, 25})
		for _, rule := range g.Rules {
			parameters := make([]string, 0, len(rule.Parameters))
			for _, key := range slices.Sorted(maps.Keys(rule.Parameters)) {
				parameters = append(parameters, key+" = "+rule.Parameters[key])
			}
			t.row(plain(rule.ID), tagged(rule.Severity), plain(rule.Action), plain(rule.Text), plain(strings.Join(parameters, "\n")))
		}
	}
}

// queries is the appendix of what was read, by audit record.
func queries(c *canvas) {
	r := c.report
	c.section("How this was read")
	c.write("Every figure of this report was read from data generation "+r.Generation+" by the queries below. Their records are in the audit chain of "+r.Org+"; "+c.attached, sizeBody, false, ink)
	c.y += 6
	if len(r.Queries) == 0 {
		return
	}
	t := c.table([]string{"Audit record", "Purpose", "Rows"}, []float64{46, 44, 10})
	for _, q := range r.Queries {
		t.row(plain(q.AuditID), plain(q.Purpose), plain(fmt.Sprint(q.Rows)))
	}
}
