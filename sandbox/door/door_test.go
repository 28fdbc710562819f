package door_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/sandbox/door"
)

// upstream is governance as far as a door sees it.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	last *http.Request
}

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.last = r.Clone(context.Background())
		u.mu.Unlock()
		w.Header().Set("X-Internal", "secret of the upstream")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Mcp-Session-Id", "s1")
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: one\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) request() *http.Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last
}

func newDoors(t *testing.T, url string, change func(*door.Config)) *door.Doors {
	t.Helper()
	cfg := door.Config{
		Upstream: url + "/mcp", Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Stamp: func(id, token string) (string, string) { return "Bordereau-Stamp", id + "/" + token },
	}
	if change != nil {
		change(&cfg)
	}
	d, err := door.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

// client speaks through the socket of a folder, as code in a sandbox does.
func client(dir string) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, "mcp.sock"))
	}}, Timeout: 10 * time.Second}
}

func call(t *testing.T, c *http.Client, method, path, body string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://door"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp, string(text)
}

var token = map[string]string{"Authorization": "Bearer turn-token"}

func TestStampIsTheDoorsOwn(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	d := newDoors(t, u.URL, nil)
	dir := t.TempDir()
	if err := d.Open("box-1", dir); err != nil {
		t.Fatal(err)
	}
	resp, text := call(t, client(dir), "POST", "/mcp", `{"jsonrpc":"2.0"}`, map[string]string{
		"Authorization": "Bearer turn-token", "Bordereau-Stamp": "box-2/turn-token", "Cookie": "x=y", "X-Forwarded-For": "1.2.3.4",
		"Mcp-Session-Id": "s0", "X-Real-Ip": "1.2.3.4", "Content-Type": "application/json",
	})
	if resp.StatusCode != http.StatusOK || text != `{"jsonrpc":"2.0"}` {
		t.Fatal(resp.Status, text)
	}
	got := u.request().Header
	if got.Get("Bordereau-Stamp") != "box-1/turn-token" || got.Get("Mcp-Session-Id") != "s0" || got.Get("Authorization") != "Bearer turn-token" {
		t.Fatalf("%v", got)
	}
	for _, name := range []string{"Cookie", "X-Forwarded-For", "X-Real-Ip"} {
		if got.Get(name) != "" {
			t.Fatalf("%s passed", name)
		}
	}
	if resp.Header.Get("X-Internal") != "" || resp.Header.Get("Set-Cookie") != "" || resp.Header.Get("Mcp-Session-Id") != "s1" {
		t.Fatalf("back came %v", resp.Header)
	}
	// A sandbox from the warm pool gets its name when it is claimed.
	if err := d.Open("box-9", dir); err != nil {
		t.Fatal(err)
	}
	call(t, client(dir), "POST", "/mcp", "{}", token)
	if s := u.request().Header.Get("Bordereau-Stamp"); s != "box-9/turn-token" {
		t.Fatal(s)
	}
}

func TestNothingElsePasses(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	d := newDoors(t, u.URL, func(c *door.Config) { c.BodyBytes = 1000 })
	dir := t.TempDir()
	if err := d.Open("box-1", dir); err != nil {
		t.Fatal(err)
	}
	c := client(dir)
	for _, try := range []struct {
		method, path, body string
		headers            map[string]string
		want               int
	}{
		{"POST", "/", "", token, 404},
		{"POST", "/mcp/", "", token, 404},
		{"POST", "/mcp/../admin", "", token, 404},
		{"POST", "/mcp?x=1", "", token, 404},
		{"POST", "/audit", "", token, 404},
		{"GET", "/metrics", "", token, 404},
		{"PUT", "/mcp", "", token, 405},
		{"PATCH", "/mcp", "", token, 405},
		{"OPTIONS", "/mcp", "", token, 405},
		{"CONNECT", "/mcp", "", token, 405},
		{"POST", "/mcp", "", nil, 401},
		{"POST", "/mcp", "", map[string]string{"Authorization": "Basic x"}, 401},
		{"POST", "/mcp", strings.Repeat("x", 2000), token, 413},
	} {
		resp, text := call(t, c, try.method, try.path, try.body, try.headers)
		if resp.StatusCode != try.want || !strings.Contains(text, `"code"`) {
			t.Errorf("%s %s: %s %s", try.method, try.path, resp.Status, text)
		}
	}
	if r := u.request(); r != nil && r.ContentLength < 1000 {
		t.Fatalf("%s %s reached the upstream", r.Method, r.URL)
	}
}

func TestEventsStream(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	d := newDoors(t, u.URL, nil)
	dir := t.TempDir()
	if err := d.Open("box-1", dir); err != nil {
		t.Fatal(err)
	}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://door/mcp", nil)
	r.Header.Set("Authorization", "Bearer x")
	resp, err := client(dir).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || line != "data: one\n" {
		t.Fatalf("%q %v: the stream is held back", line, err)
	}
	d.Close(dir) // ends it
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Log("the stream ended cleanly")
	}
}

func TestUpstreamDown(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	d := newDoors(t, u.URL, nil)
	u.Close()
	dir := t.TempDir()
	if err := d.Open("box-1", dir); err != nil {
		t.Fatal(err)
	}
	resp, text := call(t, client(dir), "POST", "/mcp", "{}", token)
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(text, `"unavailable"`) || !strings.Contains(text, `"retryable":true`) {
		t.Fatal(resp.Status, text)
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	d := newDoors(t, u.URL, func(c *door.Config) { c.Connections = 3 })
	dir := filepath.Join(t.TempDir(), strings.Repeat("a-long-folder-name/", 10)) // longer than a socket's address may be
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.Open("box-1", dir); err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	address := fmt.Sprintf("/proc/self/fd/%d/mcp.sock", folder.Fd())
	for range 3 {
		c, err := net.Dial("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	c, err := net.Dial("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Fatalf("a connection over the limit: %v", err)
	}
}

func TestBadConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	stamp := func(string, string) (string, string) { return "", "" }
	for _, cfg := range []door.Config{
		{},
		{Stamp: stamp, Log: slog.Default()},
		{Stamp: stamp, Log: slog.Default(), Upstream: "http://x"},
		{Stamp: stamp, Log: slog.Default(), Upstream: "ftp://x/mcp"},
		{Log: slog.Default(), Upstream: "http://x/mcp"},
	} {
		if _, err := door.New(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
}
