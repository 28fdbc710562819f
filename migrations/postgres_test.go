package migrations_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/migrations"
	"bordereau/migrations/postgrestest"
)

// Replicas that start at the same time migrate once, and a session that sits in a transaction is ended.
func TestPostgres(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Start(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			db, dialect, err := migrations.Open(t.Context(), dsn, migrations.Journal)
			if err != nil || dialect != migrations.Postgres {
				t.Error(dialect, err)
				return
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	db, _, err := migrations.Open(t.Context(), dsn+"&idle_in_transaction_session_timeout=100ms", migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), `SELECT 1`); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if _, err := tx.ExecContext(t.Context(), `SELECT 1`); err == nil {
		t.Error("a session that sat in its transaction goes on")
	}
	_ = tx.Rollback()
	standard, _, err := migrations.Open(t.Context(), dsn, migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standard.Close() })
	var bound string
	if err := standard.QueryRowContext(t.Context(), `SHOW idle_in_transaction_session_timeout`).Scan(&bound); err != nil || !strings.HasPrefix(bound, "10s") {
		t.Errorf("%q, %v", bound, err)
	}
}
