package e2b_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/e2b"
	"bordereau/sandbox/gvisor"
	"bordereau/sandbox/hosted"
	"bordereau/sandbox/sandboxtest"
)

func connect(t *testing.T, f *fake) *e2b.Driver {
	t.Helper()
	return connectWith(t, f, hosted.Governance{})
}

func connectWith(t *testing.T, f *fake, way hosted.Governance) *e2b.Driver {
	t.Helper()
	d, err := e2b.New(e2b.Config{Governance: way, Key: f.key, API: f.URL, Envd: f.URL, Log: sandboxtest.Log(t), Backoff: 20 * time.Millisecond, Timeout: time.Minute})
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
	f := newFake(t, real(t))
	sandboxtest.Run(t, sandboxtest.Subject{Driver: connect(t, f), Name: e2b.Name, Pauses: true, StopPauses: true, Splits: true})
	t.Run("broken streams", func(t *testing.T) {
		t.Parallel()
		f := newFake(t, real(t))
		d := connect(t, f)
		if _, err := d.Create(t.Context(), sandbox.Spec{ID: "a", Org: "acme"}); err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		f.cut = 1
		f.mu.Unlock()
		var out bytes.Buffer
		r, err := d.Exec(t.Context(), "a", sandbox.Command{Args: []string{"/bin/sh", "-c", "echo one; sleep 0.5; echo two; echo run >> count; exit 3"}, Stdout: &out})
		if err != nil || r.ExitCode != 3 || out.String() != "one\ntwo\n" {
			t.Fatalf("%+v %v %q", r, err, out.String())
		}
		out.Reset()
		if _, err := d.Exec(t.Context(), "a", sandbox.Command{Args: []string{"cat", "count"}, Stdout: &out}); err != nil || out.String() != "run\n" {
			t.Fatalf("%q %v", out.String(), err)
		}
	})
}

// What the service says wrongly, late or not at all never makes a sandbox count as gone.
func TestTroubleIsNotLoss(t *testing.T) {
	t.Parallel()
	inner := &sandboxtest.Memory{}
	f := newFake(t, inner)
	d := connect(t, f)
	ctx := t.Context()
	if _, err := d.Create(ctx, sandbox.Spec{ID: "a", Org: "acme"}); err != nil {
		t.Fatal(err)
	}
	set := func(fault func(w http.ResponseWriter, r *http.Request) bool) {
		f.mu.Lock()
		f.fault = fault
		f.mu.Unlock()
	}
	for name, status := range map[string]int{"429": 429, "500": 500, "502": 502, "503": 503, "504": 504, "401": 401} {
		set(func(w http.ResponseWriter, r *http.Request) bool { wrong(w, status, "trouble"); return true })
		if _, err := d.Find(ctx, "a"); !errors.Is(err, sandbox.ErrUnavailable) {
			t.Errorf("%s for long: %v", name, err)
		}
		if _, err := connect(t, f).Find(ctx, "a"); !errors.Is(err, sandbox.ErrUnavailable) {
			t.Errorf("%s for long, asked by a new process: %v", name, err)
		}
	}
	n := 2
	set(func(w http.ResponseWriter, r *http.Request) bool {
		if n--; n >= 0 {
			w.Header().Set("Retry-After", "0")
			wrong(w, 429, "slow down")
			return true
		}
		return false
	})
	if _, err := d.Find(ctx, "a"); err != nil {
		t.Errorf("429 in passing: %v", err)
	}
	set(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/process") || strings.HasPrefix(r.URL.Path, "/file") {
			say(w, 502, map[string]any{"message": "The sandbox was not found", "code": 502})
			return true
		}
		return false
	})
	if _, err := d.Exec(ctx, "a", sandbox.Command{Args: []string{"true"}}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("the proxy lost it, the control API has it: %v", err)
	}
	if _, err := d.ListFiles(ctx, "a", "/workspace"); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("the same for files: %v", err)
	}
	set(nil)
	if err := d.Stop(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Exec(ctx, "a", sandbox.Command{Args: []string{"true"}}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("paused: %v", err)
	}
	if err := d.Start(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	for _, id := range inner.IDs() {
		f.mu.Lock()
		delete(f.boxes, id)
		f.mu.Unlock()
	}
	if _, err := d.Exec(ctx, "a", sandbox.Command{Args: []string{"true"}}); !errors.Is(err, sandbox.ErrNotFound) {
		t.Errorf("confirmed gone: %v", err)
	}
	if _, err := d.Find(ctx, "a"); !errors.Is(err, sandbox.ErrNotFound) {
		t.Errorf("confirmed gone: %v", err)
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
	way := hosted.Governance{Endpoint: "https://governance.example/mcp", Networks: []netip.Prefix{netip.MustParsePrefix("203.0.113.7/32")}, Client: client}
	d := connectWith(t, f, way)
	if _, err := d.Create(t.Context(), sandbox.Spec{ID: "a", Org: "acme"}); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	allowed := f.allowed
	f.mu.Unlock()
	if len(allowed) != 1 || allowed[0] != "203.0.113.7/32" {
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
	for name, wrong := range map[string]hosted.Governance{
		"in the clear":  {Endpoint: "http://governance.example/mcp", Networks: way.Networks, Client: client},
		"no network":    {Endpoint: way.Endpoint, Client: client},
		"every network": {Endpoint: way.Endpoint, Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}, Client: client},
		"no client":     {Endpoint: way.Endpoint, Networks: way.Networks, Client: "/no/such/file"},
		"no endpoint":   {Client: client},
	} {
		if wrong.Check() == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// TestLive runs the suite at the real service when a key is set.
func TestLive(t *testing.T) {
	t.Parallel()
	key := os.Getenv("E2B_API_KEY")
	if key == "" {
		t.Log("E2B_API_KEY is not set: the real service is not asked")
		return
	}
	d, err := e2b.New(e2b.Config{Key: key, Domain: os.Getenv("E2B_DOMAIN"), Log: sandboxtest.Log(t)})
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Run(t, sandboxtest.Subject{Driver: d, Name: e2b.Name, Pauses: true, StopPauses: true, Splits: true})
}
