package run_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/governance/run"
	"bordereau/migrations/storetest"
)

func reviewed(t *testing.T, db storetest.Open) *run.Store {
	t.Helper()
	s := open(t, db(t))
	if _, err := s.Save(t.Context(), run.Run{ID: "r1", Org: "acme", Role: "underwriter", Findings: 3}, strings.NewReader("{}")); err != nil {
		t.Fatal(err)
	}
	return s
}

func asks(person string, base int64, opinions ...run.Opinion) run.Reviewing {
	return run.Reviewing{Org: "acme", Run: "r1", Person: person, Via: "page", At: time.UnixMicro(7).UTC(), Base: base, Opinions: opinions}
}

func reviewIsKeptAndTakenBack(t *testing.T, db storetest.Open) {
	t.Helper()
	s := reviewed(t, db)
	first := run.Opinion{Finding: "F-0002", Disposition: "waived", Comment: "seen with the broker"}
	got, err := s.Review(t.Context(), asks("mary", 0, first, run.Opinion{Finding: "F-0001"}))
	if err != nil || got.Revision != 1 || len(got.Stored) != 1 || got.Unchanged != 1 {
		t.Fatalf("Review = %+v, %v", got, err)
	}
	if got, err = s.Review(t.Context(), asks("mary", 1, run.Opinion{Finding: "F-0002"})); err != nil || got.Revision != 2 {
		t.Fatalf("Review = %+v, %v", got, err)
	}
	all, err := s.Reviews(t.Context(), "acme", "r1", 0)
	if err != nil || len(all) != 2 || all[0].Opinion != first || all[0].Person != "mary" || !all[0].At.Equal(time.UnixMicro(7)) {
		t.Fatalf("Reviews = %+v, %v", all, err)
	}
	if latest := run.Latest(all)["F-0002"]; latest.Disposition != "" || latest.Seq != 2 {
		t.Errorf("in force: %+v", latest)
	}
	if old, err := s.Reviews(t.Context(), "acme", "r1", 1); err != nil || len(old) != 1 {
		t.Errorf("at revision 1: %+v, %v", old, err)
	}
	if other, err := s.Reviews(t.Context(), "other", "r1", 0); err != nil || len(other) != 0 {
		t.Errorf("another organisation reads %+v, %v", other, err)
	}
}

func secondReviewerOfTheSameCopy(t *testing.T, db storetest.Open) {
	t.Helper()
	s := reviewed(t, db)
	if _, err := s.Review(t.Context(), asks("mary", 0, run.Opinion{Finding: "F-0001", Disposition: "waived"}, run.Opinion{Finding: "F-0002", Disposition: "error"})); err != nil {
		t.Fatal(err)
	}
	// John's copy is as old as Mary's was: he agrees on the first, differs on the second, left the third and says something of his own.
	john := asks("john", 0,
		run.Opinion{Finding: "F-0001", Disposition: "waived"},
		run.Opinion{Finding: "F-0002", Disposition: "accepted"},
		run.Opinion{Finding: "F-0003", Comment: "ask for the title"})
	got, err := s.Review(t.Context(), john)
	if err != nil || got.Unchanged != 1 || len(got.Stored) != 1 || len(got.Conflicts) != 1 {
		t.Fatalf("Review = %+v, %v", got, err)
	}
	if c := got.Conflicts[0]; c.Yours.Disposition != "accepted" || c.Theirs.Person != "mary" || c.Theirs.Disposition != "error" {
		t.Errorf("conflict %+v", c)
	}
	// What a copy leaves blank takes back nothing that was said since.
	if got, err = s.Review(t.Context(), asks("john", 0, run.Opinion{Finding: "F-0001"})); err != nil || got.Unchanged != 1 {
		t.Errorf("Review = %+v, %v", got, err)
	}
	john.Overwrite = true
	if got, err = s.Review(t.Context(), john); err != nil || len(got.Stored) != 1 || got.Stored[0].Disposition != "accepted" {
		t.Errorf("with overwrite: %+v, %v", got, err)
	}
}

func reviewThatCannotBe(t *testing.T, db storetest.Open) {
	t.Helper()
	s := reviewed(t, db)
	for name, ask := range map[string]run.Reviewing{
		"another run's finding": asks("mary", 0, run.Opinion{Finding: "F-0004"}),
		"no finding":            asks("mary", 0, run.Opinion{Finding: "F-1"}),
		"twice":                 asks("mary", 0, run.Opinion{Finding: "F-0001"}, run.Opinion{Finding: "F-0001"}),
		"other words":           asks("mary", 0, run.Opinion{Finding: "F-0001", Disposition: "fine"}),
		"over-long":             asks("mary", 0, run.Opinion{Finding: "F-0001", Comment: strings.Repeat("x", 4001)}),
		"a NUL":                 asks("mary", 0, run.Opinion{Finding: "F-0001", Comment: "a\x00b"}),
		"from the future":       asks("mary", 9, run.Opinion{Finding: "F-0001"}),
	} {
		if _, err := s.Review(t.Context(), ask); !errors.Is(err, run.ErrReview) {
			t.Errorf("%s: %v", name, err)
		}
	}
	missing := asks("mary", 0)
	missing.Org = "other"
	if _, err := s.Review(t.Context(), missing); !errors.Is(err, run.ErrNotFound) {
		t.Errorf("another organisation's run: %v", err)
	}
}

func reviewersAtOnce(t *testing.T, db storetest.Open) {
	t.Helper()
	s := reviewed(t, db)
	var all sync.WaitGroup
	for _, finding := range []string{"F-0001", "F-0002", "F-0003"} {
		all.Go(func() {
			if _, err := s.Review(t.Context(), asks(finding, 0, run.Opinion{Finding: finding, Disposition: "accepted"})); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := s.Reviews(t.Context(), "acme", "r1", 0); err != nil || len(got) != 3 || got[2].Seq != 3 {
		t.Errorf("Reviews = %+v, %v", got, err)
	}
}
