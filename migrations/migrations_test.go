package migrations_test

import (
	"errors"
	"path/filepath"
	"testing"

	"bordereau/migrations"
)

func TestOpenTwiceKeepsTheSchema(t *testing.T) {
	t.Parallel()
	for _, schema := range []migrations.Schema{migrations.Journal, migrations.Governance} {
		file := filepath.Join(t.TempDir(), "x.db")
		for range 2 {
			db, dialect, err := migrations.Open(t.Context(), file, schema)
			if err != nil || dialect != migrations.SQLite {
				t.Fatalf("%s: dialect %q, error %v", schema, dialect, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestOpenRefusesOtherEngines(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"", "mysql://x", "http://x"} {
		if _, _, err := migrations.Open(t.Context(), dsn, migrations.Journal); !errors.Is(err, migrations.ErrDSN) {
			t.Errorf("%q: error %v", dsn, err)
		}
	}
}
