package toolbox

import (
	"crypto/ed25519"
	"crypto/rand"
	"sync"
	"time"

	"bordereau/governance/turntoken"
)

// token is the turn's token, renewed before it ends.
type token struct {
	minter turntoken.Minter
	now    func() time.Time
	key    ed25519.PrivateKey // of this turn's sandbox, where it has no door; nil where it has

	mu      sync.Mutex
	grant   turntoken.Grant
	text    string
	inside  string // the credential for the sandbox, made with text
	renewAt time.Time
}

// sandboxKey makes the key that a sandbox without a door proves to have.
func sandboxKey(doors bool) (ed25519.PrivateKey, error) {
	if doors {
		return nil, nil
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return key, err
}

// get returns a token with at least a third of its life left, and the sandbox it is made for.
func (t *token) get() (text, sandbox string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.renew(); err != nil {
		return "", "", err
	}
	return t.text, t.grant.Sandbox, nil
}

// credential is what code in the sandbox gets: the same token behind a door, else one that is bound to the sandbox's key and
// worth nothing without it.
func (t *token) credential() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.renew(); err != nil {
		return "", err
	}
	return t.inside, nil
}

// renew mints anew when it is time. The lock is held.
func (t *token) renew() error {
	now := t.now()
	if t.text != "" && now.Before(t.renewAt) {
		return nil
	}
	text, expires, err := t.minter.Mint(t.grant)
	if err != nil {
		return err
	}
	inside := turntoken.Credential{Token: text, Key: t.key}
	if t.key != nil {
		grant := t.grant
		grant.Key = turntoken.Thumbprint(ed25519.PublicKey(t.key[ed25519.SeedSize:]))
		if inside.Token, _, err = t.minter.Mint(grant); err != nil {
			return err
		}
	}
	t.text, t.inside, t.renewAt = text, inside.Text(), now.Add(expires.Sub(now)*2/3)
	return nil
}

// renewIn says how long the present token is good enough.
func (t *token) renewIn() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(t.renewAt.Sub(t.now()), 0)
}

// move makes the token one for another sandbox: the conversation's was lost and replaced.
func (t *token) move(sandbox string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.grant.Sandbox != sandbox {
		t.grant.Sandbox, t.text = sandbox, ""
	}
}

// forget drops the token; later calls would mint anew, but their turn is dead by then.
func (t *token) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = ""
}
