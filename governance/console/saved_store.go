package console

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
)

// saved is a statement kept under a name.
type saved struct {
	ID      string    `json:"id"`
	Person  string    `json:"person"`
	Name    string    `json:"name"`
	SQL     string    `json:"sql"`
	Shared  bool      `json:"shared"` // with the organisation, which may run it and not change it
	Own     bool      `json:"own"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// The bounds of what is kept.
const (
	maxSaved     = 500 // of a person
	maxSavedName = 120
	maxSavedSQL  = 20_000
)

const (
	selectSaved = `SELECT id, person, name, sql_text, shared, created_at, updated_at FROM saved_statements
 WHERE org = $1 AND (person = $2 OR shared) ORDER BY lower(name), created_at, id`
	countSaved  = `SELECT COUNT(*) FROM saved_statements WHERE org = $1 AND person = $2`
	insertSaved = `INSERT INTO saved_statements (id, org, person, name, sql_text, shared, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
 ON CONFLICT (org, person, name) DO NOTHING`
	updateSaved = `UPDATE saved_statements SET name = $1, sql_text = $2, shared = $3, updated_at = $4 WHERE org = $5 AND person = $6 AND id = $7
 RETURNING created_at`
	otherSaved  = `SELECT COUNT(*) FROM saved_statements WHERE org = $1 AND person = $2 AND name = $3 AND id <> $4`
	deleteSaved = `DELETE FROM saved_statements WHERE org = $1 AND person = $2 AND id = $3`
)

// check cleans what a person wants to keep.
func (s *saved) check() error {
	s.Name = strings.Join(strings.Fields(s.Name), " ")
	switch {
	case s.Name == "" || utf8.RuneCountInString(s.Name) > maxSavedName || !utf8.ValidString(s.Name):
		return invalid(fmt.Sprintf("a saved statement has a name of at most %d characters", maxSavedName), "Give it a shorter name.")
	case strings.TrimSpace(s.SQL) == "" || len(s.SQL) > maxSavedSQL || !utf8.ValidString(s.SQL) || strings.ContainsRune(s.SQL, 0):
		return invalid(fmt.Sprintf("a saved statement has a text of at most %d bytes", maxSavedSQL), "Shorten it.")
	}
	return nil
}

func taken() error {
	return invalid("you have another statement of that name", "Choose another name, or change that one.")
}

func (c *Console) savedOf(ctx context.Context, p gate.Principal) ([]saved, error) {
	rows, err := c.c.DB.QueryContext(ctx, selectSaved, p.Org, p.Subject)
	if err != nil {
		return nil, fmt.Errorf("listing saved statements: %w", err)
	}
	defer rows.Close()
	all := []saved{}
	for rows.Next() {
		var s saved
		var created, updated int64
		if err := rows.Scan(&s.ID, &s.Person, &s.Name, &s.SQL, &s.Shared, &created, &updated); err != nil {
			return nil, fmt.Errorf("listing saved statements: %w", err)
		}
		s.Own, s.Created, s.Updated = s.Person == p.Subject, time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
		all = append(all, s)
	}
	return all, rows.Err()
}

func (c *Console) keep(ctx context.Context, p gate.Principal, s *saved) error {
	var n int
	if err := c.c.DB.QueryRowContext(ctx, countSaved, p.Org, p.Subject).Scan(&n); err != nil {
		return fmt.Errorf("counting saved statements: %w", err)
	}
	if n >= maxSaved {
		return &fault.Error{Code: fault.TooLarge, Component: component, Message: fmt.Sprintf("you have %d saved statements, the most there can be", n), Hint: "Delete some."}
	}
	now := c.c.Now().UTC()
	s.ID, s.Person, s.Own, s.Created, s.Updated = c.c.NewID(), p.Subject, true, now, now
	done, err := c.c.DB.ExecContext(ctx, insertSaved, s.ID, p.Org, p.Subject, s.Name, s.SQL, s.Shared, now.UnixMicro(), now.UnixMicro())
	if err != nil {
		return fmt.Errorf("saving a statement: %w", err)
	}
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		return errors.Join(taken(), err)
	}
	return nil
}

func (c *Console) change(ctx context.Context, p gate.Principal, s *saved) error {
	var n int
	if err := c.c.DB.QueryRowContext(ctx, otherSaved, p.Org, p.Subject, s.Name, s.ID).Scan(&n); err != nil {
		return fmt.Errorf("changing a saved statement: %w", err)
	}
	if n > 0 {
		return taken()
	}
	now := c.c.Now().UTC()
	var created int64
	err := c.c.DB.QueryRowContext(ctx, updateSaved, s.Name, s.SQL, s.Shared, now.UnixMicro(), p.Org, p.Subject, s.ID).Scan(&created)
	if errors.Is(err, sql.ErrNoRows) {
		return notFound("saved statement of yours")
	}
	if err != nil {
		return fmt.Errorf("changing a saved statement: %w", err)
	}
	s.Person, s.Own, s.Created, s.Updated = p.Subject, true, time.UnixMicro(created).UTC(), now
	return nil
}

func (c *Console) forget(ctx context.Context, p gate.Principal, id string) error {
	done, err := c.c.DB.ExecContext(ctx, deleteSaved, p.Org, p.Subject, id)
	if err != nil {
		return fmt.Errorf("deleting a saved statement: %w", err)
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		return notFound("saved statement of yours")
	}
	return err
}
