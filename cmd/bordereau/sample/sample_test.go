package sample

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/tools/guideline"
	"bordereau/tools/reconcile"
	"bordereau/tools/vin"
)

var day1 = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

// decoder loads the data set once for all tests: it is immutable.
var decoder = sync.OnceValues(vin.Load)

func generate(t *testing.T, id string, seed uint64) *Org {
	t.Helper()
	d, err := decoder()
	if err != nil {
		t.Fatal(err)
	}
	org, err := Generate(t.Context(), Config{Today: day1, Seed: seed, Decoder: d}, id)
	if err != nil {
		t.Fatal(err)
	}
	return org
}

func reconciler(t testing.TB) *reconcile.Reconciler {
	t.Helper()
	d, err := decoder()
	if err != nil {
		t.Fatal(err)
	}
	lib, err := guideline.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	r, err := reconcile.New(reconcile.Config{Decoder: d, Guidelines: lib})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func planted(f reconcile.Finding) Planted {
	return Planted{f.SubmissionID, f.RuleID, f.Entity, f.Outcome, f.Class}
}

func line(p Planted) string {
	return strings.Join([]string{p.Submission, p.Rule, p.Entity, p.Outcome, p.Class}, " | ")
}

// TestFindingsEqualTheKey holds every finding of every carrier against what was planted: all found, none invented.
func TestFindingsEqualTheKey(t *testing.T) {
	t.Parallel()
	for _, id := range Orgs() {
		for _, seed := range []uint64{1, 2} {
			t.Run(fmt.Sprintf("%s seed %d", id, seed), func(t *testing.T) {
				t.Parallel()
				org := generate(t, id, seed)
				var packets []*reconcile.Packet
				for _, s := range org.Submissions {
					packets = append(packets, s.Packet())
				}
				run, err := reconciler(t).Packets(t.Context(), reconcile.Scope{Org: id}, packets, day1.Add(9*time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				message := map[string]string{}
				var got, want []string
				for _, f := range run.Findings {
					l := line(planted(f))
					got = append(got, l)
					message[l] = f.Message + " " + f.Explanation
				}
				for _, p := range org.Key.Findings {
					want = append(want, line(p))
				}
				slices.Sort(got)
				slices.Sort(want)
				for _, l := range got {
					if _, ok := slices.BinarySearch(want, l); !ok {
						t.Errorf("invented: %s: %s", l, message[l])
					}
				}
				for _, l := range want {
					if _, ok := slices.BinarySearch(got, l); !ok {
						t.Errorf("not found: %s", l)
					}
				}
			})
		}
	}
}

// TestEveryRuleIsPlanted holds the plants against the library: each carrier meets each of its rules at least once, failing.
func TestEveryRuleIsPlanted(t *testing.T) {
	t.Parallel()
	lib, err := guideline.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	planted := map[string]bool{}
	for _, s := range generate(t, "northgate", 1).Submissions {
		for _, p := range s.Planted {
			if p.Outcome == "fail" {
				planted[s.Carrier+" "+p.Rule] = true
			}
		}
	}
	for _, carrier := range []string{"alder", "birch", "cedar"} {
		g, err := lib.For(carrier, day1)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range g.Rules {
			if !planted[carrier+" "+r.ID] {
				t.Errorf("no submission of %s fails %s: %s", carrier, r.ID, r.Text)
			}
		}
	}
}
