package turntoken_test

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"bordereau/governance/turntoken"
)

type live struct {
	turn  string
	epoch int64
	err   error
}

func (l live) TurnLive(_ context.Context, turn string, epoch int64) (bool, error) {
	return turn == l.turn && epoch == l.epoch, l.err
}

var at = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func grant() turntoken.Grant {
	return turntoken.Grant{Org: "northgate", Person: "p1", Role: "underwriter", Conversation: "c1", Turn: "t1", Epoch: 3, Sandbox: "c1-1", Tools: []string{"sql"}}
}

func pair(t *testing.T) (turntoken.Minter, turntoken.Verifier) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return at }
	return turntoken.Minter{Key: private, Issuer: "agent", Audience: "governance", Now: now},
		turntoken.Verifier{Key: public, Issuer: "agent", Audience: "governance", Live: live{"t1", 3, nil}, Now: now}
}

func TestMintedTokenIsTaken(t *testing.T) {
	t.Parallel()
	m, v := pair(t)
	token, expires, err := m.Mint(grant())
	if err != nil {
		t.Fatal(err)
	}
	c, err := v.Verify(t.Context(), token, "c1-1")
	if err != nil {
		t.Fatal(err)
	}
	if c.Org != "northgate" || c.Person != "p1" || c.Epoch != 3 || !c.May("sql") || c.May("reconcile") || !c.Expires.Equal(expires) || c.ID == "" {
		t.Errorf("claims %+v", c)
	}
}

// TestAttacks holds a token, or how it is used, against the refusal that each attack must meet.
func TestAttacks(t *testing.T) {
	t.Parallel()
	m, v := pair(t)
	good, _, err := m.Mint(grant())
	if err != nil {
		t.Fatal(err)
	}
	mint := func(change func(*turntoken.Minter, *turntoken.Grant)) string {
		m, g := m, grant()
		change(&m, &g)
		token, _, err := m.Mint(g)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	sign := func(method jwt.SigningMethod, key any, change func(jwt.MapClaims)) string {
		claims := jwt.MapClaims{
			"iss": "agent", "aud": "governance", "sub": "p1", "jti": "j", "org": "northgate", "role": "underwriter", "conversation": "c1", "turn": "t1", "epoch": 3,
			"sandbox": "c1-1", "tools": []string{"sql"}, "iat": at.Unix(), "nbf": at.Unix(), "exp": at.Add(time.Minute).Unix(),
		}
		change(claims)
		token, err := jwt.NewWithClaims(method, claims).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	der, err := x509.MarshalPKIXPublicKey(v.Key)
	if err != nil {
		t.Fatal(err)
	}
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	same := func(jwt.MapClaims) {}
	edited := func() string {
		parts := strings.Split(good, ".")
		raw, _ := base64.RawURLEncoding.DecodeString(parts[1])
		var claims map[string]any
		if err := json.Unmarshal(raw, &claims); err != nil {
			t.Fatal(err)
		}
		claims["org"] = "someone-else"
		raw, _ = json.Marshal(claims)
		return parts[0] + "." + base64.RawURLEncoding.EncodeToString(raw) + "." + parts[2]
	}
	for name, attack := range map[string]struct {
		token, sandbox string
		want           error
	}{
		"alg none":              {sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, same), "c1-1", turntoken.ErrMalformed},
		"HS256 with public key": {sign(jwt.SigningMethodHS256, []byte(v.Key), same), "c1-1", turntoken.ErrMalformed},
		"HS256 with its DER":    {sign(jwt.SigningMethodHS256, der, same), "c1-1", turntoken.ErrMalformed},
		"another key":           {sign(jwt.SigningMethodEdDSA, stranger, same), "c1-1", turntoken.ErrMalformed},
		"other issuer":          {mint(func(m *turntoken.Minter, _ *turntoken.Grant) { m.Issuer = "x" }), "c1-1", turntoken.ErrMalformed},
		"other audience":        {mint(func(m *turntoken.Minter, _ *turntoken.Grant) { m.Audience = "x" }), "c1-1", turntoken.ErrMalformed},
		"edited claims":         {edited(), "c1-1", turntoken.ErrMalformed},
		"other sandbox":         {good, "c2-1", turntoken.ErrSandbox},
		"no sandbox":            {good, "", turntoken.ErrSandbox},
		"other epoch":           {mint(func(_ *turntoken.Minter, g *turntoken.Grant) { g.Epoch = 2 }), "c1-1", turntoken.ErrDead},
		"ended turn":            {mint(func(_ *turntoken.Minter, g *turntoken.Grant) { g.Turn = "t0" }), "c1-1", turntoken.ErrDead},
		"expired":               {mint(func(m *turntoken.Minter, _ *turntoken.Grant) { m.Now = func() time.Time { return at.Add(-time.Hour) } }), "c1-1", turntoken.ErrExpired},
		"not yet valid":         {mint(func(m *turntoken.Minter, _ *turntoken.Grant) { m.Now = func() time.Time { return at.Add(time.Hour) } }), "c1-1", turntoken.ErrExpired},
		"no expiry":             {sign(jwt.SigningMethodEdDSA, m.Key, func(c jwt.MapClaims) { delete(c, "exp") }), "c1-1", turntoken.ErrMalformed},
		"no start":              {sign(jwt.SigningMethodEdDSA, m.Key, func(c jwt.MapClaims) { delete(c, "nbf") }), "c1-1", turntoken.ErrMalformed},
		"too long a life":       {sign(jwt.SigningMethodEdDSA, m.Key, func(c jwt.MapClaims) { c["exp"] = at.Add(time.Hour).Unix() }), "c1-1", turntoken.ErrMalformed},
		"no organisation":       {sign(jwt.SigningMethodEdDSA, m.Key, func(c jwt.MapClaims) { delete(c, "org") }), "c1-1", turntoken.ErrMalformed},
		"huge":                  {good + strings.Repeat("a", 1<<20), "c1-1", turntoken.ErrMalformed},
		"empty":                 {"", "c1-1", turntoken.ErrMalformed},
		"not a token":           {"a.b.c", "c1-1", turntoken.ErrMalformed},
	} {
		if _, err := v.Verify(t.Context(), attack.token, attack.sandbox); !errors.Is(err, attack.want) || !errors.Is(err, turntoken.ErrRefused) {
			t.Errorf("%s: error %v, want %v", name, err, attack.want)
		}
	}
}

func TestUnknownLivenessIsNeverYes(t *testing.T) {
	t.Parallel()
	m, v := pair(t)
	v.Live = live{"t1", 3, errors.New("down")}
	token, _, err := m.Mint(grant())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(t.Context(), token, "c1-1"); !errors.Is(err, turntoken.ErrUnavailable) || errors.Is(err, turntoken.ErrRefused) {
		t.Errorf("error %v, want %v", err, turntoken.ErrUnavailable)
	}
}

func TestIncompleteConfigurationIsRefused(t *testing.T) {
	t.Parallel()
	m, v := pair(t)
	for name, check := range map[string]func() error{
		"no issuer":   func() error { v := v; v.Issuer = ""; return v.Check() },
		"no audience": func() error { v := v; v.Audience = ""; return v.Check() },
		"no key":      func() error { v := v; v.Key = nil; return v.Check() },
		"no liveness": func() error { v := v; v.Live = nil; return v.Check() },
		"minter":      func() error { m := m; m.Key = nil; _, _, err := m.Mint(grant()); return err },
		"long life":   func() error { m := m; m.TTL = time.Hour; _, _, err := m.Mint(grant()); return err },
		"grant":       func() error { g := grant(); g.Sandbox = ""; _, _, err := m.Mint(g); return err },
		"stamper":     func() error { return turntoken.Stamper{Secret: []byte("short")}.Check() },
	} {
		if err := check(); !errors.Is(err, turntoken.ErrConfig) {
			t.Errorf("%s: error %v, want %v", name, err, turntoken.ErrConfig)
		}
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	now := at
	s := turntoken.Stamper{Secret: []byte(strings.Repeat("k", 32)), Now: func() time.Time { return now }}
	stamp := s.Stamp("c1-1", "token")
	if got, err := s.Sandbox(stamp, "token"); err != nil || got != "c1-1" {
		t.Errorf("sandbox %q, %v", got, err)
	}
	other := turntoken.Stamper{Secret: []byte(strings.Repeat("x", 32)), Now: s.Now}
	for name, refused := range map[string][2]string{
		"other token":   {stamp, "other"},
		"other secret":  {other.Stamp("c1-1", "token"), "token"},
		"other sandbox": {strings.Replace(stamp, "c1-1", "c2-1", 1), "token"},
		"empty":         {"", "token"},
		"parts":         {"a.b", "token"},
		"huge":          {strings.Repeat("a", 1000), "token"},
	} {
		if _, err := s.Sandbox(refused[0], refused[1]); !errors.Is(err, turntoken.ErrSandbox) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	now = at.Add(2 * time.Minute)
	if _, err := s.Sandbox(stamp, "token"); !errors.Is(err, turntoken.ErrSandbox) {
		t.Errorf("an old stamp: error %v", err)
	}
}

func FuzzVerify(f *testing.F) {
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		f.Fatal(err)
	}
	v := turntoken.Verifier{Key: public, Issuer: "agent", Audience: "governance", Live: live{"t1", 3, nil}, Now: func() time.Time { return at }}
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := v.Verify(t.Context(), token, "c1-1"); !errors.Is(err, turntoken.ErrRefused) {
			t.Errorf("error %v", err)
		}
	})
}
