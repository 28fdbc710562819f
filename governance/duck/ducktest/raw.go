package ducktest

import (
	"database/sql"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/duckdb/duckdb-go/v2"
)

// Peer opens a file with the ordinary driver, one thread. What it returns runs a statement and gives what the gate should give.
func Peer(t testing.TB, path string) func(statement string) (columns []string, out [][]any) {
	t.Helper()
	db, err := sql.Open("duckdb", path+"?access_mode=READ_ONLY&threads=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "SET TimeZone='UTC'"); err != nil {
		t.Fatal(err)
	}
	return func(statement string) ([]string, [][]any) { return collect(t, db, statement) }
}

func collect(t testing.TB, db *sql.DB, statement string) (columns []string, out [][]any) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatalf("raw: %v\n%s", err, statement)
	}
	defer rows.Close()
	if columns, err = rows.Columns(); err != nil {
		t.Fatal(err)
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			values[i] = plain(v, types[i].DatabaseTypeName())
		}
		out = append(out, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("raw: %v\n%s", err, statement)
	}
	return columns, out
}

// plain turns the driver's types into the gate's.
func plain(v any, name string) any {
	switch x := v.(type) {
	case int8:
		return int64(x)
	case int16:
		return int64(x)
	case int32:
		return int64(x)
	case uint8:
		return int64(x)
	case uint16:
		return int64(x)
	case uint32:
		return int64(x)
	case uint64:
		return plain(new(big.Int).SetUint64(x), name)
	case float32:
		return float64(x)
	case *big.Int:
		if x.IsInt64() {
			return x.Int64()
		}
		return x.String()
	case duckdb.Decimal:
		return exact(x)
	case time.Time:
		if strings.HasPrefix(name, "TIME") && !strings.HasPrefix(name, "TIMESTAMP") {
			return x.Format("15:04:05.999999")
		}
		return x.UTC()
	case duckdb.Interval:
		return fmt.Sprintf("%d/%d/%d", x.Months, x.Days, x.Micros)
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = plain(x[i], "")
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range x {
			out[k] = plain(x[k], "")
		}
		return out
	case duckdb.OrderedMap:
		out := map[string]any{}
		for i, k := range x.Keys() {
			out[fmt.Sprint(k)] = plain(x.Values()[i], "")
		}
		return out
	}
	return v
}

func exact(d duckdb.Decimal) string {
	text := d.Value.String()
	if d.Scale == 0 {
		return text
	}
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	for len(text) <= int(d.Scale) {
		text = "0" + text
	}
	return sign + text[:len(text)-int(d.Scale)] + "." + text[len(text)-int(d.Scale):]
}

// Open opens a file as a program without a gate would, and returns what runs a statement and counts its rows.
func Open(t testing.TB, path string) func(statement string) int {
	t.Helper()
	db, err := sql.Open("duckdb", path+"?access_mode=READ_ONLY")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(statement string) int {
		rows, err := db.QueryContext(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for values, targets := make([]any, len(columns)), make([]any, len(columns)); rows.Next(); n++ {
			for i := range values {
				targets[i] = &values[i]
			}
			if err := rows.Scan(targets...); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// TenMillion writes a generation with ten million extracted fields over seven months, three workflows and 24 fields.
func TenMillion(t testing.TB, path string) {
	t.Helper()
	Write(t, path, schema, `INSERT INTO extracted_fields
 SELECT 'F-' || i, 'D-' || i // 60, 'S-' || i // 240, 'R-' || i // 12, 'vehicle_schedule', (['Claims Intake', 'New Business Intake', 'Renewal Intake'])[1 + i // 240 % 3],
 'vehicles', i // 12 % 5, 'field_' || i % 24, 'value ' || hash(i) % 100000, 'value ' || hash(i) % 100000, NULL, (hash(i) % 1000) / 1000.0, 1, 0.1, 0.2, 0.3, 0.4,
 TIMESTAMP '2026-05-01' + to_seconds(i * 213 * 86400 // 10000000), hash(i, 1) % 8 = 0, hash(i, 1) % 16 = 0, CASE WHEN hash(i, 1) % 8 = 0 THEN 'ann' END,
 CASE WHEN hash(i, 1) % 8 = 0 THEN TIMESTAMP '2026-11-01' END, CASE WHEN hash(i, 1) % 8 = 0 THEN 1 ELSE 0 END
 FROM range(10000000) r(i)`)
}
