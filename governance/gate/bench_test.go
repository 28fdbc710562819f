package gate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"bordereau/governance/duck/ducktest"
	"bordereau/governance/gate"
)

// percentiles reports the median and the 95th percentile of what was timed.
func percentiles(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
}

func ask(b *testing.B, h *house, sql string) time.Duration {
	b.Helper()
	var out table
	begun := time.Now()
	if _, err := h.Query(b.Context(), asker("acme", "auditor"), gate.Request{SQL: sql}, &out); err != nil {
		b.Fatal(err)
	}
	took := time.Since(begun)
	if len(out.rows) == 0 {
		b.Fatal("no rows")
	}
	return took
}

// BenchmarkPointLookup is one submission by id through the whole gate: two audit records, two readings, a warm worker.
func BenchmarkPointLookup(b *testing.B) {
	path := ducktest.Generation(b, "acme", false, 5000)
	h := newHouse(b, map[string]string{"acme/full": path}, options{policy: unbudgeted})
	query := func(i int) string {
		return fmt.Sprintf("SELECT submission_id, insured_name, status, received_at FROM submissions WHERE submission_id = 'S-%d'", i%5000)
	}
	ask(b, h, query(0))
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		times = append(times, ask(b, h, query(i)))
	}
	percentiles(b, times)
}

// editRate is the question of the demo.
const editRate = `SELECT CAST(extracted_at AS DATE) AS day, field_name,
 100.0 * avg(CASE WHEN edited_by_human THEN 1 ELSE 0 END) AS pct, count(*) AS n
FROM extracted_fields WHERE workflow = 'Claims Intake' AND extracted_at >= TIMESTAMP '2026-06-01' AND extracted_at < TIMESTAMP '2026-08-01'
GROUP BY day, field_name ORDER BY day, field_name`

// BenchmarkEditRate10M asks it of ten million fields, through the gate and of DuckDB itself. It makes a file of some 300 MB, so it runs only
// when BORDEREAU_BENCH_10M is set, to the folder to keep it in or to 1.
func BenchmarkEditRate10M(b *testing.B) {
	dir := os.Getenv("BORDEREAU_BENCH_10M")
	if dir == "" {
		b.Skip("set BORDEREAU_BENCH_10M=1, or to a folder that keeps the file")
	}
	if dir == "1" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, "ten-million.duckdb")
	if _, err := os.Stat(path); err != nil {
		ducktest.TenMillion(b, path)
	}
	h := newHouse(b, map[string]string{"acme/full": path}, options{policy: unbudgeted})
	raw := ducktest.Open(b, path)
	ask(b, h, editRate)
	raw(editRate)
	var governed, plain []time.Duration
	for b.Loop() { // in turns, so that whatever else the machine does befalls both
		governed = append(governed, ask(b, h, editRate))
		begun := time.Now()
		if raw(editRate) == 0 {
			b.Fatal("no rows")
		}
		plain = append(plain, time.Since(begun))
	}
	percentiles(b, governed)
	slices.Sort(plain)
	median := plain[len(plain)/2]
	b.ReportMetric(float64(median.Microseconds())/1000, "raw-p50-ms")
	b.ReportMetric(float64(governed[len(governed)/2])/float64(median), "ratio")
}
