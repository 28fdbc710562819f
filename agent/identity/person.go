package identity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Person is a member of one organisation.
type Person struct {
	ID       string
	Org      string
	Email    string
	Name     string
	Role     string
	Created  time.Time
	Disabled time.Time // zero: active
	Password bool      // has one
	Seen     time.Time // when a session of hers was last used; zero: never. Filled in by People alone
}

// maxName is the most characters of a name, maxEmail of an address (RFC 5321).
const (
	maxName  = 200
	maxEmail = 254
)

const (
	personColumns = `p.id, p.org, p.email, p.name, p.role, p.created, p.disabled, p.password <> ''`
	putPerson     = `INSERT INTO people (id, org, email, name, role, created, disabled) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (org, email) DO UPDATE SET name = excluded.name, role = excluded.role, disabled = excluded.disabled
RETURNING id, created`
	findPerson        = `SELECT ` + personColumns + `, 0 FROM people p WHERE p.org = $1 AND p.id = $2`
	findPersonByEmail = `SELECT ` + personColumns + `, 0 FROM people p WHERE p.org = $1 AND p.email = $2`
	listPeople        = `SELECT ` + personColumns + `, (SELECT coalesce(max(s.used), 0) FROM sessions s WHERE s.person = p.id)
FROM people p WHERE p.org = $1 ORDER BY p.name, p.id`
	otherAdmins = `SELECT count(*) FROM people WHERE org = $1 AND id <> $2 AND role = 'admin' AND disabled = 0`
)

func scanPerson(scan func(...any) error) (p Person, err error) {
	var created, disabled, seen int64
	err = scan(&p.ID, &p.Org, &p.Email, &p.Name, &p.Role, &created, &disabled, &p.Password, &seen)
	p.Created, p.Disabled, p.Seen = moment(created), moment(disabled), moment(seen)
	return p, err
}

// cleanEmail is how an address is kept and compared.
func cleanEmail(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

func goodEmail(address string) bool {
	parsed, err := mail.ParseAddress(address)
	return err == nil && parsed.Address == address && len(address) <= maxEmail
}

// printable tells whether a text is one line of visible characters, at most maxName.
func printable(s string) bool {
	return strings.TrimSpace(s) != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r)
	})
}

// PutPerson makes the person with that e-mail address in that organisation, or changes name, role and whether disabled.
// Disabling ends her sessions at once.
func (d *Directory) PutPerson(ctx context.Context, p Person) (Person, error) {
	p.Email, p.Name = cleanEmail(p.Email), strings.TrimSpace(p.Name)
	if !goodEmail(p.Email) || p.Org == "" || !printable(p.Name) || !slices.Contains(Roles(), p.Role) {
		return Person{}, fmt.Errorf("%w: a person has an organisation, a name, an e-mail address and one of the roles %s",
			ErrInvalid, strings.Join(Roles(), ", "))
	}
	before, err := d.FindPersonByEmail(ctx, p.Org, p.Email)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Person{}, err
	}
	id := p.ID
	if id == "" {
		id = "person-" + uuid.NewString()
	}
	var created int64
	err = d.db.QueryRowContext(ctx, putPerson, id, p.Org, p.Email, p.Name, p.Role, d.now().UnixMilli(), millis(p.Disabled)).Scan(&p.ID, &created)
	if err != nil {
		return Person{}, fmt.Errorf("storing a person of %s: %w", p.Org, err)
	}
	p.Created, p.Password = moment(created), before.Password
	return p, d.notePerson(ctx, before, p)
}

// notePerson records what changed.
func (d *Directory) notePerson(ctx context.Context, before, after Person) error {
	e := entry{org: after.Org, subject: after.ID}
	switch {
	case before.ID == "":
		e.action, e.detail = PersonAdded, after.Email+" as "+after.Role
		return d.note(ctx, e)
	case before.Disabled.IsZero() != after.Disabled.IsZero():
		e.action, e.detail = PersonEnabled, after.Email
		if !after.Disabled.IsZero() {
			e.action = PersonDisabled
			if _, err := d.EndSessions(ctx, after.Org, after.ID, ""); err != nil {
				return err
			}
		}
		if err := d.note(ctx, e); err != nil {
			return err
		}
	}
	if before.Role != after.Role {
		e.action, e.detail = RoleChanged, fmt.Sprintf("%s: %s, was %s", after.Email, after.Role, before.Role)
		if err := d.note(ctx, e); err != nil {
			return err
		}
	}
	if before.Name != after.Name {
		e.action, e.detail = PersonRenamed, fmt.Sprintf("%s: %s, was %s", after.Email, after.Name, before.Name)
		return d.note(ctx, e)
	}
	return nil
}

// AddPerson makes a person whose address is new in her organisation.
func (d *Directory) AddPerson(ctx context.Context, p Person) (Person, error) {
	if _, err := d.FindPersonByEmail(ctx, p.Org, p.Email); err == nil {
		return Person{}, &FieldError{Field: "email", Why: "somebody with this address is in the organisation already"}
	} else if !errors.Is(err, ErrNotFound) {
		return Person{}, err
	}
	switch {
	case !goodEmail(cleanEmail(p.Email)):
		return Person{}, &FieldError{Field: "email", Why: "this is no e-mail address"}
	case !printable(strings.TrimSpace(p.Name)):
		return Person{}, &FieldError{Field: "name", Why: "a name is needed, on one line"}
	case !slices.Contains(Roles(), p.Role):
		return Person{}, &FieldError{Field: "role", Why: "the roles are " + strings.Join(Roles(), ", ")}
	}
	return d.PutPerson(ctx, p)
}

// ChangePerson changes role, name and whether disabled, of a person who exists. An organisation keeps one active administrator.
func (d *Directory) ChangePerson(ctx context.Context, p Person) (Person, error) {
	before, err := d.FindPerson(ctx, p.Org, p.ID)
	if err != nil {
		return Person{}, err
	}
	p.Email = before.Email
	if before.Role == Admin && before.Disabled.IsZero() && (p.Role != Admin || !p.Disabled.IsZero()) {
		var others int
		if err := d.db.QueryRowContext(ctx, otherAdmins, p.Org, p.ID).Scan(&others); err != nil {
			return Person{}, fmt.Errorf("counting the administrators of %s: %w", p.Org, err)
		}
		if others == 0 {
			return Person{}, fmt.Errorf("%w: %s is the only administrator", ErrConflict, before.Email)
		}
	}
	return d.PutPerson(ctx, p)
}

// FindPerson returns a person of an organisation.
func (d *Directory) FindPerson(ctx context.Context, org, id string) (Person, error) {
	return d.person(ctx, findPerson, org, id)
}

// FindPersonByEmail returns the person of an organisation who has that address.
func (d *Directory) FindPersonByEmail(ctx context.Context, org, email string) (Person, error) {
	return d.person(ctx, findPersonByEmail, org, cleanEmail(email))
}

func (d *Directory) person(ctx context.Context, query, org, which string) (Person, error) {
	p, err := scanPerson(d.db.QueryRowContext(ctx, query, org, which).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return Person{}, fmt.Errorf("%w: person %s", ErrNotFound, which)
	}
	if err != nil {
		return Person{}, fmt.Errorf("finding person %s: %w", which, err)
	}
	return p, nil
}

// People lists an organisation's people by name.
func (d *Directory) People(ctx context.Context, org string) ([]Person, error) {
	all, err := collect(ctx, d.db, func(rows *sql.Rows) (Person, error) { return scanPerson(rows.Scan) }, listPeople, org)
	if err != nil {
		return nil, fmt.Errorf("listing the people of %s: %w", org, err)
	}
	return all, nil
}
