// Package guidelines keeps the guidelines that an organisation writes itself, beside those that come with the program.
package guidelines

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"bordereau/tools/guideline"
)

// Kinds of failure.
var (
	ErrNotFound = errors.New("guidelines: not found")
	ErrChanged  = errors.New("guidelines: the draft was changed by somebody else")
	ErrTaken    = errors.New("guidelines: that version is published already")
	ErrTooLarge = errors.New("guidelines: the draft is too long")
)

// MaxText is the most bytes of a guideline.
const MaxText = 512 << 10

// Draft is a guideline in the making, at one revision.
type Draft struct {
	ID       string    `json:"id"`
	Revision int64     `json:"revision"`
	Title    string    `json:"title"`
	Text     string    `json:"text,omitempty"`
	Person   string    `json:"person"`
	At       time.Time `json:"at"`
}

// Version is a published guideline. It never changes.
type Version struct {
	Key       string    `json:"key"`
	ID        string    `json:"id"`
	Version   string    `json:"version"`
	Effective string    `json:"effective"`
	Text      string    `json:"text,omitempty"`
	SHA256    string    `json:"sha256"`
	Author    string    `json:"author"`
	Person    string    `json:"person"` // who published it
	At        time.Time `json:"at"`
}

// Store keeps drafts and versions in the governance database.
type Store struct {
	db   *sql.DB
	base *guideline.Library

	mu    sync.Mutex
	known map[string]known
}

// known is an organisation's library as of its newest version.
type known struct {
	seq     int64
	library *guideline.Library
}

// NewStore returns a store over a database with the governance schema. base is what every organisation has.
func NewStore(db *sql.DB, base *guideline.Library) (*Store, error) {
	if db == nil || base == nil {
		return nil, errors.New("guidelines: a store needs a database and a library")
	}
	return &Store{db: db, base: base, known: map[string]known{}}, nil
}

// Library is what an organisation reconciles against: what comes with the program, and what it has published.
func (s *Store) Library(ctx context.Context, org string) (*guideline.Library, error) {
	var newest int64
	if err := s.db.QueryRowContext(ctx, `SELECT COALESCE(MAX(seq), 0) FROM guideline_versions WHERE org = $1`, org).Scan(&newest); err != nil {
		return nil, fmt.Errorf("reading guidelines: %w", err)
	}
	if newest == 0 {
		return s.base, nil
	}
	s.mu.Lock()
	k, ok := s.known[org]
	s.mu.Unlock()
	if ok && k.seq == newest {
		return k.library, nil
	}
	versions, err := s.Versions(ctx, org)
	if err != nil {
		return nil, err
	}
	library := s.base
	for _, v := range versions {
		// A version that can't be read any more is said, not passed over: a run against older rules would look right.
		g, err := guideline.Load(v.Key, []byte(v.Text), library.ByKey)
		if err == nil {
			library, err = library.With(g)
		}
		if err != nil {
			return nil, fmt.Errorf("the published guideline %s can't be read: %w", v.Key, err)
		}
	}
	s.mu.Lock()
	s.known[org] = known{newest, library}
	s.mu.Unlock()
	return library, nil
}

// Base is what comes with the program.
func (s *Store) Base() *guideline.Library { return s.base }

// Check reads a text as a guideline of an organisation. What is wrong with it comes as guideline.Problems.
func (s *Store) Check(ctx context.Context, org, text string) (*guideline.Guideline, error) {
	if len(text) > MaxText {
		return nil, ErrTooLarge
	}
	library, err := s.Library(ctx, org)
	if err != nil {
		return nil, err
	}
	return guideline.Load("draft", []byte(text), library.ByKey)
}

const versionColumns = `id, version, effective, body, sha256, author, person, at_us`

// Versions lists what an organisation has published, in that order.
func (s *Store) Versions(ctx context.Context, org string) (all []Version, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT `+versionColumns+` FROM guideline_versions WHERE org = $1 ORDER BY seq`, org)
	if err != nil {
		return nil, fmt.Errorf("reading guidelines: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var v Version
		var at int64
		if err := rows.Scan(&v.ID, &v.Version, &v.Effective, &v.Text, &v.SHA256, &v.Author, &v.Person, &at); err != nil {
			return nil, fmt.Errorf("reading guidelines: %w", err)
		}
		v.Key, v.At = v.ID+"@"+v.Version, time.UnixMicro(at).UTC()
		all = append(all, v)
	}
	return all, rows.Err()
}

// Drafts lists an organisation's open drafts, the newest first, without their texts.
func (s *Store) Drafts(ctx context.Context, org string) (all []Draft, err error) {
	rows, err := s.db.QueryContext(ctx, `SELECT d.id, d.revision, d.title, d.person, d.at_us FROM guideline_drafts d
		WHERE d.org = $1 AND d.closed = '' AND d.revision = (SELECT MAX(n.revision) FROM guideline_drafts n WHERE n.org = d.org AND n.id = d.id) ORDER BY d.at_us DESC`, org)
	if err != nil {
		return nil, fmt.Errorf("reading drafts: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var d Draft
		var at int64
		if err := rows.Scan(&d.ID, &d.Revision, &d.Title, &d.Person, &at); err != nil {
			return nil, fmt.Errorf("reading drafts: %w", err)
		}
		d.At = time.UnixMicro(at).UTC()
		all = append(all, d)
	}
	return all, rows.Err()
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Draft returns a draft as it is now.
func (s *Store) Draft(ctx context.Context, org, id string) (Draft, error) {
	return draft(ctx, s.db, org, id)
}

func draft(ctx context.Context, q queryer, org, id string) (Draft, error) {
	var d Draft
	var at int64
	var closed string
	err := q.QueryRowContext(ctx, `SELECT id, revision, title, body, person, at_us, closed FROM guideline_drafts WHERE org = $1 AND id = $2 ORDER BY revision DESC LIMIT 1`, org, id).
		Scan(&d.ID, &d.Revision, &d.Title, &d.Text, &d.Person, &at, &closed)
	if errors.Is(err, sql.ErrNoRows) || err == nil && closed != "" {
		return Draft{}, ErrNotFound
	}
	if err != nil {
		return Draft{}, fmt.Errorf("reading a draft: %w", err)
	}
	d.At = time.UnixMicro(at).UTC()
	return d, nil
}

// Save adds a revision to a draft; revision is the one that the person saw, 0 for a new draft. A text may have problems.
func (s *Store) Save(ctx context.Context, org string, d Draft) (Draft, error) {
	if len(d.Text) > MaxText {
		return Draft{}, ErrTooLarge
	}
	d.Text = strings.ReplaceAll(strings.ToValidUTF8(d.Text, "�"), "\x00", "")
	d.Title = title(d.Text)
	err := s.write(ctx, func(tx *sql.Tx) error {
		if d.Revision > 0 {
			if err := current(ctx, tx, org, d.ID, d.Revision); err != nil {
				return err
			}
		}
		d.Revision++
		return insertDraft(ctx, tx, org, d, "")
	})
	return d, err
}

// Discard closes a draft.
func (s *Store) Discard(ctx context.Context, org, id, person string, at time.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		d, err := draft(ctx, tx, org, id)
		if err != nil {
			return err
		}
		d.Revision, d.Person, d.At = d.Revision+1, person, at
		return insertDraft(ctx, tx, org, d, "discarded")
	})
}

// Publish makes a draft, as the person saw it, a version that runs use from its effective date on.
func (s *Store) Publish(ctx context.Context, org, id string, revision int64, person string, at time.Time) (Version, error) {
	d, err := s.Draft(ctx, org, id)
	if err != nil {
		return Version{}, err
	}
	g, err := s.Check(ctx, org, d.Text)
	if err != nil {
		return Version{}, err
	}
	if _, err := s.base.ByKey(g.Key()); err == nil {
		return Version{}, ErrTaken
	}
	v := Version{
		Key: g.Key(), ID: g.ID, Version: g.Version, Effective: g.Effective.Format(time.DateOnly), Text: d.Text, SHA256: g.SHA256,
		Author: d.Person, Person: person, At: at.UTC().Truncate(time.Microsecond),
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		if err := current(ctx, tx, org, id, revision); err != nil {
			return err
		}
		var there int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM guideline_versions WHERE org = $1 AND id = $2 AND version = $3`, org, v.ID, v.Version).Scan(&there); err != nil {
			return err
		}
		if there > 0 {
			return ErrTaken
		}
		d.Revision, d.Person, d.At = d.Revision+1, person, at
		if err := insertDraft(ctx, tx, org, d, "published"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO guideline_versions (org, seq, id, version, effective, body, sha256, draft, author, person, at_us)
			SELECT $1, COALESCE(MAX(seq), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM guideline_versions WHERE org = $11`,
			org, v.ID, v.Version, v.Effective, v.Text, v.SHA256, id, v.Author, person, v.At.UnixMicro(), org)
		return err
	})
	return v, err
}

// current holds a draft against the revision that the person saw. Who comes second has a revision that is taken.
func current(ctx context.Context, tx *sql.Tx, org, id string, revision int64) error {
	d, err := draft(ctx, tx, org, id)
	if err == nil && d.Revision != revision {
		err = ErrChanged
	}
	return err
}

func insertDraft(ctx context.Context, tx *sql.Tx, org string, d Draft, closed string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO guideline_drafts (org, id, revision, title, body, person, at_us, closed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		org, d.ID, d.Revision, d.Title, d.Text, d.Person, d.At.UnixMicro(), closed)
	return err
}

func (s *Store) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("storing guidelines: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := f(tx); err != nil {
		return fmt.Errorf("storing guidelines: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("storing guidelines: %w", err)
	}
	return nil
}

// title is a draft's id and version as far as they are written, or its first words.
func title(text string) string {
	var id, version, first string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if first == "" {
			first = line
		}
		if v, ok := strings.CutPrefix(line, "id:"); ok && id == "" {
			id = strings.Trim(strings.TrimSpace(v), `"'`)
		}
		if v, ok := strings.CutPrefix(line, "version:"); ok && version == "" {
			version = strings.Trim(strings.TrimSpace(v), `"'`)
		}
	}
	name := first
	if id != "" {
		name = id + "@" + version
	}
	if r := []rune(name); len(r) > 80 {
		name = string(r[:80])
	}
	return name
}
