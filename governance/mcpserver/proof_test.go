package mcpserver_test

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/mcpserver"
	"bordereau/governance/mcpserver/mcpservertest"
	"bordereau/governance/spent"
	"bordereau/governance/turntoken"
	"bordereau/migrations"
)

const publicURL = "https://governance.example/mcp"

// proving starts a server that takes proofs of possession, for sandboxes without a door.
func proving(t *testing.T, g *mcpservertest.Gate, change func(*mcpserver.Config)) *mcpservertest.Bed {
	t.Helper()
	db, _, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "spent.db"), migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store, err := spent.New(db, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return mcpservertest.Start(t, func(c *mcpserver.Config) {
		c.Gate = g
		c.Verifier.Proofs = turntoken.Proofs{URL: publicURL, Spent: store}
		if change != nil {
			change(c)
		}
	})
}

func newKey(t *testing.T) (ed25519.PrivateKey, string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return private, turntoken.Thumbprint(public)
}

func bound(thumbprint string) turntoken.Grant {
	g := mcpservertest.Grant()
	g.Key = thumbprint
	return g
}

func prove(t *testing.T, key ed25519.PrivateKey, method, address, token string, at time.Time) string {
	t.Helper()
	p, err := turntoken.Prove(key, method, address, token, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func query(t *testing.T, bed *mcpservertest.Bed, header http.Header) reply {
	t.Helper()
	header.Set("Mcp-Protocol-Version", "2025-06-18")
	return send(t, bed, header, []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"sql","arguments":{"query":"SELECT 1"}}}`))
}

// TestProofAttacks makes each attack on a proof over the real endpoint: each is refused, typed, on record, and reaches no data.
func TestProofAttacks(t *testing.T) {
	t.Parallel()
	g := &mcpservertest.Gate{}
	bed := proving(t, g, nil)
	key, thumbprint := newKey(t)
	stranger, theirs := newKey(t)
	token, other := bed.Mint(t, bound(thumbprint)), bed.Mint(t, bound(thumbprint))
	unbound := bed.Mint(t, mcpservertest.Grant())
	now := time.Now()
	// made is a proof of any header and claims, signed as one likes.
	made := func(change func(h, c map[string]any), sign func(text string) []byte) string {
		public, ok := key.Public().(ed25519.PublicKey)
		if !ok {
			t.Fatal("no public key")
		}
		h := map[string]any{"typ": "dpop+jwt", "alg": "EdDSA", "jwk": map[string]any{"kty": "OKP", "crv": "Ed25519", "x": b64(public)}}
		sum := sha256.Sum256([]byte(token))
		c := map[string]any{"jti": rand.Text(), "htm": "POST", "htu": publicURL, "iat": now.Unix(), "ath": b64(sum[:])}
		change(h, c)
		return forge(t, h, c, sign)
	}
	own := func(text string) []byte { return ed25519.Sign(key, []byte(text)) }
	claim := func(name string, value any) string {
		return made(func(_, c map[string]any) {
			if value == nil {
				delete(c, name)
			} else {
				c[name] = value
			}
		}, own)
	}
	head := func(name string, value any) string { return made(func(h, _ map[string]any) { h[name] = value }, own) }
	same := func(_, _ map[string]any) {}
	honest := prove(t, key, "POST", publicURL, token, now)
	secret := map[string]any{"kty": "oct", "k": b64([]byte("shared secret of nobody at all!!"))}

	if r := query(t, bed, http.Header{"Authorization": {"DPoP " + token}, "Dpop": {honest}}); r.status != http.StatusOK || r.Error != nil {
		t.Fatalf("an honest proof: %d %+v", r.status, r.Error)
	}
	if asked := g.Questions(); len(asked) != 1 {
		t.Fatalf("the gate was asked %d times", len(asked))
	}
	for _, a := range []struct {
		name, token, scheme string
		proofs              []string
		kind                string
	}{
		{name: "the same proof again", proofs: []string{honest}, kind: "replayed"},
		{name: "no proof", kind: "proof"},
		{name: "two proofs", proofs: []string{claim("x", 1), claim("x", 2)}, kind: "proof"},
		{name: "not a proof", proofs: []string{"hello"}, kind: "proof"},
		{name: "the token as its own proof", proofs: []string{token}, kind: "proof"},
		{name: "another's key", proofs: []string{prove(t, stranger, "POST", publicURL, token, now)}, kind: "proof"},
		{name: "another's signature under this key", proofs: []string{made(same, func(text string) []byte { return ed25519.Sign(stranger, []byte(text)) })}, kind: "proof"},
		{name: "alg none", proofs: []string{made(func(h, _ map[string]any) { h["alg"] = "none" }, func(string) []byte { return nil })}, kind: "proof"},
		{name: "alg none, signed", proofs: []string{head("alg", "none")}, kind: "proof"},
		{name: "HS256 with a key of its own", proofs: []string{made(func(h, _ map[string]any) { h["alg"], h["jwk"] = "HS256", secret }, func(text string) []byte {
			m := hmac.New(sha256.New, []byte("shared secret of nobody at all!!"))
			m.Write([]byte(text))
			return m.Sum(nil)
		})}, kind: "proof"},
		{name: "no key in it", proofs: []string{head("jwk", nil)}, kind: "proof"},
		{name: "a private key in it", proofs: []string{head("jwk", map[string]any{"kty": "OKP", "crv": "Ed25519", "x": b64(key[32:]), "d": b64(key[:32])})}, kind: "proof"},
		{name: "a short key in it", proofs: []string{head("jwk", map[string]any{"kty": "OKP", "crv": "Ed25519", "x": "AAAA"})}, kind: "proof"},
		{name: "another type", proofs: []string{head("typ", "JWT")}, kind: "proof"},
		{name: "a critical extension", proofs: []string{head("crit", []string{"x"})}, kind: "proof"},
		{name: "another method", proofs: []string{claim("htm", "GET")}, kind: "proof"},
		{name: "no method", proofs: []string{claim("htm", nil)}, kind: "proof"},
		{name: "another path", proofs: []string{claim("htu", publicURL+"/other")}, kind: "proof"},
		{name: "another host", proofs: []string{claim("htu", "https://evil.example/mcp")}, kind: "proof"},
		{name: "another port", proofs: []string{claim("htu", "https://governance.example:8443/mcp")}, kind: "proof"},
		{name: "another scheme", proofs: []string{claim("htu", "http://governance.example/mcp")}, kind: "proof"},
		{name: "an address with a user", proofs: []string{claim("htu", "https://x@governance.example/mcp")}, kind: "proof"},
		{name: "no address", proofs: []string{claim("htu", nil)}, kind: "proof"},
		{name: "stale", proofs: []string{claim("iat", now.Unix()-120)}, kind: "proof"},
		{name: "from the future", proofs: []string{claim("iat", now.Unix()+120)}, kind: "proof"},
		{name: "no time", proofs: []string{claim("iat", nil)}, kind: "proof"},
		{name: "a time that overflows", proofs: []string{claim("iat", "x")}, kind: "proof"},
		{name: "no id", proofs: []string{claim("jti", nil)}, kind: "proof"},
		{name: "for another token", proofs: []string{prove(t, key, "POST", publicURL, other, now)}, kind: "proof"},
		{name: "no token hash", proofs: []string{claim("ath", nil)}, kind: "proof"},
		{name: "huge", proofs: []string{claim("jti", string(make([]byte, 6000)))}, kind: "proof"},
		{name: "a token bound to another key", token: bed.Mint(t, bound(theirs)), kind: "proof"},
		{name: "a token that is bound to nothing", token: unbound, proofs: []string{prove(t, key, "POST", publicURL, unbound, now)}, kind: "proof"},
		{name: "a bound token with a stamp", scheme: "Bearer", proofs: []string{claim("x", 3)}, kind: "proof"},
		{name: "of an ended turn", token: bed.Mint(t, func() turntoken.Grant { g := bound(thumbprint); g.Turn = "ended"; return g }()), kind: "dead"},
	} {
		t.Run(a.name, func(t *testing.T) {
			bed.Live.End("ended")
			bed.Refusals.Take()
			use, scheme := a.token, a.scheme
			if use == "" {
				use = token
			}
			if scheme == "" {
				scheme = "DPoP"
			}
			proofs := a.proofs
			if a.token != "" && proofs == nil {
				proofs = []string{prove(t, key, "POST", publicURL, use, now)}
			}
			r := query(t, bed, http.Header{"Authorization": {scheme + " " + use}, "Dpop": proofs, turntoken.StampHeader: {bed.Stamper.Stamp("s1", use)}})
			if r.status != http.StatusUnauthorized || r.Error == nil || r.Error.Data == nil || r.Error.Data.Code != fault.Auth {
				t.Errorf("status %d, error %+v", r.status, r.Error)
			}
			if !slices.Contains(r.header.Values("WWW-Authenticate"), `DPoP error="invalid_dpop_proof", algs="EdDSA"`) {
				t.Errorf("WWW-Authenticate %q", r.header.Values("WWW-Authenticate"))
			}
			if records := bed.Refusals.Take(); len(records) != 1 || records[0].Kind != a.kind || records[0].Verified {
				t.Errorf("recorded %+v; want one of kind %q", records, a.kind)
			}
		})
	}
	if asked := g.Questions(); len(asked) != 1 {
		t.Errorf("the gate was asked %d times", len(asked))
	}
	// Written otherwise, the address is the same; a fresh proof of the same token passes.
	for _, address := range []string{"HTTPS://Governance.Example:443/mcp", publicURL + "?x=1#y"} {
		if r := query(t, bed, http.Header{"Authorization": {"DPoP " + token}, "Dpop": {claim("htu", address)}}); r.status != http.StatusOK || r.Error != nil {
			t.Errorf("%s: %d %+v", address, r.status, r.Error)
		}
	}
}

// broken is a memory of proofs that can't be asked.
type broken struct{}

// Spend fails.
func (broken) Spend(context.Context, string, time.Time) (bool, error) {
	return false, errors.New("the database does not answer")
}

func TestProofsWithoutMemoryAreNoYes(t *testing.T) {
	t.Parallel()
	key, thumbprint := newKey(t)
	// Where proofs are not configured, a bound token is refused.
	bed := mcpservertest.Start(t, nil)
	token := bed.Mint(t, bound(thumbprint))
	header := func() http.Header {
		return http.Header{"Authorization": {"DPoP " + token}, "Dpop": {prove(t, key, "POST", publicURL, token, time.Now())}}
	}
	if r := query(t, bed, header()); r.status != http.StatusUnauthorized {
		t.Errorf("status %d", r.status)
	}
	// Where nobody can tell whether a proof is fresh, the call waits.
	bed = proving(t, &mcpservertest.Gate{}, func(c *mcpserver.Config) { c.Verifier.Proofs.Spent = broken{} })
	token = bed.Mint(t, bound(thumbprint))
	if r := query(t, bed, header()); r.status != http.StatusServiceUnavailable || r.Error == nil || !r.Error.Data.Retryable {
		t.Errorf("status %d, %+v", r.status, r.Error)
	}
}
