package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"

	"bordereau/migrations"
)

// DefaultLeaseTTL is how long a runner that falls silent keeps its turn.
const DefaultLeaseTTL = 15 * time.Second

// maxConns bounds the connections of one process.
const maxConns = 16

// ErrConfig is returned by Open for a Config that lacks something.
var ErrConfig = errors.New("journal: incomplete configuration")

// Config is what a Store is made from. DB comes from migrations.Open(ctx, dsn, migrations.Journal) and stays the caller's to close;
// Open bounds how many connections it keeps.
type Config struct {
	DB       *sql.DB
	Dialect  migrations.Dialect
	NewID    func() string    // ids that are unique over all replicas
	Now      func() time.Time // nil: time.Now
	LeaseTTL time.Duration    // 0: DefaultLeaseTTL
}

// Store is the journal in a database. It is safe for concurrent use by any number of processes on the same database.
type Store struct {
	db      *sql.DB
	dialect migrations.Dialect
	newID   func() string
	now     func() time.Time
	ttl     time.Duration
	writer  chan struct{} // SQLite: one writer at a time, in order, instead of busy waiting
	codec   codec
}

// Open checks cfg and returns a Store.
func Open(cfg Config) (*Store, error) {
	if cfg.DB == nil || cfg.NewID == nil || cfg.Dialect != migrations.SQLite && cfg.Dialect != migrations.Postgres {
		return nil, fmt.Errorf("%w: it needs DB, Dialect and NewID", ErrConfig)
	}
	s := &Store{db: cfg.DB, dialect: cfg.Dialect, newID: cfg.NewID, now: cfg.Now, ttl: cfg.LeaseTTL}
	if s.now == nil {
		s.now = time.Now
	}
	if s.ttl == 0 {
		s.ttl = DefaultLeaseTTL
	}
	if s.dialect == migrations.SQLite {
		s.writer = make(chan struct{}, 1)
	}
	// A connection costs more to open than a query to run, and a thousand turns must not open a thousand.
	s.db.SetMaxOpenConns(maxConns)
	s.db.SetMaxIdleConns(maxConns)
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<10), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, fmt.Errorf("journal: making the encoder: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return nil, fmt.Errorf("journal: making the decoder: %w", err)
	}
	s.codec = codec{enc: enc, dec: dec}
	return s, nil
}

// LeaseTTL is how long a silent runner keeps its turn; runners beat at a third of it.
func (s *Store) LeaseTTL() time.Duration { return s.ttl }

// DB is the journal's database, for stores of the agent that live beside it.
func (s *Store) DB() *sql.DB { return s.db }

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.db.PingContext(ctx) }

// write runs f in one transaction that may write. f must be free of effects outside it.
func (s *Store) write(ctx context.Context, doing string, f func(tx *sql.Tx) error) (err error) {
	if s.writer != nil {
		select {
		case s.writer <- struct{}{}:
			defer func() { <-s.writer }()
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
		}
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", doing, err)
			if rerr := tx.Rollback(); rerr != nil && !errors.Is(rerr, sql.ErrTxDone) {
				err = errors.Join(err, rerr)
			}
		}
	}()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// querier is what *sql.DB and *sql.Tx share.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// scanner is what *sql.Row and *sql.Rows share.
type scanner interface{ Scan(dest ...any) error }

// collect reads all rows of a query.
func collect[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) (all []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
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

// missing turns "no rows" into ErrNotFound.
func missing(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// micros is how a time is stored.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// moment reads what micros wrote.
func moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
