package turntoken

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"
)

// A sandbox without a door can't be told by a stamp. Its token is bound to a key instead (cnf.jkt), and each call proves
// possession of that key (DPoP, RFC 9449): for one method, one address and one token, once, within a minute.

// ProofHeader carries the proof of possession; ProofScheme is the scheme of the Authorization header beside it.
const (
	ProofHeader = "DPoP"
	ProofScheme = "DPoP"
)

// proofLife is how far a proof's clock may be from the verifier's.
const proofLife = 60 * time.Second

// proofType is the JWT's typ.
const proofType = "dpop+jwt"

// Refusals of proofs. Each wraps ErrRefused.
var (
	ErrProof    = fmt.Errorf("%w: no good proof of possession", ErrRefused)
	ErrReplayed = fmt.Errorf("%w: its proof was used before", ErrRefused)
)

// Spent remembers proofs. It answers false for one that it has been told of already; an error means that nobody knows.
type Spent interface {
	Spend(ctx context.Context, proof string, until time.Time) (fresh bool, err error)
}

// Proofs says what proofs of possession must be for. The zero value takes none: tokens bound to a key are refused.
type Proofs struct {
	URL   string // the endpoint as callers know it: scheme, host and path
	Spent Spent  // shared by all replicas
}

// Thumbprint names an Ed25519 key (RFC 7638, RFC 8037).
func Thumbprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + base64.RawURLEncoding.EncodeToString(key) + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Prove makes the proof for one call.
func Prove(key ed25519.PrivateKey, method, address, token string, now time.Time) (string, error) {
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok || len(key) != ed25519.PrivateKeySize {
		return "", fmt.Errorf("%w: a proof needs an Ed25519 key", ErrConfig)
	}
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{
		"jti": uuid.NewString(), "htm": method, "htu": address, "iat": now.Unix(), "ath": tokenHash(token),
	})
	t.Header["typ"] = proofType
	t.Header["jwk"] = map[string]string{"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(public)}
	return t.SignedString(key)
}

func tokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// VerifyBound returns the claims of a token that is bound to a key, presented with a good proof that was not seen before.
func (v Verifier) VerifyBound(ctx context.Context, token, method string, header http.Header) (Claims, error) {
	w, err := v.read(token)
	if err != nil {
		return Claims{}, err
	}
	if w.Confirm == nil || w.Confirm.Key == "" || v.Proofs.URL == "" || v.Proofs.Spent == nil {
		return Claims{}, fmt.Errorf("%w: the token is bound to no key, or proofs are not taken here", ErrProof)
	}
	proofs := header.Values(ProofHeader)
	if len(proofs) != 1 || len(proofs[0]) > maxBytes {
		return Claims{}, fmt.Errorf("%w: want exactly one", ErrProof)
	}
	p, key, err := readProof(proofs[0])
	if err != nil {
		return Claims{}, fmt.Errorf("%w: %w", ErrProof, err)
	}
	now := v.now()
	issued := time.Unix(p.Issued, 0)
	switch age := now.Sub(issued); {
	case Thumbprint(key) != w.Confirm.Key:
		return Claims{}, fmt.Errorf("%w: another key", ErrProof)
	case p.Method != method || !sameAddress(p.Address, v.Proofs.URL):
		return Claims{}, fmt.Errorf("%w: for another call", ErrProof)
	case p.Hash != tokenHash(token):
		return Claims{}, fmt.Errorf("%w: for another token", ErrProof)
	case age > proofLife || age < -proofLife:
		return Claims{}, fmt.Errorf("%w: of another time", ErrProof)
	case p.ID == "" || len(p.ID) > 256:
		return Claims{}, fmt.Errorf("%w: without an id", ErrProof)
	}
	// Liveness first: what is refused for another reason spends nothing.
	c, err := v.alive(ctx, w)
	if err != nil {
		return Claims{}, err
	}
	sum := sha256.Sum256([]byte(w.Confirm.Key + "\n" + p.ID))
	fresh, err := v.Proofs.Spent.Spend(ctx, base64.RawURLEncoding.EncodeToString(sum[:]), issued.Add(2*proofLife))
	if err != nil {
		return Claims{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if !fresh {
		return Claims{}, ErrReplayed
	}
	return c, nil
}

// proof is its JSON.
type proof struct {
	ID      string `json:"jti"`
	Method  string `json:"htm"`
	Address string `json:"htu"`
	Issued  int64  `json:"iat"`
	Hash    string `json:"ath"`

	jwt.MapClaims `json:"-"` // what the library asks of claims; nothing of it is looked at
}

// readProof returns a proof that is signed by the key which it carries.
func readProof(text string) (proof, ed25519.PublicKey, error) {
	var p proof
	var key ed25519.PublicKey
	_, err := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodEdDSA.Alg()}), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation(),
	).ParseWithClaims(text, &p, func(t *jwt.Token) (any, error) {
		if t.Header["typ"] != proofType || t.Header["crit"] != nil {
			return nil, errors.New("not of type " + proofType)
		}
		jwk, ok := t.Header["jwk"].(map[string]any)
		if !ok || jwk["kty"] != "OKP" || jwk["crv"] != "Ed25519" || jwk["d"] != nil {
			return nil, errors.New("no public Ed25519 key in it")
		}
		x, ok := jwk["x"].(string)
		if !ok {
			return nil, errors.New("no public Ed25519 key in it")
		}
		raw, err := base64.RawURLEncoding.Strict().DecodeString(x)
		if err != nil || len(raw) != ed25519.PublicKeySize {
			return nil, errors.New("no public Ed25519 key in it")
		}
		key = raw
		return key, nil
	})
	return p, key, err
}

// sameAddress compares two addresses as RFC 9449 has it: without query and fragment, scheme and host in any case.
func sameAddress(given, want string) bool {
	a, err := url.Parse(given)
	if err != nil || a.User != nil {
		return false
	}
	b, err := url.Parse(want)
	if err != nil {
		return false
	}
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(hostPort(a), hostPort(b)) && a.EscapedPath() == b.EscapedPath()
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return u.Host + map[string]string{"http": ":80", "https": ":443"}[strings.ToLower(u.Scheme)]
}
