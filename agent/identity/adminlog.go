package identity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// What the admin log records.
const (
	OrganisationPut = "organisation.put"
	PersonAdded     = "person.added"
	PersonRenamed   = "person.renamed"
	PersonDisabled  = "person.disabled"
	PersonEnabled   = "person.enabled"
	RoleChanged     = "role.changed"
	KeyIssued       = "key.issued"
	KeyRevoked      = "key.revoked"
	LinkIssued      = "link.issued"
	PasswordSet     = "password.set"
	SignInDone      = "sign_in.done"
	SignInRefused   = "sign_in.refused"
	SignInLimited   = "sign_in.limited"
	SubjectBound    = "subject.bound"
	PolicyChanged   = "policy.changed"
	SignedOut       = "sign_out"
	SessionEnded    = "session.ended"
)

// Entry is one line of the admin log: who did what to whom.
type Entry struct {
	ID        string
	At        time.Time
	Org       string // "": concerns none
	Actor     string // a person's id; "": the operator's command line, or somebody who isn't signed in
	ActorName string // as it was then
	Action    string
	Subject   string
	Detail    string
	Address   string
}

// entry is what a caller says of an Entry. Actor, name and address are the context's principal's unless given.
type entry struct {
	org, actor, name, action, subject, detail, address string
}

// operator is the name of who needs no account: whoever can run the program over its data.
const operator = "operator"

const (
	listEntries = `SELECT id, at, org, actor, actor_name, action, subject, detail, address FROM admin_log
WHERE org = $1 AND ($2 = '' OR id < $2) ORDER BY id DESC LIMIT $3`
	lastPolicy = `SELECT detail FROM admin_log WHERE org = $1 AND action = $2 ORDER BY id DESC LIMIT 1`
)

// clean makes text that both engines store as it is: Postgres takes neither NUL bytes nor bad UTF-8.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// note adds a line to the admin log. What can't be recorded fails.
func (d *Directory) note(ctx context.Context, e entry) error {
	p, known := From(ctx)
	switch {
	case e.name != "":
	case known:
		e.actor, e.name, e.address = p.Person, p.Email, p.Address
	default:
		e.name = operator
	}
	id, err := uuid.NewV7FromReader(d.rand)
	if err != nil {
		return fmt.Errorf("naming a line of the admin log: %w", err)
	}
	err = d.chain(ctx, Entry{
		ID: id.String(), At: d.now(), Org: e.org, Actor: e.actor, ActorName: clean(e.name), Action: e.action, Subject: clean(e.subject), Detail: clean(e.detail), Address: clean(e.address),
	})
	if err != nil {
		return fmt.Errorf("writing the admin log: %w", err)
	}
	return nil
}

// Log lists an organisation's admin log, the newest first, from before an id ("": from the end). The organisation "" has what
// concerns none.
func (d *Directory) Log(ctx context.Context, org, before string, limit int) ([]Entry, error) {
	all, err := collect(ctx, d.db, func(rows *sql.Rows) (e Entry, err error) {
		var at int64
		err = rows.Scan(&e.ID, &at, &e.Org, &e.Actor, &e.ActorName, &e.Action, &e.Subject, &e.Detail, &e.Address)
		e.At = moment(at)
		return e, err
	}, listEntries, org, before, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the admin log: %w", err)
	}
	return all, nil
}

// NotePolicy records which policy the program runs under, in each organisation's log, when it is another one than before.
func (d *Directory) NotePolicy(ctx context.Context, policy string) error {
	all, err := d.Organisations(ctx)
	if err != nil {
		return err
	}
	for _, o := range all {
		var last string
		err := d.db.QueryRowContext(ctx, lastPolicy, o.ID, PolicyChanged).Scan(&last)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("reading the admin log: %w", err)
		}
		if last != policy {
			if err := d.note(ctx, entry{org: o.ID, action: PolicyChanged, detail: policy}); err != nil {
				return err
			}
		}
	}
	return nil
}
