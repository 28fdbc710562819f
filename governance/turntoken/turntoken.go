// Package turntoken is the JWT that lets one turn, and nothing else, reach governed data.
package turntoken

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// MaxTTL bounds the life of a token; the loop renews it for longer turns.
const MaxTTL = 15 * time.Minute

// maxBytes bounds the text that Verify looks at.
const maxBytes = 8 << 10

// Kinds of refusal. Each wraps ErrRefused.
var (
	ErrRefused     = errors.New("turn token refused")
	ErrMalformed   = fmt.Errorf("%w: malformed", ErrRefused)
	ErrExpired     = fmt.Errorf("%w: expired or not yet valid", ErrRefused)
	ErrSandbox     = fmt.Errorf("%w: used from another sandbox", ErrRefused)
	ErrCaller      = errors.New("nobody who shares the secret vouches for this request")
	ErrDead        = fmt.Errorf("%w: its turn has ended or moved on", ErrRefused)
	ErrTool        = fmt.Errorf("%w: tool not on its list", ErrRefused)
	ErrUnavailable = errors.New("turn token: can't tell whether its turn is live") // not a refusal: ask again
	ErrConfig      = errors.New("turn token: incomplete configuration")
)

// Grant is what a token gives, to whom and from where.
type Grant struct {
	Org          string
	Person       string
	Role         string
	Conversation string
	Turn         string
	Epoch        int64
	Sandbox      string
	Tools        []string
	Key          string // thumbprint of the key that its holder proves to have; "" for a token that is used through a door
}

// Claims is a verified token.
type Claims struct {
	Grant
	ID      string
	Expires time.Time
}

// May tells whether the token's list holds a tool.
func (c Claims) May(tool string) bool { return slices.Contains(c.Tools, tool) }

// wire is the token's JSON.
type wire struct {
	Org          string   `json:"org"`
	Role         string   `json:"role"`
	Conversation string   `json:"conversation"`
	Turn         string   `json:"turn"`
	Epoch        int64    `json:"epoch"`
	Sandbox      string   `json:"sandbox"`
	Tools        []string `json:"tools"`
	Confirm      *confirm `json:"cnf,omitempty"`
	jwt.RegisteredClaims
}

// confirm binds a token to a key (RFC 7800, RFC 9449).
type confirm struct {
	Key string `json:"jkt"`
}

// Minter makes tokens. All fields are required but TTL (default MaxTTL) and Now.
type Minter struct {
	Key      ed25519.PrivateKey
	Issuer   string
	Audience string
	TTL      time.Duration
	Now      func() time.Time
}

// Mint signs a token for g and says when it ends.
func (m Minter) Mint(g Grant) (token string, expires time.Time, err error) {
	if len(m.Key) != ed25519.PrivateKeySize || m.Issuer == "" || m.Audience == "" || m.TTL > MaxTTL || m.TTL < 0 {
		return "", time.Time{}, ErrConfig
	}
	if g.Org == "" || g.Turn == "" || g.Sandbox == "" || g.Person == "" || g.Role == "" || g.Conversation == "" {
		return "", time.Time{}, fmt.Errorf("%w: a grant needs org, person, role, conversation, turn and sandbox", ErrConfig)
	}
	now := time.Now()
	if m.Now != nil {
		now = m.Now()
	}
	ttl := m.TTL
	if ttl == 0 {
		ttl = MaxTTL
	}
	expires = now.Add(ttl)
	var bound *confirm
	if g.Key != "" {
		bound = &confirm{Key: g.Key}
	}
	token, err = jwt.NewWithClaims(jwt.SigningMethodEdDSA, wire{
		Org: g.Org, Role: g.Role, Conversation: g.Conversation, Turn: g.Turn, Epoch: g.Epoch, Sandbox: g.Sandbox, Tools: g.Tools, Confirm: bound,
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: m.Issuer, Audience: jwt.ClaimStrings{m.Audience}, Subject: g.Person, ID: uuid.NewString(),
			IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
		},
	}).SignedString(m.Key)
	return token, expires, err
}

// Liveness answers whether a turn is running under that epoch; an error means that nobody knows.
type Liveness interface {
	TurnLive(ctx context.Context, turn string, epoch int64) (bool, error)
}

// Verifier checks tokens. All fields are required but Proofs and Now.
type Verifier struct {
	Key      ed25519.PublicKey
	Issuer   string
	Audience string
	Live     Liveness
	Proofs   Proofs
	Now      func() time.Time
}

func (v Verifier) now() time.Time {
	if v.Now != nil {
		return v.Now()
	}
	return time.Now()
}

// Check returns ErrConfig unless the verifier can do its work; call it at start.
func (v Verifier) Check() error {
	if len(v.Key) != ed25519.PublicKeySize || v.Issuer == "" || v.Audience == "" || v.Live == nil {
		return fmt.Errorf("%w: a verifier needs key, issuer, audience and liveness", ErrConfig)
	}
	return nil
}

// Verify returns the claims of a token that is whole, in time, used from the sandbox it was made for (as the caller's
// Stamp proved), and whose turn is live. Else it returns a refusal, or ErrUnavailable.
func (v Verifier) Verify(ctx context.Context, token, sandbox string) (Claims, error) {
	w, err := v.read(token)
	switch {
	case err != nil:
		return Claims{}, err
	case w.Confirm != nil:
		return Claims{}, ErrProof // a stamp is no proof of possession
	case w.Sandbox != sandbox:
		return Claims{}, ErrSandbox
	}
	return v.alive(ctx, w)
}

// read returns a token that is whole and in time.
func (v Verifier) read(token string) (wire, error) {
	if err := v.Check(); err != nil {
		return wire{}, err
	}
	if len(token) == 0 || len(token) > maxBytes {
		return wire{}, ErrMalformed
	}
	var w wire
	_, err := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithIssuer(v.Issuer), jwt.WithAudience(v.Audience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithTimeFunc(v.now), jwt.WithStrictDecoding(),
	).ParseWithClaims(token, &w, func(*jwt.Token) (any, error) { return v.Key, nil })
	switch {
	case errors.Is(err, jwt.ErrTokenExpired), errors.Is(err, jwt.ErrTokenNotValidYet), errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		return wire{}, ErrExpired
	case err != nil:
		return wire{}, ErrMalformed
	case w.NotBefore == nil, w.IssuedAt == nil, w.ExpiresAt.Sub(w.IssuedAt.Time) > MaxTTL:
		return wire{}, ErrMalformed
	case w.Org == "", w.Turn == "", w.Sandbox == "", w.Subject == "", w.Role == "", w.ID == "":
		return wire{}, ErrMalformed
	}
	return w, nil
}

// alive asks whether the turn of a token goes on.
func (v Verifier) alive(ctx context.Context, w wire) (Claims, error) {
	live, err := v.Live.TurnLive(ctx, w.Turn, w.Epoch)
	if err != nil {
		return Claims{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if !live {
		return Claims{}, ErrDead
	}
	c := Claims{
		Grant: Grant{Org: w.Org, Person: w.Subject, Role: w.Role, Conversation: w.Conversation, Turn: w.Turn, Epoch: w.Epoch, Sandbox: w.Sandbox, Tools: w.Tools},
		ID:    w.ID, Expires: w.ExpiresAt.Time,
	}
	if w.Confirm != nil {
		c.Key = w.Confirm.Key
	}
	return c, nil
}
