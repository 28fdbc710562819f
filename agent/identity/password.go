package identity

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// Cost is what one password's hash takes. It stands in each hash, so that it can be raised.
type Cost struct {
	MemoryKiB uint32
	Passes    uint32
	Threads   uint8
}

// DefaultCost takes 64 MiB and some 100 ms.
func DefaultCost() Cost { return Cost{MemoryKiB: 64 << 10, Passes: 2, Threads: 1} }

// Bounds of a password, in characters. There are no rules of composition: they make passwords worse (NIST SP 800-63B).
const (
	minPassword = 12
	maxPassword = 256
)

const (
	saltBytes = 16
	sumBytes  = 32
	// hashWait is how long a password waits for its turn. Each one that is checked holds its memory.
	hashWait = 10 * time.Second
)

// hasher computes Argon2id, a bounded number at once.
type hasher struct {
	cost  Cost
	slots chan struct{}
}

func newHasher(c Cost) *hasher {
	return &hasher{cost: c, slots: make(chan struct{}, max(1, min(4, runtime.GOMAXPROCS(0))))}
}

// parsedHash is a stored hash, taken apart.
type parsedHash struct {
	cost Cost
	salt []byte
	sum  []byte
}

// recipe is what a password's sum depends on beside the password.
func (p parsedHash) recipe() string { return fmt.Sprint(p.cost, string(p.salt)) }

// String is the hash in the form that all implementations of Argon2 share.
func (p parsedHash) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.cost.MemoryKiB, p.cost.Passes, p.cost.Threads, b64(p.salt), b64(p.sum))
}

var errHash = errors.New("identity: a stored password can't be read")

func parseHash(text string) (p parsedHash, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.cost.MemoryKiB, &p.cost.Passes, &p.cost.Threads); err != nil {
		return p, errHash
	}
	var err1, err2 error
	p.salt, err1 = base64.RawStdEncoding.DecodeString(parts[4])
	p.sum, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(p.salt) != saltBytes || len(p.sum) != sumBytes || p.cost.MemoryKiB > 1<<20 || p.cost.Passes < 1 || p.cost.Threads < 1 {
		return p, errHash
	}
	return p, nil
}

// sum computes the hash of a password, when it is its turn.
func (h *hasher) sum(ctx context.Context, password string, c Cost, salt []byte) ([]byte, error) {
	wait := time.NewTimer(hashWait)
	defer wait.Stop()
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-wait.C:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	// The same characters may arrive composed or not, as keyboards differ.
	return argon2.IDKey(norm.NFKC.Bytes([]byte(password)), salt, c.Passes, c.MemoryKiB, c.Threads, sumBytes), nil
}

// matches tells which of the stored hashes are the password's. Hashes of one recipe are computed once, and one is computed when
// none is stored: time tells nothing about whether there is an account, or how many.
func (h *hasher) matches(ctx context.Context, password string, stored []string) ([]bool, error) {
	if len(password) > 4*maxPassword {
		password = password[:4*maxPassword] // no account has one so long
	}
	hits, sums := make([]bool, len(stored)), map[string][]byte{}
	for i, text := range stored {
		p, err := parseHash(text)
		if err != nil {
			continue
		}
		sum, ok := sums[p.recipe()]
		if !ok {
			if sum, err = h.sum(ctx, password, p.cost, p.salt); err != nil {
				return nil, err
			}
			sums[p.recipe()] = sum
		}
		hits[i] = subtle.ConstantTimeCompare(sum, p.sum) == 1
	}
	if len(sums) == 0 {
		if _, err := h.sum(ctx, password, h.cost, make([]byte, saltBytes)); err != nil {
			return nil, err
		}
	}
	return hits, nil
}

const (
	passwordsOfEmail = `SELECT password FROM people WHERE email = $1 AND password <> '' ORDER BY id`
	setPassword      = `UPDATE people SET password = $1 WHERE id = $2`
	findPassword     = `SELECT password FROM people WHERE org = $1 AND id = $2`
)

// hashPassword is what is kept of a new password. A person of several organisations has one salt, so that one computation tells in
// which of them the password is right.
func (d *Directory) hashPassword(ctx context.Context, email, password string) (string, error) {
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(d.rand, salt); err != nil {
		return "", fmt.Errorf("making a salt: %w", err)
	}
	var first string
	err := d.db.QueryRowContext(ctx, passwordsOfEmail, email).Scan(&first)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("finding a salt: %w", err)
	}
	if known, err := parseHash(first); err == nil {
		salt = known.salt
	}
	sum, err := d.hasher.sum(ctx, password, d.hasher.cost, salt)
	if err != nil {
		return "", err
	}
	return parsedHash{d.hasher.cost, salt, sum}.String(), nil
}

// storePassword hashes a password and keeps it.
func (d *Directory) storePassword(ctx context.Context, p Person, password string) error {
	hashed, err := d.hashPassword(ctx, p.Email, password)
	if err != nil {
		return err
	}
	return d.keepPassword(ctx, p, hashed)
}

func (d *Directory) keepPassword(ctx context.Context, p Person, hashed string) error {
	if _, err := d.db.ExecContext(ctx, setPassword, hashed, p.ID); err != nil {
		return fmt.Errorf("storing a password: %w", err)
	}
	return nil
}

// WeakPassword is a password that is refused, and why.
type WeakPassword struct{ Why string }

func (e *WeakPassword) Error() string { return "identity: password refused: " + e.Why }

// checkPassword refuses what is short, or is guessed first.
func checkPassword(password string, p Person) error {
	n := utf8.RuneCountInString(password)
	switch {
	case !utf8.ValidString(password):
		return &WeakPassword{"it holds bytes that are no text"}
	case n < minPassword:
		return &WeakPassword{fmt.Sprintf("it has %d characters; at least %d are needed, a few words make a good one", n, minPassword)}
	case n > maxPassword:
		return &WeakPassword{fmt.Sprintf("it has %d characters; at most %d are taken", n, maxPassword)}
	}
	if why := guessable(password, p); why != "" {
		return &WeakPassword{why}
	}
	return nil
}

// ChangePassword sets a new password of a person who knows the old one, and ends her other sessions.
func (d *Directory) ChangePassword(ctx context.Context, by Principal, old, password string) error {
	p, err := d.FindPerson(ctx, by.Org, by.Person)
	if err != nil {
		return err
	}
	var stored string
	if err := d.db.QueryRowContext(ctx, findPassword, by.Org, by.Person).Scan(&stored); err != nil {
		return fmt.Errorf("finding a password: %w", err)
	}
	done, err := d.attempt(ctx, p.Email, Visit{Address: by.Address})
	if err != nil {
		return err
	}
	hits, err := d.hasher.matches(ctx, old, []string{stored})
	if err != nil {
		return err
	}
	if !hits[0] {
		return ErrCredentials
	}
	if err := done(ctx); err != nil {
		return err
	}
	if err := checkPassword(password, p); err != nil {
		return err
	}
	if err := d.storePassword(ctx, p, password); err != nil {
		return err
	}
	if err := d.note(ctx, entry{org: p.Org, action: PasswordSet, subject: p.ID, detail: p.Email}); err != nil {
		return err
	}
	_, err = d.EndSessions(ctx, p.Org, p.ID, by.Session)
	return err
}
