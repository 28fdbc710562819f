package toolbox

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"bordereau/agent/artifact"
	"bordereau/agent/journal"
	"bordereau/agent/turn"
	"bordereau/governance/turntoken"
	"bordereau/reports"
)

var update = flag.Bool("update", false, "write the golden files anew")

// seen is an observer that remembers.
type seen struct {
	mu       sync.Mutex
	waits    []string
	progress []string
}

func (s *seen) Progress(call string, p turn.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress = append(s.progress, call+": "+p.Message)
}

func (s *seen) Waited(component string, _ time.Time, _ time.Duration, note string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits = append(s.waits, component+": "+note)
}

// rig is a toolbox with everything around it.
type rig struct {
	gov     *gov
	box     *Toolbox
	boxes   *folders
	files   *artifact.Store
	uploads uploads
	past    past
	seen    *seen
}

type uploads struct{ list []artifact.Upload }

func (u *uploads) List(context.Context, string, string) ([]artifact.Upload, error) {
	return u.list, nil
}

type past struct{ list []journal.Artifact }

func (p *past) Artifacts(context.Context, journal.Owner, string) ([]journal.Artifact, error) {
	return p.list, nil
}

type plainRenderer struct{}

func (plainRenderer) Render(_ context.Context, r *reports.Report, _ func(context.Context, string) ([]byte, error)) ([]Document, error) {
	return []Document{{"discrepancies.xlsx", []byte("PK\x03\x04 " + r.Title)}, {"discrepancies.pdf", []byte("%PDF-1.7 " + r.RunID)}}, nil
}

func newRig(t *testing.T, change func(*gov, *Config)) *rig {
	t.Helper()
	r := &rig{gov: newGov(t), boxes: newFolders(t), seen: &seen{}}
	var err error
	if r.files, err = artifact.OpenFolder(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.files.Close() })
	c := Config{
		Minter:     turntoken.Minter{Key: r.gov.key, Issuer: "agent", Audience: "governance"},
		Stamper:    turntoken.Stamper{Secret: []byte(secret)},
		HTTP:       &http.Client{Transport: &http.Transport{}},
		Workspaces: r.boxes, Sandboxes: r.boxes, Files: r.files, Uploads: &r.uploads, Delivered: &r.past, Renderer: plainRenderer{},
		Log: slog.New(slog.DiscardHandler), Patience: 2 * time.Second, Preflight: 300 * time.Millisecond,
	}
	if change != nil {
		change(r.gov, &c)
	}
	r.gov.start(t)
	if c.MCP == "" {
		c.MCP = r.gov.URL + "/mcp"
	}
	if r.box, err = New(c); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) open(t *testing.T, epoch int64) turn.Tools {
	t.Helper()
	tools, err := r.box.Open(t.Context(), journal.Turn{ID: "t-1", Org: "acme", Conversation: "c-1", Person: "p", Role: "underwriter", Epoch: epoch}, r.seen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tools.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return tools
}

var callCount = struct {
	sync.Mutex
	n int
}{}

func call(t *testing.T, tools turn.Tools, name string, input any) turn.Result {
	t.Helper()
	r, err := tryCall(t, tools, name, input)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

func tryCall(t *testing.T, tools turn.Tools, name string, input any) (turn.Result, error) {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	callCount.Lock()
	callCount.n++
	n := callCount.n
	callCount.Unlock()
	return tools.Call(t.Context(), turn.Call{ID: fmt.Sprint("id-", n), Name: name, Input: raw, Key: fmt.Sprint("t-1:", n)})
}

func failure(t *testing.T, err error, component, class string) {
	t.Helper()
	var f *turn.Failure
	if !errors.As(err, &f) || f.Component != component || f.Class != class {
		t.Fatalf("got %v, want a failure of %s, %s", err, component, class)
	}
	if f.Message == "" {
		t.Error("a failure without a sentence")
	}
}

func TestOwnToolsGolden(t *testing.T) {
	t.Parallel()
	got, err := json.MarshalIndent(own(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "tools.json")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o750), os.WriteFile(file, append(got, '\n'), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)+"\n"); d != "" {
		t.Errorf("the tools changed (-want +got); write them anew with -update\n%s", d)
	}
	if tokens := len(got) / 4; tokens > 900 {
		t.Errorf("the agent's own tools take about %d tokens of each request, more than 900", tokens)
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change           func(*gov, *Config)
		component, class string
	}{
		"all there":        {nil, "", ""},
		"one missing":      {func(g *gov, _ *Config) { g.tools = Governed()[1:] }, "governance", "unavailable"},
		"one too many":     {func(g *gov, _ *Config) { g.tools = append(Governed(), "drop_everything") }, "governance", "unavailable"},
		"another secret":   {func(_ *gov, c *Config) { c.Stamper.Secret = []byte(strings.Repeat("x", 32)) }, "governance", "auth"},
		"another issuer":   {func(_ *gov, c *Config) { c.Minter.Issuer = "somebody" }, "governance", "auth"},
		"nobody listens":   {func(_ *gov, c *Config) { c.MCP = "http://127.0.0.1:1/mcp" }, "governance", "unavailable"},
		"down all the way": {func(g *gov, _ *Config) { g.offline = func() bool { return true } }, "turn", "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.change)
			tools, err := r.box.Open(t.Context(), journal.Turn{ID: "t-1", Org: "acme", Conversation: "c-1", Person: "p", Role: "analyst", Epoch: 1}, r.seen)
			if c.class != "" {
				failure(t, err, c.component, c.class)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, x := range tools.List() {
				names = append(names, x.Name)
			}
			want := append(Governed(), "run", "read_file", "write_file", "list_files", "publish_report", "plan")
			slices.Sort(want)
			if d := cmp.Diff(want, names); d != "" {
				t.Error(d)
			}
			if r.boxes.acquired() != 0 {
				t.Error("the sandbox was fetched before anything needed it")
			}
			if err := tools.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A step that needs no sandbox doesn't wait for the one that is being fetched beside it.
func TestPrefetchHoldsUpNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *gov, c *Config) { c.Prefetch = true })
	r.boxes.hold = make(chan struct{})
	tools := r.open(t, 1)
	defer close(r.boxes.hold)
	done := make(chan error, 1)
	go func() {
		_, err := tools.Call(context.Background(), turn.Call{ID: "x", Name: "sql", Input: json.RawMessage(`{}`), Key: "t-1:1"})
		if err == nil {
			_, err = tools.Collect(context.Background())
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("waited for the sandbox")
	}
}

func TestGovernedCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	tools := r.open(t, 1)
	got := call(t, tools, "sql", map[string]any{"query": "SELECT 1"})
	if got.Error || !slices.Equal(got.AuditIDs, []string{"a-1"}) || !strings.Contains(got.Text, `"a-1"`) || len(got.Output) == 0 {
		t.Errorf("got %+v", got)
	}
	if key := r.gov.keys[0]; !strings.HasPrefix(key, "t-1:") {
		t.Errorf("idempotency key %q", key)
	}
	if got := call(t, tools, "no_such_tool", map[string]any{}); !got.Error || !strings.Contains(got.Text, "publish_report") {
		t.Errorf("an unknown tool answered %+v", got)
	}
}

// A failure of the infrastructure never looks like an answer, and what the model can mend never ends the turn.
func TestGovernedFaults(t *testing.T) {
	t.Parallel()
	fail := func(code string, retryable bool) *mcp.CallToolResult {
		return mcp.NewToolResultError(fmt.Sprintf(`{"code":%q,"component":"gate","message":"it is %s","hint":"do so","retryable":%v,"audit_id":"a-9"}`, code, code, retryable))
	}
	for _, c := range []struct {
		code       string
		retryable  bool
		fails      int // how often before it goes well
		mend       bool
		class      string
		calledWell int
	}{
		{"denied", false, 9, true, "", 1},
		{"invalid", false, 9, true, "", 1},
		{"timeout", true, 9, true, "", 1},
		{"too_large", false, 9, true, "", 1},
		{"unavailable", true, 2, false, "", 3},
		{"rate_limited", true, 2, false, "", 3},
		{"internal", false, 9, false, "internal", 1},
		{"auth", false, 9, false, "auth", 1},
	} {
		t.Run(fmt.Sprint(c.code, c.fails), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(g *gov, _ *Config) {
				good := g.answer
				g.answer = func(name, key string, n int) (*mcp.CallToolResult, error) {
					if n <= c.fails {
						return fail(c.code, c.retryable), nil
					}
					return good(name, key, n)
				}
			})
			got, err := tryCall(t, r.open(t, 1), "sql", map[string]any{"query": "SELECT 1"})
			switch {
			case c.class != "":
				failure(t, err, "gate", c.class)
			case err != nil:
				t.Fatal(err)
			case got.Error != c.mend:
				t.Errorf("got %+v", got)
			case c.mend && !strings.Contains(got.Text, `"hint":"do so"`):
				t.Errorf("the model reads %q", got.Text)
			}
			if r.gov.calls["sql"] != c.calledWell {
				t.Errorf("called %d times, want %d", r.gov.calls["sql"], c.calledWell)
			}
			if c.calledWell > 1 && !slices.Contains(r.seen.waits, "governance: asked 3 times") {
				t.Errorf("waits %v", r.seen.waits)
			}
			if keys := slices.Compact(slices.Clone(r.gov.keys)); len(keys) != 1 {
				t.Errorf("keys %v: a call made again has the same", keys)
			}
		})
	}
}

func TestExportGoesToTheWorkspace(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(g *gov, _ *Config) {
		g.parts["bordereau://export/x/1"], g.parts["bordereau://export/x/2"] = []byte("a,b\n1,2\n"), []byte("3,4\n")
		g.answer = func(string, string, int) (*mcp.CallToolResult, error) {
			text := `{"audit_id":"a-1","rows":[[1,2]],"row_count":2,"export":{"uri":"bordereau://export/x","format":"csv","rows":2,"bytes":12,"parts":2}}`
			return mcp.NewToolResultStructured(json.RawMessage(text), text), nil
		}
	})
	got := call(t, r.open(t, 1), "sql", map[string]any{"query": "SELECT 1", "export": "csv"})
	if !strings.Contains(got.Text, `"path":"/workspace/data/query-a-1.csv"`) || strings.Contains(got.Text, "bordereau://") {
		t.Errorf("the model reads %s", got.Text)
	}
	if text := r.boxes.read(t, "data/query-a-1.csv"); text != "a,b\n1,2\n3,4\n" {
		t.Errorf("the file holds %q", text)
	}
}

func TestExportDamaged(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(g *gov, _ *Config) {
		g.parts["bordereau://export/x/1"] = []byte("a,b\n")
		g.answer = func(string, string, int) (*mcp.CallToolResult, error) {
			text := `{"audit_id":"a-1","export":{"uri":"bordereau://export/x","format":"csv","sha256":"00","parts":1}}`
			return mcp.NewToolResultStructured(json.RawMessage(text), text), nil
		}
	})
	_, err := tryCall(t, r.open(t, 1), "sql", map[string]any{"query": "SELECT 1", "export": "csv"})
	failure(t, err, "governance", "internal")
}

func TestPublishReport(t *testing.T) {
	t.Parallel()
	run, err := json.Marshal(reports.Report{Schema: reports.Schema, RunID: "run-1", Title: "old", Findings: []reports.Finding{{ID: "F-0001", Severity: "major"}, {ID: "F-0002", Severity: "critical"}}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(g *gov, _ *Config) {
		g.parts["bordereau://run/run-1/1"], g.parts["bordereau://run/run-1/2"] = run[:100], run[100:]
		g.parts["bordereau://review/run-1/1"] = []byte("[]")
	})
	tools := r.open(t, 1)
	got := call(t, tools, "publish_report", map[string]any{"run_id": "run-1", "title": "Today"})
	if !strings.Contains(got.Text, `"first":[{"id":"F-0002"`) {
		t.Errorf("the gravest finding is not the first: %s", got.Text)
	}
	if got.Error || len(got.Artifacts) != 2 || got.Artifacts[1].MediaType != "application/pdf" {
		t.Fatalf("got %+v", got)
	}
	f, _, err := r.files.Open(t.Context(), "acme", got.Artifacts[0].SHA256)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "PK\x03\x04 Today" {
		t.Errorf("the workbook is %q, %v", text, err)
	}
	if got := call(t, tools, "publish_report", map[string]any{"run_id": "run-404"}); !got.Error || !strings.Contains(got.Text, "not_found") {
		t.Errorf("a missing run answered %+v", got)
	}
	if got := call(t, tools, "publish_report", map[string]any{"run_id": "../../etc"}); !got.Error {
		t.Errorf("a path answered %+v", got)
	}
	if got := call(t, tools, "publish_report", map[string]any{"run": "x"}); !got.Error || !strings.Contains(got.Text, "invalid") {
		t.Errorf("an unknown key answered %+v", got)
	}
}

func TestTokenIsRenewedAndMoves(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return now }
	tok := &token{
		minter: turntoken.Minter{Key: key, Issuer: "a", Audience: "b", Now: clock}, now: clock,
		grant: turntoken.Grant{Org: "o", Person: "p", Role: "r", Conversation: "c", Turn: "t", Sandbox: "s-1"},
	}
	get := func() string {
		text, _, err := tok.get()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	first := get()
	now = now.Add(9 * time.Minute)
	if get() != first {
		t.Error("renewed too early")
	}
	now = now.Add(2 * time.Minute)
	second := get()
	if second == first {
		t.Error("not renewed with a third of its life left")
	}
	tok.move("s-2")
	third, sandbox, err := tok.get()
	if err != nil || third == second || sandbox != "s-2" {
		t.Errorf("not made anew for another sandbox: %v", err)
	}
}

func TestNewRefusesGaps(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{}); !errors.Is(err, ErrConfig) {
		t.Errorf("got %v", err)
	}
}

// A sandbox without a door holds a token that is worth nothing without the key beside it, and nothing through a door.
func TestWithoutDoorsTheTokenIsBoundToAKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *gov, c *Config) { c.NoDoors = true })
	tools := r.open(t, 1)
	call(t, tools, "list_files", map[string]any{"path": "."})
	r.boxes.mu.Lock()
	text := r.boxes.token
	r.boxes.mu.Unlock()
	c, err := turntoken.ReadCredential(text)
	if err != nil || c.Key == nil {
		t.Fatalf("%+v %v", c, err)
	}
	v := turntoken.Verifier{
		Key: r.gov.key.Public().(ed25519.PublicKey), Issuer: "agent", Audience: "governance", Live: alive{},
		Proofs: turntoken.Proofs{URL: "https://g.example/mcp", Spent: anyProof{}},
	}
	if _, err := v.Verify(t.Context(), c.Token, "c-1-1"); !errors.Is(err, turntoken.ErrProof) {
		t.Errorf("through a door: %v", err)
	}
	proof, err := turntoken.Prove(c.Key, http.MethodPost, "https://g.example/mcp", c.Token, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	claims, err := v.VerifyBound(t.Context(), c.Token, http.MethodPost, http.Header{"Dpop": {proof}})
	if err != nil || claims.Turn != "t-1" {
		t.Errorf("with a proof: %+v %v", claims, err)
	}
}

type anyProof struct{}

func (anyProof) Spend(context.Context, string, time.Time) (bool, error) { return true, nil }
