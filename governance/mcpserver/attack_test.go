package mcpserver_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/mcpserver"
	"bordereau/governance/mcpserver/mcpservertest"
	"bordereau/governance/turntoken"
)

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// forge makes a token of any header, any claims and any signature.
func forge(t *testing.T, header, claims map[string]any, sign func(text string) []byte) string {
	t.Helper()
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	c, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	text := b64(h) + "." + b64(c)
	return text + "." + b64(sign(text))
}

// goodClaims is what an honest token of mcpservertest.Grant says.
func goodClaims() map[string]any {
	now := time.Now().Unix()
	return map[string]any{
		"iss": "https://agent.example", "aud": []string{"https://governance.example"}, "sub": "mary@acme.example", "jti": "j1",
		"iat": now, "nbf": now, "exp": now + 600, "org": "acme", "role": "underwriter", "conversation": "c1", "turn": "t1", "epoch": 1, "sandbox": "s1",
		"tools": mcpservertest.Tools(),
	}
}

func with(change func(c map[string]any)) map[string]any {
	c := goodClaims()
	change(c)
	return c
}

// TestTokenAttacks makes each attack over the real endpoint: each is refused, typed, on record, and reaches no data.
func TestTokenAttacks(t *testing.T) {
	t.Parallel()
	g := &mcpservertest.Gate{}
	bed := mcpservertest.Start(t, func(c *mcpserver.Config) { c.Gate = g })
	public, ok := bed.Key.Public().(ed25519.PublicKey)
	if !ok {
		t.Fatal("no public key")
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	_, stranger, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	eddsa := map[string]any{"alg": "EdDSA", "typ": "JWT"}
	own := func(text string) []byte { return ed25519.Sign(bed.Key, []byte(text)) }
	hs256 := func(key []byte) func(string) []byte {
		return func(text string) []byte {
			m := hmac.New(sha256.New, key)
			m.Write([]byte(text))
			return m.Sum(nil)
		}
	}
	honest := forge(t, eddsa, goodClaims(), own)
	parts := strings.Split(honest, ".")
	edited, err := json.Marshal(with(func(c map[string]any) { c["org"] = "globex" }))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	signed := func(change func(c map[string]any)) string { return forge(t, eddsa, with(change), own) }
	stale := bed.Stamper
	stale.Now = func() time.Time { return time.Now().Add(-5 * time.Minute) }
	for _, a := range []struct {
		name, token string
		stamp       string // "": a good one of sandbox s1
		kind        string
	}{
		{name: "alg none", token: forge(t, map[string]any{"alg": "none"}, goodClaims(), func(string) []byte { return nil }), kind: "malformed"},
		{name: "alg none with the old signature", token: forge(t, map[string]any{"alg": "none"}, goodClaims(), own), kind: "malformed"},
		{name: "alg nOnE", token: forge(t, map[string]any{"alg": "nOnE"}, goodClaims(), func(string) []byte { return nil }), kind: "malformed"},
		{name: "no alg", token: forge(t, map[string]any{"typ": "JWT"}, goodClaims(), own), kind: "malformed"},
		{name: "HS256 with the public key's bytes", token: forge(t, map[string]any{"alg": "HS256"}, goodClaims(), hs256(public)), kind: "malformed"},
		{name: "HS256 with the public key's DER", token: forge(t, map[string]any{"alg": "HS256"}, goodClaims(), hs256(der)), kind: "malformed"},
		{name: "HS256 with the public key's PEM", token: forge(t, map[string]any{"alg": "HS256"}, goodClaims(),
			hs256(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))), kind: "malformed"},
		{name: "another key", token: forge(t, eddsa, goodClaims(), func(text string) []byte { return ed25519.Sign(stranger, []byte(text)) }), kind: "malformed"},
		{name: "own key in the header", token: forge(t, map[string]any{"alg": "EdDSA", "jwk": map[string]any{"kty": "OKP", "crv": "Ed25519", "x": b64(stranger[32:])}}, goodClaims(),
			func(text string) []byte { return ed25519.Sign(stranger, []byte(text)) }), kind: "malformed"},
		{name: "other issuer", token: signed(func(c map[string]any) { c["iss"] = "https://evil.example" }), kind: "malformed"},
		{name: "no issuer", token: signed(func(c map[string]any) { delete(c, "iss") }), kind: "malformed"},
		{name: "other audience", token: signed(func(c map[string]any) { c["aud"] = "https://other.example" }), kind: "malformed"},
		{name: "no audience", token: signed(func(c map[string]any) { delete(c, "aud") }), kind: "malformed"},
		{name: "no organisation", token: signed(func(c map[string]any) { c["org"] = "" }), kind: "malformed"},
		{name: "no turn", token: signed(func(c map[string]any) { delete(c, "turn") }), kind: "malformed"},
		{name: "no role", token: signed(func(c map[string]any) { delete(c, "role") }), kind: "malformed"},
		{name: "claims edited to another organisation", token: parts[0] + "." + b64(edited) + "." + parts[2], kind: "malformed"},
		{name: "signature cut", token: honest[:len(honest)-4], kind: "malformed"},
		{name: "no signature", token: parts[0] + "." + parts[1] + ".", kind: "malformed"},
		{name: "four parts", token: honest + "." + parts[2], kind: "malformed"},
		{name: "not a token", token: "hello", kind: "malformed"},
		{name: "two tokens", token: honest + " " + honest, kind: "malformed"},
		{name: "huge token", token: parts[0] + "." + strings.Repeat("A", 100<<10) + "." + parts[2], kind: "malformed"},
		{name: "huge but honest token", token: signed(func(c map[string]any) { c["x"] = strings.Repeat("x", 9<<10) }), kind: "malformed"},
		{name: "expired", token: signed(func(c map[string]any) { c["iat"], c["nbf"], c["exp"] = now-900, now-900, now-1 }), kind: "expired"},
		{name: "not yet valid", token: signed(func(c map[string]any) { c["nbf"] = now + 300 }), kind: "expired"},
		{name: "issued in the future", token: signed(func(c map[string]any) { c["iat"], c["nbf"] = now+300, now+300 }), kind: "expired"},
		{name: "never expires", token: signed(func(c map[string]any) { delete(c, "exp") }), kind: "malformed"},
		{name: "lives too long", token: signed(func(c map[string]any) { c["exp"] = now + 86400 }), kind: "malformed"},
		{name: "other sandbox in the claims", token: signed(func(c map[string]any) { c["sandbox"] = "s2" }), kind: "sandbox"},
		{name: "used from another sandbox", token: honest, stamp: bed.Stamper.Stamp("s2", honest), kind: "sandbox"},
		{name: "without a stamp", token: honest, stamp: "none", kind: "stamp"},
		{name: "stamp of another token", token: honest, stamp: bed.Stamper.Stamp("s1", "other"), kind: "stamp"},
		{name: "stamp of long ago", token: honest, stamp: stale.Stamp("s1", honest), kind: "stamp"},
		{name: "stamp with another secret", token: honest, stamp: turntoken.Stamper{Secret: []byte(strings.Repeat("x", 32))}.Stamp("s1", honest), kind: "stamp"},
		{name: "stamp edited to this sandbox", token: honest, stamp: strings.Replace(bed.Stamper.Stamp("s2", honest), "s2.", "s1.", 1), kind: "stamp"},
		{name: "other epoch", token: signed(func(c map[string]any) { c["turn"], c["epoch"] = "moved", 1 }), kind: "dead"},
		{name: "replayed after the turn", token: signed(func(c map[string]any) { c["turn"] = "ended" }), kind: "dead"},
		{name: "no token", token: "", kind: "missing"},
	} {
		t.Run(a.name, func(t *testing.T) {
			bed.Live.Move("moved", 2)
			bed.Live.End("ended")
			bed.Refusals.Take()
			stamp := a.stamp
			if stamp == "" {
				stamp = bed.Stamper.Stamp("s1", a.token)
			}
			if stamp == "none" {
				stamp = ""
			}
			r := post(t, bed, a.token, stamp, "tools/call", map[string]any{"name": "sql", "arguments": map[string]any{"query": "SELECT 1"}})
			if r.status != http.StatusUnauthorized || r.Error == nil || r.Error.Data == nil || r.Error.Data.Code != fault.Auth {
				t.Errorf("status %d, error %+v", r.status, r.Error)
			}
			if r.header.Get("WWW-Authenticate") == "" {
				t.Error("no WWW-Authenticate")
			}
			records := bed.Refusals.Take()
			if len(records) != 1 || records[0].Kind != a.kind || records[0].Verified || records[0].Remote == "" {
				t.Errorf("recorded %+v; want one of kind %q", records, a.kind)
			}
		})
	}
	if asked := g.Questions(); len(asked) > 0 {
		t.Errorf("the gate was asked %+v", asked)
	}
	if r := post(t, bed, honest, bed.Stamper.Stamp("s1", honest), "tools/list", nil); r.status != http.StatusOK || r.Error != nil {
		t.Errorf("the honest token itself: status %d, %+v", r.status, r.Error)
	}
}

// TestUnlistedToolIsUnknown holds that a tool off the list and one that doesn't exist are answered alike, in both eras.
func TestUnlistedToolIsUnknown(t *testing.T) {
	t.Parallel()
	g := &mcpservertest.Gate{}
	bed := mcpservertest.Start(t, func(c *mcpserver.Config) { c.Gate = g })
	grant := mcpservertest.Grant()
	grant.Tools = []string{"decode_vins"}
	token := bed.Mint(t, grant)
	stamp := bed.Stamper.Stamp("s1", token)
	for _, tool := range []string{"sql", "drop_tables"} {
		arguments := map[string]any{"query": "SELECT 1"}
		for era, r := range map[string]reply{
			"legacy": post(t, bed, token, stamp, "tools/call", map[string]any{"name": tool, "arguments": arguments}),
			"modern": modern(t, bed, token, stamp, "tools/call", tool, map[string]any{"name": tool, "arguments": arguments}),
		} {
			if r.Error == nil || r.Error.Code != -32602 || r.Error.Message != "unknown tool" || r.Error.Data.Message != "unknown tool "+tool {
				t.Errorf("%s %s: %+v", era, tool, r.Error)
			}
		}
	}
	records := bed.Refusals.Take()
	if len(records) != 2 || records[0].Kind != "tool" || records[0].Tool != "sql" || !records[0].Verified || records[0].Org != "acme" {
		t.Errorf("recorded %+v", records)
	}
	if len(g.Questions()) > 0 {
		t.Error("the gate was asked")
	}
	var list struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		CacheScope string `json:"cacheScope"`
	}
	r := modern(t, bed, token, stamp, "tools/list", "", nil)
	if r.Error != nil {
		t.Fatalf("tools/list: %+v", r.Error)
	}
	if err := json.Unmarshal(r.Result, &list); err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "decode_vins" {
		t.Errorf("list %s, %v", r.Result, err)
	}
	if list.CacheScope == "public" {
		t.Error("a list of one token may be cached for all")
	}
	// The same name twice: whichever of the two a parser takes, the tool off the list isn't run.
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"decode_vins","name":"sql","arguments":{"query":"SELECT 1"}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"sql","Name":"decode_vins","arguments":{"query":"SELECT 1"}}}`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","Method":"tools/list","params":{"name":"sql","arguments":{"query":"SELECT 1"}}}`,
		`[{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"sql","arguments":{"query":"SELECT 1"}}}]`,
	} {
		header := http.Header{"Authorization": {"Bearer " + token}, turntoken.StampHeader: {stamp}}
		if r := send(t, bed, header, []byte(body)); r.Result != nil && strings.Contains(string(r.Result), "audit_id") {
			t.Errorf("%s was answered: %s", body, r.Result)
		}
	}
	if len(g.Questions()) > 0 {
		t.Error("the gate was asked")
	}
}

func TestLivenessUnknownIsUnavailable(t *testing.T) {
	t.Parallel()
	bed := mcpservertest.Start(t, nil)
	bed.Live.Fail(errors.New("the agent does not answer"))
	token := bed.Mint(t, mcpservertest.Grant())
	r := post(t, bed, token, bed.Stamper.Stamp("s1", token), "tools/list", nil)
	if r.status != http.StatusServiceUnavailable || r.Error.Data.Code != fault.Unavailable || !r.Error.Data.Retryable || r.header.Get("Retry-After") == "" {
		t.Errorf("status %d, %+v", r.status, r.Error)
	}
	if records := bed.Refusals.Take(); len(records) != 1 || records[0].Kind != "unavailable" {
		t.Errorf("recorded %+v", records)
	}
}

// TestMissingConfigurationRefusesToStart holds that nothing serves without issuer, audience, key, liveness and secret.
func TestMissingConfigurationRefusesToStart(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*mcpserver.Config){
		"issuer":       func(c *mcpserver.Config) { c.Verifier.Issuer = "" },
		"audience":     func(c *mcpserver.Config) { c.Verifier.Audience = "" },
		"key":          func(c *mcpserver.Config) { c.Verifier.Key = nil },
		"short key":    func(c *mcpserver.Config) { c.Verifier.Key = c.Verifier.Key[:31] },
		"liveness":     func(c *mcpserver.Config) { c.Verifier.Live = nil },
		"secret":       func(c *mcpserver.Config) { c.Stamper.Secret = nil },
		"short secret": func(c *mcpserver.Config) { c.Stamper.Secret = c.Stamper.Secret[:16] },
		"refusals":     func(c *mcpserver.Config) { c.Refusals = nil },
		"gate":         func(c *mcpserver.Config) { c.Gate = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var good mcpserver.Config
			mcpservertest.Start(t, func(c *mcpserver.Config) { good = *c })
			change(&good)
			if _, err := mcpserver.New(good); err == nil {
				t.Error("it started")
			}
		})
	}
}
