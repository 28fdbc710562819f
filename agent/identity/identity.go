// Package identity knows organisations, their people and roles, and the sessions and API keys that speak for them.
package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// The roles, from the least to the most that a person may see.
const (
	Underwriter = "underwriter"
	Analyst     = "analyst"
	Auditor     = "auditor"
	Admin       = "admin"
)

// Roles lists every role.
func Roles() []string { return []string{Underwriter, Analyst, Auditor, Admin} }

// Kinds of failure.
var (
	ErrKey         = errors.New("identity: key refused")     // unknown, wrong, expired or revoked: callers can't tell which
	ErrSession     = errors.New("identity: session refused") // likewise
	ErrCredentials = errors.New("identity: e-mail address or password refused")
	ErrLink        = errors.New("identity: link refused") // unknown, used or expired
	ErrNotFound    = errors.New("identity: not found")
	ErrInvalid     = errors.New("identity: invalid")
	ErrConflict    = errors.New("identity: conflict")
	ErrBusy        = errors.New("identity: too many passwords are checked at once")
	ErrConfig      = errors.New("identity: incomplete configuration")
)

// Principal is who a request comes from.
type Principal struct {
	Org     string
	Person  string
	Name    string
	Email   string
	Role    string
	Key     string // the key's id, "" for a session
	Session string // the session's id, "" for a key
	Scopes  Scopes // what the key may be used for; a session may be used for all that the role may
	Address string // where the request came from
}

type principalKey struct{}

// With puts a principal into a context: who does what is done with it.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// From is the principal of a context; false where nobody signed in, as on the operator's command line.
func From(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// Config is what a Directory is made of. DB is required.
type Config struct {
	DB   *sql.DB // has the journal's schema
	Now  func() time.Time
	Rand io.Reader
	Cost Cost          // of a password's hash; zero: DefaultCost
	Idle time.Duration // a session unused for so long ends; default 8 h
	Life time.Duration // a session ends after so long; default 7 days
}

// Directory keeps identities in the journal's database.
type Directory struct {
	db     *sql.DB
	now    func() time.Time
	rand   io.Reader
	idle   time.Duration
	life   time.Duration
	hasher *hasher
}

// New returns a Directory.
func New(c Config) (*Directory, error) {
	if c.DB == nil {
		return nil, fmt.Errorf("%w: a directory needs a database", ErrConfig)
	}
	d := &Directory{db: c.DB, now: c.Now, rand: c.Rand, idle: c.Idle, life: c.Life}
	if d.now == nil {
		d.now = time.Now
	}
	if d.rand == nil {
		d.rand = rand.Reader
	}
	if d.idle == 0 {
		d.idle = 8 * time.Hour
	}
	if d.life == 0 {
		d.life = 7 * 24 * time.Hour
	}
	if c.Cost == (Cost{}) {
		c.Cost = DefaultCost()
	}
	d.hasher = newHasher(c.Cost)
	return d, nil
}

// token is a new random secret with a public id: prefix, id, "_", secret.
func (d *Directory) token(prefix string) (id, secret, whole string, err error) {
	raw := make([]byte, 8+32)
	if _, err := io.ReadFull(d.rand, raw); err != nil {
		return "", "", "", fmt.Errorf("making a secret: %w", err)
	}
	id, secret = hex.EncodeToString(raw[:8]), base64.RawURLEncoding.EncodeToString(raw[8:])
	return id, secret, prefix + id + "_" + secret, nil
}

// maxToken is longer than any token of ours.
const maxToken = 256

// parse takes a token apart. What is no token has an empty id.
func parse(prefix, whole string) (id, secret string) {
	rest, ok := strings.CutPrefix(whole, prefix)
	if !ok || len(whole) > maxToken {
		return "", ""
	}
	id, secret, ok = strings.Cut(rest, "_")
	if !ok {
		return "", ""
	}
	return id, secret
}

// hash is what is kept of a token's secret: it has 256 random bits, so a slow hash would add nothing.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// same compares in a time that tells nothing, also when nothing is stored.
func same(stored, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(stored), []byte(hash(secret))) == 1
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
