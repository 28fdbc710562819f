// Package identity knows organisations, their people and roles, and the API keys that speak for them.
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
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
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
	ErrKey      = errors.New("identity: key refused") // unknown, wrong, expired or revoked: callers can't tell which
	ErrNotFound = errors.New("identity: not found")
	ErrInvalid  = errors.New("identity: invalid")
	ErrConfig   = errors.New("identity: incomplete configuration")
)

// Organisation is a customer. Its data and conversations are nobody else's.
type Organisation struct {
	ID      string
	Name    string
	Created time.Time
}

// Person is a member of one organisation.
type Person struct {
	ID       string
	Org      string
	Email    string
	Name     string
	Role     string
	Created  time.Time
	Disabled time.Time // zero: active
}

// Key is what is known of an API key; its secret is shown once, when it is issued.
type Key struct {
	ID      string
	Person  string
	Label   string
	Created time.Time
	Expires time.Time // zero: never
	Revoked time.Time // zero: not
	Used    time.Time // to the minute; zero: never
}

// Principal is who a request comes from.
type Principal struct {
	Org    string
	Person string
	Name   string
	Email  string
	Role   string
	Key    string // the key's id
}

// Config is what a Directory is made of. DB is required.
type Config struct {
	DB   *sql.DB // has the journal's schema
	Now  func() time.Time
	Rand io.Reader
}

// Directory keeps identities in the journal's database.
type Directory struct {
	db   *sql.DB
	now  func() time.Time
	rand io.Reader
}

// New returns a Directory.
func New(c Config) (*Directory, error) {
	if c.DB == nil {
		return nil, fmt.Errorf("%w: a directory needs a database", ErrConfig)
	}
	d := &Directory{db: c.DB, now: c.Now, rand: c.Rand}
	if d.now == nil {
		d.now = time.Now
	}
	if d.rand == nil {
		d.rand = rand.Reader
	}
	return d, nil
}

var idForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

const putOrganisation = `INSERT INTO organisations (id, name, created) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET name = excluded.name`

// PutOrganisation makes an organisation or renames it.
func (d *Directory) PutOrganisation(ctx context.Context, o Organisation) error {
	if !idForm.MatchString(o.ID) || strings.TrimSpace(o.Name) == "" {
		return fmt.Errorf("%w: an organisation has a name and an id of small letters, digits and hyphens, at most 63", ErrInvalid)
	}
	if _, err := d.db.ExecContext(ctx, putOrganisation, o.ID, o.Name, d.now().UnixMilli()); err != nil {
		return fmt.Errorf("storing organisation %s: %w", o.ID, err)
	}
	return nil
}

const listOrganisations = `SELECT id, name, created FROM organisations ORDER BY id`

// Organisations lists every organisation.
func (d *Directory) Organisations(ctx context.Context) ([]Organisation, error) {
	rows, err := d.db.QueryContext(ctx, listOrganisations)
	if err != nil {
		return nil, fmt.Errorf("listing organisations: %w", err)
	}
	defer rows.Close()
	var all []Organisation
	for rows.Next() {
		var o Organisation
		var created int64
		if err := rows.Scan(&o.ID, &o.Name, &created); err != nil {
			return nil, fmt.Errorf("listing organisations: %w", err)
		}
		o.Created = moment(created)
		all = append(all, o)
	}
	return all, rows.Err()
}

const putPerson = `INSERT INTO people (id, org, email, name, role, created, disabled) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (org, email) DO UPDATE SET name = excluded.name, role = excluded.role, disabled = excluded.disabled
RETURNING id, created`

// PutPerson makes the person with that e-mail address in that organisation, or changes name, role and whether disabled.
func (d *Directory) PutPerson(ctx context.Context, p Person) (Person, error) {
	p.Email = strings.ToLower(strings.TrimSpace(p.Email))
	if _, err := mail.ParseAddress(p.Email); err != nil || p.Org == "" || strings.TrimSpace(p.Name) == "" || !slices.Contains(Roles(), p.Role) {
		return Person{}, fmt.Errorf("%w: a person has an organisation, a name, an e-mail address and one of the roles %s",
			ErrInvalid, strings.Join(Roles(), ", "))
	}
	id := p.ID
	if id == "" {
		id = "person-" + uuid.NewString()
	}
	var created int64
	err := d.db.QueryRowContext(ctx, putPerson, id, p.Org, p.Email, p.Name, p.Role, d.now().UnixMilli(), millis(p.Disabled)).Scan(&p.ID, &created)
	if err != nil {
		return Person{}, fmt.Errorf("storing a person of %s: %w", p.Org, err)
	}
	p.Created = moment(created)
	return p, nil
}

const findPerson = `SELECT id, org, email, name, role, created, disabled FROM people WHERE org = $1 AND id = $2`

// FindPerson returns a person of an organisation.
func (d *Directory) FindPerson(ctx context.Context, org, id string) (Person, error) {
	var p Person
	var created, disabled int64
	err := d.db.QueryRowContext(ctx, findPerson, org, id).Scan(&p.ID, &p.Org, &p.Email, &p.Name, &p.Role, &created, &disabled)
	if errors.Is(err, sql.ErrNoRows) {
		return Person{}, fmt.Errorf("%w: person %s", ErrNotFound, id)
	}
	if err != nil {
		return Person{}, fmt.Errorf("finding person %s: %w", id, err)
	}
	p.Created, p.Disabled = moment(created), moment(disabled)
	return p, nil
}

// keyPrefix marks our keys, so that scanners of leaked secrets can know them.
const keyPrefix = "bdr_"

const (
	insertKey = `INSERT INTO api_keys (id, person, label, hash, created, expires) VALUES ($1, $2, $3, $4, $5, $6)`
	listKeys  = `SELECT k.id, k.person, k.label, k.created, k.expires, k.revoked, k.used FROM api_keys k JOIN people p ON p.id = k.person
WHERE p.org = $1 ORDER BY k.created, k.id`
	revokeKey = `UPDATE api_keys SET revoked = $1 WHERE id = $2 AND revoked = 0 AND person IN (SELECT id FROM people WHERE org = $3)`
	findKey   = `SELECT k.hash, k.expires, k.revoked, k.used, p.id, p.org, p.name, p.email, p.role, p.disabled
FROM api_keys k JOIN people p ON p.id = k.person WHERE k.id = $1`
	touchKey = `UPDATE api_keys SET used = $1 WHERE id = $2`
)

// IssueKey makes a key for a person of an organisation. The secret is returned once and not kept.
func (d *Directory) IssueKey(ctx context.Context, org, person, label string, expires time.Time) (Key, string, error) {
	if _, err := d.FindPerson(ctx, org, person); err != nil {
		return Key{}, "", err
	}
	raw := make([]byte, 8+32)
	if _, err := io.ReadFull(d.rand, raw); err != nil {
		return Key{}, "", fmt.Errorf("making a key: %w", err)
	}
	k := Key{ID: hex.EncodeToString(raw[:8]), Person: person, Label: label, Created: d.now(), Expires: expires}
	secret := base64.RawURLEncoding.EncodeToString(raw[8:])
	if _, err := d.db.ExecContext(ctx, insertKey, k.ID, person, label, hash(secret), k.Created.UnixMilli(), millis(expires)); err != nil {
		return Key{}, "", fmt.Errorf("storing a key: %w", err)
	}
	return k, keyPrefix + k.ID + "_" + secret, nil
}

// Keys lists the keys of an organisation.
func (d *Directory) Keys(ctx context.Context, org string) ([]Key, error) {
	rows, err := d.db.QueryContext(ctx, listKeys, org)
	if err != nil {
		return nil, fmt.Errorf("listing keys: %w", err)
	}
	defer rows.Close()
	var all []Key
	for rows.Next() {
		var k Key
		var created, expires, revoked, used int64
		if err := rows.Scan(&k.ID, &k.Person, &k.Label, &created, &expires, &revoked, &used); err != nil {
			return nil, fmt.Errorf("listing keys: %w", err)
		}
		k.Created, k.Expires, k.Revoked, k.Used = moment(created), moment(expires), moment(revoked), moment(used)
		all = append(all, k)
	}
	return all, rows.Err()
}

// RevokeKey ends a key of an organisation at once.
func (d *Directory) RevokeKey(ctx context.Context, org, id string) error {
	r, err := d.db.ExecContext(ctx, revokeKey, d.now().UnixMilli(), id, org)
	if err != nil {
		return fmt.Errorf("revoking key %s: %w", id, err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return errors.Join(fmt.Errorf("%w: no live key %s", ErrNotFound, id), err)
	}
	return nil
}

// Authenticate returns who a key speaks for. Every refusal is ErrKey and looks the same from outside.
func (d *Directory) Authenticate(ctx context.Context, key string) (Principal, error) {
	id, secret, ok := strings.Cut(strings.TrimPrefix(key, keyPrefix), "_")
	if !ok || !strings.HasPrefix(key, keyPrefix) || len(key) > 256 {
		return Principal{}, ErrKey
	}
	var (
		p                                Principal
		stored                           string
		expires, revoked, used, disabled int64
	)
	err := d.db.QueryRowContext(ctx, findKey, id).Scan(&stored, &expires, &revoked, &used, &p.Person, &p.Org, &p.Name, &p.Email, &p.Role, &disabled)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Principal{}, fmt.Errorf("looking up a key: %w", err)
	}
	// The comparison runs for an unknown key too, so that time tells nothing.
	same := subtle.ConstantTimeCompare([]byte(stored), []byte(hash(secret))) == 1
	now := d.now()
	if err != nil || !same || revoked != 0 || disabled != 0 || expires != 0 && now.UnixMilli() >= expires {
		return Principal{}, ErrKey
	}
	p.Key = id
	// One write a minute and key at most: a busy key must not make each request a write.
	if now.Sub(moment(used)) > time.Minute {
		if _, err := d.db.ExecContext(ctx, touchKey, now.UnixMilli(), id); err != nil {
			return Principal{}, fmt.Errorf("noting the use of a key: %w", err)
		}
	}
	return p, nil
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
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
