// Package storetest runs the tests of a governance store on SQLite and on a real Postgres.
package storetest

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"bordereau/migrations"
	"bordereau/migrations/postgrestest"
)

// Open returns an empty database with the governance schema, which is closed with the test.
type Open func(t *testing.T) *sql.DB

// Each runs every test on each engine, all at once.
func Each(t *testing.T, tests map[string]func(t *testing.T, open Open)) {
	t.Helper()
	on := func(t *testing.T, fresh func(t *testing.T) (dsn string)) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, func(t *testing.T) *sql.DB { return open(t, fresh(t)) })
			})
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		on(t, func(t *testing.T) string { return filepath.Join(t.TempDir(), "governance.db") })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		server := postgrestest.Start(t)
		var n atomic.Int64
		on(t, func(t *testing.T) string { return postgrestest.Database(t, server, fmt.Sprint("db", n.Add(1))) })
	})
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, _, err := migrations.Open(t.Context(), dsn, migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
