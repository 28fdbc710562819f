package lease

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"

	"bordereau/sandbox"
)

// Record is what is kept of a conversation's sandbox, or of one that waits in a warm pool. It is written before anything is created, so
// that after a crash no sandbox is without an owner.
type Record struct {
	Conversation string // of a warm one: its id
	Org          string
	N            int    // the how-manieth sandbox of this conversation; 0 for a warm one
	Canary       string // what the workspace must hold
	Ready        bool   // it was created, restored and checked
	Restore      bool   // it replaces one, whose files come first
	Why          string // why it replaces one
	Used         time.Time
	Rests        sandbox.State // Paused or Stopped while nobody uses it, as far as is known; "" for running
	Reaped       bool          // given back after a long idle time, with a checkpoint
}

// ID is the sandbox's.
func (r Record) ID() string {
	if r.warm() {
		return r.Conversation
	}
	return fmt.Sprintf("%s-%d", base(r.Conversation), r.N)
}

// warm tells whether the sandbox waits for a conversation.
func (r Record) warm() bool { return r.N == 0 }

var plain = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,47}$`) //nolint:gochecknoglobals // a constant

// base is the part of the id that stays.
func base(conversation string) string {
	if plain.MatchString(conversation) && !strings.HasPrefix(conversation, warmPrefix) && !strings.HasPrefix(conversation, "h-") {
		return conversation
	}
	sum := sha256.Sum256([]byte(conversation))
	return "h-" + hex.EncodeToString(sum[:16])
}
