package excel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"bordereau/reports"
)

// decisions, the strongest first.
var decisions = []string{"decline", "refer", "clear"}

// summary is the one sheet for the decision maker; it is small, so it isn't streamed and may hold charts.
func (b *workbook) summary() error {
	f, r := b.file, b.report
	if err := f.SetSheetName("Sheet1", sheetSummary); err != nil {
		return fmt.Errorf("sheet %s: %w", sheetSummary, err)
	}
	p := &page{file: f, sheet: sheetSummary, wrap: b.style.wrap}
	p.width("A", 26)
	p.width("B", summaryWidth)
	p.width("C", 12)
	p.width("D", 12)
	p.width("E", 12)
	p.set("A1", r.Title, b.style.title)
	row := 3
	if r.CutShort != "" {
		p.set("A2", "CUT SHORT: "+r.CutShort, b.style.alarm)
		p.set("B2", "This report is not complete.", b.style.alarm)
	}
	for _, line := range [][2]string{
		{"Organisation", r.Org},
		{"Scope", scopeText(r.Scope)},
		{"Guideline", guidelineText(r)},
		{labelRun, r.RunID},
		{labelRevision, revisionText(r.Revision)},
		{"Run at", r.Clock.UTC().Format("2006-01-02 15:04:05 UTC")},
		{"Data generation", r.Generation},
		{"Submissions", fmt.Sprint(len(r.Submissions))},
		{"Findings", fmt.Sprint(len(r.Findings))},
	} {
		p.set(fmt.Sprintf("A%d", row), line[0], b.style.label)
		p.set(fmt.Sprintf("B%d", row), line[1], b.style.wrap)
		row++
	}
	row++
	decided := row
	p.table(&row, b, "Decision", "Submissions", decisions, func(d string) int {
		return count(r.Submissions, func(s reports.Submission) bool { return s.Decision == d })
	})
	severe := row
	p.table(&row, b, "Severity", "Findings", severities, func(s string) int {
		return count(r.Findings, func(f reports.Finding) bool { return f.Severity == s })
	})
	b.byRule(p, &row)
	b.bySubmission(p, &row)
	if p.err == nil && len(r.Findings) > 0 {
		p.chart("G3", excelize.Col, "Findings by severity", severe, severities)
		p.chart("G21", excelize.Doughnut, "Submissions by decision", decided, decisions)
	}
	p.fit()
	if p.err != nil {
		return fmt.Errorf("sheet %s: %w", sheetSummary, p.err)
	}
	return nil
}

// What Head reads: the run and which reviews the workbook holds.
const (
	labelRun      = "Run"
	labelRevision = "Reviews"
)

// summaryWidth is that of the column with text.
const summaryWidth = 64

// byRule lists how often each rule found something, the most frequent first.
func (b *workbook) byRule(p *page, row *int) {
	counts := map[string]int{}
	for _, f := range b.report.Findings {
		counts[f.RuleID]++
	}
	texts := map[string]string{}
	for _, g := range b.report.Applied() {
		for _, rule := range g.Rules {
			texts[rule.ID] = rule.Text
		}
	}
	rules := make([]string, 0, len(counts))
	for id := range counts {
		rules = append(rules, id)
	}
	slices.SortFunc(rules, func(x, y string) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(x, y))
	})
	p.header(*row, b, "Rule", "What it asks", "Findings")
	*row++
	for _, id := range rules {
		p.set(fmt.Sprintf("A%d", *row), id, b.style.text)
		p.set(fmt.Sprintf("B%d", *row), clean(texts[id]), b.style.wrap)
		p.set(fmt.Sprintf("C%d", *row), counts[id], b.style.number)
		*row++
	}
	*row++
}

// maxSummary bounds the list of submissions on the summary; the other sheets have all.
const maxSummary = 500

func (b *workbook) bySubmission(p *page, row *int) {
	worst := map[string][2]int{}
	for _, f := range b.report.Findings {
		w := worst[f.SubmissionID]
		w[0]++
		if f.Severity == "critical" {
			w[1]++
		}
		worst[f.SubmissionID] = w
	}
	p.header(*row, b, "Submission", "Insured", "Decision", "Findings", "Critical")
	*row++
	for i, s := range b.report.Submissions {
		if i == maxSummary {
			p.set(fmt.Sprintf("A%d", *row), fmt.Sprintf("… and %d more, see %s", len(b.report.Submissions)-i, sheetFindings), b.style.label)
			*row++
			break
		}
		style := b.style.text
		switch s.Decision {
		case "decline":
			style = b.style.severity["critical"]
		case "refer":
			style = b.style.severity["minor"]
		}
		p.set(fmt.Sprintf("A%d", *row), clean(s.ID), b.style.text)
		p.set(fmt.Sprintf("B%d", *row), clean(s.Insured), b.style.wrap)
		p.set(fmt.Sprintf("C%d", *row), s.Decision, style)
		p.set(fmt.Sprintf("D%d", *row), worst[s.ID][0], b.style.number)
		p.set(fmt.Sprintf("E%d", *row), worst[s.ID][1], b.style.number)
		*row++
	}
}

// revisionText says which reviews the workbook holds; revisionOf reads it.
func revisionText(n int64) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("revision %d", n)
}

func revisionOf(text string) (int64, error) {
	if text == "none" {
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(text, "revision "), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no revision", text)
	}
	return n, nil
}

// guidelineText names every guideline that was applied.
func guidelineText(r *reports.Report) string {
	var lines []string
	for _, g := range r.Applied() {
		lines = append(lines, fmt.Sprintf("%s, version %s, effective %s", g.Name, g.Version, g.Effective))
	}
	return strings.Join(lines, "\n")
}

// scopeText says in words what a run looked at.
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
	return clean(text)
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
