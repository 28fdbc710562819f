package generation

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// base makes the two files of an organisation with n fields; the values hold nothing to mask, so that one is a copy of the other.
func base(b *testing.B, dir string, n int) (full, standard string) {
	b.Helper()
	full, standard = filepath.Join(dir, "base-full.duckdb"), filepath.Join(dir, "base-standard.duckdb")
	if _, err := os.Stat(standard); err == nil {
		return full, standard
	}
	db, err := sql.Open("duckdb", full+"?default_block_size="+blockSize)
	if err != nil {
		b.Fatal(err)
	}
	var do []string
	for _, r := range relations() {
		do = append(do, r.ddl("main"))
	}
	do = append(do,
		fmt.Sprintf(`INSERT INTO submissions SELECT 'S-'||i, ['Claims Intake','New Business Intake','Renewal Intake'][1+i%%3], 'received', 'Insured '||i, NULL, 'C-1', 'commercial_auto', NULL, NULL, TIMESTAMP '2026-05-01' + INTERVAL (i*500) SECOND, NULL FROM range(%d) t(i)`, n/500+1),
		fmt.Sprintf(`INSERT INTO documents SELECT 'D-'||i, 'S-'||(i//5), 'vehicle_schedule', 'a.xlsx', 'x', 1, 1, NULL, NULL FROM range(%d) t(i)`, n/100+1),
		fmt.Sprintf(`INSERT INTO extracted_fields SELECT 'F-'||i, 'D-'||(i//100), 'S-'||(i//500), CASE WHEN i%%100 < 20 THEN NULL ELSE 'R-'||(i//10) END, 'vehicle_schedule', ['Claims Intake','New Business Intake','Renewal Intake'][1+i//500%%3],
			CASE WHEN i%%100 < 20 THEN NULL ELSE 'vehicles' END, CASE WHEN i%%100 < 20 THEN NULL ELSE (i//10%%10)::INT END, 'field_'||(i%%20), 'value '||hash(i)%%100000, 'value '||hash(i)%%100000, NULL, 0.5+(hash(i*3)%%1000)/2000.0, 1,
			(i%%20)/20.0, (i%%37)/40.0, (i%%20)/20.0+0.05, (i%%37)/40.0+0.02, TIMESTAMP '2026-05-01' + INTERVAL (i) SECOND, false, false, NULL, NULL, 0 FROM range(%d) t(i)`, n),
		`INSERT INTO extracted_rows SELECT row_id, document_id, submission_id, document_type, workflow, table_name, row_index, 1, 0, 0, 1, 1, 0.9, map_from_entries(list({'key': field_name, 'value': value} ORDER BY field_name))
			FROM extracted_fields WHERE row_id IS NOT NULL GROUP BY ALL`,
		`INSERT INTO vehicles SELECT row_id, document_id, submission_id, document_type, workflow, row_index, page, confidence, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM extracted_rows`,
		"CHECKPOINT")
	for _, q := range do {
		if _, err := db.ExecContext(b.Context(), q); err != nil {
			b.Fatal(q, err)
		}
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	if err := copyFile(full, standard); err != nil {
		b.Fatal(err)
	}
	return full, standard
}

const editRate = `SELECT field_name, extracted_at::DATE AS day, 100.0 * count(*) FILTER (edited_by_human) / count(*) FROM extracted_fields
	WHERE workflow = 'Claims Intake' AND extracted_at >= TIMESTAMP '2026-06-01' AND extracted_at < TIMESTAMP '2026-08-01' GROUP BY ALL`

// 1,000 edits all over an organisation of BORDEREAU_BENCH_FIELDS fields (1,000,000; the figure in question is 10,000,000), until a reader sees them,
// as often on top of one another as a log takes them; and what scans then cost against those of the compact file, after the first thousand and after
// the last. BORDEREAU_BENCH_DIR keeps the compact file.
func BenchmarkEditsInALargeOrganisation(b *testing.B) {
	n := 1_000_000
	if s := os.Getenv("BORDEREAU_BENCH_FIELDS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	at := os.Getenv("BORDEREAU_BENCH_DIR")
	if at == "" {
		at = b.TempDir()
	}
	full, standard := base(b, at, n)
	for b.Loop() {
		twins := twinsOf(b, full, standard)
		if _, err := Run(b.Context(), Job{Mode: Keys, Dir: b.TempDir(), Full: twins[0], Standard: twins[1], Threads: 2, MemoryMB: 2048}); err != nil {
			b.Fatal(err)
		}
		const rounds = 4
		var took time.Duration
		var seen string
		var relations map[string]int64
		for round := range rounds {
			edits := editsFile(b, n, round)
			work := b.TempDir()
			began, used := time.Now(), processor()
			res, err := Run(b.Context(), Job{
				Mode: Import, Dir: work, Key: []byte("k"), Full: twins[0], Standard: twins[1], Grow: true, Relations: relations, Documents: filepath.Join(work, "documents"), Threads: 2, MemoryMB: 2048,
				Files: []Input{{Path: edits, Name: "edits.ndjson", Format: "ndjson"}},
			})
			if err != nil || len(res.Problems) > 0 || res.Overgrown {
				b.Fatal(err, res)
			}
			relations = res.Relations
			seen = filepath.Join(work, standardFile)
			if err := os.Link(standard, seen); err != nil {
				b.Fatal(err)
			}
			if got := edited(b, seen); got != 1000*(round+1) {
				b.Fatalf("%d edits are visible after %d", got, 1000*(round+1))
			}
			one := time.Since(began)
			took += one
			b.Logf("round %d: %v, of the processor %v; log %d KB, %v", round, one.Round(time.Millisecond), (processor() - used).Round(time.Millisecond), res.Standard.Log.Bytes>>10, res.Millis)
			if round == 0 {
				b.ReportMetric(scans(b, standard, seen), "scan/compact")
			}
		}
		b.ReportMetric(took.Seconds()/rounds, "s/1000edits")
		b.ReportMetric(scans(b, standard, seen), "scan-full-log/compact")
	}
}

// twinsOf copies the two files to where only builds open them.
func twinsOf(b *testing.B, files ...string) []string {
	b.Helper()
	dir := b.TempDir()
	var twins []string
	for i, f := range files {
		twin := filepath.Join(dir, fmt.Sprint(i))
		if err := copyFile(f, twin); err != nil {
			b.Fatal(err)
		}
		twins = append(twins, twin)
	}
	return twins
}

func editsFile(b *testing.B, n, round int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "edits.ndjson")
	var text []byte
	for i := range 1000 {
		text = fmt.Appendf(text, `{"type":"edit","id":"E-%d-%d","field_id":"F-%d","from":"a","to":"b","by":"pat","source":"human","at":"2026-11-01T00:00:00Z"}`+"\n", round, i, (i*(n/1000)+round*7919+i*31)%n)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// processor is the processor time of this process so far.
func processor() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// edited counts the edits that a new reader sees.
func edited(b *testing.B, path string) (n int) {
	b.Helper()
	db, err := sql.Open("duckdb", path+"?access_mode=READ_ONLY&threads=2")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(b.Context(), "SELECT count(*) FROM field_edits").Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}

// scans asks a question over most of both files in turns, so that whatever else the machine does befalls both, and compares the medians.
func scans(b *testing.B, plain, grown string) float64 {
	b.Helper()
	var ask [2]func() time.Duration
	for i, path := range []string{plain, grown} {
		db, err := sql.Open("duckdb", path+"?access_mode=READ_ONLY&threads=2")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		ask[i] = func() time.Duration {
			began := time.Now()
			if _, err := db.ExecContext(b.Context(), editRate); err != nil {
				b.Fatal(err)
			}
			return time.Since(began)
		}
		ask[i]()
	}
	var times [2][]time.Duration
	for range 41 {
		for i := range ask {
			times[i] = append(times[i], ask[i]())
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	b.Logf("scan: compact %v, grown %v; best %v, %v", times[0][20], times[1][20], times[0][0], times[1][0])
	return float64(times[1][20]) / float64(times[0][20])
}
