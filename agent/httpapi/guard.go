package httpapi

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"bordereau/agent/identity"
)

// csrfHeader repeats what GET /api/session told the page.
const csrfHeader = "X-CSRF-Token"

// GuardConfig is what a Guard is made of. Identity and Log are required.
type GuardConfig struct {
	Identity Authenticator
	Log      *slog.Logger
	// Origin is where browsers find the program, such as https://bordereau.example; "" where it is what they ask for by Host.
	Origin string
	// Secure says that browsers come by TLS: cookies are for TLS only then.
	Secure bool
	// BehindProxy says that the last address of X-Forwarded-For is the proxy's word on who asks.
	BehindProxy bool
	// Recheck is how often a long request's session or key is looked at again; default 10 s.
	Recheck time.Duration
}

// Guard lets requests through to endpoints by session or key, role and scope.
type Guard struct {
	c     GuardConfig
	cross *http.CrossOriginProtection
}

// NewGuard checks c and returns a Guard.
func NewGuard(c GuardConfig) (*Guard, error) {
	if c.Identity == nil || c.Log == nil {
		return nil, fmt.Errorf("%w: a guard needs Identity and Log", ErrConfig)
	}
	if c.Recheck == 0 {
		c.Recheck = 10 * time.Second
	}
	g := &Guard{c: c, cross: http.NewCrossOriginProtection()}
	if c.Origin != "" {
		if err := g.cross.AddTrustedOrigin(c.Origin); err != nil {
			return nil, fmt.Errorf("%w: origin: %w", ErrConfig, err)
		}
	}
	return g, nil
}

// Wrap puts the guard before a handler. The handler finds who asks by identity.From(r.Context()).
func (g *Guard) Wrap(a Access, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := newRequestID()
		w.Header().Set("X-Request-ID", id)
		g.secure(w.Header())
		p, err := g.admit(r, a)
		if err != nil {
			g.refuse(w, r, id, err)
			return
		}
		ctx, release := g.hold(r, a, p)
		defer release()
		next.ServeHTTP(w, r.WithContext(ctx)) //nolint:contextcheck // it is the request's, with an end
	})
}

// admit says who asks, or why she may not.
func (g *Guard) admit(r *http.Request, a Access) (identity.Principal, error) {
	if !a.Stated() {
		return identity.Principal{}, &Error{Status: http.StatusForbidden, Code: Denied, Message: "nobody may do that", Hint: "ask whoever runs the system"}
	}
	key, byKey := apiKey(r)
	if !byKey {
		// A browser says where a request comes from, and a page can't make it lie.
		if err := g.cross.Check(r); err != nil {
			return identity.Principal{}, &Error{Status: http.StatusForbidden, Code: Denied, Message: "the request comes from a page of another site", Hint: "use the pages of this address", cause: err}
		}
	}
	if a.IsPublic() {
		return identity.Principal{Address: g.address(r)}, nil
	}
	p, err := g.principal(r, key, byKey)
	if err != nil {
		return p, err
	}
	if byKey && !a.Key(p.Scopes) {
		hint := "use a key with the scope " + string(a.scope)
		if a.scope == SessionOnly {
			hint = "sign in with a browser: no key may do that"
		}
		return p, &Error{Status: http.StatusForbidden, Code: Denied, Message: "the key is not for that", Hint: hint}
	}
	if !a.Role(p.Role) {
		return p, &Error{Status: http.StatusForbidden, Code: Denied, Message: "your role " + p.Role + " may not do that", Hint: "it is for the roles " + strings.Join(a.roles, ", ") + "; an administrator gives roles"}
	}
	return p, nil
}

// principal is whom the request's key or cookie speaks for.
func (g *Guard) principal(r *http.Request, key string, byKey bool) (p identity.Principal, err error) {
	token := ""
	if byKey {
		p, err = g.c.Identity.Authenticate(r.Context(), key)
	} else if token = g.cookie(r); token == "" {
		err = identity.ErrKey
	} else {
		p, err = g.c.Identity.Resume(r.Context(), token)
	}
	if err != nil {
		return identity.Principal{}, err
	}
	if !byKey && !safe(r.Method) && subtle.ConstantTimeCompare([]byte(r.Header.Get(csrfHeader)), []byte(identity.CSRF(token))) != 1 {
		return p, &Error{Status: http.StatusForbidden, Code: Denied, Field: "csrf", Message: "the request lacks its session's " + csrfHeader, Hint: "GET /api/session has the value; load the page again"}
	}
	p.Address = g.address(r)
	return p, nil
}

// hold gives a request's context its principal, and ends it when the session or key does: a stream may last much longer
// than the right to read it.
func (g *Guard) hold(r *http.Request, a Access, p identity.Principal) (context.Context, func()) {
	if a.IsPublic() {
		return r.Context(), func() {}
	}
	ctx, cancel := context.WithCancelCause(identity.With(r.Context(), p))
	asked := r.Clone(ctx)
	var again *time.Timer
	again = time.AfterFunc(math.MaxInt64, func() {
		// Only a refusal ends the request: a database that doesn't answer now may answer next time.
		if _, err := g.admit(asked, a); refusal(err) {
			cancel(err)
			return
		}
		if ctx.Err() == nil {
			again.Reset(g.c.Recheck)
		}
	})
	again.Reset(g.c.Recheck)
	return ctx, func() {
		again.Stop()
		cancel(nil)
	}
}

func refusal(err error) bool {
	return errors.Is(err, identity.ErrKey) || errors.Is(err, identity.ErrSession) || errors.As(err, new(*Error))
}

func apiKey(r *http.Request) (string, bool) {
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return strings.TrimSpace(key), true
	}
	key := r.Header.Get("X-API-Key")
	return strings.TrimSpace(key), key != ""
}

func safe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// cookieName has a prefix that keeps other hosts and plain HTTP from setting the cookie, where there is TLS.
func (g *Guard) cookieName() string {
	if g.c.Secure {
		return "__Host-bordereau"
	}
	return "bordereau"
}

func (g *Guard) cookie(r *http.Request) string {
	c, err := r.Cookie(g.cookieName())
	if err != nil {
		return ""
	}
	return c.Value
}

// setCookie keeps a session's token where no script can read it; "" removes it.
func (g *Guard) setCookie(w http.ResponseWriter, token string, expires time.Time) {
	c := &http.Cookie{Name: g.cookieName(), Value: token, Path: "/", HttpOnly: true, Secure: g.c.Secure, SameSite: http.SameSiteLaxMode, Expires: expires} //nolint:gosec // Secure wherever TLS ends in front
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// flowName is the cookie of a sign-in under way at an identity provider.
func (g *Guard) flowName() string { return g.cookieName() + "-oidc" }

func (g *Guard) flow(r *http.Request) string {
	c, err := r.Cookie(g.flowName())
	if err != nil {
		return ""
	}
	return c.Value
}

// setFlow keeps a sign-in under way in the browser that began it; "" removes it. Lax, because the provider's site sends it back.
func (g *Guard) setFlow(w http.ResponseWriter, kept string) {
	c := &http.Cookie{Name: g.flowName(), Value: kept, Path: "/", HttpOnly: true, Secure: g.c.Secure, SameSite: http.SameSiteLaxMode, MaxAge: 600} //nolint:gosec // Secure wherever TLS ends in front
	if kept == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// origin is where the browser finds this program.
func (g *Guard) origin(r *http.Request) string {
	if g.c.Origin != "" {
		return g.c.Origin
	}
	if g.c.Secure {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// address is who asks, as far as that can be known.
func (g *Guard) address(r *http.Request) string {
	if g.c.BehindProxy {
		all := r.Header.Values("X-Forwarded-For")
		if len(all) > 0 {
			hops := strings.Split(all[len(all)-1], ",")
			if ip := net.ParseIP(strings.TrimSpace(hops[len(hops)-1])); ip != nil {
				return ip.String()
			}
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}

func (g *Guard) visit(r *http.Request) identity.Visit {
	return identity.Visit{Address: g.address(r), Agent: r.UserAgent()}
}

// secure keeps answers from being run, framed, guessed, stored or read by other sites.
func (g *Guard) secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if g.c.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// refuse answers outside of gin, as write does within.
func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, id string, err error) {
	e := *typed(err)
	e.RequestID = id
	if e.Status >= 500 {
		g.c.Log.ErrorContext(r.Context(), "request failed", slog.String("request_id", id), slog.String("route", r.Pattern), slog.Any("error", err))
	}
	e.headers(w.Header())
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(e.Status)
	_ = json.NewEncoder(w).Encode(ErrorBody{Error: &e}) // the client left
}
