package reconcile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// realRows reads a table that others wrote, as an extraction of it would come.
func realRows(t *testing.T, folder, name, docType, table string, max int) Document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	d := Document{ID: "D-" + name, Type: docType, Filename: name + ".pdf", Pages: 1, Received: clock()}
	for i, r := range rows[:min(len(rows), max)] {
		for field, v := range r {
			value := fmt.Sprint(v)
			d.Fields = append(d.Fields, Field{
				ID: fmt.Sprintf("F-%s-%d-%s", name, i, field), DocumentID: d.ID, RowID: fmt.Sprintf("R-%s-%d", name, i), Table: table, RowIndex: i + 1,
				Name: field, Original: value, Value: value, Null: v == nil, Confidence: 0.95, Page: 1, Box: [4]float64{0.1, 0.1, 0.9, 0.2},
			})
		}
	}
	return d
}

// TestRealDocuments reconciles schedules, MVR packets, loss runs and IFTA pages that this project didn't write.
// It needs the shared data beside the repository; without it there is nothing to read.
func TestRealDocuments(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("BORDEREAU_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	folder := filepath.Join(shared, "data", "longlistbench")
	if _, err := os.Stat(folder); err != nil {
		t.Logf("no shared data: %v", err)
		return
	}
	const all = 1 << 20
	p := &Packet{ID: "S-real", Carrier: "alder", Workflow: "New Business Intake", Effective: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Received: clock(), Documents: []Document{
		realRows(t, folder, "vehicle_schedule_sparse_001", schedule, "vehicles", all),
		realRows(t, folder, "driver_schedule_sparse_001", driverList, "drivers", all),
		realRows(t, folder, "driver_mvr_packet_001", mvr, "drivers", all),
		realRows(t, folder, "driver_mvr_packet_002", mvr, "drivers", all),
		realRows(t, folder, "loss_run_external_001", lossRun, "losses", all),
		realRows(t, folder, "ifta_mileage_by_vehicle_001", ifta, "ifta", all),
	}}
	run, err := testReconciler(t).Packets(t.Context(), Scope{}, []*Packet{p}, clock())
	if err != nil {
		t.Fatal(err)
	}
	s := run.Submissions[0]
	if len(s.Vehicles) < 20 || len(s.Drivers) < 30 || len(s.Losses) < 20 {
		t.Errorf("%d vehicles, %d drivers, %d losses", len(s.Vehicles), len(s.Drivers), len(s.Losses))
	}
	rules := map[string]int{}
	var mvrs []string
	for _, f := range run.Findings {
		rules[f.RuleID+" "+f.Outcome]++
		if f.RuleID == "DRV-03" && f.Outcome == "fail" {
			mvrs = append(mvrs, f.Entity)
		}
		if len(f.Evidence) == 0 {
			t.Errorf("%s has no evidence", f.ID)
		}
	}
	// The packet has no application and no FMCSA snapshot, and its schedule no VINs: that is said, not passed over.
	for _, want := range []string{"FMC-01 unknown", "BUS-01 unknown", "VEH-01 unknown", "COV-01 unknown", "DRV-07 fail", "DRV-03 fail"} {
		if rules[want] == 0 {
			t.Errorf("no finding %s among %v", want, rules)
		}
	}
	// The driver list of this made-up packet is another carrier's, so most people have no counterpart.
	if len(mvrs) < 30 {
		t.Errorf("%d drivers without a counterpart", len(mvrs))
	}
	if s.Decision != "refer" && s.Decision != "decline" {
		t.Errorf("the decision is %s", s.Decision)
	}
}
