// Package ducktest writes small DuckDB files with the relations of docs/DATA.md for tests of the query path.
package ducktest

import (
	"database/sql"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2" // the "duckdb" driver
)

//go:embed schema.sql
var schema string

//go:embed rows.sql
var rows string

// Canary is part of every value that must not leave the file of organisation org unmasked.
func Canary(org string) string { return "CANARY" + strings.ToUpper(org) }

// Generation writes an organisation's generation and returns its path. A masked one has no canary in it, the way a standard
// profile has none; an unmasked one has them in licence numbers and in the fields that hold them.
func Generation(t testing.TB, org string, masked bool, submissions int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("000001-%s-%t.duckdb", org, masked))
	mark := Canary(org)
	if masked {
		mark = "****"
	}
	text := strings.NewReplacer("{N}", fmt.Sprint(submissions), "{MARK}", mark, "{ORG}", org).Replace(rows)
	Write(t, path, schema, text)
	return path
}

// Write makes a DuckDB file by statements, and makes it read-only.
func Write(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range append(statements, "CHECKPOINT") {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%.80s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
}
