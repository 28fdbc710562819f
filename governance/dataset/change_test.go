package dataset_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/dataset"
)

// everything is all that a generation holds, in an order that doesn't depend on how its file lies.
func everything(t *testing.T, s *dataset.Store, profile string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, r := range []string{"submissions", "documents", "extracted_rows", "extracted_fields", "field_edits", "vehicles", "drivers", "losses", "coverages"} {
		all[r] = ask(t, s, profile, "SELECT to_json(t)::VARCHAR FROM (SELECT * FROM "+r+") t ORDER BY 1")
	}
	return all
}

// Each change touches rows of several relations; after each one the file must hold exactly what a build from the facts alone gives.
func TestChangesEqualARebuild(t *testing.T) {
	t.Parallel()
	t.Run("files of their own", func(t *testing.T) { t.Parallel(); changesEqualARebuild(t, 0) })
	t.Run("logs", func(t *testing.T) { t.Parallel(); changesEqualARebuild(t, 1) })
}

func changesEqualARebuild(t *testing.T, growAbove int64) {
	t.Helper()
	s, _ := openGrowing(t, t.TempDir(), growAbove)
	importFile(t, s, sample(t, t.TempDir(), 6))
	changes := map[string]string{
		"1 an edit by a rule, then the same by a person": `{"type":"edit","id":"E-9","field_id":"F-R-D-2-0-3-vin","from":"a","to":"b","by":"rules","source":"rule","at":"2026-08-01T00:00:00Z"}
{"type":"edit","id":"E-10","field_id":"F-R-D-2-0-3-vin","from":"b","to":null,"by":"kim","source":"human","at":"2026-08-01T00:00:00Z","reason":"SSN 123-45-6789"}`,
		"1b edits outside rows, of fields with one name": `{"type":"edit","id":"E-11","field_id":"F-D-1-0-fein","from":"a","to":"b","by":"kim","source":"human","at":"2026-08-01T00:00:00Z"}
{"type":"edit","id":"E-12","field_id":"F-D-2-0-fein","from":"a","to":"c","by":"kim","source":"human","at":"2026-08-01T00:00:00Z"}`,
		"2 a workflow":         `{"type":"submission","id":"S-2","workflow":"Renewal Intake","status":"completed","received_at":"2026-06-01T15:00:00Z"}`,
		"3 a document's type":  `{"type":"document","id":"D-3-0","submission_id":"S-3","document_type":"registration"}`,
		"4 a document's place": `{"type":"document","id":"D-4-1","submission_id":"S-2","document_type":"driver_list"}`,
		"5 a row's table":      `{"type":"row","id":"R-D-5-0-4","document_id":"D-5-0","table":"coverages","index":9,"confidence":0.4}`,
		"6 a field's value":    `{"type":"field","id":"F-R-D-1-0-1-make","document_id":"D-1-0","row_id":"R-D-1-0-1","field":"make","value":"MACK","confidence":0.1,"extracted_at":"2026-07-01T00:00:00Z"}`,
		"7 a field's row":      `{"type":"field","id":"F-R-D-1-0-2-plate","document_id":"D-1-0","row_id":null,"field":"plate","value":"P1","confidence":0.98,"extracted_at":"2026-07-01T00:00:00Z"}`,
		"8 a field's name":     `{"type":"field","id":"F-R-D-1-1-2-name","document_id":"D-1-1","row_id":"R-D-1-1-2","field":"dob","value":"1/2/1980","confidence":0.98,"extracted_at":"2026-07-01T00:00:00Z"}`,
		"9 more of everything": `{"type":"edit","id":"E-20","field_id":"F-new","from":"ACME","to":"Acme","by":"kim","source":"human","at":"2026-09-01T00:00:00Z"}
{"type":"field","id":"F-new","document_id":"D-new","row_id":"R-new","field":"driver","value":"Jo","confidence":0.7,"extracted_at":"2026-08-02T00:00:00Z"}
{"type":"row","id":"R-new","document_id":"D-new","table":"losses","index":1}
{"type":"document","id":"D-new","submission_id":"S-new","document_type":"loss_run"}
{"type":"submission","id":"S-new","workflow":"Claims Intake","status":"received","received_at":"2026-08-02T00:00:00Z"}`,
		"91 edits of what came or was replaced": `{"type":"edit","id":"E-21","field_id":"F-new","from":"Acme","to":"Acme Inc","by":"kim","source":"human","at":"2026-09-02T00:00:00Z"}
{"type":"edit","id":"E-22","field_id":"F-R-D-1-0-1-make","from":"MACK","to":"KENWORTH","by":"kim","source":"human","at":"2026-09-02T00:00:00Z"}
{"type":"edit","id":"E-23","field_id":"F-R-D-2-0-3-vin","from":null,"to":"c","by":"kim","source":"human","at":"2026-07-01T00:00:00Z"}
{"type":"edit","id":"E-24","field_id":"F-R-D-1-0-3-make","from":"a","to":"b","by":"kim","source":"human","at":"2026-09-02T00:00:00Z"}`,
	}
	for _, name := range []string{
		"1 an edit by a rule, then the same by a person", "1b edits outside rows, of fields with one name", "2 a workflow", "3 a document's type", "4 a document's place", "5 a row's table",
		"6 a field's value", "7 a field's row", "8 a field's name", "9 more of everything",
		"91 edits of what came or was replaced",
	} {
		res := importFile(t, s, write(t, "change.ndjson", changes[name]))
		if !res.Changed {
			t.Fatalf("%s: %+v", name, res)
		}
		for relation, n := range res.Relations {
			want(t, ask(t, s, dataset.Standard, "SELECT count(*) FROM "+relation), fmt.Sprint(n))
		}
	}
	want(t, ask(t, s, dataset.Full, `SELECT value IS NULL, edited_by, edit_count, edited_by_human FROM extracted_fields WHERE field_id = 'F-R-D-2-0-3-vin'`), "true|kim|3|true")
	want(t, ask(t, s, dataset.Full, `SELECT vin IS NULL, workflow FROM vehicles WHERE row_id = 'R-D-2-0-3'`), "true|Renewal Intake")
	want(t, ask(t, s, dataset.Full, `SELECT DISTINCT workflow, submission_id FROM extracted_fields WHERE document_id = 'D-4-1'`), "Renewal Intake|S-2")
	want(t, ask(t, s, dataset.Full, `SELECT make, confidence FROM vehicles WHERE row_id = 'R-D-1-0-1'`), "KENWORTH|0.1")
	want(t, ask(t, s, dataset.Full, `SELECT count(*) FROM vehicles WHERE row_id = 'R-D-5-0-4' UNION ALL SELECT count(*) FROM coverages`), "0", "1")

	for _, profile := range dataset.Profiles() {
		changed := everything(t, s, profile)
		if _, err := s.Compact(t.Context(), "acme"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(changed, everything(t, s, profile)); diff != "" {
			t.Errorf("%s, compacted: (-changed +compacted)\n%s", profile, diff)
		}
		if _, err := s.Rebuild(t.Context(), "acme"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(changed, everything(t, s, profile)); diff != "" {
			t.Errorf("%s, rebuilt: (-changed +rebuilt)\n%s", profile, diff)
		}
	}
}

func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, _ := open(t, dir)
	importFile(t, a, write(t, "import.ndjson", `{"type":"submission","id":"S-1","workflow":"Claims Intake","status":"received","insured_name":"","effective_date":"2026-12-15","received_at":"2026-11-29T09:12:00Z"}
{"type":"document","id":"D-1","submission_id":"S-1","document_type":"vehicle_schedule","pages":2}
{"type":"row","id":"R-1","document_id":"D-1","table":"vehicles","index":1,"page":1,"bbox":[0.05,0.2,0.95,0.22],"confidence":0.97}
{"type":"field","id":"F-1","document_id":"D-1","row_id":"R-1","field":"vin","value":"a \"b\", c\nd","confidence":0.98,"bbox":[0.1,0.2,0.3,0.22],"extracted_at":"2026-11-29T09:12:00.123456Z"}
{"type":"edit","id":"E-1","field_id":"F-1","from":"a","to":"","by":"pat","source":"human","at":"2026-11-29T10:00:00Z"}`))
	same := everything(t, a, dataset.Full)
	folder := t.TempDir()
	for name, query := range map[string]string{
		"submissions": "SELECT submission_id AS id, workflow, status, insured_name, effective_date, received_at FROM submissions",
		"documents":   "SELECT document_id AS id, submission_id, document_type, pages FROM documents",
		"rows":        `SELECT row_id AS id, document_id, table_name AS "table", row_index AS "index", page, x0, y0, x1, y1, confidence FROM extracted_rows`,
		"fields":      "SELECT field_id AS id, document_id, row_id, field_name AS field, original_value AS value, confidence, [x0, y0, x1, y1] AS bbox, extracted_at FROM extracted_fields",
		"edits":       `SELECT edit_id AS id, field_id, from_value AS "from", to_value AS "to", edited_by AS "by", edit_source AS source, edited_at AS "at" FROM field_edits`,
	} {
		ask(t, a, dataset.Full, "COPY ("+query+") TO '"+filepath.Join(folder, name+".parquet")+"' (FORMAT parquet)")
	}
	b, _ := open(t, t.TempDir())
	var parquet []string
	for _, name := range []string{"edits", "fields", "rows", "documents", "submissions"} {
		parquet = append(parquet, filepath.Join(folder, name+".parquet"))
	}
	importFile(t, b, parquet...)
	if diff := cmp.Diff(same, everything(t, b, dataset.Full)); diff != "" {
		t.Errorf("parquet: (-ndjson +parquet)\n%s", diff)
	}
	c, _ := open(t, t.TempDir())
	importFile(t, c, write(t, "all.csv", `type,id,workflow,status,insured_name,effective_date,received_at,submission_id,document_type,pages,document_id,table,index,page,x0,y0,x1,y1,bbox,confidence,row_id,field,value,extracted_at,field_id,from,to,by,source,at
submission,S-1,Claims Intake,received,"",2026-12-15,2026-11-29T09:12:00Z
document,D-1,,,,,,S-1,vehicle_schedule,2
row,R-1,,,,,,,,,D-1,vehicles,1,1,0.05,0.2,0.95,0.22,,0.97
field,F-1,,,,,,,,,D-1,,,,,,,,"[0.1, 0.2, 0.3, 0.22]",0.98,R-1,vin,"a ""b"", c
d",2026-11-29T09:12:00.123456Z
edit,E-1,,,,,,,,,,,,,,,,,,,,,,,F-1,a,"",pat,human,2026-11-29T10:00:00Z
`))
	if diff := cmp.Diff(same, everything(t, c, dataset.Full)); diff != "" {
		t.Errorf("csv: (-ndjson +csv)\n%s", diff)
	}
	d, _ := open(t, t.TempDir())
	importFile(t, d, workbook(t, map[string][][]any{
		"submissions": {{"id", "workflow", "status", "insured_name", "effective_date", "received_at"}, {"S-1", "Claims Intake", "received", nil, 46371, "2026-11-29T09:12:00Z"}},
		"documents":   {{"id", "submission_id", "document_type", "pages"}, {"D-1", "S-1", "vehicle_schedule", 2}},
		"rows":        {{"id", "document_id", "table", "index", "page", "bbox", "confidence"}, {"R-1", "D-1", "vehicles", 1, 1, "[0.05,0.2,0.95,0.22]", 0.97}},
		"fields": {
			{"id", "document_id", "row_id", "field", "value", "confidence", "x0", "y0", "x1", "y1", "extracted_at"},
			{"F-1", "D-1", "R-1", "vin", "a \"b\", c\nd", 0.98, 0.1, 0.2, 0.3, 0.22, "2026-11-29T09:12:00.123456Z"},
		},
		"edits": {{"id", "field_id", "from", "by", "source", "at"}, {"E-1", "F-1", "a", "pat", "human", 46355.41666666667}},
	}))
	// A sheet knows no empty text, so two values are NULL here.
	if diff := cmp.Diff(strings.ReplaceAll(same["submissions"][0], `""`, "null"), everything(t, d, dataset.Full)["submissions"][0]); diff != "" {
		t.Errorf("xlsx: (-ndjson +xlsx)\n%s", diff)
	}
	if diff := cmp.Diff(strings.ReplaceAll(same["extracted_fields"][0], `"value":""`, `"value":null`), everything(t, d, dataset.Full)["extracted_fields"][0]); diff != "" {
		t.Errorf("xlsx: (-ndjson +xlsx)\n%s", diff)
	}
}
