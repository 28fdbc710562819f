package identity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Organisation is a customer. Its data and conversations are nobody else's.
type Organisation struct {
	ID      string
	Name    string
	Created time.Time
}

var idForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

const (
	putOrganisation   = `INSERT INTO organisations (id, name, created) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET name = excluded.name`
	listOrganisations = `SELECT id, name, created FROM organisations ORDER BY id`
	findOrganisation  = `SELECT id, name, created FROM organisations WHERE id = $1`
	withoutAdmin      = `SELECT id, name, created FROM organisations o WHERE NOT EXISTS (
    SELECT 1 FROM people p WHERE p.org = o.id AND p.role = 'admin' AND p.disabled = 0) ORDER BY id`
)

// PutOrganisation makes an organisation or renames it.
func (d *Directory) PutOrganisation(ctx context.Context, o Organisation) error {
	o.Name = strings.TrimSpace(o.Name)
	if !idForm.MatchString(o.ID) || !printable(o.Name) {
		return fmt.Errorf("%w: an organisation has a name and an id of small letters, digits and hyphens, at most 63", ErrInvalid)
	}
	before, err := d.FindOrganisation(ctx, o.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if before.Name == o.Name {
		return nil
	}
	if _, err := d.db.ExecContext(ctx, putOrganisation, o.ID, o.Name, d.now().UnixMilli()); err != nil {
		return fmt.Errorf("storing organisation %s: %w", o.ID, err)
	}
	return d.note(ctx, entry{org: o.ID, action: OrganisationPut, subject: o.ID, detail: "name " + o.Name})
}

// Organisations lists every organisation.
func (d *Directory) Organisations(ctx context.Context) ([]Organisation, error) {
	return d.organisations(ctx, listOrganisations)
}

// WithoutAdmin lists the organisations in which nobody is an active administrator.
func (d *Directory) WithoutAdmin(ctx context.Context) ([]Organisation, error) {
	return d.organisations(ctx, withoutAdmin)
}

// FindOrganisation returns an organisation.
func (d *Directory) FindOrganisation(ctx context.Context, id string) (Organisation, error) {
	all, err := d.organisations(ctx, findOrganisation, id)
	if err != nil {
		return Organisation{}, err
	}
	if len(all) == 0 {
		return Organisation{}, fmt.Errorf("%w: organisation %s", ErrNotFound, id)
	}
	return all[0], nil
}

func (d *Directory) organisations(ctx context.Context, query string, args ...any) ([]Organisation, error) {
	all, err := collect(ctx, d.db, func(rows *sql.Rows) (o Organisation, err error) {
		var created int64
		err = rows.Scan(&o.ID, &o.Name, &created)
		o.Created = moment(created)
		return o, err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("listing organisations: %w", err)
	}
	return all, nil
}

// queryer is a database or one of its transactions.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, db queryer, scan func(*sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
