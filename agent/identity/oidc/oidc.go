// Package oidc signs people in with their organisation's identity provider: OpenID Connect's code flow with PKCE.
package oidc

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"bordereau/agent/identity"
)

// Kinds of failure.
var (
	ErrConfig     = errors.New("oidc: incomplete configuration")
	ErrUnknown    = errors.New("oidc: no identity provider is configured for that organisation or address")
	ErrState      = errors.New("oidc: the answer belongs to no sign-in that this browser began")
	ErrDenied     = errors.New("oidc: the provider signed nobody in")
	ErrProvider   = errors.New("oidc: the provider doesn't answer as it should")
	ErrToken      = errors.New("oidc: the provider's token is refused")
	ErrUnverified = errors.New("oidc: the provider has not verified the e-mail address")
)

// CallbackPath is where providers send browsers back to; it is registered with each of them.
const CallbackPath = "/api/session/oidc/callback"

// flowLife is how long somebody may take to sign in at a provider.
const flowLife = 10 * time.Minute

// Provider is an organisation's identity provider.
type Provider struct {
	Organisation string
	Issuer       string
	ClientID     string
	Secret       string // "": a public client, which PKCE protects
	// Domains are the e-mail domains whose people are sent here. With DefaultRole, people of theirs who are new are let in.
	Domains     []string
	DefaultRole string
}

// Directory begins the session of whom a provider vouches for.
type Directory interface {
	SignInVouched(ctx context.Context, v identity.Vouched) (identity.SignedIn, error)
}

// Config is what a SignIn is made of. All fields but HTTP and Now are required.
type Config struct {
	Providers []Provider
	Directory Directory
	Origin    string // where browsers find this program
	Seal      []byte // 32 secret bytes, the same in all replicas
	HTTP      *http.Client
	Now       func() time.Time
}

// SignIn signs people in with the providers.
type SignIn struct {
	c    Config
	seal cipher.AEAD

	mu    sync.Mutex
	known map[string]*gooidc.Provider // by issuer: what was discovered
}

// New checks c. Providers are looked up when somebody first signs in: one that is down doesn't keep the program from starting.
func New(c Config) (*SignIn, error) {
	if len(c.Providers) == 0 || c.Directory == nil || c.Origin == "" {
		return nil, fmt.Errorf("%w: it needs Providers, Directory and Origin", ErrConfig)
	}
	for _, p := range c.Providers {
		u, err := url.Parse(p.Issuer)
		switch {
		case err != nil || p.Organisation == "" || p.ClientID == "" || u.Host == "":
			return nil, fmt.Errorf("%w: a provider has an organisation, an issuer and a client id", ErrConfig)
		case u.Scheme != "https" && !local(u.Hostname()):
			return nil, fmt.Errorf("%w: the issuer %s is not https", ErrConfig, p.Issuer)
		case p.DefaultRole != "" && (!slices.Contains(identity.Roles(), p.DefaultRole) || p.DefaultRole == identity.Admin || len(p.Domains) == 0):
			return nil, fmt.Errorf("%w: the default role of %s is a role other than admin, for people of its domains", ErrConfig, p.Organisation)
		}
	}
	block, err := aes.NewCipher(c.Seal)
	if err != nil {
		return nil, fmt.Errorf("%w: the seal: %w", ErrConfig, err)
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("%w: the seal: %w", ErrConfig, err)
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: 10 * time.Second}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &SignIn{c: c, seal: seal, known: map[string]*gooidc.Provider{}}, nil
}

func local(host string) bool { return host == "127.0.0.1" || host == "::1" || host == "localhost" }

// Ask says with whose provider somebody wants to sign in, and where in the pages to go afterwards.
type Ask struct {
	Organisation string
	Email        string
	Return       string
}

// flow is what the browser keeps, sealed, between leaving and coming back. Only the browser that left has it.
type flow struct {
	Organisation string    `json:"o"`
	State        string    `json:"s"`
	Nonce        string    `json:"n"`
	Verifier     string    `json:"v"`
	Return       string    `json:"r"`
	Expires      time.Time `json:"e"`
}

// Begin returns where to send the browser, and what it keeps until it comes back.
func (s *SignIn) Begin(ctx context.Context, a Ask) (to, kept string, err error) {
	p, ok := s.provider(a)
	if !ok {
		return "", "", ErrUnknown
	}
	client, _, err := s.client(ctx, p)
	if err != nil {
		return "", "", err
	}
	f := flow{
		Organisation: p.Organisation, State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		Return: localPath(a.Return), Expires: s.c.Now().Add(flowLife),
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return "", "", fmt.Errorf("oidc: keeping a sign-in: %w", err)
	}
	options := []oauth2.AuthCodeOption{gooidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)}
	if a.Email != "" {
		options = append(options, oauth2.SetAuthURLParam("login_hint", a.Email))
	}
	return client.AuthCodeURL(f.State, options...), base64.RawURLEncoding.EncodeToString(s.seal.Seal(nil, nil, raw, []byte(CallbackPath))), nil //nolint:gosec // no nonce is handed over: the seal makes a random one
}

// End takes what the provider sent back with the browser, verifies it and begins a session. It returns where in the pages to go.
func (s *SignIn) End(ctx context.Context, kept string, answer url.Values, v identity.Visit) (identity.SignedIn, string, error) {
	f, err := s.open(kept)
	if err != nil {
		return identity.SignedIn{}, "", err
	}
	if subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(f.State)) != 1 {
		return identity.SignedIn{}, "", ErrState
	}
	p, ok := s.provider(Ask{Organisation: f.Organisation})
	if !ok {
		return identity.SignedIn{}, "", ErrUnknown
	}
	// RFC 9207: an answer that another provider sent here.
	if iss := answer.Get("iss"); iss != "" && iss != p.Issuer {
		return identity.SignedIn{}, "", fmt.Errorf("%w: the answer is of another issuer", ErrState)
	}
	if e := answer.Get("error"); e != "" || answer.Get("code") == "" {
		return identity.SignedIn{}, "", fmt.Errorf("%w: %q", ErrDenied, e)
	}
	who, err := s.redeem(ctx, p, f, answer.Get("code"))
	if err != nil {
		return identity.SignedIn{}, "", err
	}
	role := ""
	if _, domain, _ := strings.Cut(who.Email, "@"); slices.Contains(p.Domains, strings.ToLower(domain)) {
		role = p.DefaultRole
	}
	in, err := s.c.Directory.SignInVouched(ctx, identity.Vouched{
		Organisation: p.Organisation, Issuer: p.Issuer, Subject: who.subject, Email: who.Email, Name: who.Name, DefaultRole: role, Visit: v,
	})
	return in, f.Return, err
}

// claims are what is used of an ID token.
type claims struct {
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	Name          string `json:"name"`
	Party         string `json:"azp"`
	subject       string
}

// redeem changes the code for an ID token and verifies that.
func (s *SignIn) redeem(ctx context.Context, p Provider, f flow, code string) (claims, error) {
	client, provider, err := s.client(ctx, p)
	if err != nil {
		return claims{}, err
	}
	ctx = gooidc.ClientContext(ctx, s.c.HTTP)
	answer, err := client.Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return claims{}, fmt.Errorf("%w: changing the code for a token: %w", ErrProvider, err)
	}
	raw, ok := answer.Extra("id_token").(string)
	if !ok {
		return claims{}, fmt.Errorf("%w: the answer has no ID token", ErrProvider)
	}
	verifier := provider.VerifierContext(ctx, &gooidc.Config{
		ClientID: p.ClientID, Now: s.c.Now,
		// Signatures with keys that are published; never none, and never a secret that both sides have.
		SupportedSigningAlgs: []string{gooidc.RS256, gooidc.RS384, gooidc.RS512, gooidc.PS256, gooidc.PS384, gooidc.PS512, gooidc.ES256, gooidc.ES384, gooidc.ES512, gooidc.EdDSA},
	})
	token, err := verifier.Verify(ctx, raw)
	if err != nil {
		return claims{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(f.Nonce)) != 1 {
		return claims{}, fmt.Errorf("%w: it was made for another sign-in", ErrToken)
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return claims{}, fmt.Errorf("%w: its claims can't be read: %w", ErrToken, err)
	}
	c.subject = token.Subject
	switch {
	case len(token.Audience) > 1 && c.Party != p.ClientID, c.Party != "" && c.Party != p.ClientID:
		return claims{}, fmt.Errorf("%w: it was given to another party", ErrToken)
	case c.subject == "" || c.Email == "":
		return claims{}, fmt.Errorf("%w: it names no subject or no e-mail address", ErrToken)
	case !c.EmailVerified:
		return claims{}, ErrUnverified
	}
	return c, nil
}

func (s *SignIn) open(kept string) (flow, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(kept)
	if err != nil || kept == "" {
		return flow{}, ErrState
	}
	raw, err := s.seal.Open(nil, nil, sealed, []byte(CallbackPath))
	if err != nil {
		return flow{}, ErrState
	}
	var f flow
	if err := json.Unmarshal(raw, &f); err != nil || !s.c.Now().Before(f.Expires) {
		return flow{}, ErrState
	}
	return f, nil
}

// provider is the organisation's, or that of the e-mail address's domain.
func (s *SignIn) provider(a Ask) (Provider, bool) {
	_, domain, _ := strings.Cut(strings.ToLower(strings.TrimSpace(a.Email)), "@")
	i := slices.IndexFunc(s.c.Providers, func(p Provider) bool {
		if a.Organisation != "" {
			return p.Organisation == a.Organisation
		}
		return domain != "" && slices.Contains(p.Domains, domain)
	})
	if i < 0 {
		return Provider{}, false
	}
	return s.c.Providers[i], true
}

// client is how to speak with a provider, whose addresses are asked once.
func (s *SignIn) client(ctx context.Context, p Provider) (*oauth2.Config, *gooidc.Provider, error) {
	s.mu.Lock()
	found := s.known[p.Issuer]
	s.mu.Unlock()
	if found == nil {
		var err error
		// The discovered provider keeps its context for the keys that it fetches later.
		if found, err = gooidc.NewProvider(gooidc.ClientContext(context.WithoutCancel(ctx), s.c.HTTP), p.Issuer); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrProvider, err)
		}
		s.mu.Lock()
		s.known[p.Issuer] = found
		s.mu.Unlock()
	}
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: p.Secret, Endpoint: found.Endpoint(), RedirectURL: s.c.Origin + CallbackPath,
		Scopes: []string{gooidc.ScopeOpenID, "email", "profile"},
	}, found, nil
}

// maxReturn is as much of a path as fits into the cookie.
const maxReturn = 1024

// localPath is a path of these pages, or the first page: never another site's address.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || len(to) > maxReturn || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.ContainsAny(to, "\\\r\n\t") || strings.HasPrefix(path.Clean(u.Path), "/api") {
		return "/"
	}
	return to
}
