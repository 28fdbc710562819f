package duck

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/duck/ducktest"
	"bordereau/governance/gate"
)

// sink keeps what arrives.
type sink struct {
	columns []gate.Column
	rows    [][]any
	fail    error
}

func (s *sink) Begin(c []gate.Column) error { s.columns = c; return nil }
func (s *sink) Row(v []any) error           { s.rows = append(s.rows, v); return s.fail }

func TestTypesSurvive(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	path := filepath.Join(t.TempDir(), "x.duckdb")
	ducktest.Write(t, path, "CREATE TABLE x (a INT)")
	day := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for sql, want := range map[string]struct {
		kind  string
		value any
	}{
		"SELECT NULL":                                              {"INTEGER", nil},
		"SELECT ''":                                                {"VARCHAR", ""},
		"SELECT true":                                              {"BOOLEAN", true},
		"SELECT (-5)::TINYINT":                                     {"TINYINT", int64(-5)},
		"SELECT 200::UTINYINT":                                     {"UTINYINT", int64(200)},
		"SELECT (-300)::SMALLINT":                                  {"SMALLINT", int64(-300)},
		"SELECT 60000::USMALLINT":                                  {"USMALLINT", int64(60000)},
		"SELECT 4000000000::UINTEGER":                              {"UINTEGER", int64(4000000000)},
		"SELECT (-9223372036854775808)::BIGINT":                    {"BIGINT", int64(-1 << 63)},
		"SELECT 18446744073709551615::UBIGINT":                     {"UBIGINT", "18446744073709551615"},
		"SELECT 5::UBIGINT":                                        {"UBIGINT", int64(5)},
		"SELECT sum(range) FROM range(10)":                         {"HUGEINT", int64(45)},
		"SELECT (-7)::HUGEINT":                                     {"HUGEINT", int64(-7)},
		"SELECT -170141183460469231731687303715884105727":          {"HUGEINT", "-170141183460469231731687303715884105727"},
		"SELECT 340282366920938463463374607431768211455::UHUGEINT": {"UHUGEINT", "340282366920938463463374607431768211455"},
		"SELECT 1.5::FLOAT":                                        {"FLOAT", 1.5},
		"SELECT 1e300::DOUBLE":                                     {"DOUBLE", 1e300},
		"SELECT 12.30::DECIMAL(4,2)":                               {"DECIMAL(4,2)", "12.30"},
		"SELECT -0.05::DECIMAL(9,2)":                               {"DECIMAL(9,2)", "-0.05"},
		"SELECT 1234567890123.45::DECIMAL(18,2)":                   {"DECIMAL(18,2)", "1234567890123.45"},
		"SELECT -99999999999999999999999999999999999.999::DECIMAL(38,3)": {"DECIMAL(38,3)", "-99999999999999999999999999999999999.999"},
		"SELECT 7::DECIMAL(5,0)":                               {"DECIMAL(5,0)", "7"},
		"SELECT DATE '2026-06-01'":                             {"DATE", day},
		"SELECT DATE '1969-12-31'":                             {"DATE", time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)},
		"SELECT DATE 'infinity'":                               {"DATE", "infinity"},
		"SELECT TIMESTAMP '2026-06-01 10:11:12.123456'":        {"TIMESTAMP", day.Add(10*time.Hour + 11*time.Minute + 12*time.Second + 123456*time.Microsecond)},
		"SELECT TIMESTAMP '1900-01-01 00:00:00.000001'":        {"TIMESTAMP", time.Date(1900, 1, 1, 0, 0, 0, 1000, time.UTC)},
		"SELECT TIMESTAMPTZ '2026-06-01 02:00:00+02'":          {"TIMESTAMP WITH TIME ZONE", day},
		"SELECT '2026-06-01'::TIMESTAMP_S":                     {"TIMESTAMP_S", day},
		"SELECT '2026-06-01'::TIMESTAMP_MS":                    {"TIMESTAMP_MS", day},
		"SELECT '2026-06-01 00:00:00.000000007'::TIMESTAMP_NS": {"TIMESTAMP_NS", day.Add(7)},
		"SELECT TIME '10:11:12.5'":                             {"TIME", "10:11:12.5"},
		"SELECT TIMETZ '10:11:12+02'":                          {"TIME WITH TIME ZONE", "10:11:12+02:00"},
		"SELECT INTERVAL '14 months 3 days 04:05:06.5'":        {"INTERVAL", "1 year 2 months 3 days 04:05:06.5"},
		"SELECT 'ab\x01'::BLOB":                                {"BLOB", []byte("ab\x01")},
		"SELECT 'a longer text than twelve bytes, ünïcode'":    {"VARCHAR", "a longer text than twelve bytes, ünïcode"},
		"SELECT '550e8400-e29b-41d4-a716-446655440000'::UUID":  {"UUID", "550e8400-e29b-41d4-a716-446655440000"},
		"SELECT '{\"a\": 1}'::JSON":                            {"JSON", `{"a": 1}`},
		"SELECT [1, NULL, 3]":                                  {"INTEGER[]", []any{int64(1), nil, int64(3)}},
		"SELECT [[1], [], NULL]":                               {"INTEGER[][]", []any{[]any{int64(1)}, []any{}, nil}},
		"SELECT [1.50, 2.25]":                                  {"DECIMAL(3,2)[]", []any{"1.50", "2.25"}},
		"SELECT array_value(1, 2, 3)":                          {"INTEGER[3]", []any{int64(1), int64(2), int64(3)}},
		"SELECT {'a': 1, 'B c': [DATE '2026-06-01']}":          {`STRUCT(a INTEGER, "B c" DATE[])`, map[string]any{"a": int64(1), "B c": []any{day}}},
		"SELECT MAP {'x': 1, 'y': NULL}":                       {"MAP(VARCHAR, INTEGER)", map[string]any{"x": int64(1), "y": nil}},
		"SELECT MAP {1: 'a'}":                                  {"MAP(INTEGER, VARCHAR)", map[string]any{"1": "a"}},
		"SELECT 'b'::ENUM('a', 'b')":                           {"ENUM", "b"},
	} {
		var s sink
		if _, err := p.Run(t.Context(), job(path, sql), &s); err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if d := cmp.Diff([]any{want.kind, [][]any{{want.value}}}, []any{s.columns[0].Type, s.rows}); d != "" {
			t.Errorf("%s: %s", sql, d)
		}
	}
}

func TestNullsAndChunks(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	path := filepath.Join(t.TempDir(), "x.duckdb")
	ducktest.Write(t, path, "CREATE TABLE x AS SELECT i, CASE WHEN i % 3 = 0 THEN NULL ELSE 'v' || i END AS v, [i, NULL] AS l, {'k': CASE WHEN i % 5 = 0 THEN NULL ELSE i END} AS s FROM range(10000) t(i)")
	var s sink
	ran, err := p.Run(t.Context(), job(path, "SELECT * FROM x ORDER BY i"), &s)
	if err != nil || len(s.rows) != 10000 || ran.Rows != 10000 || ran.Truncated {
		t.Fatalf("%+v %v", ran, err)
	}
	for i, r := range s.rows {
		if r[0] != int64(i) || (r[1] == nil) != (i%3 == 0) || r[2].([]any)[0] != int64(i) || (r[3].(map[string]any)["k"] == nil) != (i%5 == 0) {
			t.Fatalf("row %d: %v", i, r)
		}
	}
	j := job(path, "SELECT * FROM x")
	j.MaxRows = 7
	if ran, err := p.Run(t.Context(), j, &sink{}); err != nil || ran.Rows != 7 || !ran.Truncated {
		t.Errorf("rows cut: %+v %v", ran, err)
	}
	j.MaxRows, j.MaxBytes = 100000, 1000
	if ran, err := p.Run(t.Context(), j, &sink{}); err != nil || ran.Bytes > 1000 || !ran.Truncated || ran.Rows == 0 {
		t.Errorf("bytes cut: %+v %v", ran, err)
	}
}
