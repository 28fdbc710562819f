package guideline

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func library(t *testing.T) *Library {
	t.Helper()
	l, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestEmbeddedGuidelinesDiffer(t *testing.T) {
	t.Parallel()
	l := library(t)
	starter, err := l.ByKey("starter@2026.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, carrier := range []string{"alder", "birch", "cedar"} {
		g, err := l.For(carrier, time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		if len(Diff(starter, g)) < 3 {
			t.Errorf("%s hardly differs from the starter: %v", carrier, Diff(starter, g))
		}
		if g.SHA256 == starter.SHA256 {
			t.Errorf("%s has the starter's hash", carrier)
		}
	}
	if len(Diff(starter, starter)) != 0 {
		t.Error("a guideline differs from itself")
	}
}

// TestStarterHasEveryRule holds the starter against the list of generic practice.
func TestStarterHasEveryRule(t *testing.T) {
	t.Parallel()
	g, err := library(t).ByKey("starter@2026.1")
	if err != nil {
		t.Fatal(err)
	}
	for id := range strings.FieldsSeq(`FMC-01 FMC-02 FMC-03 FMC-04 FMC-05 FMC-06 BUS-01 BUS-02 FLT-01 FLT-02 VEH-01 VEH-02 VEH-03 VEH-04 VEH-05 VEH-06 VEH-07 VEH-08
		DRV-01 DRV-02 DRV-03 DRV-04 DRV-05 DRV-06 DRV-07 DRV-08 LOS-01 LOS-02 LOS-03 LOS-04 LOS-05 OPS-01 OPS-02 OPS-03 COV-01 COV-02 COV-03`) {
		if g.Rule(id) == nil {
			t.Errorf("rule %s is missing", id)
		}
	}
}

func TestNoVersionInForce(t *testing.T) {
	t.Parallel()
	_, err := library(t).For("alder", time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC))
	if !errors.Is(err, ErrNone) {
		t.Errorf("got %v", err)
	}
}

// TestMissingIsNeverPass evaluates every rule of every guideline without a single fact.
func TestMissingIsNeverPass(t *testing.T) {
	t.Parallel()
	for _, g := range library(t).All() {
		f := g.NewFacts()
		for _, s := range Scopes() {
			verdicts, err := g.Evaluate(s, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range verdicts {
				if v.Outcome != Unknown || len(v.Missing) == 0 {
					t.Errorf("%s: rule %s is %s without any fact; missing %v", g.Key(), v.Rule.ID, v.Outcome, v.Missing)
				}
			}
		}
	}
}

// TestNoFactTurnsToPass takes single facts away from a passing submission: a rule may then only pass or be untold.
func TestMissingFactsAreNamed(t *testing.T) {
	t.Parallel()
	g, err := library(t).ByKey("starter@2026.1")
	if err != nil {
		t.Fatal(err)
	}
	f := g.NewFacts()
	for name, v := range map[string]any{"fleet.power_units": 4, "fleet.power_units_stated": 4} {
		if err := f.Set(name, v); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Missing("carrier.fmcsa_found", "no snapshot is there"); err != nil {
		t.Fatal(err)
	}
	verdicts, err := g.Evaluate(Submission, f)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Rule.ID == "FLT-02" })
	if v := verdicts[i]; v.Outcome != Unknown || !slices.Contains(v.Missing, "carrier.fmcsa_found") {
		t.Errorf("got %+v", v)
	}
	if f.Why("carrier.fmcsa_found") != "no snapshot is there" {
		t.Error(f.Why("carrier.fmcsa_found"))
	}
}

func TestFailOutranksUntold(t *testing.T) {
	t.Parallel()
	g, err := library(t).ByKey("starter@2026.1")
	if err != nil {
		t.Fatal(err)
	}
	f := g.NewFacts()
	// Years of the loss runs aren't known; a gap is.
	if err := f.Set("loss_run.gap_days", 40); err != nil {
		t.Fatal(err)
	}
	verdicts, err := g.Evaluate(Submission, f)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Rule.ID == "LOS-02" })
	if v := verdicts[i]; v.Outcome != Fail || v.Message != "There is a gap of 40 days between terms." {
		t.Errorf("got %+v", v)
	}
}

// TestProblemOfAnInheritedRule finds a parameter that silences a check of the guideline it extends: the check stands in the other file.
func TestProblemOfAnInheritedRule(t *testing.T) {
	t.Parallel()
	head := "schema: bordereau.guideline/1\nid: t\ncarrier: t\nversion: \"1\"\neffective: 2026-01-01\n"
	base, err := Load("base.yaml", []byte(head+`parameters: {years: 0.5}
rules:
  - {id: A-1, text: x, severity: major, action: refer, scope: submission, checks: [{require: param.years >= 1.0 || applicant.years_in_business >= 2.0, message: x}]}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Load("child.yaml", []byte(head+"extends: t@1\nparameters: {years: 2.0}\n"), func(string) (*Guideline, error) { return base, nil })
	if want := "base.yaml:8:"; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "this check can never fail") {
		t.Errorf("error %v, want one in %s", err, want)
	}
}

// TestProblems reads broken guidelines; the last lines of each file say which problems must be told, as "# want LINE:COLUMN: text".
func TestProblems(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	lib := library(t)
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Load(filepath.Base(name), text, lib.ByKey)
			if err == nil {
				t.Fatal("nothing wrong was found")
			}
			for line := range strings.Lines(string(text)) {
				want, ok := strings.CutPrefix(strings.TrimSpace(line), "# want ")
				if ok && !strings.Contains(err.Error(), filepath.Base(name)+":"+want) {
					t.Errorf("wanted %q in:\n%v", want, err)
				}
			}
		})
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := LoadCases("cases.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	g, err := library(t).ByKey("birch@2026.1")
	if err != nil {
		t.Fatal(err)
	}
	results, err := g.Test(cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.OK() {
			t.Error(r)
		}
	}
	if len(results) < 6 {
		t.Errorf("only %d results", len(results))
	}
}

func BenchmarkEvaluateVehicle(b *testing.B) {
	l, err := Embedded()
	if err != nil {
		b.Fatal(err)
	}
	g, err := l.ByKey("starter@2026.1")
	if err != nil {
		b.Fatal(err)
	}
	f := g.NewFacts()
	for name, v := range map[string]any{
		"vehicle.vin_length": 17, "vehicle.vin_legal": true, "vehicle.vin_check_digit": true, "vehicle.vin_rows": 1, "vehicle.year_match": Consistent,
		"vehicle.make_match": Consistent, "vehicle.model_match": Consistent, "vehicle.type_match": Consistent, "vehicle.gvw_match": Consistent, "vehicle.type": "tractor",
		"vehicle.age": 4, "vehicle.stated_value": 90000.0, "fleet.physical_damage": true, "vehicle.garaging_po_box": false, "vehicle.garaging_state": "TX",
		"operations.states": []string{"TX", "OK"}, "vehicle.garaging_miles": 4, "vehicle.registration_match": Silent, "vehicle.application_match": Silent,
	} {
		if err := f.Set(name, v); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := g.Evaluate(Vehicle, f); err != nil {
			b.Fatal(err)
		}
	}
}
