package turn_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bordereau/agent/stream"
	"bordereau/agent/stream/redis"
	"bordereau/agent/stream/redis/redistest"
	"bordereau/migrations/postgrestest"
)

// The kill table: every way to lose a backend, at every boundary of a turn with tools.

// What is promised of a second replica.
const (
	goesOnAfterExpiry  = time.Second            // of the lease that the lost backend held
	goesOnAfterRelease = 100 * time.Millisecond // of the lease that a backend gave back
	// Both hold for half of the cases: a machine that is busy with other tests delays single ones.
	tableMin = 200 // points that the whole table has at least
)

// lastPoint is a little more than the boundaries that one turn passes.
const lastPoint = 145 // on a busy machine heartbeats and smaller batches add some

// place is where backends keep what they share.
type place struct {
	name  string
	redis string // its address; "": each backend keeps events for itself
	dsn   string // of a Postgres that makes a database for each scene; "": SQLite
	made  *atomic.Int64
}

func (p place) database(t *testing.T) string {
	t.Helper()
	if p.dsn == "" {
		return filepath.Join(t.TempDir(), "journal.db")
	}
	return postgrestest.Database(t, p.dsn, fmt.Sprintf("scene%d", p.made.Add(1)))
}

func (p place) buffer(t *testing.T) stream.Buffer {
	t.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: p.redis})
	b, err := redis.New(redis.Config{Client: client})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Stop(); _ = client.Close() })
	return b
}

// blow is a way to lose a backend. It tells whether the backend was hit before the turn had ended.
type blow struct {
	name  string
	ttl   time.Duration
	quick []int64 // the points that every test run tries; with BORDEREAU_CHAOS=1 all are tried
	run   func(t *testing.T, s *scene, at int64) (hit bool)
}

var blows = []blow{
	{"killed and restarted", 5 * time.Second, []int64{3, 17, 38, 61, 84}, killedAndRestarted},
	{"killed beside another", time.Second, []int64{5, 29, 47, 73}, killedBesideAnother},
	{"stopped and woken", time.Second, []int64{4, 22, 41, 66, 84}, stoppedAndWoken},
	{"told to end beside another", 5 * time.Second, []int64{6, 31, 52, 70}, toldToEnd},
}

func TestKillTable(t *testing.T) {
	t.Parallel()
	whole := os.Getenv("BORDEREAU_CHAOS") != ""
	var tried, hits atomic.Int64
	var expired, released samples
	t.Run("places", func(t *testing.T) {
		for _, p := range []place{
			{name: "SQLite"},
			{name: "Postgres and Redis", dsn: postgrestest.Start(t), redis: redistest.Start(t).Addr, made: new(atomic.Int64)},
		} {
			for _, b := range blows {
				points := b.quick
				switch {
				case whole:
					points = everyPoint(p)
				case p.dsn != "":
					points = points[2:3]
				}
				t.Run(p.name+"/"+b.name, func(t *testing.T) {
					t.Parallel()
					for _, at := range points {
						t.Run(fmt.Sprint(at), func(t *testing.T) {
							tried.Add(1)
							s := newScene(t, p, b.ttl)
							s.expired, s.released = &expired, &released
							if b.run(t, s, at) {
								hits.Add(1)
							}
						})
					}
				})
			}
		}
	})
	t.Logf("%d points tried, %d of them before the turn's end", tried.Load(), hits.Load())
	// The whole table is tried on a machine of its own; a few points beside other tests say nothing of how soon.
	for _, c := range []struct {
		waits *samples
		after string
		bound time.Duration
	}{{&expired, "a lease had run out", goesOnAfterExpiry}, {&released, "a lease was given back", goesOnAfterRelease}} {
		if median := c.waits.tell(t, c.after); whole && median > c.bound {
			t.Errorf("after %s half of the turns waited more than %s for another replica: %s", c.after, c.bound, median)
		}
	}
	if whole && hits.Load() < tableMin {
		t.Errorf("the table has %d points, want %d", hits.Load(), tableMin)
	}
}

// everyPoint is every boundary with SQLite, every fifth with Postgres and Redis.
func everyPoint(p place) (points []int64) {
	step := int64(1)
	if p.dsn != "" {
		step = 5
	}
	for i := step; i <= lastPoint; i += step {
		points = append(points, i)
	}
	return points
}

// TestKillTableIsLarge counts the boundaries of a turn that nothing happens to.
func TestKillTableIsLarge(t *testing.T) {
	t.Parallel()
	s := newScene(t, place{}, 5*time.Second)
	only := s.backend(t, 0, 0)
	id := s.post(t)
	s.await(t, "the end", 20*time.Second, s.ended(t, id))
	if err := only.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := only.Wait(); err != nil {
		t.Fatal(err)
	}
	said, _ := only.Stderr.(*strings.Builder)
	_, text, _ := strings.Cut(said.String(), "points passed: ")
	var passed int
	if _, err := fmt.Sscan(text, &passed); err != nil || passed*len(blows) < tableMin {
		t.Errorf("a turn passes %d boundaries (%v), times %d blows; want %d", passed, err, len(blows), tableMin)
	}
}

func killedAndRestarted(t *testing.T, s *scene, at int64) bool {
	first := s.backend(t, at, syscall.SIGKILL)
	id := s.post(t)
	gone := exited(first)
	s.await(t, "the kill", 20*time.Second, func() bool { return isClosed(gone) || s.ended(t, id)() })
	hit := !s.ended(t, id)()
	if !hit {
		_ = first.Process.Kill()
	}
	<-gone
	s.backend(t, 0, 0)
	s.await(t, "the end", 20*time.Second, s.ended(t, id))
	s.check(t, id)
	return hit
}

func killedBesideAnother(t *testing.T, s *scene, at int64) bool {
	first, id, wake := s.pair(t, at, syscall.SIGKILL)
	gone := exited(first)
	wake()
	s.await(t, "the kill", 20*time.Second, func() bool { return isClosed(gone) || s.ended(t, id)() })
	held := s.turn(t, id)
	s.await(t, "the end", 20*time.Second, s.ended(t, id))
	if held.Epoch == 1 && held.Outcome.Status.Live() && !held.LeaseUntil.IsZero() { // else it was found dead before that
		s.expired.add(s.resumed(t, id).Sub(held.LeaseUntil))
	}
	s.check(t, id)
	return s.turn(t, id).Epoch > 1
}

func stoppedAndWoken(t *testing.T, s *scene, at int64) bool {
	first, id, wake := s.pair(t, at, syscall.SIGSTOP)
	wake()
	s.await(t, "the stop", 20*time.Second, func() bool { return isStopped(first) || s.ended(t, id)() })
	held := s.turn(t, id)
	// A backend that stops inside a transaction holds its locks: nobody can go on before it is woken, or its database has
	// ended its session.
	stuck, began := false, time.Now()
	s.await(t, "the end", 40*time.Second, func() bool {
		if time.Since(began) > s.ttl+goesOnAfterExpiry && s.turn(t, id).Epoch == 1 {
			stuck = true
			_ = first.Process.Signal(syscall.SIGCONT)
		}
		return s.ended(t, id)()
	})
	if held.Epoch == 1 && held.Outcome.Status.Live() && !stuck {
		s.expired.add(s.resumed(t, id).Sub(held.LeaseUntil))
	}
	before := s.dump(t, id)
	_ = first.Process.Signal(syscall.SIGCONT)
	time.Sleep(150 * time.Millisecond)
	if s.dump(t, id) != before {
		t.Error("the zombie wrote")
	}
	s.check(t, id)
	return held.Outcome.Status.Live()
}

func toldToEnd(t *testing.T, s *scene, at int64) bool {
	first, id, wake := s.pair(t, at, syscall.SIGTERM)
	wake()
	s.await(t, "the end", 20*time.Second, s.ended(t, id))
	_ = first.Process.Signal(syscall.SIGTERM) // one whose turn ended before the point
	marks, err := s.store.MarksOf(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	s.check(t, id)
	for _, m := range marks {
		if m.Kind == "released" {
			s.released.add(s.resumed(t, id).Sub(m.At))
			return true
		}
	}
	return false
}

// pair starts a backend that runs the turn and another that sleeps until wake.
func (s *scene) pair(t *testing.T, at int64, sig syscall.Signal) (first *exec.Cmd, id string, wake func()) {
	t.Helper()
	second := s.backend(t, 0, 0)
	if err := second.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.await(t, "the other's sleep", 5*time.Second, func() bool { return isStopped(second) })
	first = s.backend(t, at, sig)
	id = s.post(t)
	s.await(t, "the claim", 10*time.Second, func() bool { return s.turn(t, id).Epoch > 0 })
	return first, id, func() { _ = second.Process.Signal(syscall.SIGCONT) }
}

func (s *scene) ended(t *testing.T, id string) func() bool {
	return func() bool { return !s.turn(t, id).Outcome.Status.Live() }
}

// resumed is when a later epoch did the first thing for the turn.
func (s *scene) resumed(t *testing.T, id string) time.Time {
	t.Helper()
	attempts, err := s.store.AttemptsOf(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	at := s.turn(t, id).Ended
	for _, a := range attempts {
		if a.Epoch > 1 && a.Started.Before(at) {
			at = a.Started
		}
	}
	return at
}

func exited(cmd *exec.Cmd) chan struct{} {
	gone := make(chan struct{})
	go func() { _, _ = cmd.Process.Wait(); close(gone) }()
	return gone
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func isStopped(cmd *exec.Cmd) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
	_, rest, ok := strings.Cut(string(stat), ") ")
	return err == nil && ok && strings.HasPrefix(rest, "T")
}

// samples are durations that many tests measure.
type samples struct {
	mu  sync.Mutex
	all []time.Duration
}

func (s *samples) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, d)
}

// tell says how soon another replica went on after something, and returns the median.
func (s *samples) tell(t *testing.T, after string) (median time.Duration) {
	t.Helper()
	if len(s.all) == 0 {
		return 0
	}
	slices.Sort(s.all)
	median = s.all[(len(s.all)-1)/2]
	t.Logf("after %s another replica went on within %s in half of %d cases, %s at most", after, median, len(s.all), s.all[len(s.all)-1])
	return median
}
