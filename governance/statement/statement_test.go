package statement_test

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/duck"
	"bordereau/governance/fault"
	"bordereau/governance/statement"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == duck.WorkerCommand {
		os.Exit(duck.WorkerMain())
	}
	os.Exit(m.Run())
}

func reader(t testing.TB) *statement.Reader {
	t.Helper()
	pool, err := duck.New(duck.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	r, err := statement.New(statement.Config{Parser: pool})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadSaysWhatIsTouched(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for sql, want := range map[string]struct {
		relations string
		columns   string
		star      bool
	}{
		"SELECT a, B FROM T JOIN u USING (c)":                                              {"t u", "a b", false},
		"WITH w AS (SELECT x FROM t) SELECT y FROM w":                                      {"t", "x y", false},
		"WITH a AS (SELECT 1 FROM b), b AS (SELECT 2) SELECT 3 FROM a, b":                  {"b", "", false}, // a sees the relation b, not the CTE after it
		"SELECT 1 FROM (WITH a AS (SELECT 1) SELECT 1 FROM a), a":                          {"a", "", false}, // the CTE is out of sight
		"SELECT (SELECT max(x) FROM t) FROM u WHERE EXISTS (FROM v)":                       {"t u v", "x", true},
		"SELECT count(*) FROM t":                                                           {"t", "", false},
		"FROM t PIVOT (sum(x) FOR y IN ('a') GROUP BY z)":                                  {"t", "x y", true},
		"SELECT 1 FROM t ORDER BY (SELECT 1 FROM u) LIMIT (SELECT count(*) FROM v)":        {"t u v", "", false},
		"SELECT sum(x) OVER (ORDER BY (SELECT 1 FROM u)) FROM t QUALIFY (SELECT 1 FROM v)": {"t u v", "x", false},
	} {
		s, err := r.Read(t.Context(), sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if d := cmp.Diff([]any{want.relations, want.columns, want.star}, []any{strings.Join(s.RelationNames(), " "), strings.Join(s.Columns, " "), s.Star}); d != "" {
			t.Errorf("%s: %s", sql, d)
		}
	}
}

func TestSourcesReplaceRelationsOnly(t *testing.T) {
	t.Parallel()
	r := reader(t)
	source, err := r.Source(t.Context(), "t", []string{"h"}, "w = 'x'", func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	const sub = "(SELECT * EXCLUDE (h) FROM t WHERE (w = 'x')) AS "
	for sql, want := range map[string]string{
		"SELECT a FROM T":                                  "SELECT a FROM " + sub + "T LIMIT 11",
		"SELECT a FROM t AS x LIMIT 5":                     "SELECT a FROM " + sub + "x LIMIT 5",
		"SELECT a FROM t LIMIT 500":                        "SELECT a FROM " + sub + "t LIMIT 11",
		"SELECT a FROM u":                                  "SELECT a FROM u LIMIT 11",
		"SELECT a FROM (WITH t AS (SELECT 1 AS a) FROM t)": "SELECT a FROM (WITH t AS (SELECT 1 AS a)SELECT * FROM t) LIMIT 11",
	} {
		s, err := r.Read(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Rewrite(t.Context(), s, map[string]*statement.Source{"t": source}, 10)
		if err != nil || got.SQL != want {
			t.Errorf("%s: %v\n got %s\nwant %s", sql, err, got.SQL, want)
		}
		if _, err := r.Read(t.Context(), got.SQL); err != nil {
			t.Errorf("what is printed does not read: %v", err)
		}
	}
}

func TestTextThatTheParserNeverSees(t *testing.T) {
	t.Parallel()
	r := reader(t)
	for sql, rule := range map[string]string{
		strings.Repeat("x", 20_001): "text_length", "SELECT \xff": "text_encoding", "SELECT '\x00'": "text_encoding",
		"SELECT " + strings.Repeat("(", 101): "bracket_depth", "SELECT 1 " + strings.Repeat("/**/", 201): "comments",
		"": "empty", " ; ; ": "empty", "SELECT 1; SELECT 2": "one_statement", "INSERT INTO t VALUES (1)": "select_only",
	} {
		_, err := r.Read(t.Context(), sql)
		var f *fault.Error
		if !errors.As(err, &f) || f.Rule != rule || f.Hint == "" {
			t.Errorf("%.40q: got %+v", sql, f)
		}
	}
}

func TestRedactText(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"SELECT 'a''b', 12, 1.5e-3, x1 FROM t2":      "SELECT '[redacted]', '[redacted]', '[redacted]', x1 FROM t2",
		`SELECT "a'b" -- 'c'`:                        `SELECT "a'b"  `,
		"SELECT /* /* x */ y */ 1":                   "SELECT   '[redacted]'",
		"SELECT $$a'b$$, $t$x$t$, e'\\'' || 'z', $1": "SELECT '[redacted]', '[redacted]', e'[redacted]' || '[redacted]', $'[redacted]'",
		"SELECT 'never ends":                         "SELECT '[redacted]'",
		"SELECT /* never ends":                       "SELECT  ",
		`SELECT "123-45-6789"`:                       `SELECT "[redacted]"`,
	} {
		if got := statement.RedactText(sql).Text; got != want {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
}

// A place of the original is the same place of what is left.
func TestRedactedPlaces(t *testing.T) {
	t.Parallel()
	const sql = "SELECT 'secret' AS a, /* why */ x, 123-45-6789 FROM main.t WHERE n = 123456789 AND y"
	r := statement.RedactText(sql)
	for _, mark := range []string{"SELECT", " AS a", "x,", "FROM", "main.t", "AND y"} {
		from, to := strings.Index(sql, mark)+1, strings.Index(r.Text, mark)+1
		if got := r.Place(from); got != to {
			t.Errorf("%q is at %d of %q, not %d", mark, to, r.Text, got)
		}
	}
	if at := r.Place(strings.Index(sql, "secret") + 1); !strings.HasPrefix(r.Text[at-1:], "'[redacted]' AS a") {
		t.Errorf("inside a literal: %q", r.Text[at-1:])
	}
	if r.Place(0) != 0 || !r.Redacted() || statement.RedactText("SELECT a -- why").Redacted() {
		t.Error("no place, or what was left out, is wrong")
	}
	if got := statement.RedactMessage(`the parser says: syntax error at or near "'123'"`); got != "the parser says: syntax error" {
		t.Error(got)
	}
	if f := statement.Functions(); !slices.Contains(f, "date_trunc") || slices.Contains(f, "||") || slices.Contains(f, "read_csv") {
		t.Error(f)
	}
}

// FuzzRedactText holds that no literal survives, whatever the text.
func FuzzRedactText(f *testing.F) {
	f.Add("SELECT 'x", "y")
	f.Add("/* ' */ $$", "'")
	f.Fuzz(func(t *testing.T, before, after string) {
		got := statement.RedactText(before + " 'SECRET42' " + after).Text
		plain := statement.RedactText(before + "\n").Text
		if strings.Contains(got, "SECRET42") && !strings.Contains(before+after, "SECRET42") && strings.Count(before, `"`)%2 == 0 && !strings.ContainsAny(before, "'$/-\\") {
			t.Errorf("%q became %q (%q)", before, got, plain)
		}
	})
}

// FuzzRead holds that reading and printing end, and that what was printed reads the same way again.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"SELECT 1", "SELECT a FROM t WHERE b IN (1, 'x')", "VALUES (1)", "WITH a AS (FROM b) FROM a", "FROM t PIVOT (sum(x) FOR y IN ('a'))", `SELECT "a""b"`, "SELECT $$x$$", "SELECT {'a': [1]}"} {
		f.Add(s)
	}
	r := reader(f)
	f.Fuzz(func(t *testing.T, sql string) {
		s, err := r.Read(t.Context(), sql)
		var e *fault.Error
		if err != nil {
			if !errors.As(err, &e) || e.Code == fault.Internal {
				t.Errorf("%q: %v", sql, err)
			}
			return
		}
		once, err := r.Rewrite(t.Context(), s, nil, 10)
		if err != nil {
			return // refused: it does not survive printing
		}
		if d := cmp.Diff(s.RelationNames(), once.RelationNames()); d != "" {
			t.Errorf("%q printed as %q: %s", sql, once.SQL, d)
		}
		again, err := r.Read(t.Context(), once.SQL)
		if errors.As(err, &e) && (e.Rule == "text_length" || e.Rule == "bracket_depth" || e.Rule == "select_nesting" || e.Rule == "expression_depth") {
			return
		}
		if err != nil {
			t.Errorf("%q printed as %q: %v", sql, once.SQL, err)
		} else if d := cmp.Diff(once.Functions, again.Functions); d != "" {
			t.Errorf("%q printed as %q: %s", sql, once.SQL, d)
		}
	})
}
