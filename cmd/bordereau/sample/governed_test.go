package sample

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/dataset"
	"bordereau/governance/duck"
	"bordereau/governance/gate"
	"bordereau/migrations"
	"bordereau/tools/reconcile"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "dataset-builder":
			if err := dataset.BuilderMain(context.Background(), os.Stdin, os.Stdout, os.Stderr); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		case duck.WorkerCommand:
			os.Exit(duck.WorkerMain())
		}
	}
	os.Exit(m.Run())
}

// served is one organisation's generation behind a real worker. The gate before it is governance's own affair and tested there.
type served struct {
	pool *duck.Pool
	path string
	org  string
}

type rows func([]any) error

func (rows) Begin([]gate.Column) error { return nil }
func (r rows) Row(v []any) error       { return r(v) }

// Query cuts answers at 20,000 rows, so that reading in halves is met too.
func (s served) Query(ctx context.Context, sql string, row func([]any) error) (reconcile.Answer, error) {
	ran, err := s.pool.Run(ctx, gate.Job{Org: s.org, Path: s.path, SQL: sql, Timeout: time.Minute, MaxRows: 20000, MaxBytes: 1 << 30, Memory: 1 << 30}, rows(row))
	return reconcile.Answer{AuditID: "A-sample", Generation: "g", Rows: ran.Rows, Truncated: ran.Truncated}, err
}

func serve(t *testing.T, org *Org, profile string) served {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "in")
	if err := org.Write(folder); err != nil {
		t.Fatal(err)
	}
	return importFolder(t, folder, org.ID, profile)
}

// importFolder imports a folder into a data folder of its own.
func importFolder(t testing.TB, folder, org, profile string) served {
	t.Helper()
	dir := t.TempDir()
	db, dialect, err := migrations.Open(t.Context(), filepath.Join(dir, "governance.db"), migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	store, err := dataset.Open(dataset.Config{
		Dir: filepath.Join(dir, "data"), DB: db, Dialect: dialect, Logger: quiet, Now: time.Now,
		Builder: dataset.Command{Path: self, Args: []string{"dataset-builder"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	source, err := dataset.SourceOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Import(t.Context(), org, source); err != nil {
		t.Fatal(err)
	}
	pinned, release, err := store.Pin(t.Context(), org, profile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	pool, err := duck.New(duck.Config{Log: quiet, Executable: self})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return served{pool, pinned.Path, org}
}

// TestImportedDataGivesTheSameRun imports an organisation, reads it by SQL, and holds the run against the one from memory.
func TestImportedDataGivesTheSameRun(t *testing.T) {
	t.Parallel()
	org := generate(t, "southfield", 1)
	data := serve(t, org, dataset.Full)
	now := day1.Add(9 * time.Hour)
	bySQL, err := reconciler(t).Run(t.Context(), reconcile.Scope{Org: org.ID}, data, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	again, err := reconciler(t).Run(t.Context(), reconcile.Scope{Org: org.ID}, data, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	one, err := json.Marshal(bySQL)
	if err != nil {
		t.Fatal(err)
	}
	two, err := json.Marshal(again)
	if err != nil {
		t.Fatal(err)
	}
	if string(one) != string(two) {
		t.Error("two runs over the same data differ")
	}
	var packets []*reconcile.Packet
	for _, s := range org.Submissions {
		packets = append(packets, s.Packet())
	}
	want, err := reconciler(t).Packets(t.Context(), reconcile.Scope{Org: org.ID}, packets, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Findings, bySQL.Findings); diff != "" {
		t.Errorf("findings from memory and by SQL differ:\n%.3000s", diff)
	}
	if len(bySQL.Queries) < 3 || bySQL.Submissions[0].Documents[0].SHA256 == "" {
		t.Errorf("%d queries, %+v", len(bySQL.Queries), bySQL.Submissions[0].Documents[0])
	}
	today, err := reconciler(t).Run(t.Context(), reconcile.Scope{Org: org.ID, From: "2026-11-29", To: "2026-11-29"}, data, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	if len(today.Submissions) != len(org.Key.Received) {
		t.Errorf("%d submissions today, not %d", len(today.Submissions), len(org.Key.Received))
	}
}

// TestEditRatesEqualTheKey asks the question by SQL as a person's code would.
func TestEditRatesEqualTheKey(t *testing.T) {
	t.Parallel()
	org := generate(t, "southfield", 1)
	data := serve(t, org, dataset.Standard)
	var got []EditRate
	_, err := data.Query(t.Context(), `SELECT strftime(extracted_at, '%Y-%m-%d') AS day, field_name, count(*) AS fields, count(*) FILTER (edited_by_human) AS edited
FROM extracted_fields WHERE workflow = 'Claims Intake' AND extracted_at >= TIMESTAMP '2026-06-01' AND extracted_at < TIMESTAMP '2026-08-01'
GROUP BY ALL ORDER BY day, field_name`, func(v []any) error {
		r := EditRate{Day: v[0].(string), Field: v[1].(string), Fields: int(v[2].(int64)), Edited: int(v[3].(int64))}
		r.Percent = math.Round(float64(r.Edited)*10000/float64(r.Fields)) / 100
		got = append(got, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(org.Key.EditRates, got); diff != "" {
		t.Error(diff)
	}
}
