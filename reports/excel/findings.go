package excel

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/xuri/excelize/v2"

	"bordereau/reports"
)

// The columns of Findings that Read needs, by their headers.
const (
	headFinding     = "Finding"
	headWords       = "Finding in words"
	headDisposition = "Disposition"
	headComment     = "Comment"
)

func (b *workbook) findings() error {
	s, err := b.sheet(sheetFindings,
		column{headFinding, 10}, column{"Severity", 10}, column{"Action", 9}, column{"Rule", 9}, column{"Submission", 16}, column{"Insured", 26},
		column{"What", 24}, column{"Field", 20}, column{headWords, 60}, column{"Stated", 24}, column{"Expected", 24}, column{"Class", 15},
		column{"Can't be told without", 24}, column{"Confidence", 11}, column{"Evidence", 12}, column{"Document", 26}, column{headDisposition, 14}, column{headComment, 40}, column{"Reviewed by", 24}, column{"How it was matched", 40})
	if err != nil {
		return err
	}
	insured := map[string]string{}
	for _, sub := range b.report.Submissions {
		insured[sub.ID] = sub.Insured
	}
	for _, f := range b.report.Findings {
		severity, ok := b.style.severity[f.Severity]
		if !ok {
			severity = b.style.text
		}
		evidence := b.text("none")
		if n := len(f.Evidence); n > 0 {
			evidence = b.link(sheetEvidence, b.evidenceRow[f.ID], plural(n, "source"))
		}
		if err := s.append([]any{
			b.text(f.ID),
			excelize.Cell{StyleID: severity, Value: clean(f.Severity)},
			b.text(f.Action), b.text(f.RuleID), b.text(f.SubmissionID), b.text(insured[f.SubmissionID]),
			b.wrapped(f.Entity), b.text(f.Field), b.wrapped(f.Message), b.wrapped(f.Stated), b.wrapped(f.Expected), b.text(f.Class),
			b.wrapped(strings.Join(f.Missing, ", ")), b.percent(f.Confidence), evidence, b.source(f),
			excelize.Cell{StyleID: b.style.input, Value: clean(f.Disposition)},
			excelize.Cell{StyleID: b.style.input, Value: clean(f.Comment)},
			b.text(reviewer(f)),
			b.wrapped(f.Explanation),
		}); err != nil {
			return err
		}
	}
	if len(b.report.Findings) > 0 {
		choice := excelize.NewDataValidation(true)
		choice.Sqref = fmt.Sprintf("Q2:Q%d", s.row)
		if err := choice.SetDropList(reports.Dispositions()); err != nil {
			return fmt.Errorf("sheet %s: %w", sheetFindings, err)
		}
		choice.SetError(excelize.DataValidationErrorStyleStop, "Disposition", "Choose one of: "+strings.Join(reports.Dispositions(), ", "))
		if err := b.file.AddDataValidation(sheetFindings, choice); err != nil {
			return fmt.Errorf("sheet %s: %w", sheetFindings, err)
		}
	}
	return s.flush()
}

// source links a finding to the page of the document that it was read from first: in the console, where the report knows the console's
// address, else on the row of Evidence that names document, page and place.
func (b *workbook) source(f reports.Finding) excelize.Cell {
	for i, e := range f.Evidence {
		if e.Kind != "document" || e.Filename == "" {
			continue
		}
		shown := e.Filename
		if e.Page > 0 {
			shown += fmt.Sprintf(", page %d", e.Page)
		}
		if b.report.Console == "" {
			return b.link(sheetEvidence, b.evidenceRow[f.ID]+i, shown)
		}
		return b.jump(b.report.Console+"/runs/"+url.PathEscape(b.report.RunID)+"?finding="+url.QueryEscape(f.ID), shown)
	}
	return b.text("")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// reviewer is who said what stands beside a finding, and when.
func reviewer(f reports.Finding) string {
	if f.ReviewedBy == "" {
		return ""
	}
	return f.ReviewedBy + f.ReviewedAt.UTC().Format(", 2006-01-02 15:04")
}
