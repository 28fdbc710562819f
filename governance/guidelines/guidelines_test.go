package guidelines_test

import (
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"bordereau/governance/guidelines"
	"bordereau/migrations/storetest"
	"bordereau/tools/guideline"
)

const text = `schema: bordereau.guideline/1
id: alder
carrier: alder
name: Alder, stricter
version: "2027.1"
effective: 2026-12-01
extends: starter@2026.1
parameters:
  max_power_units: 20
`

func open(t *testing.T, db *sql.DB) *guidelines.Store {
	t.Helper()
	base, err := guideline.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	s, err := guidelines.NewStore(db, base)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPublishing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, map[string]func(*testing.T, storetest.Open){"publishing": publishing})
}

func publishing(t *testing.T, db storetest.Open) {
	t.Helper()
	s := open(t, db(t))
	ctx, at := t.Context(), time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	d, err := s.Save(ctx, "acme", guidelines.Draft{ID: "d1", Text: "id: alder\nrules: [", Person: "ana", At: at})
	if err != nil || d.Revision != 1 || d.Title != "alder@" {
		t.Fatalf("%+v, %v", d, err)
	}
	var problems guideline.Problems
	if _, err := s.Publish(ctx, "acme", "d1", 1, "bo", at); !errors.As(err, &problems) {
		t.Errorf("a text with problems: %v", err)
	}
	d.Text = text
	if d, err = s.Save(ctx, "acme", d); err != nil || d.Revision != 2 || d.Title != "alder@2027.1" {
		t.Fatalf("%+v, %v", d, err)
	}
	stale := d
	stale.Revision = 1
	if _, err := s.Save(ctx, "acme", stale); !errors.Is(err, guidelines.ErrChanged) {
		t.Errorf("a stale revision: %v", err)
	}
	if _, err := s.Publish(ctx, "acme", "d1", 1, "bo", at); !errors.Is(err, guidelines.ErrChanged) {
		t.Errorf("publishing what nobody saw: %v", err)
	}
	if _, err := s.Publish(ctx, "other", "d1", 2, "bo", at); !errors.Is(err, guidelines.ErrNotFound) {
		t.Errorf("another organisation: %v", err)
	}
	v, err := s.Publish(ctx, "acme", "d1", 2, "bo", at)
	if err != nil || v.Key != "alder@2027.1" || v.Author != "ana" || v.Person != "bo" || v.Effective != "2026-12-01" {
		t.Fatalf("%+v, %v", v, err)
	}
	if _, err := s.Draft(ctx, "acme", "d1"); !errors.Is(err, guidelines.ErrNotFound) {
		t.Errorf("the draft is still open: %v", err)
	}
	for day, want := range map[time.Time]string{at: "alder@2026.2", at.AddDate(0, 0, 1): "alder@2027.1"} {
		library, err := s.Library(ctx, "acme")
		if err != nil {
			t.Fatal(err)
		}
		if g, err := library.For("alder", day); err != nil || g.Key() != want {
			t.Errorf("on %s: %v, %v; want %s", day, g, err, want)
		}
	}
	if library, err := s.Library(ctx, "other"); err != nil || library != s.Base() {
		t.Errorf("another organisation's library: %v", err)
	}
	// A version never changes: the same key can't be published again, nor one that comes with the program.
	for i, again := range []string{text, strings.Replace(text, "2027.1", "2026.2", 1)} {
		d, err := s.Save(ctx, "acme", guidelines.Draft{ID: "again" + strconv.Itoa(i), Text: again, Person: "ana", At: at})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Publish(ctx, "acme", d.ID, d.Revision, "bo", at); !errors.Is(err, guidelines.ErrTaken) {
			t.Errorf("published again: %v", err)
		}
		if err := s.Discard(ctx, "acme", d.ID, "ana", at); err != nil {
			t.Error(err)
		}
	}
	if all, err := s.Drafts(ctx, "acme"); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
