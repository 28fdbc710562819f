package turntoken

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
)

// Credential is what code in a sandbox holds: the turn's token, and where there is no door the key that the token is bound to.
type Credential struct {
	Token string
	Key   ed25519.PrivateKey // nil behind a door
}

// Text is a credential as its file has it: the token, and the key's seed on a second line.
func (c Credential) Text() string {
	if c.Key == nil {
		return c.Token
	}
	return c.Token + "\n" + base64.RawURLEncoding.EncodeToString(c.Key.Seed()) + "\n"
}

// ReadCredential is the other way round.
func ReadCredential(text string) (Credential, error) {
	token, seed, bound := strings.Cut(strings.TrimSpace(text), "\n")
	c := Credential{Token: strings.TrimSpace(token)}
	if !bound {
		return c, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(seed))
	if err != nil || len(raw) != ed25519.SeedSize {
		return Credential{}, fmt.Errorf("%w: the key beside the token can't be read", ErrConfig)
	}
	c.Key = ed25519.NewKeyFromSeed(raw)
	return c, nil
}
