package run_test

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"bordereau/governance/run"
	"bordereau/migrations/storetest"
)

// TestStore is what a store does, on each engine.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, map[string]func(*testing.T, storetest.Open){
		"comes back whole": runComesBackWhole, "list": listIsNewestFirstAndOfOneOrganisation, "of a turn": turnListsItsRuns,
		"review": reviewIsKeptAndTakenBack, "second reviewer": secondReviewerOfTheSameCopy, "bad review": reviewThatCannotBe, "reviewers at once": reviewersAtOnce,
	})
}

func open(t *testing.T, db *sql.DB) *run.Store {
	t.Helper()
	s, err := run.NewStore(db)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func turnListsItsRuns(t *testing.T, db storetest.Open) {
	t.Helper()
	s := open(t, db(t))
	for i, r := range []run.Run{{ID: "b", Org: "acme", Turn: "t1"}, {ID: "a", Org: "acme", Turn: "t1"}, {ID: "c", Org: "acme", Turn: "t2"}, {ID: "d", Org: "other", Turn: "t1"}} {
		r.Role, r.Created = "analyst", time.UnixMicro(int64(i))
		if _, err := s.Save(t.Context(), r, strings.NewReader("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := s.OfTurn(t.Context(), "acme", "t1"); err != nil || len(all) != 2 || all[0].ID != "b" || all[1].ID != "a" {
		t.Errorf("%+v, %v", all, err)
	}
}

func runComesBackWhole(t *testing.T, db storetest.Open) {
	t.Helper()
	d := db(t)
	s := open(t, d)
	noise := make([]byte, 2<<20) // doesn't compress: three parts once it is text
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	body := []byte(base64.StdEncoding.EncodeToString(noise))
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	saved, err := s.Save(t.Context(), run.Run{ID: "r1", Org: "acme", Role: "underwriter", Created: at, Findings: 3}, bytes.NewReader(body))
	if err != nil || saved.Parts != 3 || saved.Bytes != len(body) {
		t.Fatalf("Save = %+v, %v", saved, err)
	}
	got, err := s.Body(t.Context(), "acme", "r1")
	if err != nil || !bytes.Equal(got, body) {
		t.Fatalf("Body: %d bytes, %v", len(got), err)
	}
	head, err := s.Get(t.Context(), "acme", "r1")
	if err != nil || head.Findings != 3 || !head.Created.Equal(at) {
		t.Fatalf("Get = %+v, %v", head, err)
	}
	for _, other := range []struct {
		org, id string
		part    int
	}{{"other", "r1", 1}, {"acme", "r2", 1}, {"acme", "r1", 4}, {"acme", "r1", 0}} {
		if _, err := s.Part(t.Context(), other.org, other.id, other.part); !errors.Is(err, run.ErrNotFound) {
			t.Errorf("Part(%v) = %v; want ErrNotFound", other, err)
		}
	}
	if _, err := s.Save(t.Context(), run.Run{ID: "r1", Org: "acme", Role: "underwriter"}, bytes.NewReader(body)); err == nil {
		t.Error("a second run of the same id was stored")
	}
	if _, err := d.ExecContext(t.Context(), "DELETE FROM run_parts WHERE part = 2"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Body(t.Context(), "acme", "r1"); err == nil {
		t.Error("a run with a missing part was read as whole")
	}
}

func listIsNewestFirstAndOfOneOrganisation(t *testing.T, db storetest.Open) {
	t.Helper()
	s := open(t, db(t))
	for i, id := range []string{"a", "b", "c"} {
		at := time.UnixMicro(int64(i + 1))
		if _, err := s.Save(t.Context(), run.Run{ID: id, Org: "acme", Role: "analyst", Created: at}, strings.NewReader("{}")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Save(t.Context(), run.Run{ID: "x" + id, Org: "other", Role: "analyst", Created: at}, strings.NewReader("{}")); err != nil {
			t.Fatal(err)
		}
	}
	page, err := s.List(t.Context(), "acme", time.Time{}, 2)
	if err != nil || len(page) != 2 || page[0].ID != "c" || page[1].ID != "b" {
		t.Fatalf("List = %+v, %v", page, err)
	}
	page, err = s.List(t.Context(), "acme", page[1].Created, 2)
	if err != nil || len(page) != 1 || page[0].ID != "a" {
		t.Fatalf("second page = %+v, %v", page, err)
	}
}
