// Package migrations holds the schemas of Bordereau's own records and opens a database that has them.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the "pgx" driver
	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the "sqlite" driver
)

//go:embed journal/*.sql governance/*.sql
var files embed.FS

// Schema names one set of migrations. Agent and governance never share a database.
type Schema string

// The schemas, each a folder of goose migrations beside this file.
const (
	Journal    Schema = "journal"    // conversations, turns, steps, ledger, people
	Governance Schema = "governance" // audit, runs, guidelines, generations
)

// Dialect tells which engine a database is, for the few places where that matters.
type Dialect string

// The engines that one SQL text runs on.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// ErrDSN is returned for a data source name that names neither engine.
var ErrDSN = errors.New("data source name: want postgres://… or a file path")

// sqlitePragmas are set on each connection; a write transaction takes its lock when it begins,
// so that two of them wait for each other instead of failing with "database is locked".
const sqlitePragmas = "_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)&_txlock=immediate"

// Open opens the database that dsn names, a postgres:// URL or the path of a SQLite file, and brings it to the newest
// version of schema. The caller closes it.
func Open(ctx context.Context, dsn string, schema Schema) (*sql.DB, Dialect, error) {
	dialect, driver, name := SQLite, "sqlite", "file:"+dsn+"?"+sqlitePragmas
	switch {
	case dsn == "":
		return nil, "", ErrDSN
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		dialect, driver, name = Postgres, "pgx", dsn
	case strings.Contains(dsn, "://"):
		return nil, "", ErrDSN
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		return nil, "", fmt.Errorf("opening the %s database: %w", schema, err)
	}
	if err := migrate(ctx, db, dialect, schema); err != nil {
		return nil, "", errors.Join(fmt.Errorf("migrating the %s database: %w", schema, err), db.Close())
	}
	return db, dialect, nil
}

func migrate(ctx context.Context, db *sql.DB, dialect Dialect, schema Schema) error {
	sub, err := fs.Sub(files, string(schema))
	if err != nil {
		return err
	}
	goosed := goose.DialectSQLite3
	if dialect == Postgres {
		goosed = goose.DialectPostgres
	}
	// Each part of the program numbers in a range of its own, so a lower number may come later.
	provider, err := goose.NewProvider(goosed, db, sub, goose.WithAllowOutofOrder(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
