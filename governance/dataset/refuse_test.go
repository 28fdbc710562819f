package dataset_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"bordereau/governance/dataset"
	"bordereau/governance/fault"
)

func workbook(t testing.TB, sheets map[string][][]any) string {
	t.Helper()
	f := excelize.NewFile()
	for name, rows := range sheets {
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if err := f.SetSheetRow(name, fmt.Sprintf("A%d", i+1), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.DeleteSheet("Sheet1"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "book.xlsx")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each of these says file, row, column and why, and changes nothing.
func TestBrokenImportsAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := open(t, t.TempDir())
	before := importFile(t, s, sample(t, t.TempDir(), 1))
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	doc := func(path string) string {
		return fmt.Sprintf(`{"type":"document","id":"D-x","submission_id":"S-0","document_type":"other","path":%q}`, path)
	}
	const sub = `{"type":"submission","id":"S-9","workflow":"W","status":"received","received_at":"2026-11-29T09:12:00Z"`
	for _, c := range []struct{ name, file, content, want string }{
		{"syntax", "a.ndjson", sub + "}\n{\"type\":", "a.ndjson, row 2, byte 9: not a JSON object"},
		{"unknown key", "a.ndjson", sub + `,"colour":"red"}`, "row 1, colour: a submission has no such key"},
		{"unknown type", "a.ndjson", `{"type":"thing"}`, `row 1, type: "thing" is not one of`},
		{"twice", "a.ndjson", sub + `,"id":"S-2"}`, "row 1, id: is given twice"},
		{"missing", "a.ndjson", `{"type":"submission","id":"S-9","status":"received","received_at":"2026-11-29T09:12:00Z"}`, "row 1, workflow: is required"},
		{"enum", "a.ndjson", strings.Replace(sub, "received", "lost", 1) + "}", `row 1, status: "lost" is not one of received,`},
		{"date", "a.ndjson", sub + `,"effective_date":"12/15/2026"}`, `row 1, effective_date: "12/15/2026" is not a date`},
		{"time", "a.ndjson", sub + `,"completed_at":"2026-11-29"}`, `row 1, completed_at: "2026-11-29" is not a time`},
		{"confidence", "a.ndjson", `{"type":"row","id":"R","document_id":"D-0-0","table":"vehicles","index":1,"confidence":97}`, "row 1, confidence: 97 is not between 0 and 1"},
		{"box", "a.ndjson", `{"type":"row","id":"R","document_id":"D-0-0","table":"vehicles","index":1,"bbox":[0.5,0,0.1,1]}`, "row 1, bbox: ends before it begins"},
		{"NUL", "a.ndjson", sub + `,"insured_name":"a\u0000b"}`, "row 1, insured_name: holds a NUL byte"},
		{"surrogate", "a.ndjson", sub + `,"insured_name":"\ud800"}`, "row 1, insured_name: a \\u escape is broken"},
		{"no submission", "a.ndjson", "\n" + `{"type":"document","id":"D-9","submission_id":"S-none","document_type":"other"}`, "row 2, submission_id: there is no submission S-none"},
		{"no document", "a.ndjson", `{"type":"row","id":"R","document_id":"D-none","table":"vehicles","index":1}`, "row 1, document_id: there is no document D-none"},
		{"no row", "a.ndjson", `{"type":"field","id":"F","document_id":"D-0-0","row_id":"R-none","field":"vin","value":"x","extracted_at":"2026-11-29T09:12:00Z"}`, "row 1, row_id: there is no row R-none"},
		{"other document's row", "a.ndjson", `{"type":"field","id":"F","document_id":"D-0-0","row_id":"R-D-0-1-1","field":"vin","value":"x","extracted_at":"2026-11-29T09:12:00Z"}`, "row 1, row_id: row R-D-0-1-1 belongs to document D-0-1"},
		{"no field", "a.ndjson", `{"type":"edit","id":"E","field_id":"F-none","to":"x","by":"pat","source":"human","at":"2026-11-29T09:12:00Z"}`, "row 1, field_id: there is no field F-none"},
		{"edit replaced", "a.ndjson", `{"type":"edit","id":"E-F-R-D-0-0-1-make","field_id":"F-R-D-0-0-1-make","to":"x","by":"pat","source":"human","at":"2026-11-29T09:12:00Z"}`, "row 1, id: edit E-F-R-D-0-0-1-make is there with other content"},
		{"cell twice", "a.ndjson", `{"type":"field","id":"F","document_id":"D-0-0","row_id":"R-D-0-0-1","field":"vin","value":"x","extracted_at":"2026-11-29T09:12:00Z"}`, "row 1, field: row R-D-0-0-1 has a field vin already"},
		{"id twice", "a.ndjson", sub + "}\n" + sub + `,"carrier":"C"}`, "row 2, id: S-9 came before in this import with other content, at row 1"},
		{"row moves", "a.ndjson", `{"type":"row","id":"R-D-0-0-1","document_id":"D-0-1","table":"vehicles","index":1}`, "row 1, document_id: row R-D-0-0-1 belongs to document D-0-0"},
		{"traversal", "a.ndjson", doc("../secret"), `row 1, path: "../secret" is not a plain path`},
		{"absolute", "a.ndjson", doc(secret), "is not a plain path"},
		{"symlink", "a.ndjson", doc("link"), `row 1, path: "link" goes over a symbolic link`},
		{"symlinked folder", "a.ndjson", doc("linked/secret"), `row 1, path: "linked/secret" goes over a symbolic link`},
		{"folder", "a.ndjson", doc("folder"), `row 1, path: "folder" is not a file`},
		{"missing file", "a.ndjson", doc("nothing"), `row 1, path: there is no file "nothing"`},
		{"csv header", "fields.csv", "id,colour\n", "fields.csv, row 1, colour: there is no such column"},
		{"csv kind", "things.csv", "id\n", "which records are these?"},
		{"csv quote", "fields.csv", "id\n\"a", "row 2: a quoted cell has no end"},
		{"csv number", "rows.csv", "id,document_id,table,index\n\"R\",D-0-0,vehicles,one\n", `row 2, index: "one" is not a number`},
		{"not a workbook", "a.xlsx", "PK", "not a workbook that can be read"},
		{"not parquet", "fields.parquet", "PAR1", "not a Parquet file that can be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := write(t, c.file, c.content)
			dir := filepath.Dir(path)
			if err := errors.Join(os.Symlink(secret, filepath.Join(dir, "link")), os.Symlink(filepath.Dir(secret), filepath.Join(dir, "linked")), os.Mkdir(filepath.Join(dir, "folder"), 0o700)); err != nil {
				t.Fatal(err)
			}
			src, err := dataset.SourceOf(path)
			if err != nil {
				t.Fatal(err)
			}
			src.Files[0].Name = c.file
			_, err = s.Import(t.Context(), "acme", src)
			var refused *dataset.ImportError
			if !errors.As(err, &refused) || !fault.Is(err, fault.Invalid) {
				t.Fatalf("got %v (%v)", err, errors.Unwrap(err))
			}
			if got := refused.Problems[0].String(); !strings.Contains(got, c.want) || !strings.HasPrefix(got, c.file) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Cleanup(func() {
		if orgs, err := s.Organisations(t.Context()); err == nil && orgs[0].Generation != before.Generation {
			t.Errorf("a refused import published %s", orgs[0].Generation)
		}
	})
}
