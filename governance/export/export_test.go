package export_test

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"gocloud.dev/blob/memblob"

	"bordereau/governance/export"
	"bordereau/governance/gate"
	"bordereau/migrations/storetest"
)

var at = time.Date(2026, 11, 29, 13, 14, 15, 123456000, time.UTC) //nolint:gochecknoglobals // a constant

func columns() []gate.Column {
	return []gate.Column{
		{Name: "z_first", Type: "BIGINT"},
		{Name: "round(a, 2)", Type: "DECIMAL(14,2)"},
		{Name: "wide", Type: "DECIMAL(38,4)"},
		{Name: "small", Type: "DECIMAL(4,1)"},
		{Name: "n", Type: "HUGEINT"},
		{Name: "n", Type: "VARCHAR"},
		{Name: "day", Type: "DATE"},
		{Name: "at", Type: "TIMESTAMP"},
		{Name: "ok", Type: "BOOLEAN"},
		{Name: "ratio", Type: "DOUBLE"},
		{Name: "list", Type: "VARCHAR[]"},
		{Name: "nested", Type: "DATE[][]"},
		{Name: "cells", Type: "MAP(VARCHAR, VARCHAR)"},
		{Name: "s", Type: `STRUCT(a INTEGER, "b c" DECIMAL(4,1)[])`},
		{Name: "u", Type: "UBIGINT"},
		{Name: "raw", Type: "BLOB"},
	}
}

func rows() [][]any {
	day := time.Date(1969, 12, 30, 0, 0, 0, 0, time.UTC)
	return [][]any{
		{
			int64(1), "123456789012.25", "-1234567890123456789012345678901234.5678", "-12.5", int64(-7), "text", day, at, true, 0.5,
			[]any{"a", nil, ""},
			[]any{[]any{day}, []any{}, nil},
			map[string]any{"vin": "1F", "year": nil},
			map[string]any{"a": int64(1), "b c": []any{"1.5", nil}},
			"18446744073709551615",
			[]byte{0, 255},
		},
		{nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil},
		{
			int64(2), "-0.01", "0.0001", "0.0", "99999999999999999999999999999999999999", "", at, day, false, 1e300,
			[]any{},
			[]any{},
			map[string]any{},
			map[string]any{"a": nil, "b c": nil},
			int64(0),
			[]byte{},
		},
	}
}

func encode(t *testing.T, start func(io.Writer, []gate.Column) (export.Encoder, error)) []byte {
	t.Helper()
	var out bytes.Buffer
	e, err := start(&out, columns())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows() {
		if err := e.Row(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCSVTellsNullFromEmpty(t *testing.T) {
	t.Parallel()
	want := `z_first,"round(a, 2)",wide,small,n,n_1,day,at,ok,ratio,list,nested,cells,s,u,raw
1,123456789012.25,-1234567890123456789012345678901234.5678,-12.5,-7,text,1969-12-30,2026-11-29 13:14:15.123456,true,0.5,"[""a"",null,""""]","[[""1969-12-30""],[],null]","{""vin"":""1F"",""year"":null}","{""a"":1,""b c"":[1.5,null]}",18446744073709551615,AP8=
,,,,,,,,,,,,,,,
2,-0.01,0.0001,0.0,99999999999999999999999999999999999999,"",2026-11-29,1969-12-30 00:00:00,false,1e+300,[],[],{},"{""a"":null,""b c"":null}",0,""
`
	if diff := cmp.Diff(want, string(encode(t, export.NewCSV))); diff != "" {
		t.Error(diff)
	}
}

func TestArrowKeepsTypes(t *testing.T) {
	t.Parallel()
	r, err := ipc.NewReader(bytes.NewReader(encode(t, export.NewArrow)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var types, got []string
	for _, f := range r.Schema().Fields() {
		types = append(types, f.Name+" "+f.Type.String())
	}
	want := []string{
		"z_first int64", "round(a, 2) decimal(14, 2)", "wide decimal(38, 4)", "small decimal(4, 1)", "n decimal(38, 0)", "n_1 utf8", "day date32", "at timestamp[us]", "ok bool", "ratio float64",
		"list list<item: utf8, nullable>", "nested list<item: list<item: date32, nullable>, nullable>", "cells map<utf8, utf8, items_nullable>",
		"s struct<a: int32, b c: list<item: decimal(4, 1), nullable>>", "u uint64", "raw binary",
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Error(diff)
	}
	for r.Next() {
		batch := r.RecordBatch()
		for row := range int(batch.NumRows()) {
			var cells []string
			for _, c := range batch.Columns() {
				cell := "NULL"
				if !c.IsNull(row) {
					raw, err := json.Marshal(c.GetOneForMarshal(row))
					if err != nil {
						t.Fatal(err)
					}
					cell = string(raw)
				}
				cells = append(cells, cell)
			}
			got = append(got, strings.Join(cells, "|"))
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	rows := []string{
		`1|"123456789012.25"|"-1234567890123456789012345678901234.5678"|"-12.5"|"-7"|"text"|"1969-12-30"|"2026-11-29T13:14:15.123456Z"|true|0.5|["a",null,""]|[["1969-12-30"],[],null]|` +
			`[{"key":"vin","value":"1F"},{"key":"year","value":null}]|{"a":1,"b c":["1.5",null]}|18446744073709551615|"AP8="`,
		strings.Repeat("NULL|", 15) + "NULL",
		`2|"-0.01"|"0.0001"|"0"|"99999999999999999999999999999999999999"|""|"2026-11-29"|"1969-12-30T00:00:00Z"|false|1e+300|[]|[]|[]|{"a":null,"b c":null}|0|""`,
	}
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Error(diff)
	}
}

func TestArrowRefusesWhatHasNoPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ   string
		value any
	}{"39 digits": {"HUGEINT", "170141183460469231731687303715884105727"}, "infinity": {"DATE", "infinity"}, "no UTF-8": {"VARCHAR", "\xff"}, "no list": {"VARCHAR[]", "x"}} {
		e, err := export.NewArrow(io.Discard, []gate.Column{{Name: "c", Type: c.typ}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Row([]any{c.value}); !errors.Is(err, export.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParquetKeepsTypes(t *testing.T) {
	t.Parallel()
	raw := encode(t, export.NewParquet)
	f, err := parquet.OpenFile(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, field := range f.Schema().Fields() {
		got = append(got, field.Name())
	}
	want := []string{"z_first", "round(a, 2)", "wide", "small", "n", "n_1", "day", "at", "ok", "ratio", "list", "nested", "cells", "s", "u", "raw"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if f.NumRows() != 3 {
		t.Errorf("%d rows", f.NumRows())
	}
	r := f.RowGroups()[0].Rows()
	defer func() { _ = r.Close() }()
	buffer := make([]parquet.Row, 3)
	if n, err := r.ReadRows(buffer); n != 3 || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("read %d rows, %v", n, err)
	}
	wide := new(big.Int).SetBytes(buffer[0][2].ByteArray())
	wide.Sub(wide, new(big.Int).Lsh(big.NewInt(1), 128))
	if wide.String() != "-12345678901234567890123456789012345678" {
		t.Errorf("wide decimal %s", wide)
	}
	if d := buffer[0][1].Int64(); d != 12345678901225 {
		t.Errorf("decimal %d", d)
	}
	if day := buffer[0][6].Int32(); day != -2 {
		t.Errorf("day %d", day)
	}
	if us := buffer[0][7].Int64(); us != at.UnixMicro() {
		t.Errorf("time %d", us)
	}
	for i, v := range buffer[1] {
		if !v.IsNull() || v.DefinitionLevel() != 0 {
			t.Errorf("row of NULLs, value %d: %+v at level %d", i, v, v.DefinitionLevel())
		}
	}
	if v := buffer[2][5]; v.IsNull() || v.String() != "" {
		t.Errorf("the empty string is %+v", v)
	}
}

func TestParquetRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ   string
		value any
	}{
		"39 digits":         {"HUGEINT", "170141183460469231731687303715884105727"},
		"infinite date":     {"DATE", "infinity"},
		"text in a list":    {"VARCHAR[]", "x"},
		"another scale":     {"DECIMAL(4,1)", "1.25"},
		"unknown to int":    {"INTEGER", "x"},
		"nested in no list": {"STRUCT(a INTEGER)", []any{}},
	} {
		e, err := export.NewParquet(io.Discard, []gate.Column{{Name: "c", Type: c.typ}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Row([]any{c.value}); !errors.Is(err, export.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStore is what a store does, with its record on each engine.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, map[string]func(*testing.T, storetest.Open){"time": storeKeepsExportsForTheirTime, "bounds": storeBoundsAnExport})
}

func store(t *testing.T, db *sql.DB, now *time.Time, limit int64) *export.Store {
	t.Helper()
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	s, err := export.NewStore(export.Config{DB: db, Bucket: bucket, TTL: time.Hour, MaxBytes: limit, Now: func() time.Time { return *now }, NewID: rand.Text})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func storeKeepsExportsForTheirTime(t *testing.T, open storetest.Open) {
	t.Helper()
	now := time.Now()
	s := store(t, open(t), &now, 1<<20)
	w, err := s.Create(t.Context(), "acme", "t1", export.CSV)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Begin([]gate.Column{{Name: "n", Type: "BIGINT"}}); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := w.Row([]any{int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	e, err := w.Commit(t.Context())
	if err != nil || e.Rows != 10 || e.Parts != 1 || e.Bytes != 22 {
		t.Fatalf("%+v, %v", e, err)
	}
	if part, err := s.Part(t.Context(), "acme", "t1", e.ID, 1); err != nil || len(part) != 22 {
		t.Errorf("%q, %v", part, err)
	}
	for _, other := range [][2]string{{"acme", "t2"}, {"globex", "t1"}} {
		if _, err := s.Part(t.Context(), other[0], other[1], e.ID, 1); !errors.Is(err, export.ErrNotFound) {
			t.Errorf("the export of another turn, for %v: %v", other, err)
		}
	}
	for _, n := range []int{0, 2, -1} {
		if _, err := s.Part(t.Context(), "acme", "t1", e.ID, n); !errors.Is(err, export.ErrNotFound) {
			t.Errorf("part %d: %v", n, err)
		}
	}
	if n, err := s.Reap(t.Context()); n != 0 || err != nil {
		t.Errorf("reaped %d, %v", n, err)
	}
	now = now.Add(2 * time.Hour)
	if _, err := s.Part(t.Context(), "acme", "t1", e.ID, 1); !errors.Is(err, export.ErrNotFound) {
		t.Errorf("an expired export: %v", err)
	}
	if n, err := s.Reap(t.Context()); n != 1 || err != nil {
		t.Errorf("reaped %d, %v", n, err)
	}
}

func storeBoundsAnExport(t *testing.T, open storetest.Open) {
	t.Helper()
	now := time.Now()
	s := store(t, open(t), &now, 100<<10)
	w, err := s.Create(t.Context(), "acme", "t1", export.CSV)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Begin([]gate.Column{{Name: "n", Type: "VARCHAR"}}); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = w.Row([]any{"0123456789012345678901234567890123456789"})
	}
	if !errors.Is(err, export.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	w.Abort()
	now = now.Add(48 * time.Hour)
	if n, err := s.Reap(t.Context()); n != 0 || err != nil {
		t.Errorf("an aborted export left %d files, %v", n, err)
	}
}
