package export

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"gocloud.dev/blob"

	"bordereau/governance/gate"
)

// prefix is where exports are in their bucket.
const prefix = "exports/"

// Config is what a Store needs. All of it is required.
type Config struct {
	DB       *sql.DB      // the governance database
	Bucket   *blob.Bucket // a folder, or what replicas share
	TTL      time.Duration
	MaxBytes int64 // of one export
	Now      func() time.Time
	NewID    func() string // not to be guessed, never twice the same
}

// Store keeps exports, each for one turn of one organisation.
type Store struct{ c Config }

// Export is one finished export.
type Export struct {
	ID     string
	Format Format
	Rows   int64
	Bytes  int64
	SHA256 string
	Parts  int
}

// NewStore returns a Store.
func NewStore(c Config) (*Store, error) {
	if c.DB == nil || c.Bucket == nil || c.TTL <= 0 || c.MaxBytes <= 0 || c.Now == nil || c.NewID == nil {
		return nil, errors.New("export: DB, Bucket, TTL, MaxBytes, Now and NewID are required")
	}
	return &Store{c: c}, nil
}

// Writer is an export under way. It is a gate.Sink; end it with Commit or Abort.
type Writer struct {
	s         *Store
	org, turn string
	out       Export
	cancel    context.CancelFunc // of the bucket writer's context, so that it discards what was written
	blob      *blob.Writer
	sum       hash.Hash
	enc       Encoder
}

var _ gate.Sink = (*Writer)(nil)

// Create starts an export for a turn. Nothing of it can be read before Commit.
func (s *Store) Create(ctx context.Context, org, turn string, format Format) (*Writer, error) {
	if org == "" || turn == "" || encoders()[format] == nil {
		return nil, errors.New("export: an export needs organisation, turn and a known format")
	}
	w := &Writer{s: s, org: org, turn: turn, out: Export{ID: s.c.NewID(), Format: format}, sum: sha256.New()}
	ctx, w.cancel = context.WithCancel(ctx)
	var err error
	if w.blob, err = s.c.Bucket.NewWriter(ctx, prefix+w.out.ID, &blob.WriterOptions{ContentType: "application/octet-stream"}); err != nil {
		w.cancel()
		return nil, fmt.Errorf("starting an export: %w", err)
	}
	return w, nil
}

// Begin writes what comes before the rows.
func (w *Writer) Begin(columns []gate.Column) (err error) {
	w.enc, err = encoders()[w.out.Format](counted{w}, columns)
	return err
}

// Row writes one row.
func (w *Writer) Row(values []any) error {
	w.out.Rows++
	return w.enc.Row(values)
}

// counted hashes and bounds what goes to the bucket.
type counted struct{ w *Writer }

func (c counted) Write(p []byte) (int, error) {
	if c.w.out.Bytes += int64(len(p)); c.w.out.Bytes > c.w.s.c.MaxBytes {
		return 0, fmt.Errorf("%w: %d bytes", ErrTooLarge, c.w.s.c.MaxBytes)
	}
	c.w.sum.Write(p)
	return c.w.blob.Write(p)
}

var _ io.Writer = counted{}

// Commit finishes the export; from then on it can be read.
func (w *Writer) Commit(ctx context.Context) (Export, error) {
	if w.enc == nil {
		return Export{}, errors.New("export: nothing was begun")
	}
	if err := w.enc.Close(); err != nil {
		w.Abort()
		return Export{}, fmt.Errorf("finishing an export: %w", err)
	}
	if err := w.blob.Close(); err != nil {
		w.cancel()
		return Export{}, fmt.Errorf("finishing an export: %w", err)
	}
	w.cancel()
	w.out.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	w.out.Parts = int((w.out.Bytes + PartBytes - 1) / PartBytes)
	now := w.s.c.Now()
	_, err := w.s.c.DB.ExecContext(ctx, insertExport, w.out.ID, w.org, w.turn, string(w.out.Format), w.out.Rows, w.out.Bytes,
		w.out.SHA256, w.out.Parts, now.UnixMicro(), now.Add(w.s.c.TTL).UnixMicro())
	if err != nil {
		return Export{}, fmt.Errorf("recording an export: %w", err) // Reap finds the file
	}
	return w.out, nil
}

// Abort leaves nothing behind.
func (w *Writer) Abort() {
	if book, ok := w.enc.(*workbookEncoder); ok {
		book.discard()
	}
	w.cancel()
	_ = w.blob.Close() // with its context cancelled it discards what was written
}

// Part returns part n (1, 2, …) of an export of that turn.
func (s *Store) Part(ctx context.Context, org, turn, id string, n int) ([]byte, error) {
	var size, parts int64
	err := s.c.DB.QueryRowContext(ctx, selectExport, org, turn, id, s.c.Now().UnixMicro()).Scan(&size, &parts)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (n < 1 || int64(n) > parts) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading an export: %w", err)
	}
	offset := int64(n-1) * PartBytes
	part := make([]byte, min(PartBytes, size-offset))
	r, err := s.c.Bucket.NewRangeReader(ctx, prefix+id, offset, int64(len(part)), nil)
	if err != nil {
		return nil, fmt.Errorf("reading an export: %w", err)
	}
	defer func() { _ = r.Close() }()
	if _, err := io.ReadFull(r, part); err != nil {
		return nil, fmt.Errorf("reading an export: %w", err)
	}
	return part, nil
}

// Reap removes what has expired, and files that a crash left without a record. It returns how many files went.
func (s *Store) Reap(ctx context.Context) (int, error) {
	now := s.c.Now()
	if _, err := s.c.DB.ExecContext(ctx, deleteExpired, now.UnixMicro()); err != nil {
		return 0, fmt.Errorf("removing expired exports: %w", err)
	}
	reaped := 0
	files := s.c.Bucket.List(&blob.ListOptions{Prefix: prefix})
	for {
		file, err := files.Next(ctx)
		if errors.Is(err, io.EOF) {
			return reaped, nil
		}
		if err != nil {
			return reaped, fmt.Errorf("listing exports: %w", err)
		}
		var one int
		err = s.c.DB.QueryRowContext(ctx, selectAny, file.Key[len(prefix):]).Scan(&one)
		if err == nil || file.ModTime.After(now.Add(-s.c.TTL)) {
			continue // recorded, or perhaps about to be
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return reaped, fmt.Errorf("looking up an export: %w", err)
		}
		if err := s.c.Bucket.Delete(ctx, file.Key); err != nil {
			return reaped, fmt.Errorf("removing an export: %w", err)
		}
		reaped++
	}
}
