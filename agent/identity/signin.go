package identity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Credentials are what a person signs in with.
type Credentials struct {
	Email        string
	Password     string
	Organisation string // "": the only one that they fit
	Visit        Visit
}

// Choice is returned when an e-mail address and its password fit several organisations.
type Choice struct{ Organisations []Organisation }

func (e *Choice) Error() string { return "identity: several organisations fit" }

const accountsOfEmail = `SELECT ` + personColumns + `, 0, p.password, o.name FROM people p JOIN organisations o ON o.id = p.org
WHERE p.email = $1 AND ($2 = '' OR p.org = $2) ORDER BY o.name, p.id`

// account is a person with what signing in needs.
type account struct {
	person Person
	org    Organisation
	hash   string
}

// SignIn begins a session of whom the credentials fit. An unknown address, a disabled person and a wrong password are refused alike,
// and after the same work.
func (d *Directory) SignIn(ctx context.Context, c Credentials) (SignedIn, error) {
	c.Email = cleanEmail(c.Email)
	if len(c.Email) > maxEmail {
		c.Email = c.Email[:maxEmail]
	}
	succeeded, err := d.attempt(ctx, c.Email, c.Visit)
	if err != nil {
		if l, ok := errors.AsType[*Limited](err); ok && l.first {
			return SignedIn{}, d.refused(ctx, c, SignInLimited, err)
		}
		return SignedIn{}, err
	}
	fits, err := d.fitting(ctx, c)
	switch {
	case err != nil:
		return SignedIn{}, err
	case len(fits) == 0:
		return SignedIn{}, d.refused(ctx, c, SignInRefused, ErrCredentials)
	}
	if err := succeeded(ctx); err != nil {
		return SignedIn{}, err
	}
	if len(fits) > 1 {
		choice := &Choice{}
		for _, a := range fits {
			choice.Organisations = append(choice.Organisations, a.org)
		}
		return SignedIn{}, choice
	}
	return d.StartSession(ctx, fits[0].person, ByPassword, c.Visit)
}

// fitting lists the active accounts that the credentials fit, and brings their hashes up to the cost of now.
func (d *Directory) fitting(ctx context.Context, c Credentials) ([]account, error) {
	all, err := d.accounts(ctx, c.Email, c.Organisation)
	if err != nil {
		return nil, err
	}
	stored := make([]string, len(all))
	for i, a := range all {
		stored[i] = a.hash
	}
	hits, err := d.hasher.matches(ctx, c.Password, stored)
	if err != nil {
		return nil, err
	}
	var fits []account
	for i, a := range all {
		if !hits[i] || !a.person.Disabled.IsZero() {
			continue
		}
		if p, err := parseHash(a.hash); err == nil && p.cost != d.hasher.cost {
			if err := d.storePassword(ctx, a.person, c.Password); err != nil {
				return nil, err
			}
		}
		fits = append(fits, a)
	}
	return fits, nil
}

func (d *Directory) accounts(ctx context.Context, email, org string) ([]account, error) {
	all, err := collect(ctx, d.db, func(rows *sql.Rows) (a account, err error) {
		a.person, err = scanPerson(func(to ...any) error { return rows.Scan(append(to, &a.hash, &a.org.Name)...) })
		a.org.ID = a.person.Org
		return a, err
	}, accountsOfEmail, email, org)
	if err != nil {
		return nil, fmt.Errorf("finding accounts: %w", err)
	}
	return all, nil
}

// refused records a sign-in that failed, with each organisation that knows the address, else with none, and returns why.
func (d *Directory) refused(ctx context.Context, c Credentials, action string, why error) error {
	all, err := d.accounts(ctx, c.Email, c.Organisation)
	if err != nil {
		return err
	}
	e := entry{name: "nobody", action: action, detail: c.Email, address: c.Visit.Address}
	if len(all) == 0 {
		if err := d.note(ctx, e); err != nil {
			return err
		}
	}
	for _, a := range all {
		e.org, e.subject = a.person.Org, a.person.ID
		if err := d.note(ctx, e); err != nil {
			return err
		}
	}
	return why
}

// SignOut ends the session of a principal.
func (d *Directory) SignOut(ctx context.Context, p Principal) error {
	if _, err := d.db.ExecContext(ctx, endSession, d.now().UnixMilli(), p.Session, p.Person); err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	return d.note(ctx, entry{org: p.Org, actor: p.Person, name: p.Email, address: p.Address, action: SignedOut, subject: p.Person})
}
