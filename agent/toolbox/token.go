package toolbox

import (
	"sync"
	"time"

	"bordereau/governance/turntoken"
)

// token is the turn's token, renewed before it ends.
type token struct {
	minter turntoken.Minter
	now    func() time.Time

	mu      sync.Mutex
	grant   turntoken.Grant
	text    string
	renewAt time.Time
}

// get returns a token with at least a third of its life left, and the sandbox it is made for.
func (t *token) get() (text, sandbox string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.text == "" || !now.Before(t.renewAt) {
		text, expires, err := t.minter.Mint(t.grant)
		if err != nil {
			return "", "", err
		}
		t.text, t.renewAt = text, now.Add(expires.Sub(now)*2/3)
	}
	return t.text, t.grant.Sandbox, nil
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
