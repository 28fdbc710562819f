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

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
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
	dialect := SQLite
	var db *sql.DB
	var err error
	switch {
	case dsn == "":
		return nil, "", ErrDSN
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		dialect = Postgres
		db, err = openPostgres(dsn)
	case strings.Contains(dsn, "://"):
		return nil, "", ErrDSN
	default:
		db, err = sql.Open("sqlite", "file:"+dsn+"?"+sqlitePragmas)
	}
	if err != nil {
		return nil, "", fmt.Errorf("opening the %s database: %w", schema, err)
	}
	if err := migrate(ctx, db, dialect, schema); err != nil {
		return nil, "", errors.Join(fmt.Errorf("migrating the %s database: %w", schema, err), db.Close())
	}
	return db, dialect, nil
}

// idleInTransaction ends a session that sits in an open transaction: a process that was stopped there holds its row locks,
// and others would wait for it for ever. A DSN that sets the parameter itself keeps its own.
const idleInTransaction = "idle_in_transaction_session_timeout"

func openPostgres(dsn string) (*sql.DB, error) {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if c.RuntimeParams[idleInTransaction] == "" {
		c.RuntimeParams[idleInTransaction] = "10s"
	}
	return stdlib.OpenDB(*c), nil
}

func migrate(ctx context.Context, db *sql.DB, dialect Dialect, schema Schema) error {
	sub, err := fs.Sub(files, string(schema))
	if err != nil {
		return err
	}
	goosed := goose.DialectSQLite3
	// Each part of the program numbers in a range of its own, so a lower number may come later.
	options := []goose.ProviderOption{goose.WithAllowOutofOrder(true)}
	if dialect == Postgres {
		goosed = goose.DialectPostgres
		// Replicas start at the same time: one migrates, the others wait for it.
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120)) // asks once a second
		if err != nil {
			return err
		}
		options = append(options, goose.WithSessionLocker(locker))
	}
	provider, err := goose.NewProvider(goosed, db, sub, options...)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
