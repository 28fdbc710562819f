package schedule

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/identity"
	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/migrations"
	"bordereau/migrations/postgrestest"
)

// pace is how much faster than the world's the clock of a child goes: a minute takes a tenth of a second.
const pace = 600

// TestMain is a replica when a test starts this program as one.
func TestMain(m *testing.M) {
	if dsn := os.Getenv("SCHEDULE_CHILD_DSN"); dsn != "" {
		if err := child(context.Background(), dsn, os.Getenv("SCHEDULE_CHILD_BEGAN"), os.Getenv("SCHEDULE_CHILD_HOOK")); err != nil {
			slog.Error("child", slog.Any("error", err))
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// poster posts letters to a test's server, which counts them.
type poster struct{ url string }

func (p poster) Deliver(ctx context.Context, _ Destination, l Letter) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, http.NoBody)
	if err != nil {
		return "", err
	}
	req.Header.Set("webhook-id", l.ID)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	return resp.Status, resp.Body.Close()
}

// child schedules, runs and delivers on a fast clock until it is killed.
func child(ctx context.Context, dsn, began, hook string) error {
	ms, err := strconv.ParseInt(began, 10, 64)
	if err != nil {
		return err
	}
	start := time.UnixMilli(ms)
	now := func() time.Time { return start.Add(time.Since(start) * pace) }
	db, dialect, err := migrations.Open(ctx, dsn, migrations.Journal)
	if err != nil {
		return err
	}
	j, err := journal.Open(journal.Config{DB: db, Dialect: dialect, NewID: uuid.NewString, LeaseTTL: time.Second})
	if err != nil {
		return err
	}
	people, err := identity.New(identity.Config{DB: db})
	if err != nil {
		return err
	}
	store, err := NewStore(StoreConfig{DB: db, NewID: uuid.NewString})
	if err != nil {
		return err
	}
	s, err := New(Config{
		Store: store, Journal: j, People: people, Files: noFiles{}, Deliverers: map[Kind]Deliverer{Webhook: poster{hook}}, Wake: func() {}, NewID: uuid.NewString,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), Now: now, Poll: 5 * time.Millisecond, Grace: 1000 * time.Hour, Attempt: 2 * time.Minute, Workers: 2,
	})
	if err != nil {
		return err
	}
	s.Start(ctx)
	for { // a runner: it ends what it claims
		turn, err := j.Claim(ctx, "child")
		if errors.Is(err, journal.ErrNotFound) {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		_, err = j.FinishTurn(ctx, journal.Lease{Turn: turn.ID, Epoch: turn.Epoch}, journal.Ending{Outcome: completed, Answer: &journal.Message{
			ID: "answer-" + turn.ID, Content: model.Message{Role: model.Assistant, Blocks: []model.Block{{Kind: model.Text, Text: "Done."}}},
		}})
		if err != nil && !errors.Is(err, journal.ErrFenced) {
			return err
		}
	}
}

// Two replicas are killed again and again, at any moment. Each tick has one run, one turn and one conversation; each run one
// delivery, and what arrives twice is what the journal says may have arrived twice.
func TestKilledReplicas(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { t.Helper(); return filepath.Join(t.TempDir(), "journal.db") },
		"postgres": func(t *testing.T) string { t.Helper(); return postgrestest.Start(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killReplicas(t, dsn(t))
		})
	}
}

func killReplicas(t *testing.T, dsn string) {
	t.Helper()
	var mu sync.Mutex
	arrived := map[string]int{}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		defer mu.Unlock()
		arrived[r.Header.Get("webhook-id")]++
	}))
	defer hook.Close()
	b := newBed(t, dsn)
	began := time.Now()
	b.hand.set(began)
	v := b.create(Draft{Name: "Each minute", Task: "x", Cron: "* * * * *", Zone: "UTC", Missed: RunOnce, Overlap: QueueBusy, Deliver: []Destination{{Webhook, "https://hook.example/"}}})
	start := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$") // #nosec G204 -- this test itself
		cmd.Env = append(os.Environ(), "SCHEDULE_CHILD_DSN="+dsn, "SCHEDULE_CHILD_BEGAN="+strconv.FormatInt(began.UnixMilli(), 10), "SCHEDULE_CHILD_HOOK="+hook.URL)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		cmd.Stderr = t.Output()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	kill := func(c *exec.Cmd) { _ = c.Process.Kill(); _ = c.Wait() }
	a, z := start(), start()
	for i := range 8 {
		b.grow(v, 3)
		time.Sleep(time.Duration(i*17) * time.Millisecond) // at another moment of their work each time
		kill(a)
		a, z = z, start()
	}
	// The last two bring to an end what the others left.
	b.hand.set(began.Add(time.Since(began) * pace))
	if _, err := b.desk.Change(t.Context(), v, Draft{Name: v.Name, Task: v.Task, Model: v.Model, Cron: "0 0 1 1 *", Zone: "UTC", Missed: v.Missed, Overlap: v.Overlap, Deliver: v.Deliver}, false); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && b.pending(v) > 0; {
		time.Sleep(100 * time.Millisecond)
	}
	kill(a)
	kill(z)
	b.audit(v, arrived)
}

// grow waits until n more ticks have come: a busy machine starts replicas slowly.
func (b *bed) grow(v Schedule, n int) {
	b.t.Helper()
	count := func() (n int) {
		if err := b.db.QueryRowContext(b.t.Context(), `SELECT COUNT(*) FROM schedule_runs WHERE schedule = $1`, v.ID).Scan(&n); err != nil {
			b.t.Fatal(err)
		}
		return n
	}
	want := count() + n
	for end := time.Now().Add(time.Minute); count() < want; {
		if time.Now().After(end) {
			b.t.Fatalf("no ticks: %d, want %d", count(), want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// pending counts what isn't at its end.
func (b *bed) pending(v Schedule) (n int) {
	b.t.Helper()
	err := b.db.QueryRowContext(b.t.Context(), `SELECT (SELECT COUNT(*) FROM schedule_runs WHERE schedule = $1 AND state IN ('queued', 'running'))
		+ (SELECT COUNT(*) FROM deliveries WHERE state IN ('due', 'sending'))`, v.ID).Scan(&n)
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// audit holds the journal against itself and against what arrived.
func (b *bed) audit(v Schedule, arrived map[string]int) {
	b.t.Helper()
	runs, err := b.store.Runs(b.t.Context(), "acme", v.ID, time.Time{}, 100_000)
	if err != nil {
		b.t.Fatal(err)
	}
	turns, deliveries, doubts := map[string]bool{}, 0, 0
	for _, r := range runs {
		switch {
		case r.State == Skipped: // the queue was full while nobody ran
			continue
		case r.State != Completed || turns[r.Turn] || len(r.Deliveries) != 1:
			b.t.Errorf("%+v", r)
			continue
		}
		turns[r.Turn] = true
		d := r.Deliveries[0]
		deliveries++
		lost := 0
		for _, a := range d.Attempts {
			if a.Outcome == Lost {
				lost++
			}
		}
		doubts += lost
		if n := arrived[d.ID]; d.State != Sent || n < 1 || n > 1+lost {
			b.t.Errorf("delivery %s is %s, arrived %d times with %d attempts of unknown end", d.ID, d.State, n, lost)
		}
	}
	var made int
	if err := b.db.QueryRowContext(b.t.Context(), `SELECT COUNT(*) FROM turns`).Scan(&made); err != nil || made != len(turns) {
		b.t.Errorf("%d turns for %d runs: %v", made, len(turns), err)
	}
	if deliveries < 10 {
		b.t.Errorf("only %d deliveries", deliveries)
	}
	b.t.Logf("%d ticks, %d turns, %d deliveries, %d attempts of unknown end", len(runs), len(turns), deliveries, doubts)
}
