package sample

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"bordereau/reports"
	"bordereau/tools/reconcile"
)

// TestRunIsAReport holds the JSON of a run against the form that reports read: no field is lost on the way there and back.
func TestRunIsAReport(t *testing.T) {
	t.Parallel()
	org := generate(t, "southfield", 1)
	run, err := reconciler(t).Packets(t.Context(), reconcile.Scope{Org: "southfield", From: "2026-11-01", To: "2026-11-29"}, packets(t, org), day1.Add(9*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	var report reports.Report
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&report); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, again) {
		n := 0
		for n < min(len(text), len(again)) && text[n] == again[n] {
			n++
		}
		from := max(0, n-80)
		t.Errorf("differ at %d:\n%s\n%s", n, text[from:min(len(text), n+80)], again[from:min(len(again), n+80)])
	}
	if len(report.Guidelines) != 3 || report.Guideline.ID != "by-carrier" {
		t.Errorf("%d guidelines, %s", len(report.Guidelines), report.Guideline.ID)
	}
}
