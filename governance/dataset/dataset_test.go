package dataset_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/dataset"
	"bordereau/governance/fault"
	"bordereau/migrations"
)

// TestMain lets the test binary be the builder process, and the importer that the kill test kills.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "dataset-builder" {
		if err := dataset.BuilderMain(context.Background(), os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 5 && os.Args[1] == "test-importer" {
		growAbove, err := strconv.ParseInt(os.Args[5], 10, 64)
		if err != nil {
			os.Exit(2)
		}
		os.Exit(importer(os.Args[2], os.Args[3], os.Args[4], growAbove))
	}
	os.Exit(m.Run())
}

func builder(t testing.TB) dataset.Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return dataset.Command{Path: self, Args: []string{"dataset-builder"}}
}

func open(t testing.TB, dir string) (*dataset.Store, *sql.DB) {
	t.Helper()
	return openGrowing(t, dir, 0)
}

// openGrowing opens a store where small imports into files of growAbove bytes or more grow a log.
func openGrowing(t testing.TB, dir string, growAbove int64) (*dataset.Store, *sql.DB) {
	t.Helper()
	db, dialect, err := migrations.Open(t.Context(), filepath.Join(dir, "governance.db"), migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s, err := dataset.Open(dataset.Config{Dir: dir, DB: db, Dialect: dialect, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Builder: builder(t), GrowAbove: growAbove})
	if err != nil {
		t.Fatal(err)
	}
	return s, db
}

// sample writes an organisation's import of n submissions; each has 2 documents, 10 rows and about 200 fields.
func sample(t testing.TB, dir string, n int) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	put := func(kv ...any) {
		m := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		if err := enc.Encode(m); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	if err := os.MkdirAll(filepath.Join(dir, "documents"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		at := begin.Add(time.Duration(i) * 3 * time.Hour).Format(time.RFC3339)
		s := fmt.Sprintf("S-%d", i)
		put("type", "submission", "id", s, "workflow", []string{"Claims Intake", "New Business Intake"}[i%2], "status", "received", "insured_name", "Acme "+s,
			"broker_name", nil, "carrier", "C-1", "line_of_business", "commercial_auto", "effective_date", "2026-12-15", "expiry_date", "2027-12-15", "received_at", at)
		for d, kind := range []string{"vehicle_schedule", "driver_list"} {
			doc := fmt.Sprintf("D-%d-%d", i, d)
			path := "documents/" + doc + ".txt"
			if err := os.WriteFile(filepath.Join(dir, path), []byte("document "+doc), 0o600); err != nil {
				t.Fatal(err)
			}
			put("type", "document", "id", doc, "submission_id", s, "document_type", kind, "filename", doc+".txt", "media_type", "text/plain", "pages", 1, "received_at", at, "path", path)
			table := []string{"vehicles", "drivers"}[d]
			put("type", "field", "id", "F-"+doc+"-fein", "document_id", doc, "row_id", nil, "field", "fein", "value", fmt.Sprintf("12-%07d", i), "unit", nil, "confidence", 0.9, "page", 1, "bbox", []float64{0, 0, 1, 1}, "extracted_at", at)
			put("type", "field", "id", "F-"+doc+"-notes", "document_id", doc, "field", "notes", "value", fmt.Sprintf("call about 123-45-%04d, ok", i%10000), "confidence", 0.5, "page", 1, "extracted_at", at)
			for r := 1; r <= 5; r++ {
				row := fmt.Sprintf("R-%s-%d", doc, r)
				put("type", "row", "id", row, "document_id", doc, "table", table, "index", r, "page", 1, "bbox", []float64{0.05, 0.2, 0.95, 0.22}, "confidence", 0.97)
				cells := map[string]string{
					"unit_no": fmt.Sprint(r), "year": "2,019", "make": "FREIGHTLINER", "model": "CASCADIA", "body_type": "Tractor", "vin": fmt.Sprintf("1FUJGLDR%09d", i*10+r),
					"gvw": "80,000 lbs", "stated_value": "$125,000.50", "plate": "P1", "garaging_address": "1 Main St", "garaging_city": "Reno", "garaging_state": "NV", "garaging_zip": "89501", "radius": "n/a",
				}
				if table == "drivers" {
					cells = map[string]string{
						"name": fmt.Sprintf("Driver %d", r), "license_number": fmt.Sprintf("D%08d", i*10+r), "license_state": "NV", "license_class": "A", "license_status": "valid",
						"date_of_birth": fmt.Sprintf("03/%02d/1984", r), "hire_date": "2019-05-01", "ssn": fmt.Sprintf("987-65-%04d", i*10+r), "years_experience": "12", "moving_violations": "0", "accidents": "1", "mvr_run_date": "Nov 3, 2026",
					}
				}
				for name, value := range cells {
					id := "F-" + row + "-" + name
					put("type", "field", "id", id, "document_id", doc, "row_id", row, "field", name, "value", value, "confidence", 0.98, "page", 1, "bbox", []float64{0.1, 0.2, 0.3, 0.22}, "extracted_at", at)
					if name == "make" && r == 1 {
						put("type", "edit", "id", "E-"+id, "field_id", id, "from", value, "to", "KENWORTH", "by", "pat", "source", "human", "at", at, "reason", "as printed")
					}
				}
			}
		}
	}
	path := filepath.Join(dir, "import.ndjson")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func importFile(t testing.TB, s *dataset.Store, paths ...string) dataset.ImportResult {
	t.Helper()
	src, err := dataset.SourceOf(paths...)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Import(t.Context(), "acme", src)
	if err != nil {
		t.Fatalf("import: %v (%v)", err, errors.Unwrap(err))
	}
	return res
}

func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// ask runs a query on the newest generation and returns the rows as text.
func ask(t testing.TB, s *dataset.Store, profile, query string) []string {
	t.Helper()
	p, release, err := s.Pin(t.Context(), "acme", profile)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	return askFile(t, p.Path, query)
}

func askFile(t testing.TB, path, query string) []string {
	t.Helper()
	db, err := sql.Open("duckdb", path+"?access_mode=READ_ONLY")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		var texts []string
		dest := make([]any, len(names))
		raw := make([]any, len(names))
		for i := range raw {
			dest[i] = &raw[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		for _, v := range raw {
			texts = append(texts, fmt.Sprint(v))
		}
		all = append(all, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestImportPublishesTypedRelations(t *testing.T) {
	t.Parallel()
	s, _ := open(t, t.TempDir())
	res := importFile(t, s, filepath.Dir(sample(t, t.TempDir(), 4)))
	if !res.Changed || res.Records["submission"].New != 4 || res.Relations["extracted_rows"] != 40 || res.Relations["vehicles"] != 20 {
		t.Fatalf("%+v", res)
	}
	want(t, ask(t, s, dataset.Full, `SELECT row_index, year, make, gvw, stated_value::VARCHAR, radius IS NULL, workflow, confidence, document_type FROM vehicles WHERE document_id = 'D-1-0' AND row_index < 3 ORDER BY 1`),
		"1|2019|KENWORTH|80000|125000.50|true|New Business Intake|0.98|vehicle_schedule", "2|2019|FREIGHTLINER|80000|125000.50|true|New Business Intake|0.98|vehicle_schedule")
	want(t, ask(t, s, dataset.Full, `SELECT date_of_birth::VARCHAR, hire_date::VARCHAR, mvr_run_date::VARCHAR, major_violations IS NULL FROM drivers WHERE row_id = 'R-D-1-1-2'`), "1984-03-02|2019-05-01|2026-11-03|true")
	want(t, ask(t, s, dataset.Full, `SELECT original_value, value, edited, edited_by_human, edited_by, edit_count, table_name, row_index FROM extracted_fields WHERE field_id = 'F-R-D-1-0-1-make'`),
		"FREIGHTLINER|KENWORTH|true|true|pat|1|vehicles|1")
	want(t, ask(t, s, dataset.Full, `SELECT cells['make'], cells['vin'], len(map_keys(cells)) FROM extracted_rows WHERE row_id = 'R-D-1-0-1'`), "KENWORTH|1FUJGLDR000000011|14")
	want(t, ask(t, s, dataset.Full, `SELECT bytes, length(sha256), pages FROM documents WHERE document_id = 'D-1-0'`), "14|64|1")

	again := importFile(t, s, filepath.Dir(sample(t, t.TempDir(), 4)))
	if again.Changed || again.Generation != res.Generation || again.Records["field"].Unchanged != res.Records["field"].New {
		t.Errorf("importing the same again: %+v", again)
	}

	f, meta, err := s.Document(t.Context(), "acme", "D-1-0")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil || b.String() != "document D-1-0" || meta.MediaType != "text/plain" {
		t.Errorf("document %q %+v %v", b.String(), meta, err)
	}
	if _, _, err := s.Document(t.Context(), "acme", "D-none"); !fault.Is(err, fault.NotFound) {
		t.Errorf("unknown document: %v", err)
	}
}
