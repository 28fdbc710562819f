package gate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bordereau/governance/duck/ducktest"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/policy"
)

// secret stands in a table of the generation that the policy does not govern, and in a column that it hides. Whatever is run, it must not
// come out: that tells, without trusting our own reading, that what ran is what was checked.
const secret = "CANARY-OF-THE-UNGOVERNED"

const fuzzPolicy = `
version: 1
profiles: {standard: {mask: {}}, full: {mask: {}}}
roles:
  underwriter:
    profile: standard
    limits: {rows: 100, bytes: 1MiB, seconds: 30, memory: 128MiB}
    hidden: {drivers: [license_number]}
    rows: {submissions: "status <> 'secret'"}
budgets:
  turn: {queries: 1000000000, seconds: 1000000000, bytes: 1024GiB}
  person: {queries: 1000000000, seconds: 1000000000, bytes: 1024GiB}
  organisation: {queries: 1000000000, seconds: 1000000000, bytes: 1024GiB}
`

func fuzzHouse(f *testing.F) func(t *testing.T, sql string) {
	f.Helper()
	path := filepath.Join(f.TempDir(), "fuzz.duckdb")
	ducktest.Write(f, path, "CREATE TABLE submissions (submission_id VARCHAR, workflow VARCHAR, status VARCHAR, received_at TIMESTAMP)",
		"INSERT INTO submissions VALUES ('S-1', 'Claims Intake', 'bound', now()::TIMESTAMP), ('"+secret+"', 'x', 'secret', NULL)",
		"CREATE TABLE drivers (name VARCHAR, license_number VARCHAR)", "INSERT INTO drivers VALUES ('ann', '"+secret+"')",
		"CREATE TABLE ungoverned AS SELECT '"+secret+"' AS s, 'S-1' AS submission_id, '"+secret+"' AS name")
	catalogue := policy.Catalogue{"submissions": {"submission_id", "workflow", "status", "received_at"}, "drivers": {"name", "license_number"}}
	h := newHouse(f, map[string]string{"acme/standard": path}, options{policy: fuzzPolicy, catalogue: catalogue})
	return func(t *testing.T, sql string) {
		t.Helper()
		var out leakSink
		a, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: sql, Timeout: 2 * time.Second}, &out)
		var e *fault.Error
		switch {
		case err != nil && !errors.As(err, &e):
			t.Errorf("%q: %v", sql, err)
		case err != nil && (e.Code == fault.Internal || e.Code == fault.Unavailable):
			t.Errorf("%q: %v (%v)", sql, err, errors.Unwrap(err))
		case out.has(secret) && !strings.Contains(sql, "CANARY"):
			t.Errorf("%q told the secret; ran %q", sql, a.SQLAsRun)
		case err != nil && strings.Contains(e.Message+e.Hint, secret):
			t.Errorf("%q: the error told the secret: %v", sql, err)
		}
	}
}

// FuzzStatement asks anything at all.
func FuzzStatement(f *testing.F) {
	for _, a := range attacks(f) {
		if len(a.SQL) < 500 && a.Cat != "res" {
			f.Add(a.SQL)
		}
	}
	corpus, err := os.ReadFile("testdata/corpus.sql")
	if err != nil {
		f.Fatal(err)
	}
	for i, q := range strings.Split(string(corpus), "\n") {
		if i%6 == 0 {
			f.Add(q)
		}
	}
	check := fuzzHouse(f)
	f.Fuzz(check)
}

// positions are the places of a statement where an identifier or a literal may stand; {I} is quoted as an identifier, {S} as a string.
var positions = []string{
	`SELECT submission_id AS {I} FROM submissions`, `SELECT {I} FROM submissions`, `SELECT s.{I} FROM submissions s`, `SELECT {I}.submission_id FROM submissions`,
	`SELECT * FROM {I}`, `SELECT * FROM submissions AS {I}`, `SELECT * FROM submissions s({I})`, `SELECT * FROM (SELECT 1) AS {I}({I})`,
	`WITH {I} AS (SELECT 1) SELECT * FROM {I}`, `WITH c({I}) AS (SELECT 1) SELECT * FROM c`, `SELECT * EXCLUDE ({I}) FROM submissions`,
	`SELECT * REPLACE (1 AS {I}) FROM submissions`, `SELECT * RENAME (status AS {I}) FROM submissions`, `SELECT * RENAME ({I} AS x) FROM submissions`,
	`SELECT s.* EXCLUDE (s.{I}) FROM submissions s`, `SELECT {I}.* FROM submissions`, `SELECT {'a': 1, {S}: 2}`, `SELECT struct_pack({I} := 1)`,
	`SELECT row(1).{I}`, `SELECT ({'a': 1}).{I}`, `SELECT ({'a': 1})[{S}]`, `SELECT {I}(1)`, `SELECT main.{I}(1)`, `SELECT sum(1) OVER {I} FROM submissions WINDOW {I} AS (ORDER BY 1)`,
	`SELECT list_transform([1], {I} -> 1)`, `SELECT list_transform([1], lambda {I}: 1)`, `SELECT [1 FOR {I} IN [1]]`, `SELECT 'a' COLLATE {I}`, `SELECT CAST(1 AS {I})`,
	`SELECT CAST(NULL AS STRUCT({I} INT))`, `SELECT CAST(NULL AS MAP(VARCHAR, {I}))`, `SELECT * FROM submissions JOIN drivers USING ({I})`,
	`SELECT * FROM submissions a JOIN submissions b USING (submission_id, {I})`, `FROM submissions PIVOT (count(*) FOR status IN ({S}) GROUP BY {I})`,
	`FROM submissions PIVOT (count(*) AS {I} FOR status IN ({S} AS {I}))`, `FROM submissions PIVOT (count(*) FOR {I} IN ('a'))`,
	`FROM submissions UNPIVOT ({I} FOR {I} IN (status, workflow))`, `FROM submissions UNPIVOT (v FOR n IN (status AS {S}))`, `SELECT COLUMNS({S}) FROM submissions`,
	`SELECT COLUMNS({I} -> true) FROM submissions`, `SELECT {S}`, `SELECT e{S}`, `SELECT DATE {S}`, `SELECT INTERVAL {S}`, `SELECT MAP {{S}: 1}`, `SELECT * FROM submissions WHERE status LIKE {S} ESCAPE {S}`,
	`SELECT date_part({S}, received_at) FROM submissions`, `SELECT ${I}`, `SELECT :{I}`, `SELECT unnest([1], {I} := true)`, `SELECT * FROM range(1) AS {I}({I})`,
	`SELECT 1 ORDER BY {I}`, `SELECT status FROM submissions GROUP BY {I}`, `SELECT * FROM (VALUES (1)) AS {I}({I})`, `SELECT * FROM submissions TABLESAMPLE {I}(10%)`,
	`SELECT * FROM submissions AT ({I} => 1)`, `SELECT 1 AS {I} UNION BY NAME SELECT 2 AS {I}`, `SELECT count(*) FILTER (WHERE {I}) FROM submissions`, `SELECT /* {C} */ 1 -- {C}`,
	`TABLE {I}`, `FROM {I}`, `SUMMARIZE {I}`, `DESCRIBE {I}`, `SELECT * FROM {I}.submissions`, `SELECT * FROM main.{I}`, `SELECT s.{I}.{I} FROM submissions s`, `SELECT *, {I} FROM submissions`,
	`WITH RECURSIVE {I}({I}) AS (SELECT 1 UNION ALL SELECT {I} + 1 FROM {I} WHERE {I} < 3) SELECT * FROM {I}`, `SELECT {I} FROM (SELECT 1 AS {I})`,
	`SELECT row_number() OVER (PARTITION BY {I} ORDER BY {I}) FROM submissions`, `SELECT status FROM submissions QUALIFY row_number() OVER (ORDER BY {I}) = 1`,
	`SELECT * FROM submissions a ASOF JOIN submissions b ON a.received_at >= b.{I}`, `SELECT * FROM submissions a, LATERAL (SELECT a.{I} AS {I}) AS {I}`,
	`SELECT * FROM submissions POSITIONAL JOIN {I}`, `SELECT 1::{I}`, `SELECT TRY_CAST(1 AS {I})`, `SELECT CAST('a' AS ENUM({S}))`, `SELECT EXTRACT({I} FROM received_at) FROM submissions`,
	`SELECT received_at AT TIME ZONE {S} FROM submissions`, `SELECT status FROM submissions GROUP BY GROUPING SETS (({I}), ())`, `SELECT status SIMILAR TO {S} FROM submissions`,
	`SELECT to_json(submissions) ->> {S} FROM submissions`, `UNPIVOT submissions ON status, workflow INTO NAME {I} VALUE {I}`, `SELECT list(status ORDER BY {I}) FROM submissions`,
	`SELECT 1 LIMIT {I}`, `SELECT * FROM unnest([1]) WITH ORDINALITY AS {I}({I})`, `SELECT COLUMNS(* EXCLUDE ({I})) FROM submissions`, `SELECT 1 EXCEPT SELECT {I} FROM submissions`,
}

// FuzzIdentifier puts one name into every place where a name may stand.
func FuzzIdentifier(f *testing.F) {
	for _, name := range []string{
		"a", "submissions", "drivers", "license_number", "ungoverned", `a"`, `"`, `a'b`, `a''`, "a) FROM ungoverned --", `a" FROM ungoverned --`, "$a$$ AS q, s FROM ungoverned) AS g --",
		"x; SELECT * FROM ungoverned", "a, s FROM ungoverned) --", "a\") , ungoverned AS (\"b", "main.ungoverned", "a\x00b", "ünï", "\u200b", "\u202e", "a\nFROM ungoverned", "a/*", "*/ s FROM ungoverned --",
		"a') FROM ungoverned --", "a\\", "\\' || (SELECT s FROM ungoverned) --", "SELECT", "from", " ", "", "1", "$1", "$$", "$$ || (SELECT s FROM ungoverned) || $$", "a.b", "{I}", "status) CROSS JOIN ungoverned z WHERE (true",
	} {
		f.Add(name)
	}
	check := fuzzHouse(f)
	f.Fuzz(func(t *testing.T, name string) {
		fill := strings.NewReplacer("{I}", `"`+strings.ReplaceAll(name, `"`, `""`)+`"`, "{S}", "'"+strings.ReplaceAll(name, "'", "''")+"'", "{C}", name)
		for _, p := range positions {
			if p == `SELECT * FROM {I}` && strings.EqualFold(name, "drivers") {
				continue
			}
			check(t, fill.Replace(p))
			check(t, strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(p, "{I}", name), "{S}", name), "{C}", name))
		}
	})
}
