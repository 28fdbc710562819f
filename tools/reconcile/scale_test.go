package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bordereau/tools/guideline"
	"bordereau/tools/vin"
)

// fleet is a Querier over submissions that it makes up as it is asked, so that the test's own data takes no memory.
type fleet struct {
	submissions, vehicles int
	queries               int
}

func (f *fleet) Query(_ context.Context, sql string, row func([]any) error) (Answer, error) {
	f.queries++
	a := Answer{AuditID: fmt.Sprintf("A-%d", f.queries), Generation: "g1"}
	emit := func(v ...any) error { a.Rows++; return row(v) }
	if strings.Contains(sql, "FROM submissions") {
		from := 0
		if i := strings.Index(sql, "submission_id > 'S-"); i >= 0 {
			if _, err := fmt.Sscanf(sql[i:], "submission_id > 'S-%d'", &from); err != nil {
				return a, err
			}
			from++
		}
		for i := from; i < min(f.submissions, from+page); i++ {
			if err := emit(fmt.Sprintf("S-%06d", i), "New Business Intake", "received", "Amber Run Freight LLC", "Broker", "alder", "commercial_auto",
				time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)); err != nil {
				return a, err
			}
		}
		return a, nil
	}
	_, list, _ := strings.Cut(sql, "IN (")
	list, _, _ = strings.Cut(list, ")")
	for quoted := range strings.SplitSeq(list, ", ") {
		id := strings.Trim(quoted, "'")
		if strings.Contains(sql, "FROM documents") {
			for _, kind := range []string{application, schedule} {
				if err := emit(id, "D-"+id+kind, kind, kind+".pdf", int64(1), "00", time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)); err != nil {
					return a, err
				}
			}
			continue
		}
		if err := f.fields(id, emit); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (f *fleet) fields(id string, emit func(v ...any) error) error {
	n := 0
	field := func(doc string, rowID, table, index any, name, value string) error {
		n++
		return emit(id, "D-"+id+doc, rowID, table, index, fmt.Sprintf("F-%s-%d", id, n), name, value, value, 0.97, int64(1), 0.1, 0.2, 0.3, 0.4, false, nil)
	}
	for _, p := range [][2]string{{"named_insured", "Amber Run Freight LLC"}, {"effective_date", "01/01/2027"}, {"physical_damage", "Yes"}, {"states_of_operation", "TX, OK"}, {"terminal_city", "Dallas"}, {"terminal_state", "TX"}} {
		if err := field(application, nil, nil, nil, p[0], p[1]); err != nil {
			return err
		}
	}
	number := 0
	if _, err := fmt.Sscanf(id, "S-%d", &number); err != nil {
		return err
	}
	for i := range f.vehicles {
		v := fmt.Sprintf("1XPBDP9X0LD%06d", (number*f.vehicles+i)%1000000)
		v = v[:8] + string(vin.CheckDigit(v)) + v[9:]
		for _, p := range [][2]string{
			{"unit_no", fmt.Sprint(100 + i)},
			{"year", "2020"},
			{"make", "Peterbilt"},
			{"model", "579"},
			{"body_type", "Tractor"},
			{"vin", v},
			{"gvw", "52000"},
			{"stated_value", "90000"},
			{"plate", "AB12345"},
			{"garaging_address", "1 Depot Street"},
			{"garaging_city", "Fort Worth"},
			{"garaging_state", "TX"},
		} {
			if err := field(schedule, fmt.Sprintf("R-%s-%d", id, i), "vehicles", int64(i+1), p[0], p[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func testReconciler(tb testing.TB) *Reconciler {
	tb.Helper()
	d, err := vin.Load()
	if err != nil {
		tb.Fatal(err)
	}
	lib, err := guideline.Embedded()
	if err != nil {
		tb.Fatal(err)
	}
	r, err := New(Config{Decoder: d, Guidelines: lib})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// BenchmarkTenThousandSubmissions is a run of 10,000 submissions with 30 vehicles each: time and memory, without the database.
func BenchmarkTenThousandSubmissions(b *testing.B) {
	r := testReconciler(b)
	for b.Loop() {
		counted := &counter{}
		_, _, err := r.Stream(b.Context(), Scope{Org: "o"}, &fleet{submissions: 10000, vehicles: 30}, clock, counted, b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MiB-heap")
		b.ReportMetric(float64(counted.bytes)/(1<<20), "MiB-written")
	}
}

func clock() time.Time { return time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC) }

type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) { c.bytes += int64(len(p)); return len(p), nil }

func TestStreamWritesTheRun(t *testing.T) {
	t.Parallel()
	r := testReconciler(t)
	run, err := r.Run(t.Context(), Scope{Org: "o"}, &fleet{submissions: 700, vehicles: 2}, clock)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	dir := t.TempDir()
	_, tally, err := r.Stream(t.Context(), Scope{Org: "o"}, &fleet{submissions: 700, vehicles: 2}, clock, &out, dir)
	if err != nil {
		t.Fatal(err)
	}
	if tally.Submissions != 700 || tally.Findings != len(run.Findings) || tally.Rules["FMC-01"] != 700 || len(tally.Gravest()) != 20 {
		t.Errorf("tally %+v", tally)
	}
	var streamed Run
	if err := json.Unmarshal(out.Bytes(), &streamed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run, streamed); diff != "" {
		t.Errorf("%.2000s", diff)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if len(run.Submissions) != 700 {
		t.Errorf("%d submissions", len(run.Submissions))
	}
}
