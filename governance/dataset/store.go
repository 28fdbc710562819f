package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"bordereau/migrations"
)

// Config is what a store needs. All but Bucket is required.
type Config struct {
	Dir     string             // the folder that holds the organisations' data
	DB      *sql.DB            // the governance database
	Dialect migrations.Dialect // its engine
	Logger  *slog.Logger
	Now     func() time.Time
	Builder Command // how to start a process that runs BuilderMain
}

// Command starts a program.
type Command struct {
	Path string   // such as os.Executable()
	Args []string // such as "dataset-builder"
	Env  []string // nil: an empty environment but for PATH and TMPDIR
}

// Store holds the data of all organisations.
type Store struct {
	cfg Config
}

// Open returns the store in cfg.Dir.
func Open(cfg Config) (*Store, error) {
	if cfg.Dir == "" || cfg.DB == nil || cfg.Dialect == "" || cfg.Logger == nil || cfg.Now == nil || cfg.Builder.Path == "" {
		return nil, errors.New("dataset: Dir, DB, Dialect, Logger, Now and Builder are required")
	}
	return &Store{cfg: cfg}, nil
}

var errSoon = fmt.Errorf("dataset: %w", errors.ErrUnsupported)

// Import takes src into the organisation's facts and publishes a new generation, whole and at once, or changes nothing.
func (s *Store) Import(ctx context.Context, org string, src Source) (ImportResult, error) {
	return ImportResult{}, errSoon
}

// Pin returns the organisation's newest generation in a masking profile and keeps it until release is called.
func (s *Store) Pin(ctx context.Context, org, profile string) (Pinned, func(), error) {
	return Pinned{}, nil, errSoon
}

// Organisations lists the organisations that have data.
func (s *Store) Organisations(ctx context.Context) ([]Organisation, error) { return nil, errSoon }

// Document opens the stored file of a document. The caller closes it.
func (s *Store) Document(ctx context.Context, org, documentID string) (io.ReadCloser, DocumentMeta, error) {
	return nil, DocumentMeta{}, errSoon
}

// Retire removes all but the newest keep generations of the organisation, except those that are pinned.
func (s *Store) Retire(ctx context.Context, org string, keep int) (Retired, error) {
	return Retired{}, errSoon
}
