package turntoken_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bordereau/governance/turntoken"
)

var shared = []byte(strings.Repeat("s", 32))

// changing is a turn whose liveness a test changes, and which counts who asked.
type changing struct {
	dead  atomic.Bool
	lost  atomic.Bool
	asked atomic.Int64
}

func (c *changing) TurnLive(_ context.Context, turn string, epoch int64) (bool, error) {
	c.asked.Add(1)
	if c.lost.Load() {
		return false, errors.New("the journal is down")
	}
	return turn == "t.1" && epoch == 3 && !c.dead.Load(), nil
}

func apart(t *testing.T) (*changing, *turntoken.Introspection, *httptest.Server, *atomic.Int64) {
	t.Helper()
	live := &changing{}
	in := turntoken.Introspector{Live: live, Secret: shared}
	if err := in.Check(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(turntoken.IntrospectionPath, in)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	var passed atomic.Int64
	now := func() time.Time { return at.Add(time.Duration(passed.Load())) }
	client, err := turntoken.NewIntrospection(turntoken.IntrospectionConfig{URL: s.URL, Secret: shared, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return live, client, s, &passed
}

func TestIntrospection(t *testing.T) {
	t.Parallel()
	live, client, server, passed := apart(t)
	ask := func(turn string, epoch int64, want bool) {
		t.Helper()
		if got, err := client.TurnLive(t.Context(), turn, epoch); err != nil || got != want {
			t.Errorf("turn %s epoch %d: %t, %v", turn, epoch, got, err)
		}
	}
	ask("t.1", 3, true)
	ask("t.1", 2, false)
	ask("t.2", 3, false)
	live.dead.Store(true)
	ask("t.1", 3, true) // within the second
	if n := live.asked.Load(); n != 3 {
		t.Errorf("asked %d times", n)
	}
	passed.Store(int64(time.Second))
	ask("t.1", 3, false)
	// Nobody knows: an error, whatever was known before.
	passed.Add(int64(time.Second))
	live.lost.Store(true)
	if got, err := client.TurnLive(t.Context(), "t.1", 3); err == nil || got {
		t.Errorf("%t, %v", got, err)
	}
	server.Close()
	if got, err := client.TurnLive(t.Context(), "t.1", 3); err == nil || got {
		t.Errorf("nobody there: %t, %v", got, err)
	}
}

func TestIntrospectionAsksOnceForMany(t *testing.T) {
	t.Parallel()
	live, client, _, _ := apart(t)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if got, err := client.TurnLive(t.Context(), "t.1", 3); err != nil || !got {
				t.Errorf("%t, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := live.asked.Load(); n > 3 {
		t.Errorf("asked %d times", n)
	}
}

func TestIntrospectionRefusesStrangers(t *testing.T) {
	t.Parallel()
	live, _, server, _ := apart(t)
	stranger, err := turntoken.NewIntrospection(turntoken.IntrospectionConfig{URL: server.URL, Secret: []byte(strings.Repeat("x", 32))})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := stranger.TurnLive(t.Context(), "t.1", 3); err == nil || got {
		t.Errorf("%t, %v", got, err)
	}
	if live.asked.Load() != 0 {
		t.Error("the stranger's question was passed on")
	}
}

func TestIntrospectionTakesNoOddAnswer(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"", "{}", `{"active":null}`, `{"active":"true"}`, `[true]`, "true", strings.Repeat(" ", 8<<10) + `{"active":true}`} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
		client, err := turntoken.NewIntrospection(turntoken.IntrospectionConfig{URL: s.URL, Secret: shared})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := client.TurnLive(t.Context(), "t", 1); err == nil || got {
			t.Errorf("%.30q: %t, %v", answer, got, err)
		}
		s.Close()
	}
}

func TestIntrospectionConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]turntoken.IntrospectionConfig{
		"no address": {Secret: shared}, "no http": {URL: "ftp://agent", Secret: shared}, "no secret": {URL: "http://agent"},
	} {
		if _, err := turntoken.NewIntrospection(c); !errors.Is(err, turntoken.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (turntoken.Introspector{Secret: shared}).Check(); !errors.Is(err, turntoken.ErrConfig) {
		t.Error(err)
	}
}
