package httpapi

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"bordereau/agent/identity"
)

const password = "correct horse battery"

// browser is somebody with cookies.
type browser struct {
	r      *rig
	client *http.Client
	csrf   string
}

func (r *rig) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return &browser{r: r, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// do sends JSON as a page of this origin does, with the session's CSRF value.
func (b *browser) do(method, path, body string, head ...string) (int, string) {
	b.r.t.Helper()
	req, err := http.NewRequestWithContext(b.r.t.Context(), method, b.r.server.URL+path, strings.NewReader(body))
	if err != nil {
		b.r.t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if b.csrf != "" {
		req.Header.Set(csrfHeader, b.csrf)
	}
	for i := 0; i+1 < len(head); i += 2 {
		if req.Header.Set(head[i], head[i+1]); head[i+1] == "" {
			req.Header.Del(head[i])
		}
	}
	resp, err := b.client.Do(req)
	if err != nil {
		b.r.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.r.t.Fatal(err)
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return resp.StatusCode, resp.Header.Get("Location")
	}
	return resp.StatusCode, string(raw)
}

func (b *browser) wants(status int, method, path, body string, head ...string) string {
	b.r.t.Helper()
	got, text := b.do(method, path, body, head...)
	if got != status {
		b.r.t.Errorf("%s %s: %d, want %d: %s", method, path, got, status, text)
	}
	return text
}

// signIn gives the person a password by a link and signs her in with it.
func (r *rig) signIn(who string) *browser {
	r.t.Helper()
	org, _, _ := strings.Cut(who, "/")
	token, _, err := r.people.IssueLink(r.t.Context(), org, r.persons[who])
	if err != nil {
		r.t.Fatal(err)
	}
	b := r.browser()
	b.read(b.wants(200, "POST", "/api/session/link", `{"token":"`+token+`","password":"`+password+`"}`))
	return b
}

func (b *browser) read(text string) SignedIn {
	b.r.t.Helper()
	var in SignedIn
	if err := json.Unmarshal([]byte(text), &in); err != nil || in.CSRF == "" {
		b.r.t.Fatalf("%v in %s", err, text)
	}
	b.csrf = in.CSRF
	return in
}

func (b *browser) token() string {
	u, _ := url.Parse(b.r.server.URL)
	for _, c := range b.client.Jar.Cookies(u) {
		if c.Name == "bordereau" {
			return c.Value
		}
	}
	return ""
}

func TestSession(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	b := r.browser()
	if got := b.wants(401, "GET", "/api/session", ""); !strings.Contains(got, `"code":"auth"`) {
		t.Error(got)
	}
	b = r.signIn("acme/analyst")
	in := b.read(b.wants(200, "GET", "/api/session", ""))
	if in.Person.Role != "analyst" || in.Organisation != (OrganisationRef{ID: "acme", Name: "acme"}) {
		t.Errorf("%+v", in)
	}
	b.wants(201, "POST", "/api/conversations", `{"title":"One"}`)
	old := b.token()
	credentials := `{"email":"analyst@acme.example","password":"` + password + `"}`
	b.read(b.wants(200, "POST", "/api/session", credentials))
	if b.token() == old {
		t.Error("the token was not rotated")
	}
	if _, err := r.people.Resume(t.Context(), old); err == nil {
		t.Error("the old token is alive")
	}
	second := r.browser()
	second.read(second.wants(200, "POST", "/api/session", credentials))
	var list SessionList
	if err := json.Unmarshal([]byte(b.wants(200, "GET", "/api/sessions", "")), &list); err != nil || len(list.Sessions) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, s := range list.Sessions {
		if s.Address == "" || s.Method != "password" {
			t.Errorf("%+v", s)
		}
		if !s.Current {
			b.wants(204, "DELETE", "/api/sessions/"+s.ID, "")
		}
	}
	if got := second.wants(401, "GET", "/api/me", ""); !strings.Contains(got, "the session is over") {
		t.Error(got)
	}
	second.csrf = ""
	second.read(second.wants(200, "POST", "/api/session", credentials))
	if got := b.wants(200, "DELETE", "/api/sessions", ""); got != `{"ended":1}` {
		t.Error(got)
	}
	second.wants(401, "GET", "/api/me", "")
	b.wants(204, "POST", "/api/password", `{"old":"`+password+`","password":"staple the wet tarmac"}`)
	if got := b.wants(422, "POST", "/api/password", `{"old":"wrong","password":"staple the wet tarmac"}`); !strings.Contains(got, `"field":"old"`) {
		t.Error(got)
	}
	b.wants(204, "DELETE", "/api/session", "")
	if b.token() != "" {
		t.Error("the cookie stays")
	}
	b.wants(401, "GET", "/api/session", "")
	b.csrf = ""
	if got := b.wants(401, "POST", "/api/session", credentials); !strings.Contains(got, `"field":"password"`) {
		t.Error(got)
	}
}

// What a page of another site can make a browser send changes nothing.
func TestAttackCSRF(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	b, other := r.signIn("acme/admin"), r.signIn("acme/analyst")
	body := `{"title":"x"}`
	for why, head := range map[string][]string{
		"no header":                  {csrfHeader, ""},
		"a wrong header":             {csrfHeader, "x"},
		"another session's header":   {csrfHeader, other.csrf},
		"another site":               {"Sec-Fetch-Site", "cross-site"},
		"a sibling site":             {"Sec-Fetch-Site", "same-site"},
		"another origin":             {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
		"an opaque origin":           {"Sec-Fetch-Site", "", "Origin", "null"},
		"the token in the wrong way": {csrfHeader, b.token()},
	} {
		if status, got := b.do("POST", "/api/conversations", body, head...); status != 403 || !strings.Contains(got, `"code":"denied"`) {
			t.Errorf("%s: %d %s", why, status, got)
		}
	}
	b.wants(403, "DELETE", "/api/session", "", csrfHeader, "")
	b.wants(201, "POST", "/api/conversations", body)
	b.wants(201, "POST", "/api/conversations", body, "Sec-Fetch-Site", "", "Origin", r.server.URL)
	// Signing somebody in as the attacker.
	credentials := `{"email":"admin@acme.example","password":"` + password + `"}`
	b.wants(403, "POST", "/api/session", credentials, "Sec-Fetch-Site", "cross-site")
	b.wants(415, "POST", "/api/session", credentials, "Content-Type", "text/plain", "Sec-Fetch-Site", "")
	b.wants(415, "POST", "/api/session", "email=x", "Content-Type", "application/x-www-form-urlencoded")
	// A key needs no header, and its address no browser's word.
	var c Conversation
	r.get(request{who: "acme/analyst", method: "POST", path: "/api/conversations", body: body, head: map[string]string{"Origin": "https://evil.example"}}, 201, &c)
}

func TestCookie(t *testing.T) {
	t.Parallel()
	for secure, name := range map[bool]string{false: "bordereau", true: "__Host-bordereau"} {
		g, err := NewGuard(GuardConfig{Identity: (*identity.Directory)(nil), Log: discard(), Secure: secure})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		g.setCookie(w, "token", time.Now().Add(time.Hour))
		g.secure(w.Header())
		c := w.Result().Cookies()[0]
		if c.Name != name || !c.HttpOnly || c.Secure != secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
			t.Errorf("%+v", c)
		}
		if hsts := w.Header().Get("Strict-Transport-Security"); (hsts != "") != secure {
			t.Errorf("HSTS %q", hsts)
		}
	}
}

func TestSignInBadInput(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.signIn("acme/analyst")
	b := r.browser()
	for body, want := range map[string]int{
		"": 415, "x": 400, `{}`: 422, `{"email":"a@b.example"}`: 422, `{"email":"a@b.example","password":"x","role":"admin"}`: 400, `[]`: 400,
		`{"email":["analyst@acme.example"],"password":"x"}`: 400, `{"email":"analyst@acme.example","password":{"$ne":""}}`: 400,
		`{"email":"` + strings.Repeat("a", 9000) + `","password":"x"}`: 413,
		`{"email":"analyst@acme.example' OR 1=1 --","password":"x"}`:   401, `{"email":"nobody@acme.example","password":"x"}`: 401,
		`{"email":"analyst@acme.example","password":"` + strings.Repeat("a", 7000) + `"}`:                    401,
		`{"email":"analyst@acme.example","password":"` + password + `","organisation":"other"}`:              401,
		`{"email":"analyst@acme.example\u0000","password":"` + password + `"}`:                               401,
		`{"email":"analyst@acme.example","password":"` + password + `","organisation":"acme"}{"and":"more"}`: 400,
	} {
		b.wants(want, "POST", "/api/session", body)
	}
	// A wrong password, an unknown address and a disabled person look the same.
	said := map[string]bool{}
	for _, email := range []string{"analyst@acme.example", "nobody@acme.example", "auditor@acme.example"} {
		var e ErrorBody
		if err := json.Unmarshal([]byte(b.wants(401, "POST", "/api/session", `{"email":"`+email+`","password":"wrong password here"}`)), &e); err != nil {
			t.Fatal(err)
		}
		e.Error.RequestID = ""
		raw, _ := json.Marshal(e)
		said[string(raw)] = true
	}
	if len(said) != 1 {
		t.Errorf("%v", said)
	}
	for body, want := range map[string]int{`{}`: 410, `{"token":"bdl_00_x","password":"` + password + `"}`: 410, `{"token":1}`: 400} {
		b.wants(want, "POST", "/api/session/link", body)
		b.wants(want, "POST", "/api/session/link/check", strings.Replace(body, `,"password":"`+password+`"`, "", 1))
	}
	var status int
	var got string
	for range 12 {
		status, got = b.do("POST", "/api/session", `{"email":"admin@other.example","password":"guess"}`)
	}
	if status != 429 || !strings.Contains(got, "rate_limited") {
		t.Errorf("%d %s", status, got)
	}
}

func TestChoiceOfOrganisation(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for _, org := range []string{"acme", "other"} {
		p, err := r.people.PutPerson(t.Context(), identity.Person{Org: org, Email: "both@x.example", Name: "Both", Role: identity.Analyst})
		if err != nil {
			t.Fatal(err)
		}
		r.persons[org+"/both"] = p.ID
		r.signIn(org + "/both")
	}
	b := r.browser()
	if got := b.wants(401, "POST", "/api/session", `{"email":"both@x.example","password":"wrong password here"}`); strings.Contains(got, "organisations") {
		t.Errorf("told before the password was right: %s", got)
	}
	var e ErrorBody
	if err := json.Unmarshal([]byte(b.wants(409, "POST", "/api/session", `{"email":"both@x.example","password":"`+password+`"}`)), &e); err != nil || len(e.Error.Organisations) != 2 || e.Error.Field != "organisation" {
		t.Fatalf("%+v, %v", e.Error, err)
	}
	in := b.read(b.wants(200, "POST", "/api/session", `{"email":"both@x.example","password":"`+password+`","organisation":"other"}`))
	if in.Organisation.ID != "other" {
		t.Errorf("%+v", in)
	}
}

// People end at once: a stream that is open ends with the right to read it.
func TestDisabledInMidStream(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Guard.c.Recheck = 50 * time.Millisecond })
	hold := make(chan struct{})
	r.script(func(p *pen) {
		p.text("Hello.")
		<-hold
		p.text("Secret.")
	})
	t.Cleanup(func() { close(hold) })
	b := r.signIn(me)
	body, err := json.Marshal(chat("c-1", "hi"))
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.server.URL+"/api/chat", strings.NewReader(string(body)))
	req.Header.Set(csrfHeader, b.csrf)
	resp, err := b.client.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", resp, err)
	}
	defer resp.Body.Close()
	events(t, resp.Body, 3)
	admin := r.signIn("acme/admin")
	admin.wants(200, "PATCH", "/api/people/"+r.persons[me], `{"disabled":true}`)
	if _, done := events(t, resp.Body, 0); done {
		t.Error("the stream ended as if the turn was over")
	}
	b.wants(401, "GET", "/api/session", "")
	r.fails(request{who: me, method: "GET", path: "/api/me"}, 401, Auth)
}

func TestPeople(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	admin := r.signIn("acme/admin")
	var invited Invited
	if err := json.Unmarshal([]byte(admin.wants(201, "POST", "/api/people", `{"email":"new@acme.example","name":"New","role":"analyst"}`)), &invited); err != nil {
		t.Fatal(err)
	}
	token, ok := strings.CutPrefix(invited.Link.URL, r.server.URL+WelcomePath)
	if !ok || invited.Person.Password {
		t.Fatalf("%+v", invited)
	}
	if got := admin.wants(422, "POST", "/api/people", `{"email":"new@acme.example","name":"New","role":"analyst"}`); !strings.Contains(got, `"field":"email"`) {
		t.Error(got)
	}
	for field, body := range map[string]string{
		"email": `{"email":"x","name":"New","role":"analyst"}`, "name": `{"email":"y@acme.example","name":"a\nb","role":"analyst"}`, "role": `{"email":"y@acme.example","name":"N","role":"root"}`,
	} {
		if got := admin.wants(422, "POST", "/api/people", body); !strings.Contains(got, `"field":"`+field+`"`) {
			t.Errorf("%s: %s", field, got)
		}
	}
	b := r.browser()
	if got := b.wants(200, "POST", "/api/session/link/check", `{"token":"`+token+`"}`); !strings.Contains(got, "new@acme.example") {
		t.Error(got)
	}
	if got := b.wants(422, "POST", "/api/session/link", `{"token":"`+token+`","password":"password1234"}`); !strings.Contains(got, `"field":"password"`) {
		t.Error(got)
	}
	b.read(b.wants(200, "POST", "/api/session/link", `{"token":"`+token+`","password":"`+password+`"}`))
	b.wants(403, "GET", "/api/people", "")
	if got := admin.wants(200, "PATCH", "/api/people/"+invited.Person.ID, `{"role":"auditor","name":"Newer"}`); !strings.Contains(got, `"role":"auditor"`) {
		t.Error(got)
	}
	b.wants(200, "GET", "/api/people", "") // a role counts from the next request on
	b.wants(403, "PATCH", "/api/people/"+invited.Person.ID, `{"role":"admin"}`)
	if got := admin.wants(200, "GET", "/api/people/"+invited.Person.ID+"/sessions", ""); !strings.Contains(got, `"method":"link"`) {
		t.Error(got)
	}
	if got := admin.wants(200, "DELETE", "/api/people/"+invited.Person.ID+"/sessions", ""); got != `{"ended":1}` {
		t.Error(got)
	}
	b.wants(401, "GET", "/api/session", "")
	admin.wants(409, "PATCH", "/api/people/"+r.persons["acme/admin"], `{"disabled":true}`)
	admin.wants(422, "PATCH", "/api/people/"+invited.Person.ID, `{"role":"root"}`)
	stranger := r.signIn("other/admin")
	for _, call := range [][2]string{{"PATCH", ""}, {"POST", "/link"}, {"GET", "/sessions"}, {"DELETE", "/sessions"}} {
		stranger.wants(404, call[0], "/api/people/"+invited.Person.ID+call[1], `{}`)
	}
	if got := stranger.wants(200, "GET", "/api/people", ""); strings.Contains(got, "acme") {
		t.Error(got)
	}
	if got := stranger.wants(200, "GET", "/api/admin-log", ""); strings.Contains(got, "acme") {
		t.Error(got)
	}
	var log AdminLog
	if err := json.Unmarshal([]byte(admin.wants(200, "GET", "/api/admin-log?limit=2", "")), &log); err != nil || len(log.Entries) != 2 || log.Next == "" || log.Entries[0].Action != identity.SessionEnded || log.Entries[0].Address == "" {
		t.Errorf("%+v, %v", log, err)
	}
	admin.wants(200, "GET", "/api/admin-log?before="+log.Next, "")
	admin.wants(400, "GET", "/api/admin-log?limit=0", "")
}

func TestKeysOfPeople(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	b, admin, stranger := r.signIn("acme/analyst"), r.signIn("acme/admin"), r.signIn("other/admin")
	var k IssuedKey
	if err := json.Unmarshal([]byte(b.wants(201, "POST", "/api/keys", `{"label":"script","scopes":["read"],"days":30}`)), &k); err != nil || k.Key.Expires == nil {
		t.Fatalf("%+v, %v", k, err)
	}
	for field, body := range map[string]string{
		"label": `{"scopes":["read"]}`, "scopes": `{"label":"x","scopes":[]}`, "days": `{"label":"x","scopes":["read"],"days":-1}`,
	} {
		if got := b.wants(422, "POST", "/api/keys", body); !strings.Contains(got, `"field":"`+field+`"`) {
			t.Errorf("%s: %s", field, got)
		}
	}
	b.wants(422, "POST", "/api/keys", `{"label":"x","scopes":["root"]}`)
	r.get(request{who: k.Secret, method: "GET", path: "/api/conversations"}, 200, nil)
	r.fails(request{who: k.Secret, method: "POST", path: "/api/conversations", body: `{}`}, 403, Denied)
	r.fails(request{who: k.Secret, method: "POST", path: "/api/keys", body: `{"label":"more","scopes":["admin"]}`}, 403, Denied)
	if got := b.wants(200, "GET", "/api/keys", ""); !strings.Contains(got, "script") || strings.Contains(got, k.Secret) || strings.Count(got, `"id"`) != 2 {
		t.Error(got)
	}
	b.wants(403, "GET", "/api/keys?of=all", "")
	if got := admin.wants(200, "GET", "/api/keys?of=all", ""); !strings.Contains(got, "script") {
		t.Error(got)
	}
	stranger.wants(404, "DELETE", "/api/keys/"+k.Key.ID, "")
	r.signIn("acme/underwriter").wants(404, "DELETE", "/api/keys/"+k.Key.ID, "")
	admin.wants(204, "DELETE", "/api/keys/"+k.Key.ID, "")
	r.fails(request{who: k.Secret, method: "GET", path: "/api/conversations"}, 401, Auth)
}
