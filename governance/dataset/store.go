package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/google/uuid"
	"gocloud.dev/blob"

	"bordereau/governance/dataset/generation"
	"bordereau/governance/fault"
	"bordereau/migrations"
)

// Config is what a store needs. Bucket, Threads and MemoryMB may be left out.
type Config struct {
	Dir      string             // the folder that holds the organisations' data
	DB       *sql.DB            // the governance database
	Dialect  migrations.Dialect // its engine
	Logger   *slog.Logger
	Now      func() time.Time
	Builder  Command      // how to start a process that runs BuilderMain
	Bucket   *blob.Bucket // where replicas share everything; Dir is then a cache. The caller closes it
	Threads  int          // of a builder; 0: 2
	MemoryMB int          // of a builder's working tables, before they go to disk; 0: 2048
	// GrowAbove is how many bytes a file must have for small imports to leave it as it is and grow a log beside it; 0: 32 MiB.
	GrowAbove int64
}

// Command starts a program.
type Command struct {
	Path string   // such as os.Executable()
	Args []string // such as "dataset-builder"
	Env  []string // nil: nothing but TMPDIR
}

// Store holds the data of all organisations.
type Store struct {
	cfg    Config
	ledger ledger
	remote remote
	holder string // this process, among those that hold leases

	mu     sync.Mutex
	leases map[string]time.Time     // by generation's folder: until when this process's lease is good
	turns  map[string]chan struct{} // by organisation: whose turn it is to build
	pins   map[string]*pin          // by folder of a generation
}

// Open returns the store in cfg.Dir.
func Open(cfg Config) (*Store, error) {
	if cfg.Dir == "" || cfg.DB == nil || cfg.Dialect == "" || cfg.Logger == nil || cfg.Now == nil || cfg.Builder.Path == "" {
		return nil, errors.New("dataset: Dir, DB, Dialect, Logger, Now and Builder are required")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "orgs"), 0o700); err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	cfg.Dir = dir
	if cfg.Threads == 0 {
		cfg.Threads = 2
	}
	if cfg.MemoryMB == 0 {
		cfg.MemoryMB = 2048
	}
	if cfg.GrowAbove == 0 {
		cfg.GrowAbove = 32 << 20
	}
	return &Store{cfg: cfg, ledger: ledger{cfg.DB}, remote: remote{cfg.Bucket}, holder: uuid.NewString(), leases: map[string]time.Time{}, turns: map[string]chan struct{}{}, pins: map[string]*pin{}}, nil
}

var orgName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// orgDir is the organisation's folder. Its name is the organisation's, which is why not every name will do.
func (s *Store) orgDir(org string) (string, error) {
	if !orgName.MatchString(org) {
		return "", &fault.Error{
			Code: fault.Invalid, Component: "dataset", Message: fmt.Sprintf("%.80q can't name an organisation", org),
			Hint: "use letters, digits, - _ and . only, at most 64",
		}
	}
	return filepath.Join(s.cfg.Dir, "orgs", org), nil
}

// Organisations lists the organisations that have data.
func (s *Store) Organisations(ctx context.Context) ([]Organisation, error) {
	all, err := s.ledger.organisations(ctx)
	if err != nil {
		return nil, s.unavailable("the organisations can't be listed", err)
	}
	return all, nil
}

// Document opens the stored file of a document. The caller closes it.
func (s *Store) Document(ctx context.Context, org, documentID string) (io.ReadCloser, DocumentMeta, error) {
	dir, err := s.orgDir(org)
	if err != nil {
		return nil, DocumentMeta{}, err
	}
	m, err := s.ledger.document(ctx, org, documentID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, DocumentMeta{}, &fault.Error{Code: fault.NotFound, Component: "dataset", Message: "no file is stored for this document"}
	}
	if err != nil {
		return nil, DocumentMeta{}, s.unavailable("the document can't be looked up", err)
	}
	path := documentPath(m.SHA256)
	if err := s.remote.ensure(ctx, org, dir, generation.Built{Path: path, SHA256: m.SHA256, Bytes: m.Bytes}); err != nil {
		return nil, DocumentMeta{}, s.unavailable("the document's file is not there", err)
	}
	f, err := os.Open(filepath.Join(dir, path))
	if err != nil {
		return nil, DocumentMeta{}, s.unavailable("the document's file can't be opened", err)
	}
	return f, m, nil
}
