package turntoken_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"bordereau/governance/turntoken"
)

func TestVouch(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	s := turntoken.Stamper{Secret: []byte(strings.Repeat("s", 32)), Now: func() time.Time { return now }}
	ann := turntoken.Caller{Org: "acme", Person: "ann", Role: "analyst"}
	vouch, err := s.Vouch(ann, "GET", "/api/runs?before=x")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Caller(vouch, "GET", "/api/runs?before=x"); err != nil || got != ann {
		t.Errorf("%+v, %v", got, err)
	}
	nobody, err := s.Vouch(turntoken.Caller{}, "GET", "/")
	if err != nil {
		t.Fatal(err)
	}
	refused := func(why string, s turntoken.Stamper, vouch, method, address string) {
		t.Helper()
		if got, err := s.Caller(vouch, method, address); !errors.Is(err, turntoken.ErrCaller) {
			t.Errorf("%s: %+v, %v", why, got, err)
		}
	}
	refused("another method", s, vouch, "DELETE", "/api/runs?before=x")
	refused("another address", s, vouch, "GET", "/api/runs?before=y")
	refused("no organisation", s, nobody, "GET", "/")
	refused("nothing", s, "", "GET", "/")
	refused("cut", s, vouch[:len(vouch)-1], "GET", "/api/runs?before=x")
	refused("another secret", turntoken.Stamper{Secret: []byte(strings.Repeat("t", 32)), Now: s.Now}, vouch, "GET", "/api/runs?before=x")
	// A stamp is no vouch, nor the other way round.
	refused("a stamp", s, s.Stamp("box", "token"), "GET", "/")
	now = now.Add(61 * time.Second)
	refused("old", s, vouch, "GET", "/api/runs?before=x")
	if _, err := (turntoken.Stamper{Secret: []byte("short")}).Caller(vouch, "GET", "/"); !errors.Is(err, turntoken.ErrConfig) {
		t.Error(err)
	}
}
