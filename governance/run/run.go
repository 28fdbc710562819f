// Package run keeps reconciliation runs for those who publish, read and compare them later.
package run

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
)

// PartBytes is the most that one part of a run's body holds.
const PartBytes = 1 << 20

// ErrNotFound is returned where there is no such run, or part of it, in the organisation.
var ErrNotFound = errors.New("no such run")

// Run heads one stored run. Role is the one whose view of the data it holds.
type Run struct {
	ID           string          `json:"run_id"`
	Org          string          `json:"org"`
	Role         string          `json:"role"`
	Person       string          `json:"person"`
	Conversation string          `json:"conversation"`
	Turn         string          `json:"turn"`
	Created      time.Time       `json:"created_at"`
	Generation   string          `json:"generation"`
	Guideline    string          `json:"guideline"`
	Submissions  int             `json:"submissions"`
	Findings     int             `json:"findings"`
	Head         json.RawMessage `json:"head"` // what the tool answered
	Bytes        int             `json:"bytes"`
	SHA256       string          `json:"sha256"`
	Parts        int             `json:"parts"`
}

// Store keeps runs in the governance database.
type Store struct {
	db     *sql.DB
	pack   *zstd.Encoder
	unpack *zstd.Decoder
}

// NewStore returns the store of a database that migrations.Open has opened with the governance schema.
func NewStore(db *sql.DB) (*Store, error) {
	if db == nil {
		return nil, errors.New("run: a store needs a database")
	}
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(4*PartBytes))
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	return &Store{db: db, pack: pack, unpack: unpack}, nil
}

// Save stores a run and its body, whole or not at all, and returns it with size, hash and parts filled in. A second
// run of the same id is an error. The body is read twice from where it is and never held as a whole.
func (s *Store) Save(ctx context.Context, r Run, body io.ReadSeeker) (Run, error) {
	if r.ID == "" || r.Org == "" || r.Role == "" {
		return Run{}, errors.New("run: a run needs id, organisation and role")
	}
	if len(r.Head) == 0 {
		r.Head = json.RawMessage("{}")
	}
	sum := sha256.New()
	size, err := io.Copy(sum, body)
	if err == nil {
		_, err = body.Seek(-size, io.SeekCurrent)
	}
	switch {
	case err != nil:
		return Run{}, fmt.Errorf("reading the run's body: %w", err)
	case size == 0:
		return Run{}, errors.New("run: a run needs a body")
	}
	r.Bytes, r.SHA256, r.Parts = int(size), hex.EncodeToString(sum.Sum(nil)), int((size+PartBytes-1)/PartBytes)
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return Run{}, fmt.Errorf("storing run: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	_, err = tx.ExecContext(ctx, insertRun, r.ID, r.Org, r.Role, r.Person, r.Conversation, r.Turn, r.Created.UnixMicro(),
		r.Generation, r.Guideline, r.Submissions, r.Findings, string(r.Head), r.Bytes, r.SHA256, r.Parts)
	if err != nil {
		return Run{}, fmt.Errorf("storing run: %w", err)
	}
	part := make([]byte, min(PartBytes, r.Bytes))
	for n := 1; n <= r.Parts; n++ {
		part = part[:min(PartBytes, r.Bytes-(n-1)*PartBytes)]
		if _, err := io.ReadFull(body, part); err != nil {
			return Run{}, fmt.Errorf("reading the run's body, part %d: %w", n, err)
		}
		if _, err := tx.ExecContext(ctx, insertPart, r.ID, n, s.pack.EncodeAll(part, nil)); err != nil {
			return Run{}, fmt.Errorf("storing run, part %d: %w", n, err)
		}
	}
	if err := tx.Commit(); err != nil {
		return Run{}, fmt.Errorf("storing run: %w", err)
	}
	return r, nil
}

// Get returns the head of a run of org.
func (s *Store) Get(ctx context.Context, org, id string) (Run, error) {
	r, err := scan(s.db.QueryRowContext(ctx, selectRun, org, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, ErrNotFound
	}
	if err != nil {
		return Run{}, fmt.Errorf("reading run: %w", err)
	}
	return r, nil
}

// Part returns part n (1, 2, …) of the body of a run of org.
func (s *Store) Part(ctx context.Context, org, id string, n int) ([]byte, error) {
	var packed []byte
	err := s.db.QueryRowContext(ctx, selectPart, org, id, n).Scan(&packed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading run, part %d: %w", n, err)
	}
	part, err := s.unpack.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("reading run, part %d: %w", n, err)
	}
	return part, nil
}

// Body returns the whole body of a run of org, checked against its hash.
func (s *Store) Body(ctx context.Context, org, id string) ([]byte, error) {
	from, err := s.Open(ctx, org, id)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(from)
}

// Open reads the body of a run of org a part at a time. It ends in an error if the body isn't what was stored.
func (s *Store) Open(ctx context.Context, org, id string) (io.Reader, error) {
	r, err := s.Get(ctx, org, id)
	if err != nil {
		return nil, err
	}
	n, sum := 0, sha256.New()
	return &parts{next: func() ([]byte, error) {
		if n++; n > r.Parts {
			return nil, io.EOF
		}
		part, err := s.Part(ctx, org, id, n)
		if err != nil {
			return nil, err
		}
		// The last part is given only if the whole is right: who reads JSON doesn't ask for more after its end.
		if sum.Write(part); n == r.Parts && hex.EncodeToString(sum.Sum(nil)) != r.SHA256 {
			return nil, fmt.Errorf("reading run %s: its body isn't what was stored", id)
		}
		return part, nil
	}}, nil
}

// parts reads one part after the other.
type parts struct {
	next func() ([]byte, error)
	rest []byte
}

// Read implements io.Reader.
func (p *parts) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		var err error
		if p.rest, err = p.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// List returns up to limit runs of org, the newest first, older than before (zero: from the newest).
func (s *Store) List(ctx context.Context, org string, before time.Time, limit int) ([]Run, error) {
	if limit <= 0 || limit > 200 {
		limit = 50
	}
	until := int64(1) << 62
	if !before.IsZero() {
		until = before.UnixMicro()
	}
	rows, err := s.db.QueryContext(ctx, listRuns, org, until, limit)
	if err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	runs := []Run{}
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("listing runs: %w", err)
		}
		runs = append(runs, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	return runs, nil
}

func scan(row interface{ Scan(...any) error }) (Run, error) {
	var r Run
	var created int64
	var head string
	err := row.Scan(&r.ID, &r.Org, &r.Role, &r.Person, &r.Conversation, &r.Turn, &created, &r.Generation, &r.Guideline,
		&r.Submissions, &r.Findings, &head, &r.Bytes, &r.SHA256, &r.Parts)
	r.Created, r.Head = time.UnixMicro(created).UTC(), json.RawMessage(head)
	return r, err
}
