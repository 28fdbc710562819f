package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Vouched is what an organisation's identity provider vouches for. The caller has verified its token.
type Vouched struct {
	Organisation string
	Issuer       string
	Subject      string
	Email        string // verified by the provider
	Name         string
	DefaultRole  string // of somebody new; "": people are invited
	Visit        Visit
}

const (
	bindSubject = `UPDATE people SET subject = $1 WHERE id = $2 AND subject = ''`
	findSubject = `SELECT subject FROM people WHERE id = $1`
)

// SignInVouched begins a session of whom a provider vouches for. The first time its subject is bound to the person with that address; who
// gets the address later is somebody else. ErrCredentials refuses.
func (d *Directory) SignInVouched(ctx context.Context, v Vouched) (SignedIn, error) {
	c := Credentials{Email: cleanEmail(v.Email), Organisation: v.Organisation, Visit: v.Visit}
	p, err := d.FindPersonByEmail(ctx, v.Organisation, c.Email)
	switch {
	case errors.Is(err, ErrNotFound) && v.DefaultRole != "":
		name := strings.TrimSpace(v.Name)
		if !printable(name) {
			name = c.Email
		}
		by := With(ctx, Principal{Org: v.Organisation, Email: c.Email, Address: v.Visit.Address})
		if p, err = d.PutPerson(by, Person{Org: v.Organisation, Email: c.Email, Name: name, Role: v.DefaultRole}); err != nil {
			return SignedIn{}, err
		}
	case errors.Is(err, ErrNotFound):
		return SignedIn{}, d.refused(ctx, c, SignInRefused, ErrCredentials)
	case err != nil:
		return SignedIn{}, err
	case !p.Disabled.IsZero():
		return SignedIn{}, d.refused(ctx, c, SignInRefused, ErrCredentials)
	}
	subject := v.Issuer + " " + v.Subject
	bound, err := d.db.ExecContext(ctx, bindSubject, subject, p.ID)
	if err != nil {
		return SignedIn{}, fmt.Errorf("binding a subject: %w", err)
	}
	if n, err := bound.RowsAffected(); err != nil {
		return SignedIn{}, fmt.Errorf("binding a subject: %w", err)
	} else if n == 1 {
		if err := d.note(ctx, entry{org: p.Org, actor: p.ID, name: p.Email, action: SubjectBound, subject: p.ID, detail: v.Issuer, address: v.Visit.Address}); err != nil {
			return SignedIn{}, err
		}
	}
	var known string
	if err := d.db.QueryRowContext(ctx, findSubject, p.ID).Scan(&known); err != nil {
		return SignedIn{}, fmt.Errorf("finding a subject: %w", err)
	}
	if known != subject {
		return SignedIn{}, d.refused(ctx, c, SignInRefused, ErrCredentials)
	}
	return d.StartSession(ctx, p, ByOIDC, v.Visit)
}
