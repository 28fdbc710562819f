package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bordereau/agent/model/modelserver"
	"bordereau/agent/stream/redis/redistest"
	"bordereau/migrations/postgrestest"
)

// many is a Bordereau on many machines, as far as one machine can tell: each process has a data folder of its own.
type many struct{ dir string }

// process is one 'bordereau serve'.
type process struct {
	*exec.Cmd
	url string
}

// serve starts this test binary as 'bordereau serve' with a configuration, and returns when it answers.
func (m *many) serve(t *testing.T, name, settings string, args ...string) *process {
	t.Helper()
	file, bin := filepath.Join(m.dir, name+".yaml"), programs(t)
	text := fmt.Sprintf("data: %s\nsandbox: {driver: bubblewrap, guest: %s, gov: %s}\n%s", m.data(name), filepath.Join(bin, "guest"), filepath.Join(bin, "gov"), settings)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	p := &process{Cmd: exec.CommandContext(t.Context(), self, append([]string{"serve", "--config", file}, args...)...)}
	p.Env = append(os.Environ(), "ANTHROPIC_API_KEY=test-key", "OTEL_BSP_SCHEDULE_DELAY=100")
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.Stderr = &log
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, out)
		_ = p.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, &log)
		}
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), " listens on "); ok {
			p.url, _, _ = strings.Cut(rest, ",")
			return p
		}
	}
	t.Fatalf("%s didn't start", name)
	return nil
}

func (m *many) data(name string) string { return filepath.Join(m.dir, name) }

// share copies keys from the agent that made them to another machine.
func (m *many) share(t *testing.T, from, to string, names ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(m.data(to), "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(m.data(from), "keys", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(m.data(to), "keys", name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// key issues a key for an underwriter of the sample organisation, as an operator would.
func (m *many) key(t *testing.T, name string) string {
	t.Helper()
	var out, errs bytes.Buffer
	env := func(name string) string { return map[string]string{"ANTHROPIC_API_KEY": "test-key"}[name] }
	err := run(t.Context(), []string{"key", "--config", filepath.Join(m.dir, name+".yaml"), "--org", demoOrg, "--email", "kim@northgate.example"},
		stdio{In: strings.NewReader(""), Out: &out, Err: &errs, Env: env})
	if err != nil {
		t.Fatalf("%v\n%s", err, &errs)
	}
	words := strings.Fields(out.String())
	return words[len(words)-1]
}

// freeAddress is an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// TestRolesApart runs governance and two agents as processes of their own, over one Postgres and one Redis. A trace leads
// from the agent into governance; one agent is killed in mid-turn, and the reader goes on at the other; without governance a
// turn fails as infrastructure.
func TestRolesApart(t *testing.T) {
	t.Parallel()
	dsn, redis := postgrestest.Start(t), redistest.Start(t).Addr
	words := strings.Repeat("word ", 300)
	models := modelserver.New(modelserver.Script{Key: "test-key", Replies: []modelserver.Reply{
		{Text: "I look.", Calls: []modelserver.Call{{ID: "a", Name: "sql", Input: json.RawMessage(`{"query":"SELECT count(*) AS n FROM submissions"}`)}}},
		{Text: words, Piece: 5, Every: 10 * time.Millisecond},
	}})
	ms := httptest.NewServer(models)
	t.Cleanup(ms.Close)
	spans := collectSpans(t)
	m := &many{dir: t.TempDir()}
	t.Cleanup(func() { unmountBelow(t, m.dir) })
	governance, inner, journal := freeAddress(t), []string{freeAddress(t), freeAddress(t)}, postgrestest.Database(t, dsn, "journal")
	agent := func(inner string) string {
		return fmt.Sprintf("role: agent\nlisten: 127.0.0.1:0\njournal: %q\nevents: redis://%s\nagent: {listen: %q}\ngovernance: {url: 'http://%s'}\n"+
			"models: {default: anthropic, anthropic: {model: m, base_url: %q}}\ntraces: %q\n", journal, redis, inner, governance, ms.URL, spans.url)
	}
	first := m.serve(t, "a", agent(inner[0]))
	m.share(t, "a", "b", "turn-token", "stamp")
	m.share(t, "a", "g", "turn-token.pub", "stamp")
	// Either agent answers for both, for they share the journal.
	g := m.serve(t, "g", fmt.Sprintf("role: governance\ngovernance: {listen: %q, database: %q}\nagent: {url: 'http://%s'}\ntraces: %q\n",
		governance, postgrestest.Database(t, dsn, "governance"), inner[1], spans.url), "--sample")
	second := m.serve(t, "b", agent(inner[1]))
	key := m.key(t, "a")
	never := func(string) bool { return false }

	whole := ask1(t, second.url, key, "c-0")
	if text, _ := whole.until(t, never); text != "I look."+words || !strings.Contains(whole.outcome, `"completed"`) {
		t.Fatalf("%d bytes, outcome %s", len(text), whole.outcome)
	}
	spans.check(t)

	cut := ask1(t, first.url, key, "c-1")
	text, last := cut.until(t, func(text string) bool { return strings.Count(text, "word ") > 40 })
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest := goOn(t, second.url, key, "c-1", last)
	if rest.until(t, never); !rest.done {
		t.Errorf("after %d bytes the stream at the other agent has no end", len(text))
	}
	again := goOn(t, second.url, key, "c-1", "")
	if all, _ := again.until(t, never); all != "I look."+words || !strings.Contains(again.outcome, `"completed"`) {
		t.Errorf("the whole turn says %d bytes, outcome %s", len(all), again.outcome)
	}

	peopleReachGovernance(t, second.url, "http://"+governance, key)

	if err := g.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if status, text := fetch(t, http.MethodGet, second.url+"/api/console/policy", key, ""); status != http.StatusServiceUnavailable || !strings.Contains(text, "governance does not answer") {
		t.Errorf("the console without governance: %d %s", status, text)
	}
	asked := models.Asked()
	alone := ask1(t, second.url, key, "c-2")
	alone.until(t, never)
	if !strings.Contains(alone.outcome, `"component":"governance"`) || !strings.Contains(alone.outcome, `"fault":"infrastructure"`) || models.Asked() != asked {
		t.Errorf("outcome %s, the model was asked %d times", alone.outcome, models.Asked()-asked)
	}
}

// peopleReachGovernance asks the console, the desk and the import through an agent, and governance behind its back.
func peopleReachGovernance(t *testing.T, agent, governance, key string) {
	t.Helper()
	status, text := fetch(t, http.MethodPost, agent+"/api/console/query", key, `{"sql":"SELECT count(*) AS n FROM submissions"}`)
	if status != http.StatusOK || !strings.Contains(text, `"answer":{"audit_id"`) {
		t.Errorf("a query: %d %s", status, text)
	}
	// Names come from the agent's directory.
	status, text = fetch(t, http.MethodGet, agent+"/api/console/statements?via=console&limit=5", key, "")
	if status != http.StatusOK || !strings.Contains(text, "kim@northgate.example") || !strings.Contains(text, "count(*)") {
		t.Errorf("statements: %d %s", status, text)
	}
	for path, want := range map[string]int{
		"/api/guidelines": http.StatusOK, "/api/runs": http.StatusOK, "/api/runs/none": http.StatusNotFound, "/api/console/people": http.StatusForbidden,
		"/api/console/statements?person=a;b": http.StatusOK,
	} {
		if status, text := fetch(t, http.MethodGet, agent+path, key, ""); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, text := fetch(t, http.MethodPost, agent+"/api/import", key, "{}"); status != http.StatusForbidden {
		t.Errorf("an import by an underwriter: %d %s", status, text)
	}
	for _, path := range []string{"/api/console/policy", "/api/runs"} {
		if status, text := fetch(t, http.MethodGet, governance+path, key, ""); status != http.StatusUnauthorized || !strings.Contains(text, "no agent vouches") {
			t.Errorf("%s of governance itself: %d %s", path, status, text)
		}
	}
}

// fetch asks with a key and returns the answer.
func fetch(t *testing.T, method, address, key, body string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func TestRolesNeedEachOther(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"role: agent":           "governance.url",
		"role: governance":      "agent.url",
		"role: both":            "role",
		"traces: here":          "collector",
		"budgets: {window: 1s}": "window",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one that names %q", text, err, want)
		}
	}
	c, err := load(t, "role: governance\nagent: {url: 'http://127.0.0.1:1'}\ndata: "+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := start(t.Context(), c, discard()); err == nil || !strings.Contains(err.Error(), "turn-token.pub") {
		t.Errorf("governance without its agent's key: %v", err)
	}
}

// unmountBelow takes down what a killed process left mounted, so that its folder can go.
func unmountBelow(t *testing.T, dir string) {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			if err := syscall.Unmount(f[1], syscall.MNT_DETACH); err != nil {
				t.Errorf("unmounting %s: %v", f[1], err)
			}
		}
	}
}
