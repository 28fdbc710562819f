package gate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bordereau/governance/duck"
	"bordereau/governance/duck/ducktest"
	"bordereau/governance/policy"
)

// benchmark runs the queries of a folder of testdata, "-- n" before each, through the gate and on DuckDB itself.
func benchmark(t *testing.T, name string, queries int) {
	t.Helper()
	schema, err := os.ReadFile(filepath.Join("testdata", name, "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", name, "queries.sql"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name+".duckdb")
	ducktest.Write(t, path, string(schema))
	catalogue := policy.Catalogue{}
	for _, m := range regexp.MustCompile(`CREATE TABLE (\w+)`).FindAllStringSubmatch(string(schema), -1) {
		catalogue[m[1]] = []string{"x"} // the policy hides no column of these
	}
	h := newHouse(t, map[string]string{"acme/full": path}, options{policy: unbudgeted, catalogue: catalogue, duck: duck.Config{Threads: 1}})
	list := regexp.MustCompile(`(?m)^-- \d+\n`).Split(string(text), -1)[1:]
	if len(list) != queries {
		t.Fatalf("%d queries, want %d", len(list), queries)
	}
	raw := ducktest.Peer(t, path)
	empty := 0
	counted := func(sql string) ([]string, [][]any) {
		columns, rows := raw(sql)
		if len(rows) == 0 {
			empty++
		}
		return columns, rows
	}
	for i, q := range list {
		if d := same(t, h, "acme", "auditor", counted, strings.TrimSpace(q)); d != "" {
			t.Errorf("%s %d: %.1500s", name, i+1, d)
		}
	}
	if empty > queries/8 {
		t.Errorf("%s: %d of %d queries have no rows on this data", name, empty, queries)
	}
}

func TestTPCH(t *testing.T) {
	t.Parallel()
	benchmark(t, "tpch", 22)
}

func TestTPCDS(t *testing.T) {
	t.Parallel()
	benchmark(t, "tpcds", 99)
}
