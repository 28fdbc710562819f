package sample

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"bordereau/reports"
	"bordereau/reports/excel"
	"bordereau/reports/excerpt"
	"bordereau/reports/pdf"
	"bordereau/tools/reconcile"
)

// TestReportsReadElsewhere renders a day's report with pages of its documents, and has other programs read it. With -artifacts the
// files stay, to be looked at.
func TestReportsReadElsewhere(t *testing.T) {
	t.Parallel()
	org := generate(t, "northgate", 1)
	documents := map[string][]byte{}
	var packets []*reconcile.Packet
	for _, s := range org.Submissions {
		if s.Received.Before(day1) {
			continue
		}
		packets = append(packets, s.Packet())
		for _, f := range s.Documents {
			documents[f.ID] = f.Bytes
		}
	}
	run, err := reconciler(t).Packets(t.Context(), reconcile.Scope{Org: "northgate", Title: "Discrepancy report", From: "2026-11-29", To: "2026-11-29"}, packets, day1.Add(9*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	var report reports.Report
	if err := json.Unmarshal(raw, &report); err != nil {
		t.Fatal(err)
	}
	report.Excerpts = reports.Shown
	report.Review([]reports.Review{{Seq: 1, Finding: "F-0002", Disposition: "to_broker", Comment: "Asked for the title.", Person: "underwriter@northgate.example", At: day1.Add(10 * time.Hour)}})
	dir := t.ArtifactDir()
	render := func() []byte {
		var book, paper bytes.Buffer
		if err := excel.Write(t.Context(), &book, &report); err != nil {
			t.Fatal(err)
		}
		cache, err := excerpt.OpenCache(filepath.Join(os.TempDir(), "bordereau-test-pdfium")) // compiled once for all runs
		if err != nil {
			t.Fatal(err)
		}
		cutter, err := excerpt.New(cache, func(_ context.Context, id string) ([]byte, error) { return documents[id], nil })
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = errors.Join(cutter.Close(), cache.Close(context.Background())) }()
		if err := pdf.Write(t.Context(), &paper, &report, pdf.Options{Pictures: cutter, Attachments: []pdf.Attachment{{Name: "discrepancies.xlsx", Content: book.Bytes()}}}); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "discrepancies.xlsx"), book.Bytes(), 0o600), os.WriteFile(filepath.Join(dir, "discrepancies.pdf"), paper.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		return paper.Bytes()
	}
	paper := render()
	if again := render(); !bytes.Equal(paper, again) {
		t.Errorf("the same run with the same documents gives other bytes: %s", unlike(paper, again))
	}
	api.DisableConfigDir()
	strict := model.NewDefaultConfiguration()
	strict.ValidationMode = model.ValidationStrict
	if err := api.Validate(bytes.NewReader(paper), strict); err != nil {
		t.Errorf("pdfcpu: %v", err)
	}
	read := func(name string, args ...string) string {
		tool, err := exec.LookPath(name)
		if err != nil {
			t.Fatalf("%s is missing", name)
		}
		out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		return string(out)
	}
	read("qpdf", "--check", filepath.Join(dir, "discrepancies.pdf"))
	text := read("pdftotext", "-layout", filepath.Join(dir, "discrepancies.pdf"), "-")
	for _, want := range []string{"Excerpts of the documents", ".pdf, page 1", "Review: to broker by"} {
		if !strings.Contains(text, want) {
			t.Errorf("the pages don't hold %q", want)
		}
	}
	if strings.Contains(text, "No picture:") {
		t.Error("a page of the sample could not be drawn")
	}
	if _, err := exec.LookPath("soffice"); err != nil {
		t.Log("LibreOffice is not here: the workbook is read by excelize alone")
		return
	}
	read("soffice", "--headless", "-env:UserInstallation=file://"+t.TempDir(), "--convert-to", "pdf:calc_pdf_Export", "--outdir", filepath.Join(dir, "calc"), filepath.Join(dir, "discrepancies.xlsx"))
	if sheets := read("pdftotext", "-layout", filepath.Join(dir, "calc", "discrepancies.pdf"), "-"); !strings.Contains(sheets, report.RunID) {
		t.Error("LibreOffice shows no run")
	}
	read("soffice", "--headless", "-env:UserInstallation=file://"+t.TempDir(), "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", filepath.Join(dir, "saved"), filepath.Join(dir, "discrepancies.xlsx"))
	saved, err := os.ReadFile(filepath.Join(dir, "saved", "discrepancies.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	head, err := excel.ReadHead(bytes.NewReader(saved))
	if err != nil || head.Run != report.RunID || head.Revision != 1 {
		t.Errorf("saved by LibreOffice: %+v, %v", head, err)
	}
	says := map[string]string{}
	for _, f := range report.Findings {
		says[f.ID] = f.Message
	}
	if said, err := excel.Read(bytes.NewReader(saved), says); err != nil || len(said) != len(report.Findings) || said[1].Disposition != "to_broker" {
		t.Errorf("saved by LibreOffice: %d reviews, %v", len(said), err)
	}
}

// unlike shows the first place at which two files differ.
func unlike(a, b []byte) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return fmt.Sprintf("%d and %d bytes, at %d: %.200q and %.200q", len(a), len(b), n, a[max(0, n-100):], b[max(0, n-100):])
}
