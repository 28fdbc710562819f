package identity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scope is what an API key may be used for. It never adds to what the person's role may.
type Scope string

// The scopes.
const (
	ScopeRead   Scope = "read"   // see conversations, files, runs, schedules
	ScopeAsk    Scope = "ask"    // send messages and files, stop turns
	ScopeQuery  Scope = "query"  // run SQL, read the audit
	ScopeEdit   Scope = "edit"   // change schedules, guidelines, dispositions
	ScopeImport Scope = "import" // import data
	ScopeAdmin  Scope = "admin"  // people, keys, the admin log
)

// Scopes is a set of them, in the order of AllScopes.
type Scopes []Scope

// AllScopes lists every scope.
func AllScopes() Scopes {
	return Scopes{ScopeRead, ScopeAsk, ScopeQuery, ScopeEdit, ScopeImport, ScopeAdmin}
}

// ParseScopes reads scopes that are separated by blanks or commas.
func ParseScopes(text string) (Scopes, error) {
	var asked Scopes
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		asked = append(asked, Scope(name))
	}
	return asked.clean()
}

// clean orders scopes and refuses unknown ones and none.
func (s Scopes) clean() (Scopes, error) {
	var known Scopes
	for _, scope := range AllScopes() {
		if slices.Contains(s, scope) {
			known = append(known, scope)
		}
	}
	for _, scope := range s {
		if !slices.Contains(known, scope) {
			return nil, fmt.Errorf("%w: no scope %q; the scopes are %s", ErrInvalid, string(scope), AllScopes())
		}
	}
	if known == nil {
		return nil, fmt.Errorf("%w: a key has at least one of the scopes %s", ErrInvalid, AllScopes())
	}
	return known, nil
}

func (s Scopes) String() string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, " ")
}

// Key is what is known of an API key; its secret is shown once, when it is issued.
type Key struct {
	ID      string
	Person  string
	Label   string
	Scopes  Scopes
	Created time.Time
	Expires time.Time // zero: never
	Revoked time.Time // zero: not
	Used    time.Time // to the minute; zero: never
}

// keyPrefix marks our keys, so that scanners of leaked secrets can know them.
const keyPrefix = "bdr_"

const (
	insertKey = `INSERT INTO api_keys (id, person, label, hash, scopes, created, expires) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	listKeys  = `SELECT k.id, k.person, k.label, k.scopes, k.created, k.expires, k.revoked, k.used FROM api_keys k JOIN people p ON p.id = k.person
WHERE p.org = $1 ORDER BY k.created, k.id`
	revokeKey = `UPDATE api_keys SET revoked = $1 WHERE id = $2 AND revoked = 0 AND person IN (SELECT id FROM people WHERE org = $3)`
	findKey   = `SELECT k.hash, k.scopes, k.expires, k.revoked, k.used, p.id, p.org, p.name, p.email, p.role, p.disabled
FROM api_keys k JOIN people p ON p.id = k.person WHERE k.id = $1`
	touchKey = `UPDATE api_keys SET used = $1 WHERE id = $2`
)

// IssueKey makes a key for a person of an organisation, for all scopes unless some are named. The secret is returned once and not kept.
func (d *Directory) IssueKey(ctx context.Context, org, person, label string, expires time.Time, scopes ...Scope) (Key, string, error) {
	if scopes == nil {
		scopes = AllScopes()
	}
	known, err := Scopes(scopes).clean()
	if err != nil {
		return Key{}, "", err
	}
	if label != "" && !printable(label) {
		return Key{}, "", fmt.Errorf("%w: a key's label is one line of at most %d characters", ErrInvalid, maxName)
	}
	p, err := d.FindPerson(ctx, org, person)
	if err != nil {
		return Key{}, "", err
	}
	id, secret, whole, err := d.token(keyPrefix)
	if err != nil {
		return Key{}, "", err
	}
	k := Key{ID: id, Person: person, Label: label, Scopes: known, Created: d.now(), Expires: expires}
	if _, err := d.db.ExecContext(ctx, insertKey, k.ID, person, label, hash(secret), known.String(), k.Created.UnixMilli(), millis(expires)); err != nil {
		return Key{}, "", fmt.Errorf("storing a key: %w", err)
	}
	return k, whole, d.note(ctx, entry{org: org, action: KeyIssued, subject: k.ID, detail: fmt.Sprintf("for %s: %s", p.Email, known)})
}

// Keys lists the keys of an organisation.
func (d *Directory) Keys(ctx context.Context, org string) ([]Key, error) {
	all, err := collect(ctx, d.db, func(rows *sql.Rows) (k Key, err error) {
		var created, expires, revoked, used int64
		var scopes string
		if err := rows.Scan(&k.ID, &k.Person, &k.Label, &scopes, &created, &expires, &revoked, &used); err != nil {
			return k, err
		}
		k.Created, k.Expires, k.Revoked, k.Used = moment(created), moment(expires), moment(revoked), moment(used)
		k.Scopes, err = ParseScopes(scopes)
		return k, err
	}, listKeys, org)
	if err != nil {
		return nil, fmt.Errorf("listing keys: %w", err)
	}
	return all, nil
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
	return d.note(ctx, entry{org: org, action: KeyRevoked, subject: id})
}

// Authenticate returns who a key speaks for. Every refusal is ErrKey and looks the same from outside.
func (d *Directory) Authenticate(ctx context.Context, key string) (Principal, error) {
	id, secret := parse(keyPrefix, key)
	if id == "" {
		return Principal{}, ErrKey
	}
	var (
		p                                Principal
		stored, scopes                   string
		expires, revoked, used, disabled int64
	)
	err := d.db.QueryRowContext(ctx, findKey, id).Scan(&stored, &scopes, &expires, &revoked, &used, &p.Person, &p.Org, &p.Name, &p.Email, &p.Role, &disabled)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Principal{}, fmt.Errorf("looking up a key: %w", err)
	}
	now := d.now()
	if !same(stored, secret) || err != nil || revoked != 0 || disabled != 0 || expires != 0 && now.UnixMilli() >= expires {
		return Principal{}, ErrKey
	}
	p.Key = id
	if p.Scopes, err = ParseScopes(scopes); err != nil {
		return Principal{}, err
	}
	// One write a minute and key at most: a busy key must not make each request a write.
	if now.Sub(moment(used)) > touchEvery {
		if _, err := d.db.ExecContext(ctx, touchKey, now.UnixMilli(), id); err != nil {
			return Principal{}, fmt.Errorf("noting the use of a key: %w", err)
		}
	}
	return p, nil
}

// touchEvery is how exactly the last use of keys and sessions is known.
const touchEvery = time.Minute
