package reports_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bordereau/reports"
)

// TestReadGivesTheWholeReport holds a report that was read piece by piece against itself.
func TestReadGivesTheWholeReport(t *testing.T) {
	t.Parallel()
	want := reports.Report{
		Schema: reports.Schema, RunID: "run-1", Org: "northgate", Title: "Report", Clock: time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC), CutShort: "the time ran out",
		Guidelines: []reports.Guideline{{ID: "alder"}, {ID: "birch"}},
		Submissions: []reports.Submission{{ID: "S-1", Documents: []reports.Document{{ID: "D-1"}}, Vehicles: []reports.Item{{ID: "R-1", DocumentID: "D-1", Cells: []reports.Cell{
			{Field: "vin", Value: "x", Verdict: "agrees"},
			{Field: "vin", Value: "y", Verdict: "agrees"},
		}}}}, {ID: "S-2"}},
		Findings: []reports.Finding{{ID: "F-0001", Message: "Too few.", Evidence: []reports.Evidence{{Kind: "document", Page: 2}}}},
		Queries:  []reports.Query{{AuditID: "a-1"}},
	}
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := reports.Read(strings.NewReader(string(raw) + "what comes after"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
	if says, err := reports.Sentences(strings.NewReader(string(raw))); err != nil || len(says) != 1 || says["F-0001"] != "Too few." {
		t.Errorf("it says %v, %v", says, err)
	}
	for _, bad := range []string{"", "[]", `{"findings":{}}`, `{"findings":[{"id":1}]}`, string(raw[:len(raw)-1]), `{"clock":"noon"}`} {
		if _, err := reports.Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%.40q was read", bad)
		}
		if _, err := reports.Sentences(strings.NewReader(bad)); err == nil && bad != `{"clock":"noon"}` {
			t.Errorf("the sentences of %.40q were read", bad)
		}
	}
	if r, err := reports.Read(strings.NewReader(`{"run_id":"x","findings":null,"submissions":[]}`)); err != nil || r.RunID != "x" || len(r.Findings) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
