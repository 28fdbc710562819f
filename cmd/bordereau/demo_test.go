package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/xuri/excelize/v2"

	"bordereau/cmd/bordereau/sample"
	"bordereau/reports"
	"bordereau/tools/vin"
)

// TestDemo does the main job as 'make demo' does, through every real part, and holds what it hands back against the
// answer key of the sample organisation.
func TestDemo(t *testing.T) {
	t.Parallel()
	bin := programs(t)
	dir := t.TempDir()
	settings := filepath.Join(dir, "bordereau.yaml")
	text := fmt.Sprintf("data: %s\nsandbox: {driver: auto, runsc: %s, guest: %s, gov: %s, memory_mib: 1024, disk_mib: 512, idle_stop: 10m}\n",
		filepath.Join(dir, "data"), filepath.Join(bin, "runsc"), filepath.Join(bin, "guest"), filepath.Join(bin, "gov"))
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	today := time.Now()
	out1 := filepath.Join(dir, "out")
	err := run(t.Context(), []string{"demo", "--config", settings, "--out", out1}, stdio{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) string { return "" }})
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "data", "demo.log"))
		t.Fatalf("%v\n%s\n%s\n%s", err, out.String(), errs.String(), log)
	}
	decoder, err := vin.Load()
	if err != nil {
		t.Fatal(err)
	}
	org, err := sample.Generate(t.Context(), sample.Config{Today: today, Seed: sampleSeed, Decoder: decoder}, demoOrg)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("findings", func(t *testing.T) { t.Parallel(); checkFindings(t, out1, org.Key) })
	t.Run("edit rate", func(t *testing.T) { t.Parallel(); checkEditRate(t, out1, org.Key) })
	t.Run("accuracy and volumes", func(t *testing.T) { t.Parallel(); checkMeasures(t, out1, org.Key) })
	t.Run("proof", func(t *testing.T) { t.Parallel(); checkProof(t, filepath.Join(dir, "data", "demo"), out1) })
	t.Run("chart", func(t *testing.T) {
		t.Parallel()
		raw, err := os.ReadFile(filepath.Join(out1, "edit-rate.png"))
		if err != nil || !bytes.HasPrefix(raw, []byte("\x89PNG\r\n\x1a\n")) || len(raw) < 10_000 {
			t.Errorf("the chart has %d bytes, %v", len(raw), err)
		}
	})
}

// checkFindings reads the run out of the PDF, and the findings out of the workbook.
func checkFindings(t *testing.T, out string, key sample.Key) {
	t.Helper()
	want := map[string]int{}
	for _, p := range key.Findings {
		if slices.Contains(key.Received, p.Submission) {
			want[strings.Join([]string{p.Submission, p.Rule, p.Entity, p.Class}, "|")]++
		}
	}
	api.DisableConfigDir()
	paper, err := os.Open(filepath.Join(out, "discrepancies.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = paper.Close() }()
	attached, err := api.ExtractAttachmentsRaw(paper, "", []string{"run.json"}, nil)
	if err != nil || len(attached) != 1 {
		t.Fatalf("run.json in the PDF: %d, %v", len(attached), err)
	}
	var run reports.Report
	if err := json.NewDecoder(attached[0]).Decode(&run); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, f := range run.Findings {
		got[strings.Join([]string{f.SubmissionID, f.RuleID, f.Entity, f.Class}, "|")]++
		if len(f.Evidence) == 0 {
			t.Errorf("%s has no evidence", f.ID)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings against the key (-want +got):\n%s", diff)
	}
	if len(run.Submissions) != len(key.Received) {
		t.Errorf("%d submissions, want the %d of today", len(run.Submissions), len(key.Received))
	}
	book, err := excelize.OpenFile(filepath.Join(out, "discrepancies.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	rows, err := book.GetRows("Findings")
	if err != nil || len(rows)-1 != len(run.Findings) {
		t.Errorf("the workbook has %d findings, the run %d, %v", len(rows)-1, len(run.Findings), err)
	}
}

// checkEditRate reads the workbook that code in the sandbox wrote.
func checkEditRate(t *testing.T, out string, key sample.Key) {
	t.Helper()
	book, err := excelize.OpenFile(filepath.Join(out, "edit-rate.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	rows, err := book.GetRows("Detail")
	if err != nil || len(rows) < 2 {
		t.Fatalf("sheet Detail: %d rows, %v", len(rows), err)
	}
	got := map[string]string{}
	for _, row := range rows[1:] {
		got[row[0]+"|"+row[1]] = row[3] + "/" + row[2]
	}
	want := map[string]string{}
	for _, r := range key.EditRates {
		want[r.Field+"|"+r.Day] = fmt.Sprintf("%d/%d", r.Edited, r.Fields)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edit rates against the key (-want +got):\n%s", diff)
	}
}

// checkMeasures reads the figures that code in the sandbox wrote for the other questions.
func checkMeasures(t *testing.T, out string, key sample.Key) {
	t.Helper()
	read := func(name string) (rows [][]string) {
		book, err := excelize.OpenFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = book.Close() }()
		if rows, err = book.GetRows("Figures", excelize.Options{RawCellValue: true}); err != nil || len(rows) < 2 {
			t.Fatalf("%s: %d rows, %v", name, len(rows), err)
		}
		if sql, err := book.GetRows("SQL"); err != nil || !strings.Contains(fmt.Sprint(sql), "Audit id") {
			t.Errorf("%s: sheet SQL: %v, %v", name, sql, err)
		}
		return rows[1:]
	}
	near := func(got string, want float64) bool {
		v, err := strconv.ParseFloat(got, 64)
		return err == nil && math.Abs(v-want) < 1e-6*(1+math.Abs(want))
	}
	accuracy := read("extraction-accuracy.xlsx")
	if len(accuracy) != len(key.Accuracy) {
		t.Fatalf("accuracy of %d fields, want %d", len(accuracy), len(key.Accuracy))
	}
	for i, w := range key.Accuracy {
		g := accuracy[i]
		if g[0] != w.Workflow || g[1] != w.Field || g[2] != strconv.Itoa(w.Fields) || g[3] != strconv.Itoa(w.Edited) ||
			!near(g[4], 1-float64(w.Edited)/float64(w.Fields)) || !near(g[5], w.Confidence) {
			t.Errorf("accuracy %v, want %+v", g, w)
		}
	}
	volumes := read("turnaround.xlsx")
	if len(volumes) != len(key.Volumes) {
		t.Fatalf("%d volumes, want %d", len(volumes), len(key.Volumes))
	}
	for i, w := range key.Volumes {
		g := volumes[i]
		month, err := time.Parse(time.DateOnly, w.Month)
		if err != nil {
			t.Fatal(err)
		}
		serial := month.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24
		if g[0] != w.Workflow || !near(g[1], serial) || g[2] != strconv.Itoa(w.Submissions) || g[3] != strconv.Itoa(w.Completed) ||
			w.Completed > 0 && (len(g) < 6 || !near(g[4], w.MeanHours) || !near(g[5], w.MedianHours)) {
			t.Errorf("volumes %v, want %+v", g, w)
		}
	}
}

// checkReview imports a reviewed workbook; what it says stands in the next workbook and PDF.
func checkReview(t *testing.T, data, reviewed string) {
	t.Helper()
	raw, err := os.ReadFile(reviewed)
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := workbooks{}.Head(raw)
	if err != nil {
		t.Fatal(err)
	}
	next := t.TempDir()
	for _, args := range [][]string{
		{"report", "import", "--org", demoOrg, "--data", data, "--person", "auditor@northgate.example", reviewed},
		{"report", "render", "--org", demoOrg, "--data", data, "--no-excerpts", "--out", next, id},
	} {
		var said bytes.Buffer
		if err := run(t.Context(), args, stdio{In: strings.NewReader(""), Out: &said, Err: &said, Env: func(string) string { return "" }}); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, said.String())
		}
	}
	book, err := excelize.OpenFile(filepath.Join(next, "discrepancies.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	disposition, err1 := book.GetCellValue("Findings", "Q2")
	who, err2 := book.GetCellValue("Findings", "S2")
	if err := errors.Join(err1, err2); err != nil || disposition != "waived" || !strings.HasPrefix(who, "auditor@northgate.example, ") {
		t.Errorf("the next workbook says %q by %q, %v", disposition, who, err)
	}
	text, err := exec.CommandContext(t.Context(), "pdftotext", filepath.Join(next, "discrepancies.pdf"), "-").Output()
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(text)), " "), "Review: waived by") {
		t.Errorf("the next PDF doesn't say the disposition, %v", err)
	}
}

// checkProof verifies the reports as an auditor would, then a workbook in which a figure was changed.
func checkProof(t *testing.T, data, out string) {
	t.Helper()
	verify := func(file string) (string, error) {
		var said bytes.Buffer
		err := run(t.Context(), []string{"report", "verify", "--org", demoOrg, "--data", data, file}, stdio{In: strings.NewReader(""), Out: &said, Err: &said, Env: func(string) string { return "" }})
		return said.String(), err
	}
	for _, name := range []string{"discrepancies.xlsx", "discrepancies.pdf"} {
		if said, err := verify(filepath.Join(out, name)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
	book, err := excelize.OpenFile(filepath.Join(out, "discrepancies.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	reviewed, forged := filepath.Join(t.TempDir(), "reviewed.xlsx"), filepath.Join(t.TempDir(), "forged.xlsx")
	if err := errors.Join(book.SetCellStr("Findings", "Q2", "waived"), book.SaveAs(reviewed)); err != nil {
		t.Fatal(err)
	}
	if said, err := verify(reviewed); err != nil {
		t.Errorf("a reviewed workbook: %v\n%s", err, said)
	}
	checkReview(t, data, reviewed)
	if err := errors.Join(book.SetCellStr("Findings", "B2", "note"), book.SaveAs(forged)); err != nil {
		t.Fatal(err)
	}
	said, err := verify(forged)
	if coded, ok := errors.AsType[exitCoder](err); !ok || coded.ExitCode() != exitChanged || !strings.Contains(said, "Findings!B2") {
		t.Errorf("a forged workbook: %v\n%s", err, said)
	}
}
