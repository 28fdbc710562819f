package duck

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bordereau/governance/duck/ducktest"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == WorkerCommand {
		os.Exit(WorkerMain())
	}
	if len(os.Args) > 2 && os.Args[1] == probeCommand {
		os.Exit(probe(os.Args[2]))
	}
	os.Exit(m.Run())
}

func newPool(t testing.TB, c Config) *Pool {
	t.Helper()
	c.Log = slog.New(slog.DiscardHandler)
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func job(path, sql string) gate.Job {
	return gate.Job{Org: "acme", Path: path, SQL: sql, Timeout: 20 * time.Second, MaxRows: 1 << 30, MaxBytes: 1 << 40, Memory: 128 << 20}
}

func small(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.duckdb")
	ducktest.Write(t, path, "CREATE TABLE x AS SELECT 1 AS a")
	return path
}

// The engine lock holds by itself: what the gate would have refused can do nothing in a worker either.
func TestEngineLock(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	path, other := small(t), small(t)
	for _, sql := range []string{
		"SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM read_blob('" + path + "')", "ATTACH '" + other + "' AS o", "ATTACH ':memory:' AS m",
		"SELECT * FROM '" + other + "'", "COPY x TO '/tmp/x.csv'", "SET memory_limit='10GB'", "SET enable_external_access=true", "RESET lock_configuration",
		"INSTALL httpfs", "LOAD httpfs", "CREATE TABLE y (a INT)", "CREATE TEMP TABLE y (a INT)", "CREATE TEMP MACRO sum(x) AS 42", "DROP TABLE x", "PRAGMA database_list; SELECT 1",
		"SELECT 1; SELECT 2", "CALL enable_logging(storage='file', storage_path='/tmp/x')", "BEGIN", "CHECKPOINT", "USE memory", "EXPORT DATABASE '/tmp/x'",
	} {
		var s sink
		if _, err := p.Run(t.Context(), job(path, sql), &s); err == nil {
			t.Errorf("%s: %v", sql, s.rows)
		}
	}
	var s sink
	if _, err := p.Run(t.Context(), job(path, "SELECT sum(a) FROM x"), &s); err != nil || s.rows[0][0] != int64(1) {
		t.Errorf("afterwards: %v %v", s.rows, err)
	}
}

func TestKilledWhenDeafToItsDeadline(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	path := small(t)
	if _, err := p.Run(t.Context(), job(path, "SELECT 1"), &sink{}); err != nil {
		t.Fatal(err)
	}
	// The binder doubles its work with each of these, and never looks at an interrupt.
	sql := "1"
	for range 40 {
		sql = "(SELECT " + sql + ")"
	}
	j := job(path, "SELECT "+sql)
	j.Timeout = 300 * time.Millisecond
	begun := time.Now()
	_, err := p.Run(t.Context(), j, &sink{})
	if took := time.Since(begun); !fault.Is(err, fault.Timeout) || took > 800*time.Millisecond {
		t.Errorf("%v after %v", err, took)
	}
	if _, err := p.Run(t.Context(), job(path, "SELECT 1"), &sink{}); err != nil {
		t.Errorf("the next statement: %v", err)
	}
}

func TestMemoryCeiling(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	path := small(t)
	for _, sql := range []string{
		"SELECT len(range(500000000))", "SELECT list(x) FROM range(200000000) t(x)", "SELECT x, count(*) FROM range(100000000) t(x) GROUP BY x",
	} {
		j := job(path, sql)
		j.Timeout = 3 * time.Second
		_, err := p.Run(t.Context(), j, &sink{})
		if !fault.Is(err, fault.TooLarge) && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Timeout) && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, err := p.Run(t.Context(), job(path, "SELECT 1"), &sink{}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestWorkersDieAndAreReplaced(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	path := small(t)
	if _, err := p.Run(t.Context(), job(path, "SELECT 1"), &sink{}); err != nil {
		t.Fatal(err)
	}
	for _, list := range p.idle {
		for _, w := range list {
			w.kill()
		}
	}
	if _, err := p.Run(t.Context(), job(path, "SELECT 1"), &sink{}); err != nil {
		t.Errorf("after a kill: %v", err)
	}
	stop := errors.New("no more")
	_, err := p.Run(t.Context(), job(path, "SELECT * FROM range(1000000)"), &sink{fail: stop})
	if !fault.Is(err, fault.Interrupted) || !errors.Is(err, stop) {
		t.Errorf("a receiver that stops: %v", err)
	}
	if _, err := p.Run(t.Context(), job("/nowhere/x.duckdb", "SELECT 1"), &sink{}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no file: %v", err)
	}
	p.Retire(path)
	if n := len(p.idle); n != 0 {
		t.Errorf("%d files are kept open after they were retired", n)
	}
}

func TestPoolKeepsItsCap(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Workers: 3, Threads: 1})
	path := small(t)
	for i := range 6 {
		j := job(path, "SELECT 1")
		j.Memory += int64(i) // a key of its own
		if _, err := p.Run(t.Context(), j, &sink{}); err != nil {
			t.Fatal(err)
		}
		if p.count > 3 {
			t.Fatalf("%d workers", p.count)
		}
	}
}

// However many organisations ask, four at a time, the cap of 32 warm workers holds them below 2 GiB.
func TestManyOrganisations(t *testing.T) {
	t.Parallel()
	workers, total := manyOrganisations(t, 40)
	t.Logf("%d workers hold %d MiB", workers, total>>20)
	if workers > 32 || total > 2<<30 {
		t.Errorf("%d workers hold %d MiB", workers, total>>20)
	}
}

// BenchmarkTwoHundredOrganisations is the same with two hundred.
func BenchmarkTwoHundredOrganisations(b *testing.B) {
	for b.Loop() {
		workers, total := manyOrganisations(b, 200)
		b.ReportMetric(float64(workers), "workers")
		b.ReportMetric(float64(total>>20), "MiB")
	}
}

// manyOrganisations has each organisation ask once, and returns how many workers are warm afterwards and what they hold.
func manyOrganisations(t testing.TB, orgs int) (workers int, total int64) {
	t.Helper()
	p := newPool(t, Config{Running: 4, Threads: 1})
	raw, err := os.ReadFile(small(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	work := make(chan int)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range work {
				own := filepath.Join(dir, fmt.Sprintf("org%d.duckdb", i))
				if err := os.WriteFile(own, raw, 0o444); err != nil {
					t.Error(err)
				}
				j := job(own, "SELECT count(*) FROM x")
				j.Org = fmt.Sprint("org", i)
				if _, err := p.Run(t.Context(), j, &sink{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range orgs {
		work <- i
	}
	close(work)
	all.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range p.idle {
		for _, w := range list {
			total += w.rss()
		}
	}
	return p.count, total
}

// A plan may touch only what the statement was found to name, whatever the text means to DuckDB.
func TestPlanTouchesOnlyWhatWasAllowed(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	path := filepath.Join(t.TempDir(), "x.duckdb")
	ducktest.Write(t, path, "CREATE TABLE x AS SELECT 1 AS a", "CREATE TABLE hidden AS SELECT 2 AS a", "CREATE VIEW v AS SELECT * FROM hidden", "CREATE MACRO m() AS TABLE SELECT * FROM hidden")
	for sql, good := range map[string]bool{
		"SELECT * FROM x": true, "SELECT * FROM x, range(3), unnest([1])": true, "SELECT 1": true, "SUMMARIZE x": true, "DESCRIBE x": true,
		"WITH RECURSIVE t(n) AS (SELECT a FROM x UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT * FROM t": true,
		"SELECT * FROM hidden": false, "SELECT (SELECT a FROM hidden) FROM x": false, "SELECT * FROM x WHERE a IN (SELECT a FROM hidden)": false, "SELECT * FROM v": false, "SELECT * FROM m()": false,
		"SELECT * FROM x UNION ALL SELECT * FROM hidden": false, "SELECT * FROM x WHERE false AND EXISTS (FROM hidden)": false, "FROM duckdb_tables()": false, "SELECT * FROM pragma_table_info('x')": false,
		"SELECT * FROM query_table('hidden')": false, "SELECT * FROM query('SELECT * FROM hidden')": false, "SUMMARIZE hidden": false, "WITH x AS (FROM hidden) FROM x": false, "SHOW TABLES": false,
	} {
		j := job(path, sql)
		j.Relations = []string{"x"}
		for range 2 { // the second time it is remembered
			_, err := p.Run(t.Context(), j, &sink{})
			if good != (err == nil) || !good && !fault.Is(err, fault.Denied) {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
	// What is wrong with a statement itself is said as that, not as a plan that can't be told.
	for _, sql := range []string{"SELECT nothing FROM x", "SELECT * FROM nowhere", "SELECT nofunction(a) FROM x"} {
		j := job(path, sql)
		j.Relations = []string{"x"}
		if _, err := p.Run(t.Context(), j, &sink{}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestParserSurvivesWhatHangsIt(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	if _, err := p.Parse(t.Context(), "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	hang := "SELECT 1 "
	for range 30000 {
		hang += "/*"
	}
	begun := time.Now()
	if _, err := p.Parse(t.Context(), hang); err != nil && !fault.Is(err, fault.Denied) {
		t.Errorf("%v", err)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if _, err := p.Parse(t.Context(), "SELECT 2"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if _, _, err := p.Print(t.Context(), []byte(`{"nonsense": true}`)); err == nil {
		t.Error("nonsense was printed")
	}
}

func TestAdmissionTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(1, 1, 100)
		if _, err := a.enter(t.Context(), "greedy"); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		ask := func(org string) {
			all.Go(func() {
				if _, err := a.enter(t.Context(), org); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, org)
				mu.Unlock()
				a.leave(org)
			})
			synctest.Wait()
		}
		for range 10 {
			ask("greedy")
		}
		ask("modest")
		a.leave("greedy")
		all.Wait()
		if len(order) != 11 || order[1] != "modest" && order[0] != "modest" {
			t.Errorf("order %v", order)
		}
		if len(a.orgs) != 0 || a.running != 0 || len(a.turns) != 0 {
			t.Errorf("left behind: %d orgs, %d running, %d turns", len(a.orgs), a.running, len(a.turns))
		}
	})
}

func TestAdmissionGivesUpAndRefuses(t *testing.T) {
	t.Parallel()
	a := newAdmission(4, 1, 1)
	if _, err := a.enter(t.Context(), "acme"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := a.enter(ctx, "acme"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting: %v", err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := a.enter(t.Context(), "acme")
		waiting <- err
	}()
	for full := false; !full; {
		a.mu.Lock()
		full = len(a.orgs["acme"].waiting) == 1
		a.mu.Unlock()
	}
	if _, err := a.enter(t.Context(), "acme"); !fault.Is(err, fault.RateLimited) {
		t.Errorf("full queue: %v", err)
	}
	if _, err := a.enter(t.Context(), "globex"); err != nil {
		t.Errorf("another organisation: %v", err)
	}
	a.leave("acme")
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{tagList, 2, tagNull, tagMap, 1, 1, 'a', tagTrue})
	f.Add(putTime(putString(putInt(nil, -5), tagString, "x"), 1, 2))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := decoder{b: raw}
		for len(d.b) > 0 {
			if _, err := d.value(); err != nil {
				return
			}
		}
	})
}
