package pdf

import (
	"cmp"
	"fmt"
	"slices"

	"bordereau/reports"
)

var (
	decisions  = []string{"decline", "refer", "clear"}
	severities = []string{"critical", "major", "minor", "note"}
)

// summary is the one page for the decision maker.
func summary(c *canvas) {
	r := c.report
	c.bookmark("Summary", 0)
	c.write(r.Title, sizeTitle, true, accent)
	c.y += 2
	c.write(fmt.Sprintf("%s · %s · %s", r.Org, scopeText(r.Scope), r.Clock.UTC().Format("2 January 2006, 15:04 UTC")), sizeBody, false, grey)
	for _, g := range r.Applied() {
		c.write(fmt.Sprintf("Guideline: %s, version %s, effective %s", g.Name, g.Version, g.Effective), sizeBody, false, grey)
	}
	if r.CutShort != "" {
		c.write("This report is not complete: "+r.CutShort, sizeBody, true, alarm)
	}
	c.y += 10
	tiles(c, "Submissions by decision", decisions, func(d string) int {
		return count(r.Submissions, func(s reports.Submission) bool { return s.Decision == d })
	})
	tiles(c, "Findings by severity", severities, func(s string) int {
		return count(r.Findings, func(f reports.Finding) bool { return f.Severity == s })
	})
	if len(r.Findings) == 0 {
		c.y += 8
		text := "Nothing was found: every rule that could be told was passed."
		if r.CutShort != "" {
			text = "Nothing was found in the part that was compared."
		}
		c.write(text, sizeBody+1, true, ink)
		return
	}
	c.heading("What to look at first", "")
	t := c.table([]string{"Severity", "Submission", "Rule", "Finding"}, []float64{10, 20, 9, 61})
	for _, f := range worst(r.Findings, 10) {
		t.row(tagged(f.Severity), plain(f.SubmissionID+" "+insured(r, f.SubmissionID)), plain(f.RuleID), plain(f.Entity+": "+f.Message))
	}
}

// tiles prints a row of counts.
func tiles(c *canvas, title string, keys []string, n func(string) int) {
	c.write(title, sizeBody, true, ink)
	c.y += 3
	gap := 8.0
	width := (contentW - gap*float64(len(keys)-1)) / float64(len(keys))
	x := float64(margin)
	for _, key := range keys {
		c.fill(tint(key))
		c.pdf.RoundedRect(x, c.y, width, 44, 4, "1234", "F")
		c.ink(ink)
		number := fmt.Sprint(n(key))
		c.fonts.draw(number, x+10, c.y+25, 18, true)
		c.fonts.draw(key, x+10, c.y+37, sizeBody, false)
		x += width + gap
	}
	c.y += 44 + 12
}

// worst are the first findings by severity, then confidence, then id.
func worst(all []reports.Finding, most int) []reports.Finding {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b reports.Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(severities, a.Severity), slices.Index(severities, b.Severity)), cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.ID, b.ID))
	})
	return sorted[:min(most, len(sorted))]
}

func insured(r *reports.Report, submission string) string {
	for _, s := range r.Submissions {
		if s.ID == submission {
			return s.Insured
		}
	}
	return ""
}

func scopeText(s reports.Scope) string {
	text := "all submissions"
	switch {
	case len(s.Submissions) == 1:
		text = "submission " + s.Submissions[0]
	case len(s.Submissions) > 1:
		text = fmt.Sprintf("%d submissions by id", len(s.Submissions))
	}
	if s.Workflow != "" {
		text += " of " + s.Workflow
	}
	switch {
	case s.From != "" && s.From == s.To:
		text += " received on " + s.From
	case s.From != "" || s.To != "":
		text += " received from " + cmp.Or(s.From, "the beginning") + " to " + cmp.Or(s.To, "now")
	}
	return text
}

func count[T any](all []T, is func(T) bool) int {
	n := 0
	for _, x := range all {
		if is(x) {
			n++
		}
	}
	return n
}
