package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
)

// walker asks every endpoint of the whole program as everybody.
type walker struct {
	t      *testing.T
	system *system
	people map[string]identity.Person // by "org/role"
	keys   map[string]string          // by "org/role/scope"
	ids    map[string]string          // what exists in acme, by where it stands in patterns
}

// caller is one way to ask.
type caller struct {
	org, role string // "": nobody
	scope     identity.Scope
	byKey     bool
	noCSRF    bool
}

func (c caller) String() string {
	switch {
	case c.role == "":
		return "nobody"
	case c.byKey:
		return fmt.Sprintf("%s of %s with a key for %s", c.role, c.org, c.scope)
	case c.noCSRF:
		return fmt.Sprintf("another site's page before %s of %s", c.role, c.org)
	}
	return fmt.Sprintf("%s of %s", c.role, c.org)
}

// verdict is what the guard said.
type verdict string

const (
	passed    verdict = "passed"
	signIn    verdict = "sign in"
	wrongRole verdict = "wrong role"
	wrongKey  verdict = "wrong key"
	foreign   verdict = "foreign page"
)

// TestAccess walks every endpoint as nobody, as each role, with a key of each scope, without the session's CSRF value, and as
// another organisation. What each endpoint says of itself is held against testdata/access.txt: a new one needs a line there.
func TestAccess(t *testing.T) {
	t.Parallel()
	w := newWalker(t)
	w.holdsTable()
	w.describesAll()
	var callers []caller
	for _, role := range identity.Roles() {
		callers = append(callers, caller{org: "acme", role: role}, caller{org: "acme", role: role, noCSRF: true})
		for _, scope := range identity.AllScopes() {
			callers = append(callers, caller{org: "acme", role: role, byKey: true, scope: scope})
		}
	}
	for _, e := range w.system.endpoints {
		method, path := w.concrete(e.Pattern, "none")
		for _, c := range append([]caller{{}}, callers...) {
			want := expected(e.Access, c, method)
			if got, status, _ := w.ask(c, method, path); got != want {
				t.Errorf("%s as %s: %s (%d), want %s", e.Pattern, c, got, status, want)
			}
		}
	}
	w.keepsOthersOut()
}

func expected(a httpapi.Access, c caller, method string) verdict {
	unsafe := method != http.MethodGet && method != http.MethodHead
	switch {
	case a.IsPublic():
		return passed
	case c.role == "":
		return signIn
	case c.noCSRF && unsafe:
		return foreign
	case c.byKey && !a.Key(identity.Scopes{c.scope}):
		return wrongKey
	case !a.Role(c.role):
		return wrongRole
	}
	return passed
}

// holdsTable compares what endpoints say with the table.
func (w *walker) holdsTable() {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "access.txt"))
	if err != nil {
		w.t.Fatal(err)
	}
	table := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		pattern, access, ok := strings.Cut(strings.TrimSpace(line), " -> ")
		if !ok || table[pattern] != "" {
			w.t.Errorf("testdata/access.txt: %q is no line, or stands there twice", line)
		}
		table[pattern] = access
	}
	for _, e := range w.system.endpoints {
		if got := e.Access.String(); table[e.Pattern] != got {
			w.t.Errorf("testdata/access.txt says %q of\n%s -> %s", table[e.Pattern], e.Pattern, got)
		}
		delete(table, e.Pattern)
	}
	for pattern := range table {
		w.t.Errorf("testdata/access.txt: %s is not served", pattern)
	}
}

// describesAll compares GET /openapi.json with what is served; what it refers to is there.
func (w *walker) describesAll() {
	w.t.Helper()
	_, _, body := w.ask(caller{}, http.MethodGet, "/openapi.json")
	var doc struct {
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components map[string]map[string]json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		w.t.Fatal(err)
	}
	described := map[string]bool{}
	for path, item := range doc.Paths {
		for method := range item {
			described[strings.ToUpper(method)+" "+path] = method != "parameters"
		}
	}
	for _, e := range w.system.endpoints {
		if !described[e.Pattern] {
			w.t.Errorf("%s is not described", e.Pattern)
		}
		delete(described, e.Pattern)
	}
	for pattern, operation := range described {
		if operation {
			w.t.Errorf("%s is described, and not served", pattern)
		}
	}
	for _, ref := range regexp.MustCompile(`"#/components/(\w+)/(\w+)"`).FindAllStringSubmatch(body, -1) {
		if doc.Components[ref[1]][ref[2]] == nil {
			w.t.Errorf("%s leads nowhere", ref[0])
		}
	}
}

// keepsOthersOut asks for what exists in acme as every role of another organisation: it isn't there, and no list has it.
func (w *walker) keepsOthersOut() {
	w.t.Helper()
	for _, e := range w.system.endpoints {
		if e.Access.IsPublic() {
			continue
		}
		real := false
		method, path := w.concrete(e.Pattern, "")
		for where, id := range w.ids {
			if strings.Contains(path, where+"/"+id) {
				real = true
			}
		}
		for _, role := range identity.Roles() {
			c := caller{org: "other", role: role}
			if !e.Access.Role(role) {
				continue
			}
			got, status, body := w.ask(c, method, path)
			// PUT-like writes may make an id of the same name that is their own; nothing of ours has such.
			if real && (got != passed || status != http.StatusNotFound && status != http.StatusBadRequest) {
				w.t.Errorf("%s %s as %s: %s, %d %.200s", method, path, c, got, status, body)
			}
			for _, id := range w.ids {
				if status < 300 && strings.Contains(body, id) {
					w.t.Errorf("%s %s shows %s what is acme's: %.300s", method, path, c, body)
				}
			}
		}
	}
}

var placeholder = regexp.MustCompile(`\{[^}]+\}`)

// concrete fills a pattern: with ids that exist in acme, or with a word.
func (w *walker) concrete(pattern, word string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	for where, id := range w.ids {
		if word == "" && strings.Contains(path, where+"/{") {
			path = strings.Replace(path, where+"/"+placeholder.FindString(path[strings.Index(path, where):]), where+"/"+id, 1) //nolint:gocritic // the path holds it
		}
	}
	return method, placeholder.ReplaceAllString(path, "none")
}

// ask asks and reads what the guard said. Bodies are broken on purpose: whoever gets through changes nothing.
func (w *walker) ask(c caller, method, path string) (verdict, int, string) {
	w.t.Helper()
	var body io.Reader
	if method != http.MethodGet && method != http.MethodDelete {
		body = strings.NewReader("{broken")
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.system.url+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	who := c.org + "/" + c.role
	switch {
	case c.role == "":
	case c.byKey:
		req.Header.Set("Authorization", "Bearer "+w.keys[who+"/"+string(c.scope)])
	default:
		// A session of its own for each request: some end it.
		in, err := w.system.directory.StartSession(w.t.Context(), w.people[who], identity.ByPassword, identity.Visit{})
		if err != nil {
			w.t.Fatal(err)
		}
		req.AddCookie(&http.Cookie{Name: "bordereau", Value: in.Token})
		if !c.noCSRF {
			req.Header.Set("X-CSRF-Token", identity.CSRF(in.Token))
		}
	}
	client := &http.Client{Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		w.t.Fatal(err)
	}
	if h := resp.Header; h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") == "" || h.Get("X-Request-ID") == "" {
		w.t.Errorf("%s %s lacks headers: %v", method, path, h)
	}
	return judge(resp.StatusCode, raw), resp.StatusCode, string(raw)
}

func judge(status int, raw []byte) verdict {
	var e httpapi.ErrorBody
	if json.Unmarshal(raw, &e) != nil || e.Error == nil {
		return passed
	}
	switch {
	case status == http.StatusUnauthorized && e.Error.Field == "":
		return signIn
	case status == http.StatusForbidden && e.Error.Field == "csrf":
		return foreign
	case status == http.StatusForbidden && e.Error.Message == "the key is not for that":
		return wrongKey
	case status == http.StatusForbidden && strings.HasPrefix(e.Error.Message, "your role "):
		return wrongRole
	}
	return passed
}

// startSystem starts all roles over an empty data folder.
func startSystem(t *testing.T) *system {
	t.Helper()
	bin, dir := programs(t), t.TempDir()
	settings := filepath.Join(dir, "bordereau.yaml")
	text := fmt.Sprintf("data: %s\nlisten: 127.0.0.1:0\ngovernance: {listen: \"127.0.0.1:0\"}\nsandbox: {driver: auto, guest: %s, gov: %s}\n",
		filepath.Join(dir, "data"), filepath.Join(bin, "guest"), filepath.Join(bin, "gov"))
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loadConfig(flag.NewFlagSet("test", flag.ContinueOnError), []string{"--config", settings}, stdio{Err: t.Output(), Env: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	s, err := start(t.Context(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

func newWalker(t *testing.T) *walker {
	t.Helper()
	s := startSystem(t)
	w := &walker{t: t, system: s, people: map[string]identity.Person{}, keys: map[string]string{}, ids: map[string]string{}}
	for _, org := range []string{"acme", "other"} {
		if err := s.directory.PutOrganisation(t.Context(), identity.Organisation{ID: org, Name: org}); err != nil {
			t.Fatal(err)
		}
		for _, role := range identity.Roles() {
			p, err := s.directory.PutPerson(t.Context(), identity.Person{Org: org, Email: role + "@" + org + ".example", Name: role, Role: role})
			if err != nil {
				t.Fatal(err)
			}
			w.people[org+"/"+role] = p
			for _, scope := range identity.AllScopes() {
				k, secret, err := s.directory.IssueKey(t.Context(), org, p.ID, "walk", time.Time{}, scope)
				if err != nil {
					t.Fatal(err)
				}
				w.keys[org+"/"+role+"/"+string(scope)] = secret
				if org == "acme" {
					w.ids["/api/people"], w.ids["/api/keys"] = p.ID, k.ID
				}
			}
		}
	}
	w.ids["/api/conversations"] = w.conversation()
	in, err := s.directory.StartSession(t.Context(), w.people["acme/admin"], identity.ByPassword, identity.Visit{})
	if err != nil {
		t.Fatal(err)
	}
	w.ids["/api/sessions"] = in.Session.ID
	return w
}

// conversation is one of acme's underwriter.
func (w *walker) conversation() string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.system.url+"/api/conversations", strings.NewReader(`{"title":"acme alone"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.keys["acme/underwriter/ask"])
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var made httpapi.Conversation
	if err := json.NewDecoder(resp.Body).Decode(&made); err != nil || made.ID == "" {
		w.t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	return made.ID
}
