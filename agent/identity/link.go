package identity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// LinkLife is how long a one-time link is good for.
const LinkLife = 72 * time.Hour

// linkPrefix marks the tokens of links.
const linkPrefix = "bdl_"

// Invitation is what a one-time link is good for: setting a password, and signing in.
type Invitation struct {
	Organisation Organisation
	Person       Person // its ID is empty for an organisation's first administrator, who says who she is
	Expires      time.Time
	link         string
}

// Redeem is what somebody with a link gives.
type Redeem struct {
	Token    string
	Password string
	Email    string // of a first administrator, as is Name
	Name     string
	Visit    Visit
}

const (
	insertLink    = `INSERT INTO links (id, org, person, hash, created, expires) VALUES ($1, $2, $3, $4, $5, $6)`
	findLink      = `SELECT hash, org, person, expires, used FROM links WHERE id = $1`
	useLink       = `UPDATE links SET used = $1 WHERE id = $2 AND used = 0`
	forgetSubject = `UPDATE people SET subject = '' WHERE id = $1`
	retireLinks   = `UPDATE links SET used = $1 WHERE person = $2 AND used = 0 AND person <> ''`
)

// IssueLink makes a one-time link's token for a person, who sets a password with it; older ones of hers end. Without a person it is for
// the first administrator of an organisation that has none.
func (d *Directory) IssueLink(ctx context.Context, org, person string) (string, time.Time, error) {
	now := d.now()
	who := "the first administrator"
	if person == "" {
		if err := d.lacksAdmin(ctx, org); err != nil {
			return "", time.Time{}, err
		}
	} else {
		p, err := d.FindPerson(ctx, org, person)
		if err != nil {
			return "", time.Time{}, err
		}
		if !p.Disabled.IsZero() {
			return "", time.Time{}, fmt.Errorf("%w: %s is disabled", ErrConflict, p.Email)
		}
		who = p.Email
		if _, err := d.db.ExecContext(ctx, retireLinks, now.UnixMilli(), person); err != nil {
			return "", time.Time{}, fmt.Errorf("ending older links: %w", err)
		}
	}
	id, secret, whole, err := d.token(linkPrefix)
	if err != nil {
		return "", time.Time{}, err
	}
	expires := now.Add(LinkLife)
	if _, err := d.db.ExecContext(ctx, insertLink, id, org, person, hash(secret), now.UnixMilli(), expires.UnixMilli()); err != nil {
		return "", time.Time{}, fmt.Errorf("storing a link: %w", err)
	}
	return whole, expires, d.note(ctx, entry{org: org, action: LinkIssued, subject: person, detail: "for " + who})
}

func (d *Directory) lacksAdmin(ctx context.Context, org string) error {
	if _, err := d.FindOrganisation(ctx, org); err != nil {
		return err
	}
	lacking, err := d.WithoutAdmin(ctx)
	if err != nil {
		return err
	}
	for _, o := range lacking {
		if o.ID == org {
			return nil
		}
	}
	return fmt.Errorf("%w: %s has an administrator already", ErrConflict, org)
}

// Invitation tells what a link is good for, without using it.
func (d *Directory) Invitation(ctx context.Context, token string) (Invitation, error) {
	id, secret := parse(linkPrefix, token)
	if id == "" {
		return Invitation{}, ErrLink
	}
	var (
		stored, org, person string
		expires, used       int64
	)
	err := d.db.QueryRowContext(ctx, findLink, id).Scan(&stored, &org, &person, &expires, &used)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Invitation{}, fmt.Errorf("looking up a link: %w", err)
	}
	if !same(stored, secret) || err != nil || used != 0 || d.now().UnixMilli() >= expires {
		return Invitation{}, ErrLink
	}
	i := Invitation{Expires: moment(expires), link: id}
	if i.Organisation, err = d.FindOrganisation(ctx, org); err != nil {
		return Invitation{}, err
	}
	if person == "" {
		if d.lacksAdmin(ctx, org) != nil {
			return Invitation{}, ErrLink
		}
		return i, nil
	}
	if i.Person, err = d.FindPerson(ctx, org, person); err != nil || !i.Person.Disabled.IsZero() {
		return Invitation{}, errors.Join(ErrLink, err)
	}
	return i, nil
}

// Redeem uses a link: its person gets a password, her other sessions end, and one begins.
func (d *Directory) Redeem(ctx context.Context, r Redeem) (SignedIn, error) {
	i, err := d.Invitation(ctx, r.Token)
	if err != nil {
		return SignedIn{}, err
	}
	p := i.Person
	if p.ID == "" {
		p = Person{Org: i.Organisation.ID, Email: cleanEmail(r.Email), Name: strings.TrimSpace(r.Name), Role: Admin}
		if !goodEmail(p.Email) {
			return SignedIn{}, &FieldError{Field: "email", Why: "this is no e-mail address"}
		}
		if !printable(p.Name) {
			return SignedIn{}, &FieldError{Field: "name", Why: "a name is needed, on one line"}
		}
	}
	if err := checkPassword(r.Password, p); err != nil {
		return SignedIn{}, err
	}
	// Hashed before the link is used: who can't get her turn now may come again.
	hashed, err := d.hashPassword(ctx, p.Email, r.Password)
	if err != nil {
		return SignedIn{}, err
	}
	used, err := d.db.ExecContext(ctx, useLink, d.now().UnixMilli(), i.link)
	if err != nil {
		return SignedIn{}, fmt.Errorf("using a link: %w", err)
	}
	if n, err := used.RowsAffected(); err != nil || n == 0 {
		return SignedIn{}, errors.Join(ErrLink, err) // somebody was quicker
	}
	if p.ID == "" {
		if p, err = d.PutPerson(With(ctx, Principal{Org: p.Org, Email: p.Email, Address: r.Visit.Address}), p); err != nil {
			return SignedIn{}, err
		}
	}
	if err := d.keepPassword(ctx, p, hashed); err != nil {
		return SignedIn{}, err
	}
	if _, err := d.db.ExecContext(ctx, forgetSubject, p.ID); err != nil {
		return SignedIn{}, fmt.Errorf("forgetting a provider's subject: %w", err)
	}
	if err := d.note(ctx, entry{org: p.Org, actor: p.ID, name: p.Email, action: PasswordSet, subject: p.ID, detail: "by a link", address: r.Visit.Address}); err != nil {
		return SignedIn{}, err
	}
	if _, err := d.EndSessions(With(ctx, Principal{Org: p.Org, Person: p.ID, Email: p.Email, Address: r.Visit.Address}), p.Org, p.ID, ""); err != nil {
		return SignedIn{}, err
	}
	return d.StartSession(ctx, p, ByLink, r.Visit)
}

// FieldError is an input that is refused.
type FieldError struct{ Field, Why string }

func (e *FieldError) Error() string { return "identity: " + e.Field + ": " + e.Why }
