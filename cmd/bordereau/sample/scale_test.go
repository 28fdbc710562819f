package sample

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bordereau/governance/dataset"
	"bordereau/governance/run"
	"bordereau/migrations"
	"bordereau/tools/reconcile"
)

// many writes an import of submissions with an application and a schedule of thirty vehicles each.
func many(b *testing.B, folder string, submissions int) {
	b.Helper()
	file, err := os.Create(filepath.Join(folder, "import.ndjson"))
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	enc := json.NewEncoder(out)
	put := func(line any) {
		if err := enc.Encode(line); err != nil {
			b.Fatal(err)
		}
	}
	at := "2026-11-29T03:00:00Z"
	box := [4]float64{0.1, 0.2, 0.3, 0.4}
	for i := range submissions {
		id := fmt.Sprintf("S-%06d", i)
		put(submissionLine{"submission", id, "New Business Intake", "received", "Amber Run Freight LLC", "Harbor Brokerage", "alder", "commercial_auto", "2027-01-01", "2028-01-01", at, nil})
		n := 0
		field := func(doc string, row *string, name, value string) {
			n++
			put(fieldLine{Type: "field", ID: fmt.Sprintf("F-%06d-%d", i, n), Document: doc, Row: row, Field: name, Value: value, Confidence: 0.97, Page: 1, Box: box, At: at})
		}
		app, list := "D-"+id+"-1", "D-"+id+"-2"
		put(documentLine{"document", app, id, "application", "acord-125.pdf", "application/pdf", 1, at, ""})
		put(documentLine{"document", list, id, "vehicle_schedule", "schedule.xlsx", xlsxType, 1, at, ""})
		for _, p := range [][2]string{{"named_insured", "Amber Run Freight LLC"}, {"effective_date", "01/01/2027"}, {"physical_damage", "Yes"}, {"states_of_operation", "TX, OK"}, {"terminal_city", "Dallas"}, {"terminal_state", "TX"}} {
			field(app, nil, p[0], p[1])
		}
		for k := range 30 {
			row := fmt.Sprintf("R-%06d-%d", i, k)
			put(rowLine{"row", row, list, "vehicles", k + 1, 1, box, 0.97})
			v := fmt.Sprintf("1XPBDP9X0LD%06d", (i*30+k)%1000000)
			v = v[:8] + string(checkDigit(v)) + v[9:]
			for _, p := range [][2]string{
				{"unit_no", fmt.Sprint(100 + k)},
				{"year", "2020"},
				{"make", "Peterbilt"},
				{"model", "579"},
				{"body_type", "Tractor"},
				{"vin", v},
				{"gvw", "52000"},
				{"stated_value", "90000"},
				{"garaging_city", "Fort Worth"},
				{"garaging_state", "TX"},
			} {
				field(list, &row, p[0], p[1])
			}
		}
	}
	if err := errors.Join(out.Flush(), file.Close()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkTenThousandStored is a whole run over a real generation: 10,000 submissions with thirty vehicles each are read by SQL from
// a worker, evaluated, and stored. BORDEREAU_BENCH_SUBMISSIONS asks for another number.
func BenchmarkTenThousandStored(b *testing.B) {
	n := 10_000
	if text := os.Getenv("BORDEREAU_BENCH_SUBMISSIONS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	dir := b.TempDir()
	folder := filepath.Join(dir, "in")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		b.Fatal(err)
	}
	many(b, folder, n)
	began := time.Now()
	data := importFolder(b, folder, "scale", dataset.Full)
	imported := time.Since(began)
	db, _, err := migrations.Open(b.Context(), filepath.Join(dir, "runs.db"), migrations.Governance)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	store, err := run.NewStore(db)
	if err != nil {
		b.Fatal(err)
	}
	engine := reconciler(b)
	turn, before := 0, cpu(b)
	for b.Loop() {
		turn++
		body, err := os.CreateTemp(dir, "run-*")
		if err != nil {
			b.Fatal(err)
		}
		id := fmt.Sprintf("run-%d", turn)
		head, tally, err := engine.Stream(b.Context(), reconcile.Scope{Org: "scale", RunID: id}, data, func() time.Time { return day1.Add(9 * time.Hour) }, body, dir)
		if err != nil || tally.Submissions != n {
			b.Fatalf("%d submissions, %v", tally.Submissions, err)
		}
		if _, err := body.Seek(0, 0); err != nil {
			b.Fatal(err)
		}
		if _, err := store.Save(b.Context(), run.Run{ID: id, Org: "scale", Role: "underwriter", Created: day1, Generation: head.Generation, Submissions: n, Findings: tally.Findings}, body); err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(body.Close(), os.Remove(body.Name())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpu(b)-before).Seconds()/float64(turn), "cpu-s/op")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
	b.ReportMetric(imported.Seconds(), "s/import")
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err == nil {
		b.ReportMetric(float64(own.Maxrss)/1024, "MiB-rss")
	}
}

// cpu is the processor time of this process and of its living children, which are workers. Beside the time on the clock it says what a run
// takes where the machine has other things to do.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		b.Fatal(err)
	}
	ids := []string{"self"}
	for _, task := range tasks {
		raw, err := os.ReadFile(task)
		if err != nil {
			continue // a thread that ended
		}
		ids = append(ids, strings.Fields(string(raw))...)
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs on Linux
	var all time.Duration
	for _, id := range ids {
		raw, err := os.ReadFile(filepath.Join("/proc", id, "stat"))
		if err != nil {
			continue // a process that ended
		}
		_, rest, _ := strings.Cut(string(raw), ") ")
		fields := strings.Fields(rest) // from the state on: user and system time are the 12th and 13th
		for _, at := range []int{11, 12} {
			n, err := strconv.Atoi(fields[at])
			if err != nil {
				b.Fatal(err)
			}
			all += time.Duration(n) * tick
		}
	}
	return all
}
