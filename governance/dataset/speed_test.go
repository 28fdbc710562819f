package dataset_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A sample organisation: about 300 submissions and 60,000 fields; then one edit in it.
func BenchmarkImportSample(b *testing.B) {
	path := sample(b, b.TempDir(), 300)
	if info, err := os.Stat(path); err == nil {
		b.SetBytes(info.Size())
	}
	edit := filepath.Join(b.TempDir(), "edit.ndjson")
	if err := os.WriteFile(edit, []byte(`{"type":"edit","id":"E-9","field_id":"F-R-D-2-0-3-vin","from":"a","to":"b","by":"kim","source":"human","at":"2026-08-01T00:00:00Z"}`), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, _ := open(b, b.TempDir())
		res := importFile(b, s, path)
		b.ReportMetric(res.Took.Seconds(), "s/import")
		b.ReportMetric(float64(res.Records["field"].New), "fields")
		again := importFile(b, s, edit)
		b.ReportMetric(again.Took.Seconds(), "s/edit")
		b.Logf("import %v, edit %v", res.Steps, again.Steps)
	}
}
