package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"bordereau/reports"
)

// TestLongRunIsRendered renders a run of more rows than travel inside a PDF: workbook and PDF come, and the PDF says of which run it is.
func TestLongRunIsRendered(t *testing.T) {
	t.Parallel()
	r := &reports.Report{Schema: reports.Schema, RunID: "run-long", Org: "acme", Title: "Report", Clock: time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC), Revision: 3}
	for i := range 900 {
		id := fmt.Sprintf("S-%d", i)
		s := reports.Submission{ID: id, Insured: "Amber Run", Decision: "refer"}
		for k := range 60 {
			s.Vehicles = append(s.Vehicles, reports.Item{ID: fmt.Sprint(i, k), Label: "unit", Cells: []reports.Cell{{Field: "vin", Value: "x", Verdict: "agrees"}}})
		}
		r.Submissions = append(r.Submissions, s)
		r.Findings = append(r.Findings, reports.Finding{ID: fmt.Sprintf("F-%04d", i+1), SubmissionID: id, RuleID: "VEH-01", Severity: "major", Action: "refer", Message: "A VIN is wrong."})
	}
	made, err := renderer{console: "https://bordereau.example"}.Render(t.Context(), r, nil)
	if err != nil || len(made) != 2 {
		t.Fatalf("%d files, %v", len(made), err)
	}
	api.DisableConfigDir()
	attached, err := api.ExtractAttachmentsRaw(bytes.NewReader(made[1].Content), "", nil, nil)
	if err != nil || len(attached) != 1 {
		t.Fatalf("%d attachments, %v", len(attached), err)
	}
	var head reports.Report
	if err := json.NewDecoder(attached[0]).Decode(&head); err != nil || head.RunID != "run-long" || head.Revision != 3 || head.Console == "" || len(head.Findings) != 0 {
		t.Errorf("%+v, %v", head, err)
	}
}
