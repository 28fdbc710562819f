package lease_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"bordereau/migrations"
	"bordereau/migrations/postgrestest"
	"bordereau/sandbox"
	"bordereau/sandbox/lease"
	"bordereau/sandbox/sandboxtest"
	"bordereau/sandbox/workspace"
)

// replicas are several managers over the same sandboxes and the same table.
type replicas struct {
	t      *testing.T
	driver *sandboxtest.Memory
	clock  *clock
	m      []*lease.Manager
}

// clock is one that all replicas share and a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newReplicas(t *testing.T, dsn string, change func(*lease.Config)) *replicas {
	t.Helper()
	bucket := memblob.OpenBucket(nil)
	points, err := workspace.NewCheckpoints(workspace.CheckpointConfig{Bucket: bucket})
	if err != nil {
		t.Fatal(err)
	}
	r := &replicas{t: t, driver: &sandboxtest.Memory{}, clock: &clock{now: time.Now()}}
	for range 2 {
		db, _, err := migrations.Open(t.Context(), dsn, migrations.Journal)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		store, err := lease.NewTable(db, r.clock.Now)
		if err != nil {
			t.Fatal(err)
		}
		cfg := lease.Config{
			Driver: r.driver, Store: store, Log: sandboxtest.Log(t), Checkpoints: points, Exclusive: true, Backoff: time.Millisecond, Now: r.clock.Now,
			PauseAfter: -1, StopAfter: 10 * time.Minute,
		}
		if change != nil {
			change(&cfg)
		}
		m, err := lease.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		r.m = append(r.m, m)
	}
	t.Cleanup(func() { _ = bucket.Close() })
	return r
}

func (r *replicas) get(n int, conversation string) *lease.Lease {
	r.t.Helper()
	l, err := r.m[n].Get(r.t.Context(), conversation, "acme")
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

// TestReplicas holds that several replicas share one sandbox a conversation, on both engines.
func TestReplicas(t *testing.T) {
	t.Parallel()
	for engine, dsn := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { t.Helper(); return filepath.Join(t.TempDir(), "journal.db") },
		"postgres": func(t *testing.T) string { t.Helper(); return postgrestest.Start(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			for name, check := range map[string]func(*testing.T, string){
				"one for all": oneForAll, "one replacement": oneReplacement, "used elsewhere": usedElsewhere, "dead owner": deadOwner, "warm ones of the dead": warmOnesOfTheDead,
			} {
				t.Run(name, func(t *testing.T) { check(t, dsn(t)) })
			}
		})
	}
}

// both gets the conversation's sandbox in both replicas at once and returns its ids.
func (r *replicas) both(conversation string) map[string]bool {
	ids := map[string]bool{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			l, err := r.m[n%2].Get(r.t.Context(), conversation, "acme")
			if err != nil {
				r.t.Error(err)
				return
			}
			defer l.Release()
			mu.Lock()
			ids[l.ID()] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	return ids
}

func oneForAll(t *testing.T, dsn string) {
	r := newReplicas(t, dsn, nil)
	if ids := r.both("c"); len(ids) != 1 || !ids["c-1"] {
		t.Fatalf("%v", ids)
	}
	equal(t, "created", r.driver.Calls["create"], 1)
	equal(t, "found by the other", r.get(1, "c").Recovery().How, lease.Found)
}

func oneReplacement(t *testing.T, dsn string) {
	r := newReplicas(t, dsn, nil)
	l := r.get(0, "c")
	r.driver.Put(l.ID(), "f", "content")
	if _, err := l.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.driver.Lose(l.ID())
	if ids := r.both("c"); len(ids) != 1 || !ids["c-2"] {
		t.Fatalf("%v", ids)
	}
	equal(t, "sandboxes", strings.Join(r.driver.IDs(), " "), "c-2")
	equal(t, "file", r.driver.Get("c-2", "f"), "content")
}

// One that another replica uses is not idle; once that replica is dead, it is.
func usedElsewhere(t *testing.T, dsn string) {
	r := newReplicas(t, dsn, nil)
	l := r.get(0, "c")
	for range 60 { // half an hour
		r.clock.pass(30 * time.Second)
		r.m[0].Tidy(t.Context()) // as its watch does, while it lives
		r.m[1].Tidy(t.Context())
	}
	equal(t, "in use elsewhere", r.driver.State(l.ID()), sandbox.Running)
	r.clock.pass(9 * time.Minute) // it died without a word
	r.m[1].Tidy(t.Context())
	equal(t, "not idle for long enough", r.driver.State(l.ID()), sandbox.Running)
	r.clock.pass(2 * time.Minute)
	r.m[1].Tidy(t.Context())
	equal(t, "its user died", r.driver.State(l.ID()), sandbox.Stopped)
	r.m[1].Tidy(t.Context())
	equal(t, "stopped", r.driver.Calls["stop"], 1)
	equal(t, "how", r.get(1, "c").Recovery().How, lease.Started)
}

// A replica that died while it got the sandbox holds nobody up for longer than its lock lasts.
func deadOwner(t *testing.T, dsn string) {
	r := newReplicas(t, dsn, nil)
	db, _, err := migrations.Open(t.Context(), dsn, migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	// It noted what it was about to make, took the lock, made the sandbox, and died.
	first := r.get(0, "c")
	if err := r.driver.Stop(t.Context(), first.ID()); err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `INSERT INTO sandbox_locks (conversation, holder, until) VALUES ('c', 'the dead', $1)`, r.clock.Now().Add(5*time.Second).UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := r.m[1].Get(soon, "c", "acme"); err == nil {
		t.Fatal("a lock that is not over was taken")
	}
	got := make(chan *lease.Lease, 1)
	go func() {
		l, err := r.m[1].Get(t.Context(), "c", "acme")
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	r.clock.pass(6 * time.Second)
	if l := <-got; l != nil {
		equal(t, "id", l.ID(), first.ID())
		equal(t, "how", l.Recovery().How, lease.Started)
	}
	equal(t, "created", r.driver.Calls["create"], 1)
}

// A replica's waiting sandboxes are its own while it lives, and are deleted when it is dead.
func warmOnesOfTheDead(t *testing.T, dsn string) {
	r := newReplicas(t, dsn, func(c *lease.Config) { c.Warm = lease.Warm{Min: 1, Max: 1} })
	waiting := func() (ids []string) {
		for _, id := range r.driver.IDs() {
			if strings.HasPrefix(id, "warm-") {
				ids = append(ids, id)
			}
		}
		return ids
	}
	db, _, err := migrations.Open(t.Context(), dsn, migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store, err := lease.NewTable(db, r.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"warm-of-the-dead"} {
		if err := store.Save(t.Context(), lease.Record{Conversation: id, Used: r.clock.Now()}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.driver.Create(t.Context(), sandbox.Spec{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.m[1].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer r.m[1].Stop()
	r.m[1].Tidy(t.Context())
	if !strings.Contains(strings.Join(waiting(), " "), "warm-of-the-dead") {
		t.Fatal("another's waiting sandbox was deleted while it may live")
	}
	r.clock.pass(3 * time.Minute)
	r.m[1].Tidy(t.Context())
	if strings.Contains(strings.Join(waiting(), " "), "warm-of-the-dead") {
		t.Fatalf("left: %v", waiting())
	}
}
