package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"bordereau/reports"
	"bordereau/reports/pdf"
)

// report is a run over n submissions with names in many scripts.
func report(n int) *reports.Report {
	names := []string{"Zażółć Gęślą Transport Sp. z o.o.", "Công ty Vận tải Đường Bộ Việt Nam", "Plain Freight LLC", "东方运输有限公司", "شركة النقل الحديثة", "Ελληνικές Μεταφορές"}
	r := &reports.Report{
		Schema: reports.Schema, RunID: "run-20261129-0001", Org: "northgate", Title: "Discrepancy report", Scope: reports.Scope{From: "2026-11-29", To: "2026-11-29"},
		Guideline: reports.Guideline{
			ID: "starter", Carrier: "any", Name: "Starter guideline", Version: "1.0", Effective: "2026-01-01", SHA256: strings.Repeat("0a", 32),
			Rules: []reports.Rule{{ID: "VEH-02", Text: "A VIN stands once in a schedule.", Severity: "critical", Action: "refer", Scope: "vehicle", Parameters: map[string]string{"most": "1"}}},
		},
		Clock: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), Generation: "g-0001",
		Queries: []reports.Query{{AuditID: "a-1", Purpose: "vehicles", SQL: "SELECT 1", Rows: 1}},
	}
	for i := range n {
		id := fmt.Sprintf("S-%04d", i+1)
		r.Submissions = append(r.Submissions, reports.Submission{
			ID: id, Insured: names[i%len(names)], Broker: "Harbor Brokerage", Workflow: "New Business Intake", Received: r.Clock, Decision: []string{"decline", "refer", "clear"}[i%3],
			Vehicles: []reports.Item{{ID: "R", Label: "unit 1", Cells: []reports.Cell{{Field: "make", Value: "KENWORTH", Expected: "PETERBILT", Verdict: "conflict"}}}},
		})
		if i%3 == 2 {
			continue
		}
		for k := range 3 {
			r.Findings = append(r.Findings, reports.Finding{
				ID: fmt.Sprintf("F-%04d", len(r.Findings)+1), SubmissionID: id, RuleID: "VEH-02", Severity: []string{"critical", "major", "minor"}[k], Action: "refer", Outcome: "fail", Class: "conflict", Entity: "unit 1", Field: "stated_value",
				Message: "The schedule states a make that the VIN doesn't decode to " + strings.Repeat("and so on ", 6*k), Stated: names[i%len(names)], Expected: strings.Repeat("0123456789abcdef", 5), Confidence: 0.91,
				Evidence: []reports.Evidence{{Kind: "document", Filename: "schedule.xlsx", Page: 1, Confidence: 0.91}, {Kind: "decode", Source: "vPIC 2026-02, schema 1234"}},
			})
		}
	}
	return r
}

func options() pdf.Options {
	return pdf.Options{Attachments: []pdf.Attachment{{Name: "discrepancies.xlsx", Description: "The workbook", Content: []byte("workbook")}, {Name: "run.json", Description: "The run", Content: []byte("{}")}}}
}

func write(tb testing.TB, r *reports.Report) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := pdf.Write(tb.Context(), &b, r, options()); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestSameReportSameBytes(t *testing.T) {
	t.Parallel()
	first := write(t, report(9))
	for range 5 {
		if !bytes.Equal(first, write(t, report(9))) {
			t.Fatal("two PDFs of the same report differ")
		}
	}
}

func TestCarriesItsAttachmentsAndBookmarks(t *testing.T) {
	t.Parallel()
	raw := write(t, report(4))
	api.DisableConfigDir()
	conf := model.NewDefaultConfiguration()
	attached, err := api.ExtractAttachmentsRaw(bytes.NewReader(raw), "", []string{"discrepancies.xlsx"}, conf)
	if err != nil || len(attached) != 1 {
		t.Fatalf("attachments %v, %v", attached, err)
	}
	if content, err := io.ReadAll(attached[0]); err != nil || string(content) != "workbook" {
		t.Errorf("attachment holds %q, %v", content, err)
	}
	marks, err := api.Bookmarks(bytes.NewReader(raw), conf)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, m := range marks {
		titles = append(titles, m.Title)
	}
	if got, want := strings.Join(titles, "|"), "Summary|Findings by submission|Vehicles that differ from their VIN|Guideline|How this was read"; got != want {
		t.Errorf("bookmarks %s, want %s", got, want)
	}
}

// TestTextComesOut reads the pages with poppler, as a person's viewer would.
func TestTextComesOut(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Fatal("pdftotext is missing: apt-get install poppler-utils")
	}
	r := report(7)
	r.CutShort = "the turn met its limit of money"
	file := filepath.Join(t.TempDir(), "r.pdf")
	if err := os.WriteFile(file, write(t, r), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool, "-layout", file, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Zażółć Gęślą", "Công ty Vận", "东方运输有限公司", "CUT SHORT", "Page 1 of ", "F-0001", "schedule.xlsx, p. 1 (91%)"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("the pages don't hold %q", want)
		}
	}
	if bytes.Contains(out, []byte("{pages}")) {
		t.Error("the number of pages wasn't filled in")
	}
}

// TestQPDFAccepts has a second reader check the file's structure.
func TestQPDFAccepts(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("qpdf")
	if err != nil {
		t.Fatal("qpdf is missing: apt-get install qpdf")
	}
	file := filepath.Join(t.TempDir(), "r.pdf")
	if err := os.WriteFile(file, write(t, report(7)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), tool, "--check", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestReportWithoutRunIsRefused(t *testing.T) {
	t.Parallel()
	if err := pdf.Write(t.Context(), io.Discard, &reports.Report{}, pdf.Options{}); !errors.Is(err, pdf.ErrReport) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	r := report(40)
	for b.Loop() {
		if err := pdf.Write(b.Context(), io.Discard, r, pdf.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWhatIsNotPrintedIsSaid(t *testing.T) {
	t.Parallel()
	r := report(2700)
	for i := range r.Findings {
		r.Findings[i].Severity = []string{"critical", "note"}[i%2]
		r.Findings[i].Evidence = nil
	}
	var b bytes.Buffer
	if err := pdf.Write(t.Context(), &b, r, pdf.Options{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(pages(t, b.Bytes())), " ")
	for _, want := range []string{"The 5000 gravest of 5400 findings are printed. In the workbook only: 400 note.", "no file is attached to this one."} {
		if !strings.Contains(text, want) {
			t.Errorf("the pages don't say %q", want)
		}
	}
}
