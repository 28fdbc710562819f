package oidc_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"bordereau/agent/identity"
	"bordereau/agent/identity/oidc"
)

const origin = "https://bordereau.example"

// directory keeps what was vouched for.
type directory struct{ got []identity.Vouched }

func (d *directory) SignInVouched(_ context.Context, v identity.Vouched) (identity.SignedIn, error) {
	d.got = append(d.got, v)
	return identity.SignedIn{Token: "t"}, nil
}

// user is somebody at the provider; change forges the claims of her token.
type user struct {
	*mockoidc.MockUser
	change func(jwt.MapClaims)
}

func (u user) Claims(_ []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	c := jwt.MapClaims{
		"iss": base.Issuer, "sub": base.Subject, "aud": base.Audience, "exp": base.ExpiresAt, "iat": base.IssuedAt, "nonce": base.Nonce,
		"email": u.Email, "email_verified": u.EmailVerified, "name": "Ann",
	}
	if u.change != nil {
		u.change(c)
	}
	return c, nil
}

// rig is a real provider, which signs, and a sign-in that uses it.
type rig struct {
	t        *testing.T
	provider *mockoidc.MockOIDC
	people   *directory
	now      time.Time
	in       *oidc.SignIn
	tamper   func(idToken string) string // of the provider's answer, on its way
}

func newRig(t *testing.T) *rig {
	t.Helper()
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Shutdown() })
	r := &rig{t: t, provider: m, people: &directory{}, now: time.Now()}
	seal := make([]byte, 32)
	_, _ = rand.Read(seal)
	r.in, err = oidc.New(oidc.Config{
		Providers: []oidc.Provider{{Organisation: "acme", Issuer: m.Issuer(), ClientID: m.ClientID, Secret: m.ClientSecret, Domains: []string{"acme.example"}, DefaultRole: identity.Underwriter}},
		Directory: r.people, Origin: origin, Seal: seal, HTTP: &http.Client{Transport: r}, Now: func() time.Time { return r.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// RoundTrip stands between the program and the provider.
func (r *rig) RoundTrip(q *http.Request) (*http.Response, error) {
	if r.tamper == nil || !strings.HasSuffix(q.URL.Path, "/token") {
		return http.DefaultTransport.RoundTrip(q)
	}
	resp, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var body map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		return nil, err
	}
	if raw, ok := body["id_token"].(string); ok {
		body["id_token"] = r.tamper(raw)
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(resp.StatusCode)
	_ = json.NewEncoder(w).Encode(body)
	return w.Result(), nil
}

// visit is the browser's way to the provider and back: what it kept, and what it brings.
func (r *rig) visit(ask oidc.Ask, who user) (kept string, answer url.Values) {
	r.t.Helper()
	to, kept, err := r.in.Begin(r.t.Context(), ask)
	if err != nil {
		r.t.Fatal(err)
	}
	r.provider.QueueUser(who)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Get(to)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil || !strings.HasPrefix(back.String(), origin+oidc.CallbackPath+"?") {
		r.t.Fatalf("the provider sends to %v, %v", back, err)
	}
	return kept, back.Query()
}

func (r *rig) end(kept string, answer url.Values) (string, error) {
	_, back, err := r.in.End(r.t.Context(), kept, answer, identity.Visit{Address: "192.0.2.1"})
	return back, err
}

func ann() user {
	return user{MockUser: &mockoidc.MockUser{Subject: "s-1", Email: "ann@acme.example", EmailVerified: true}}
}

func TestCodeFlow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, ask := range []oidc.Ask{{Organisation: "acme", Return: "/console/x?y=1"}, {Email: "Someone@ACME.example", Return: "/console/x?y=1"}} {
		to, _, err := r.in.Begin(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		if q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || len(q.Get("state")) < 20 || len(q.Get("nonce")) < 20 || q.Get("response_type") != "code" {
			t.Errorf("%s", to)
		}
		back, err := r.end(r.visit(ask, ann()))
		if err != nil || back != "/console/x?y=1" {
			t.Errorf("%q, %v", back, err)
		}
	}
	want := identity.Vouched{
		Organisation: "acme", Issuer: r.provider.Issuer(), Subject: "s-1", Email: "ann@acme.example", Name: "Ann", DefaultRole: identity.Underwriter,
		Visit: identity.Visit{Address: "192.0.2.1"},
	}
	if len(r.people.got) != 2 || r.people.got[0] != want {
		t.Errorf("%+v", r.people.got)
	}
	far := ann()
	far.Email = "ann@elsewhere.example"
	if _, err := r.end(r.visit(oidc.Ask{Organisation: "acme"}, far)); err != nil || r.people.got[2].DefaultRole != "" {
		t.Errorf("a stranger's domain: %+v, %v", r.people.got[2], err)
	}
	for _, ask := range []oidc.Ask{{}, {Organisation: "other"}, {Email: "x@evil.example"}, {Email: "acme.example"}} {
		if _, _, err := r.in.Begin(t.Context(), ask); !errors.Is(err, oidc.ErrUnknown) {
			t.Errorf("%+v: %v", ask, err)
		}
	}
}

func TestReturnStaysHere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, to := range []string{
		"https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "/\t/evil.example", "evil", "", "/api/session/oidc?x", "/x/../api/me", "http:/x", "/" + strings.Repeat("a", 5000),
	} {
		if back, err := r.end(r.visit(oidc.Ask{Organisation: "acme", Return: to}, ann())); err != nil || back != "/" {
			t.Errorf("%q leads to %q, %v", to, back, err)
		}
	}
}

// Attacks on the flow: what comes back is not what this browser asked for.
func TestAttackFlow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ask := oidc.Ask{Organisation: "acme"}
	refused := func(why string, kind error, kept string, answer url.Values) {
		t.Helper()
		if _, err := r.end(kept, answer); !errors.Is(err, kind) {
			t.Errorf("%s: %v, want %v", why, err, kind)
		}
	}
	kept, answer := r.visit(ask, ann())
	otherKept, otherAnswer := r.visit(ask, ann())
	refused("no cookie", oidc.ErrState, "", answer)
	refused("another browser's cookie", oidc.ErrState, otherKept, answer)
	refused("a made-up cookie", oidc.ErrState, base64.RawURLEncoding.EncodeToString([]byte(`{"s":""}`)), url.Values{"code": answer["code"]})
	raw, _ := base64.RawURLEncoding.DecodeString(kept)
	raw[len(raw)-1] ^= 1
	refused("a changed cookie", oidc.ErrState, base64.RawURLEncoding.EncodeToString(raw), answer)
	refused("no state", oidc.ErrState, kept, url.Values{"code": answer["code"]})
	refused("a wrong state", oidc.ErrState, kept, url.Values{"code": answer["code"], "state": {"x"}})
	refused("another issuer", oidc.ErrState, kept, url.Values{"code": answer["code"], "state": answer["state"], "iss": {"https://evil.example"}})
	refused("no code", oidc.ErrDenied, kept, url.Values{"state": answer["state"]})
	refused("access denied", oidc.ErrDenied, kept, url.Values{"state": answer["state"], "error": {"access_denied"}})
	refused("a made-up code", oidc.ErrProvider, kept, url.Values{"state": answer["state"], "code": {"x"}})
	// A code that was stolen from another sign-in: its verifier is not ours (PKCE).
	refused("another sign-in's code", oidc.ErrProvider, kept, url.Values{"state": answer["state"], "code": otherAnswer["code"]})
	r.now = r.now.Add(11 * time.Minute)
	refused("too late", oidc.ErrState, kept, answer)
	r.now = r.now.Add(-11 * time.Minute)
	if _, err := r.end(kept, answer); err != nil {
		t.Errorf("the rightful answer: %v", err)
	}
	refused("a code twice", oidc.ErrProvider, kept, answer)
	if len(r.people.got) != 1 {
		t.Errorf("%d were vouched for", len(r.people.got))
	}
}

// Attacks on the token: signed by the provider or not, it isn't for this sign-in.
func TestAttackToken(t *testing.T) {
	t.Parallel()
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	claim := func(key string, value any) func(jwt.MapClaims) {
		return func(c jwt.MapClaims) { c[key] = value }
	}
	for name, test := range map[string]struct {
		change func(jwt.MapClaims)
		tamper func(*rig, string) string
		kind   error
	}{
		"wrong nonce":      {change: claim("nonce", "x"), kind: oidc.ErrToken},
		"no nonce":         {change: func(c jwt.MapClaims) { delete(c, "nonce") }, kind: oidc.ErrToken},
		"wrong issuer":     {change: claim("iss", "https://evil.example"), kind: oidc.ErrToken},
		"wrong audience":   {change: claim("aud", "another-client"), kind: oidc.ErrToken},
		"another party":    {change: claim("azp", "another-client"), kind: oidc.ErrToken},
		"expired":          {change: claim("exp", time.Now().Add(-time.Hour).Unix()), kind: oidc.ErrToken},
		"unverified":       {change: claim("email_verified", false), kind: oidc.ErrUnverified},
		"nothing verified": {change: func(c jwt.MapClaims) { delete(c, "email_verified") }, kind: oidc.ErrUnverified},
		"no address":       {change: claim("email", ""), kind: oidc.ErrToken},
		"no subject":       {change: claim("sub", ""), kind: oidc.ErrToken},
		"alg none": {tamper: func(_ *rig, raw string) string {
			return resign(t, raw, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType)
		}, kind: oidc.ErrToken},
		"the client's secret as key": {tamper: func(r *rig, raw string) string {
			return resign(t, raw, jwt.SigningMethodHS256, []byte(r.provider.ClientSecret))
		}, kind: oidc.ErrToken},
		"a stranger's key": {tamper: func(_ *rig, raw string) string { return resign(t, raw, jwt.SigningMethodRS256, stranger) }, kind: oidc.ErrToken},
		"no signature":     {tamper: func(_ *rig, raw string) string { return raw[:strings.LastIndex(raw, ".")+1] }, kind: oidc.ErrToken},
		"no token":         {tamper: func(*rig, string) string { return "" }, kind: oidc.ErrToken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if test.tamper != nil {
				r.tamper = func(raw string) string { return test.tamper(r, raw) }
			}
			who := ann()
			who.change = test.change
			if _, err := r.end(r.visit(oidc.Ask{Organisation: "acme"}, who)); !errors.Is(err, test.kind) || len(r.people.got) != 0 {
				t.Errorf("%v, want %v", err, test.kind)
			}
		})
	}
}

// resign keeps the claims of a token and signs them otherwise.
func resign(t *testing.T, raw string, method jwt.SigningMethod, key any) string {
	t.Helper()
	var c jwt.MapClaims
	if _, _, err := jwt.NewParser().ParseUnverified(raw, &c); err != nil {
		t.Fatal(err)
	}
	out, err := jwt.NewWithClaims(method, c).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A provider that is down or lies about who it is signs nobody in, and doesn't keep the program from starting.
func TestProviderFails(t *testing.T) {
	t.Parallel()
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"issuer":"https://evil.example","authorization_endpoint":"https://evil.example/a","token_endpoint":"https://evil.example/t","jwks_uri":"https://evil.example/k"}`))
	}))
	t.Cleanup(liar.Close)
	for _, issuer := range []string{liar.URL, "http://127.0.0.1:1"} {
		in, err := oidc.New(oidc.Config{Providers: []oidc.Provider{{Organisation: "acme", Issuer: issuer, ClientID: "x"}}, Directory: &directory{}, Origin: origin, Seal: make([]byte, 32)})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := in.Begin(t.Context(), oidc.Ask{Organisation: "acme"}); !errors.Is(err, oidc.ErrProvider) {
			t.Errorf("%s: %v", issuer, err)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	good := oidc.Provider{Organisation: "acme", Issuer: "https://id.example", ClientID: "x"}
	plain, admin, open := good, good, good
	plain.Issuer, admin.DefaultRole, admin.Domains, open.DefaultRole = "http://id.example", identity.Admin, []string{"acme.example"}, identity.Analyst
	for name, c := range map[string]oidc.Config{
		"nothing": {}, "no directory": {Providers: []oidc.Provider{good}, Origin: origin, Seal: make([]byte, 32)},
		"no seal":          {Providers: []oidc.Provider{good}, Directory: &directory{}, Origin: origin},
		"plain HTTP":       {Providers: []oidc.Provider{plain}, Directory: &directory{}, Origin: origin, Seal: make([]byte, 32)},
		"admin by default": {Providers: []oidc.Provider{admin}, Directory: &directory{}, Origin: origin, Seal: make([]byte, 32)},
		"everybody":        {Providers: []oidc.Provider{open}, Directory: &directory{}, Origin: origin, Seal: make([]byte, 32)},
	} {
		if _, err := oidc.New(c); !errors.Is(err, oidc.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
