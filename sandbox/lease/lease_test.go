package lease_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gocloud.dev/blob/memblob"

	"bordereau/sandbox"
	"bordereau/sandbox/lease"
	"bordereau/sandbox/sandboxtest"
	"bordereau/sandbox/workspace"
)

// rig is a manager over sandboxes in memory.
type rig struct {
	t      *testing.T
	driver *sandboxtest.Memory
	points *workspace.Checkpoints
	cfg    lease.Config
	m      *lease.Manager
}

func newRig(t *testing.T, change func(*lease.Config)) *rig {
	t.Helper()
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	points, err := workspace.NewCheckpoints(workspace.CheckpointConfig{Bucket: bucket})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, driver: &sandboxtest.Memory{}, points: points}
	store, err := lease.NewFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r.cfg = lease.Config{Driver: r.driver, Store: store, Log: sandboxtest.Log(t), Checkpoints: points, Exclusive: true, Backoff: time.Millisecond}
	if change != nil {
		change(&r.cfg)
	}
	r.restart()
	return r
}

// restart is a backend that died and came back.
func (r *rig) restart() {
	r.t.Helper()
	if r.m != nil {
		r.m.Stop()
	}
	m, err := lease.New(r.cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.m = m
}

func (r *rig) get(conversation string) *lease.Lease {
	r.t.Helper()
	l, err := r.m.Get(r.t.Context(), conversation, "acme")
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

func (r *rig) id(conversation string) string {
	r.t.Helper()
	id, err := r.m.ID(r.t.Context(), conversation)
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func TestIDIsKnownBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for _, c := range []string{"c1", "9f1c3c0e-aaaa-bbbb-cccc-0123456789ab", "Ünïcödé / ../x", strings.Repeat("long", 100), "warm-x"} {
		id := r.id(c)
		if err := sandbox.CheckID(id); err != nil || strings.HasPrefix(id, "warm-") {
			t.Fatalf("%q: %q %v", c, id, err)
		}
		l := r.get(c)
		equal(t, "id", l.ID(), id)
		equal(t, "id afterwards", r.id(c), id)
	}
	if r.id("a-1") == r.id("a") {
		t.Fatal("two conversations share an id")
	}
	_, err := r.m.Get(t.Context(), "c1", "another organisation")
	if !errors.Is(err, sandbox.ErrInvalid) {
		t.Fatalf("a conversation of another organisation: %v", err)
	}
}

// The recovery table, row by row.

func TestStoppedAndPausedOnesAreStarted(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	l := r.get("c")
	equal(t, "how", l.Recovery().How, lease.Created)
	r.driver.Put(l.ID(), "f", "content")
	for _, down := range []func(context.Context, string) error{r.driver.Stop, r.driver.Pause} {
		if err := down(t.Context(), l.ID()); err != nil {
			t.Fatal(err)
		}
		again := r.get("c")
		equal(t, "id", again.ID(), l.ID())
		equal(t, "how", again.Recovery().How, lease.Started)
		equal(t, "file", r.driver.Get(l.ID(), "f"), "content")
	}
	equal(t, "how", r.get("c").Recovery().How, lease.Found)
	r.restart()
	equal(t, "how, after a restart", r.get("c").Recovery().How, lease.Found)
	equal(t, "created", r.driver.Calls["create"], 1)
}

func TestFailureInPassingNeverReplaces(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	l := r.get("c")
	for _, call := range []string{"find", "start", "read"} {
		if err := r.driver.Stop(t.Context(), l.ID()); err != nil {
			t.Fatal(err)
		}
		failures := 3
		r.driver.Fault = func(c, _ string) error {
			if c == call && failures > 0 {
				failures--
				return sandbox.Unavailable(nil, "in passing")
			}
			return nil
		}
		equal(t, "id after failures in passing of "+call, r.get("c").ID(), l.ID())
		r.driver.Fault = func(c, _ string) error {
			if c == call {
				return sandbox.Unavailable(nil, "for long")
			}
			return nil
		}
		if err := r.driver.Stop(t.Context(), l.ID()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.m.Get(t.Context(), "c", "acme"); !errors.Is(err, sandbox.ErrUnavailable) {
			t.Fatalf("a failure of %s for long: %v", call, err)
		}
		r.driver.Fault = nil
		equal(t, "id after a failure for long of "+call, r.get("c").ID(), l.ID())
	}
	equal(t, "created", r.driver.Calls["create"], 1)
	equal(t, "deleted", r.driver.Calls["delete"], 0)
}

func TestGoneOneComesBackWithItsFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	l := r.get("c")
	r.driver.Put(l.ID(), "artifacts/report.xlsx", "figures")
	if _, err := l.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.driver.Put(l.ID(), "later", "lost")
	r.driver.Lose(l.ID())
	again := r.get("c")
	rec := again.Recovery()
	if again.ID() == l.ID() || again.ID() != r.id("c") || !rec.Replaced || rec.How != lease.Restored || rec.Files != 1 || rec.Taken.IsZero() {
		t.Fatalf("%s %+v", again.ID(), rec)
	}
	equal(t, "file", r.driver.Get(again.ID(), "artifacts/report.xlsx"), "figures")
	if missing := strings.Join(rec.Missing, "; "); !strings.Contains(missing, "changes to files after") || !strings.Contains(missing, "programs") {
		t.Fatalf("missing: %s", missing)
	}
	equal(t, "next time", r.get("c").Recovery().How, lease.Found)

	// Without any checkpoint that is said.
	l = r.get("d")
	r.driver.Lose(l.ID())
	rec = r.get("d").Recovery()
	if !rec.Replaced || !strings.Contains(strings.Join(rec.Missing, ";"), "there was no checkpoint yet") {
		t.Fatalf("%+v", rec)
	}
}

func TestWorkspaceThatForgotIsReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	l := r.get("c")
	r.driver.Put(l.ID(), "f", "content")
	if _, err := l.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = r.driver.Stop(t.Context(), l.ID())
	r.driver.Wipe(l.ID())
	again := r.get("c")
	if !again.Recovery().Replaced || r.driver.Get(again.ID(), "f") != "content" {
		t.Fatalf("%+v", again.Recovery())
	}
	// Code inside that only removes the mark does not lose its sandbox for it.
	if err := again.RemoveFile(t.Context(), ".bordereau/canary"); err != nil {
		t.Fatal(err)
	}
	_ = r.driver.Stop(t.Context(), again.ID())
	equal(t, "id", r.get("c").ID(), again.ID())
	// Another one's workspace is never taken for ours.
	r.driver.Put(again.ID(), ".bordereau/canary", strings.Repeat("0", 32))
	_ = r.driver.Stop(t.Context(), again.ID())
	if l := r.get("c"); !strings.Contains(l.Recovery().Why, "another") {
		t.Fatalf("%+v", l.Recovery())
	}
}

// A crash at any call of a first use, of a recovery, and lost answers: the next process goes on, and nobody is left without an owner.
func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		for n := range 14 {
			t.Run(fmt.Sprintf("lost=%t/%d", lost, n), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, func(c *lease.Config) { c.Retries = 1 })
				first := r.get("c")
				r.driver.Put(first.ID(), "f", "content")
				if _, err := first.Checkpoint(t.Context()); err != nil {
					t.Fatal(err)
				}
				r.driver.Lose(first.ID())
				calls := 0
				crash := func(string, string) error {
					if calls++; calls > n {
						return errors.New("the process died")
					}
					return nil
				}
				if lost {
					r.driver.Lost = crash
				} else {
					r.driver.Fault = crash
				}
				_, _ = r.m.Get(t.Context(), "c", "acme")
				r.driver.Fault, r.driver.Lost = nil, nil
				r.restart()
				if err := r.m.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				defer func() { r.m.Stop() }()
				l := r.get("c")
				equal(t, "file", r.driver.Get(l.ID(), "f"), "content")
				equal(t, "sandboxes", strings.Join(r.driver.IDs(), " "), l.ID())
			})
		}
	}
}

func TestOrphansAreDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	l := r.get("c")
	if _, err := r.driver.Create(t.Context(), sandbox.Spec{ID: "orphan"}); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if err := r.m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.m.Stop()
	equal(t, "left", strings.Join(r.driver.IDs(), " "), l.ID())
	r.cfg.Exclusive = false
	if _, err := r.driver.Create(t.Context(), sandbox.Spec{ID: "another-ones"}); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if err := r.m.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.m.Stop()
	equal(t, "left on a shared driver", strings.Join(r.driver.IDs(), " "), "another-ones "+l.ID())
}

func TestIdleOnesPauseStopAndAreGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *lease.Config) { c.PauseAfter, c.StopAfter, c.ReapAfter = time.Minute, time.Hour, 24*time.Hour })
		if err := r.m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { r.m.Stop() }()
		l := r.get("c")
		r.driver.Put(l.ID(), "f", "content")
		time.Sleep(2 * time.Hour)
		equal(t, "in use", r.driver.State(l.ID()), sandbox.Running)
		l.Release()
		time.Sleep(2 * time.Minute)
		equal(t, "idle", r.driver.State(l.ID()), sandbox.Paused)
		time.Sleep(time.Hour)
		equal(t, "idle for an hour", r.driver.State(l.ID()), sandbox.Stopped)
		time.Sleep(24 * time.Hour)
		equal(t, "idle for a day", r.driver.State(l.ID()), "")
		next := r.id("c")
		again := r.get("c")
		equal(t, "id", again.ID(), next)
		rec := again.Recovery()
		if rec.Replaced || rec.How != lease.Restored || len(rec.Missing) != 0 {
			t.Fatalf("%+v", rec)
		}
		equal(t, "file", r.driver.Get(again.ID(), "f"), "content")
		again.Release()
		if err := r.m.Forget(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		equal(t, "left", len(r.driver.IDs()), 0)
	})
}

func TestWarmPoolFollowsDemand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *lease.Config) {
			c.Warm = lease.Warm{Min: 1, Max: 4}
			c.PauseAfter, c.StopAfter, c.ReapAfter = -1, -1, -1
		})
		if err := r.m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() { r.m.Stop() }()
		synctest.Wait()
		equal(t, "at rest", len(r.driver.IDs()), 1)
		r.m.Hint()
		r.m.Hint()
		synctest.Wait()
		equal(t, "after two hints", len(r.driver.IDs()), 2)
		l := r.get("c")
		equal(t, "how", l.Recovery().How, lease.Warmed)
		equal(t, "id", l.ID(), r.id("c"))
		info, err := r.driver.Find(t.Context(), l.ID())
		if err != nil || info.Org != "acme" {
			t.Fatalf("%+v %v", info, err)
		}
		for range 20 {
			r.m.Hint()
		}
		synctest.Wait()
		equal(t, "at most", len(r.driver.IDs()), 1+4)
		// A dead one in the pool is passed over.
		for _, id := range r.driver.IDs() {
			if strings.HasPrefix(id, "warm-") {
				r.driver.Lose(id)
				break
			}
		}
		for n := range 6 {
			r.get(fmt.Sprint("c", n))
		}
		time.Sleep(3 * time.Minute)
		equal(t, "at rest again", len(r.driver.IDs()), 1+6+1)
		r.restart()
		if err := r.m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		equal(t, "after a restart", len(r.driver.IDs()), 1+6+1)
	})
}

func TestManyAtOnceShareOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			l, err := r.m.Get(t.Context(), "c", "acme")
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Release()
			if _, err := l.Exec(t.Context(), sandbox.Command{Args: []string{"true"}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	equal(t, "created", r.driver.Calls["create"], 1)
}
