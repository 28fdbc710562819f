package daytona_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/daytona"
	"bordereau/sandbox/gvisor"
	"bordereau/sandbox/hosted"
	"bordereau/sandbox/sandboxtest"
)

func connect(t *testing.T, f *fake) *daytona.Driver {
	t.Helper()
	return connectWith(t, f, hosted.Governance{})
}

func connectWith(t *testing.T, f *fake, way hosted.Governance) *daytona.Driver {
	t.Helper()
	d, err := daytona.New(daytona.Config{Governance: way, Key: "dtn_test", API: f.URL + "/api", Log: sandboxtest.Log(t), Backoff: 20 * time.Millisecond, Timeout: time.Minute, Boot: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func real(t *testing.T) sandbox.Driver {
	t.Helper()
	d, err := gvisor.New(t.Context(), gvisor.Config{Runsc: sandboxtest.Runsc(t), Guest: sandboxtest.Guest(t), Folder: sandboxtest.Folder(t), Log: sandboxtest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func TestSuite(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, sandboxtest.Subject{Driver: connect(t, newFake(t, real(t))), Name: daytona.Name, Pauses: true, Splits: true, NoLinks: true, Late: true})
}

// What the service says wrongly, late or not at all never makes a sandbox count as gone.
func TestTroubleIsNotLoss(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	f := newFake(t, &sandboxtest.Memory{})
	d := connect(t, f)
	if _, err := d.Create(ctx, sandbox.Spec{ID: "a", Org: "acme"}); err != nil {
		t.Fatal(err)
	}
	set := func(fault func(w http.ResponseWriter, r *http.Request) bool) {
		f.mu.Lock()
		f.fault = fault
		f.mu.Unlock()
	}
	for _, status := range []int{408, 429, 500, 502, 503, 504, 401} {
		set(func(w http.ResponseWriter, r *http.Request) bool { wrong(w, status, "trouble", "", ""); return true })
		if _, err := d.Find(ctx, "a"); !errors.Is(err, sandbox.ErrUnavailable) {
			t.Errorf("%d for long: %v", status, err)
		}
	}
	n := 2
	set(func(w http.ResponseWriter, r *http.Request) bool {
		if n--; n >= 0 {
			wrong(w, 429, "slow down", "", "")
			return true
		}
		return false
	})
	if _, err := d.Find(ctx, "a"); err != nil {
		t.Errorf("429 in passing: %v", err)
	}
	set(nil)
	state := func(state string, recoverable bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, b := range f.boxes {
			b.state, b.next, b.polls, b.recoverable = state, state, 0, recoverable
		}
	}
	for _, s := range []string{"resizing", "snapshotting", "something new", "restoring"} {
		state(s, false)
		if i, err := d.Find(ctx, "a"); err != nil || i.State == sandbox.Gone {
			t.Errorf("%s: %+v %v", s, i, err)
		}
	}
	state("error", false)
	if err := d.Start(ctx, "a"); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("an error that can't be recovered from: %v", err)
	}
	state("error", true)
	if err := d.Start(ctx, "a"); err != nil {
		t.Errorf("an error that can: %v", err)
	}
	state("archived", false)
	if err := d.Start(ctx, "a"); err != nil {
		t.Errorf("archived: %v", err)
	}
	state("destroyed", false)
	if _, err := d.Find(ctx, "a"); !errors.Is(err, sandbox.ErrNotFound) {
		t.Errorf("destroyed: %v", err)
	}
}

// Code inside reaches governed data and nothing else: the network is as narrow as that, and the client is there.
func TestGovernanceIsTheOnlyWay(t *testing.T) {
	t.Parallel()
	f := newFake(t, real(t))
	client := filepath.Join(t.TempDir(), "gov")
	if err := os.WriteFile(client, []byte("#!/bin/sh\necho asked $BORDEREAU_ENDPOINT with $(cat $BORDEREAU_TOKEN_FILE)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := connectWith(t, f, hosted.Governance{
		Endpoint: "https://governance.example/mcp", Networks: []netip.Prefix{netip.MustParsePrefix("203.0.113.7/32"), netip.MustParsePrefix("203.0.113.8/32")}, Client: client,
	})
	if _, err := d.Create(t.Context(), sandbox.Spec{ID: "a", Org: "acme"}); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	allowed := f.allowed
	f.mu.Unlock()
	if allowed != "203.0.113.7/32,203.0.113.8/32" {
		t.Errorf("allowed: %q", allowed)
	}
	if err := d.SetToken(t.Context(), "a", "the token"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r, err := d.Exec(t.Context(), "a", sandbox.Command{Args: []string{"gov", "sql"}, Stdout: &out})
	if err != nil || r.ExitCode != 0 || out.String() != "asked https://governance.example/mcp with the token\n" {
		t.Errorf("%+v %v %q", r, err, out.String())
	}
}

// TestLive runs the suite at the real service when a key is set.
func TestLive(t *testing.T) {
	t.Parallel()
	key := os.Getenv("DAYTONA_API_KEY")
	if key == "" {
		t.Log("DAYTONA_API_KEY is not set: the real service is not asked")
		return
	}
	d, err := daytona.New(daytona.Config{Key: key, API: os.Getenv("DAYTONA_API_URL"), Log: sandboxtest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Run(t, sandboxtest.Subject{Driver: d, Name: daytona.Name, Pauses: true, Splits: true, NoLinks: true, Late: true})
}
