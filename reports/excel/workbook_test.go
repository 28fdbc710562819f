package excel_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"bordereau/reports"
	"bordereau/reports/excel"
)

// report is a run with n findings over one submission, with text as hostile documents have it.
func report(n int) *reports.Report {
	r := &reports.Report{
		Schema: reports.Schema, RunID: "run-1", Org: "northgate", Title: "Discrepancy report", Scope: reports.Scope{From: "2026-11-29", To: "2026-11-29"},
		Guideline: reports.Guideline{
			ID: "starter", Carrier: "any", Name: "Starter", Version: "1.0", Effective: "2026-01-01", SHA256: strings.Repeat("0", 64),
			Rules: []reports.Rule{{ID: "VEH-02", Text: "A VIN stands once in a schedule.", Severity: "critical", Action: "refer", Scope: "vehicle", Parameters: map[string]string{"b": "2", "a": "1"}}},
		},
		Clock: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), Generation: "g1",
		Submissions: []reports.Submission{{ID: "S-1", Insured: "=cmd|' /C calc'!A0", Decision: "decline", Vehicles: []reports.Item{{
			ID: "R-1", Label: "unit 1", Findings: []string{"F-0001"},
			Cells: []reports.Cell{{Field: "vin", Value: "1XPXD49XXRD898766", Verdict: "conflict"}, {Field: "make", Value: "KENWORTH", Expected: "PETERBILT", Verdict: "conflict"}},
		}}}},
		Queries: []reports.Query{{AuditID: "a-1", Purpose: "vehicles", SQL: "SELECT 1", Rows: 1}},
		Log:     []reports.LogEntry{{At: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), Message: "started"}},
	}
	long := strings.Repeat("x", 40000)
	for i := range n {
		r.Findings = append(r.Findings, reports.Finding{
			ID: fmt.Sprintf("F-%04d", i+1), SubmissionID: "S-1", RuleID: "VEH-02", Severity: "critical", Action: "refer", Outcome: "fail", Class: "conflict", Entity: "unit 1", Field: "vin",
			Message: "@SUM(1)\x00 stands twice", Stated: "+1", Expected: long, Confidence: 0.91,
			Evidence: []reports.Evidence{{Kind: "document", Filename: "schedule.xlsx", Page: 1, Box: [4]float64{0.1, 0.2, 0.3, 0.4}, Raw: "-1+1", Confidence: 0.91, AuditID: "a-1"}},
		})
	}
	return r
}

func write(tb testing.TB, r *reports.Report) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := excel.Write(tb.Context(), &b, r); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func open(t *testing.T, raw []byte) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestSheetsInOrder(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(open(t, write(t, report(3))).GetSheetList())
	if want := "[Summary Findings Vehicles Drivers Losses Coverages Guideline Evidence Run log]"; got != want {
		t.Errorf("sheets %s, want %s", got, want)
	}
}

func TestDocumentTextIsNeverAFormula(t *testing.T) {
	t.Parallel()
	f := open(t, write(t, report(1)))
	for _, sheet := range f.GetSheetList() {
		rows, err := f.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for y, row := range rows {
			for x := range row {
				cell, _ := excelize.CoordinatesToCellName(x+1, y+1)
				formula, err := f.GetCellFormula(sheet, cell)
				if err != nil {
					t.Fatal(err)
				}
				if formula != "" && !strings.HasPrefix(formula, "HYPERLINK(\"#'Evidence'!A") {
					t.Errorf("%s!%s holds the formula %q", sheet, cell, formula)
				}
			}
		}
	}
	if got, _ := f.GetCellValue("Findings", "I2"); got != "@SUM(1) stands twice" {
		t.Errorf("message %q", got)
	}
	if got, _ := f.GetCellValue("Findings", "K2"); len(got) < 32000 || !strings.HasSuffix(got, "…") {
		t.Errorf("over-long text has %d bytes and isn't cut", len(got))
	}
}

func TestSameReportSameBytes(t *testing.T) {
	t.Parallel()
	first := write(t, report(20))
	for range 5 {
		if !bytes.Equal(first, write(t, report(20))) {
			t.Fatal("two workbooks of the same report differ")
		}
	}
}

func TestFindingLinksToItsEvidence(t *testing.T) {
	t.Parallel()
	f := open(t, write(t, report(3)))
	if got, _ := f.GetCellFormula("Findings", "O4"); got != `HYPERLINK("#'Evidence'!A4","1 source")` {
		t.Errorf("formula %q", got)
	}
	if got, _ := f.GetCellValue("Evidence", "A4"); got != "F-0003" {
		t.Errorf("evidence row of %q", got)
	}
	drops, err := f.GetDataValidations("Findings")
	if err != nil || len(drops) != 1 || drops[0].Sqref != "Q2:Q4" {
		t.Errorf("data validations %v, %v", drops, err)
	}
}

func TestFindingLinksToItsDocument(t *testing.T) {
	t.Parallel()
	r := report(2)
	r.Findings[1].Evidence = append([]reports.Evidence{{Kind: "decode"}}, r.Findings[1].Evidence...)
	r.Findings[1].Evidence[1].Filename = `a"&cmd()&".pdf`
	f := open(t, write(t, r))
	if got, _ := f.GetCellFormula("Findings", "P2"); got != `HYPERLINK("#'Evidence'!A2","schedule.xlsx, page 1")` {
		t.Errorf("formula %q", got)
	}
	if got, _ := f.GetCellFormula("Findings", "P3"); got != `HYPERLINK("#'Evidence'!A4","a""&cmd()&"".pdf, page 1")` {
		t.Errorf("formula %q", got)
	}
	r.Console = "https://bordereau.example"
	f = open(t, write(t, r))
	if got, _ := f.GetCellFormula("Findings", "P3"); got != `HYPERLINK("https://bordereau.example/runs/run-1?finding=F-0002","a""&cmd()&"".pdf, page 1")` {
		t.Errorf("formula %q", got)
	}
}

func TestReportWithoutRunIsRefused(t *testing.T) {
	t.Parallel()
	if err := excel.Write(t.Context(), io.Discard, &reports.Report{}); err == nil {
		t.Error("a report without a run was written")
	}
}

func BenchmarkWorkbook100k(b *testing.B) {
	r := report(100_000)
	for i := range r.Findings {
		r.Findings[i].Expected = "x"
	}
	for b.Loop() {
		if err := excel.Write(b.Context(), io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStreamWriter100k is the peer: the same number of rows and cells through excelize's stream writer alone.
func BenchmarkStreamWriter100k(b *testing.B) {
	for b.Loop() {
		f := excelize.NewFile()
		for _, columns := range []int{20, 15} {
			sheet := fmt.Sprint("s", columns)
			if _, err := f.NewSheet(sheet); err != nil {
				b.Fatal(err)
			}
			s, err := f.NewStreamWriter(sheet)
			if err != nil {
				b.Fatal(err)
			}
			row := make([]any, columns)
			for i := range row {
				row[i] = excelize.Cell{StyleID: 1, Value: "@SUM(1) stands twice"}
			}
			for n := range 100_000 {
				if err := s.SetRow(fmt.Sprintf("A%d", n+1), row); err != nil {
					b.Fatal(err)
				}
			}
			if err := s.Flush(); err != nil {
				b.Fatal(err)
			}
		}
		if err := f.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
