package export_test

import (
	"io"
	"testing"

	"bordereau/governance/export"
	"bordereau/governance/gate"
)

// BenchmarkArrow, BenchmarkParquet and BenchmarkCSV write the same rows of all types.
func BenchmarkArrow(b *testing.B)   { write(b, export.NewArrow) }
func BenchmarkParquet(b *testing.B) { write(b, export.NewParquet) }
func BenchmarkCSV(b *testing.B)     { write(b, export.NewCSV) }

func write(b *testing.B, start func(io.Writer, []gate.Column) (export.Encoder, error)) {
	b.Helper()
	e, err := start(io.Discard, columns())
	if err != nil {
		b.Fatal(err)
	}
	all := rows()
	n := 0
	for b.Loop() {
		if err := e.Row(all[n%len(all)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}
