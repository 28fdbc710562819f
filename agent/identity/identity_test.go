package identity

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"bordereau/migrations"
)

func open(t *testing.T, now *time.Time) *Directory {
	t.Helper()
	db, _, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	d, err := New(Config{DB: db, Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func person(t *testing.T, d *Directory) Person {
	t.Helper()
	if err := d.PutOrganisation(t.Context(), Organisation{ID: "acme", Name: "Acme"}); err != nil {
		t.Fatal(err)
	}
	p, err := d.PutPerson(t.Context(), Person{Org: "acme", Email: " Ann@Acme.example", Name: "Ann", Role: Underwriter})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestKeyLife(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	d := open(t, &now)
	p := person(t, d)
	k, secret, err := d.IssueKey(t.Context(), "acme", p.ID, "laptop", now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Authenticate(t.Context(), secret)
	if want := (Principal{Org: "acme", Person: p.ID, Name: "Ann", Email: "ann@acme.example", Role: Underwriter, Key: k.ID, Scopes: AllScopes()}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	keys, err := d.Keys(t.Context(), "acme")
	if err != nil || len(keys) != 1 || !keys[0].Used.Equal(now) || keys[0].Label != "laptop" {
		t.Errorf("keys %+v, %v", keys, err)
	}
	refused := func(why, key string) {
		t.Helper()
		if _, err := d.Authenticate(t.Context(), key); !errors.Is(err, ErrKey) {
			t.Errorf("%s: %v", why, err)
		}
	}
	refused("empty", "")
	refused("without its prefix", strings.TrimPrefix(secret, keyPrefix))
	last := "A"
	if strings.HasSuffix(secret, last) {
		last = "B"
	}
	refused("another secret", secret[:len(secret)-1]+last)
	refused("the stored hash as the secret", keyPrefix+k.ID+"_"+hash(secret))
	now = now.Add(time.Hour)
	refused("expired", secret)
	now = now.Add(-time.Minute)
	if _, err := d.Authenticate(t.Context(), secret); err != nil {
		t.Errorf("within its time: %v", err)
	}
	if err := d.RevokeKey(t.Context(), "other", k.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("another organisation revoked it: %v", err)
	}
	if err := d.RevokeKey(t.Context(), "acme", k.ID); err != nil {
		t.Error(err)
	}
	refused("revoked", secret)
	if err := d.RevokeKey(t.Context(), "acme", k.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("revoked twice: %v", err)
	}
}

func TestDisabledPerson(t *testing.T) {
	t.Parallel()
	now := time.Now()
	d := open(t, &now)
	p := person(t, d)
	_, secret, err := d.IssueKey(t.Context(), "acme", p.ID, "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	p.Disabled = now
	again, err := d.PutPerson(t.Context(), p)
	if err != nil || again.ID != p.ID {
		t.Fatalf("got %+v, %v", again, err)
	}
	if _, err := d.Authenticate(t.Context(), secret); !errors.Is(err, ErrKey) {
		t.Errorf("a disabled person's key: %v", err)
	}
	p.Disabled, p.Role = time.Time{}, Admin
	if _, err := d.PutPerson(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Authenticate(t.Context(), secret); err != nil || got.Role != Admin {
		t.Errorf("a role is that of now: %+v, %v", got, err)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	now := time.Now()
	d := open(t, &now)
	for _, o := range []Organisation{{}, {ID: "A", Name: "x"}, {ID: "../x", Name: "x"}, {ID: "a", Name: " "}} {
		if err := d.PutOrganisation(t.Context(), o); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	p := person(t, d)
	for _, bad := range []Person{
		{Org: "acme", Name: "x", Role: Admin}, {Org: "acme", Email: "x", Name: "x", Role: Admin}, {Org: "acme", Email: "a@b.c", Name: "x", Role: "root"}, {Email: "a@b.c", Name: "x", Role: Admin},
	} {
		if _, err := d.PutPerson(t.Context(), bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := d.PutPerson(t.Context(), Person{Org: "nobody", Email: "a@b.example", Name: "x", Role: Admin}); err == nil {
		t.Error("a person of no organisation")
	}
	if _, _, err := d.IssueKey(t.Context(), "other", p.ID, "", time.Time{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a key for somebody else's person: %v", err)
	}
	if _, err := New(Config{}); !errors.Is(err, ErrConfig) {
		t.Errorf("got %v", err)
	}
}
