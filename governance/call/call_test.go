package call_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bordereau/governance/call"
	"bordereau/governance/fault"
	"bordereau/migrations/storetest"
)

// turns is what is live.
type turns struct {
	mu    sync.Mutex
	epoch int64 // the live one; 0: none
	err   error
}

func (l *turns) TurnLive(_ context.Context, _ string, epoch int64) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return epoch == l.epoch, l.err
}

func (l *turns) set(epoch int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch, l.err = epoch, err
}

// TestDesk is what a desk does, with its record on each engine.
func TestDesk(t *testing.T) {
	t.Parallel()
	storetest.Each(t, map[string]func(*testing.T, storetest.Open){
		"asking again": askingAgainReturnsTheStoredAnswer, "refusals": refusalsAreKeptAndFailuresAreNot, "joining": askingAgainJoinsTheRunningCall,
		"time": callEndsWithItsTime, "turn": callEndsWithItsTurn, "anonymous": anonymousCallEndsWithItsRequest, "taken over": takenOverTurnKeepsItsCall,
		"dead process": deadProcessLosesItsCall, "panic": panicIsAnError, "close": closeStopsWhatRuns, "expiry": answersExpire, "at once": oneOfManyProcessesRunsACall,
	})
}

func answersExpire(t *testing.T, open storetest.Open) {
	t.Helper()
	db := open(t)
	now := time.Now()
	d, err := call.NewDesk(call.Config{DB: db, Live: &turns{epoch: 1}, TTL: time.Hour, Now: func() time.Time { return now }, NewID: rand.Text, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ran := 0
	work := func(context.Context) ([]byte, error) { ran++; return []byte("a\x00b"), nil }
	for range 2 {
		if got, err := d.Do(t.Context(), ask("k", work)); err != nil || string(got) != "a\x00b" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	now = now.Add(2 * time.Hour)
	if err := d.Reap(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM calls").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d left, %v", left, err)
	}
	if _, err := d.Do(t.Context(), ask("k", work)); err != nil || ran != 2 {
		t.Errorf("ran %d times, %v", ran, err)
	}
}

// oneOfManyProcessesRunsACall asks the same of many processes at the same moment.
func oneOfManyProcessesRunsACall(t *testing.T, open storetest.Open) {
	t.Helper()
	db := open(t)
	var ran atomic.Int64
	work := func(context.Context) ([]byte, error) { return fmt.Appendf(nil, "answer %d", ran.Add(1)), nil }
	var all sync.WaitGroup
	for range 6 {
		d := desk(t, db, &turns{epoch: 1})
		for range 3 {
			all.Go(func() {
				if got, err := d.Do(t.Context(), ask("t1:1", work)); err != nil || string(got) != "answer 1" {
					t.Errorf("%q, %v", got, err)
				}
			})
		}
	}
	all.Wait()
}

func desk(t *testing.T, db *sql.DB, live *turns) *call.Desk {
	t.Helper()
	d, err := call.NewDesk(call.Config{DB: db, Live: live, TTL: time.Hour, Now: time.Now, NewID: rand.Text, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func ask(key string, work call.Work) call.Ask {
	return call.Ask{ID: call.ID{Org: "acme", Turn: "t1", Key: key, Digest: "d"}, Epoch: 1, Limit: time.Minute, Work: work}
}

func askingAgainReturnsTheStoredAnswer(t *testing.T, open storetest.Open) {
	t.Helper()
	db := open(t)
	var ran atomic.Int64
	work := func(context.Context) ([]byte, error) { return fmt.Appendf(nil, "answer %d", ran.Add(1)), nil }
	first, second := desk(t, db, &turns{epoch: 1}), desk(t, db, &turns{epoch: 1}) // two processes
	for i, d := range []*call.Desk{first, first, second} {
		if got, err := d.Do(t.Context(), ask("t1:1", work)); err != nil || string(got) != "answer 1" {
			t.Errorf("asking %d: %q, %v", i, got, err)
		}
	}
	other := ask("t1:1", work)
	other.ID.Digest = "other arguments"
	if got, err := first.Do(t.Context(), other); err != nil || string(got) != "answer 2" {
		t.Errorf("another call with that key: %q, %v", got, err)
	}
	stranger := ask("t1:1", work)
	stranger.ID.Org = "globex"
	if got, err := first.Do(t.Context(), stranger); err != nil || string(got) != "answer 3" {
		t.Errorf("another organisation with that key: %q, %v", got, err)
	}
}

func refusalsAreKeptAndFailuresAreNot(t *testing.T, open storetest.Open) {
	t.Helper()
	d := desk(t, open(t), &turns{epoch: 1})
	for code, runs := range map[fault.Code]int64{fault.Denied: 1, fault.Invalid: 1, fault.Unavailable: 2, fault.Timeout: 2, fault.RateLimited: 2} {
		var ran atomic.Int64
		work := func(context.Context) ([]byte, error) {
			ran.Add(1)
			return nil, &fault.Error{Code: code, Component: "x", Message: "m", Hint: "h", AuditID: "a1"}
		}
		for range 2 {
			_, err := d.Do(t.Context(), ask(string(code), work))
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != code || f.Hint != "h" || f.AuditID != "a1" {
				t.Errorf("%s: %+v", code, err)
			}
		}
		if ran.Load() != runs {
			t.Errorf("%s: ran %d times; want %d", code, ran.Load(), runs)
		}
	}
}

func askingAgainJoinsTheRunningCall(t *testing.T, open storetest.Open) {
	t.Helper()
	db := open(t)
	d, elsewhere := desk(t, db, &turns{epoch: 1}), desk(t, db, &turns{epoch: 1})
	var ran atomic.Int64
	began, release := make(chan struct{}), make(chan struct{})
	work := func(ctx context.Context) ([]byte, error) {
		ran.Add(1)
		close(began)
		select {
		case <-release:
			return []byte("done"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	// The first asker goes away; the call goes on.
	gone, leave := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := d.Do(gone, ask("t1:1", work))
		first <- err
	}()
	<-began
	leave()
	if err := <-first; !fault.Is(err, fault.Interrupted) {
		t.Errorf("the one who left got %v", err)
	}
	answers := make(chan string, 2)
	for _, d := range []*call.Desk{d, elsewhere} {
		go func() {
			got, err := d.Do(t.Context(), ask("t1:1", work))
			answers <- fmt.Sprintf("%s %v", got, err)
		}()
	}
	<-time.After(150 * time.Millisecond) // both wait by now, one here and one in the other process
	close(release)
	for range 2 {
		if got := <-answers; got != "done <nil>" {
			t.Errorf("a joiner got %s", got)
		}
	}
	if ran.Load() != 1 {
		t.Errorf("ran %d times", ran.Load())
	}
}

func endless(stopped chan<- error) call.Work {
	return func(ctx context.Context) ([]byte, error) {
		<-ctx.Done()
		stopped <- context.Cause(ctx)
		return nil, &fault.Error{Code: fault.Interrupted, Component: "duck", Message: "stopped", AuditID: "a7"}
	}
}

func callEndsWithItsTime(t *testing.T, open storetest.Open) {
	t.Helper()
	d := desk(t, open(t), &turns{epoch: 1})
	for _, key := range []string{"", "t1:1"} {
		stopped := make(chan error, 1)
		a := ask(key, endless(stopped))
		a.Limit = 30 * time.Millisecond
		_, err := d.Do(t.Context(), a)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.Timeout || f.AuditID != "a7" {
			t.Errorf("key %q: %+v", key, err)
		}
	}
}

func callEndsWithItsTurn(t *testing.T, open storetest.Open) {
	t.Helper()
	for _, key := range []string{"", "t1:1"} {
		t.Run("key "+key, func(t *testing.T) {
			t.Parallel()
			live := &turns{epoch: 1}
			d := desk(t, open(t), live)
			stopped := make(chan error, 1)
			go func() { _, _ = d.Do(t.Context(), ask(key, endless(stopped))) }()
			live.set(0, nil)
			if err := <-stopped; !fault.Is(err, fault.Interrupted) {
				t.Errorf("stopped by %v", err)
			}
		})
	}
}

func anonymousCallEndsWithItsRequest(t *testing.T, open storetest.Open) {
	t.Helper()
	d := desk(t, open(t), &turns{epoch: 1})
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go cancel()
	if _, err := d.Do(ctx, ask("", endless(stopped))); !fault.Is(err, fault.Interrupted) {
		t.Errorf("%v", err)
	}
	<-stopped
}

// takenOverTurnKeepsItsCall holds that a call outlives the runner that made it, if the turn's next runner asks for it.
func takenOverTurnKeepsItsCall(t *testing.T, open storetest.Open) {
	t.Helper()
	live := &turns{epoch: 1}
	d := desk(t, open(t), live)
	began, release := make(chan struct{}), make(chan struct{})
	work := func(ctx context.Context) ([]byte, error) {
		close(began)
		select {
		case <-release:
			return []byte("done"), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	killed, kill := context.WithCancel(t.Context())
	go func() { _, _ = d.Do(killed, ask("t1:1", work)) }()
	<-began
	kill()
	live.set(2, nil)
	<-time.After(1500 * time.Millisecond) // the first beat finds epoch 1 dead
	next := ask("t1:1", work)
	next.Epoch = 2
	answer := make(chan string)
	go func() {
		got, err := d.Do(t.Context(), next)
		answer <- fmt.Sprintf("%s %v", got, err)
	}()
	<-time.After(1500 * time.Millisecond)
	close(release)
	if got := <-answer; got != "done <nil>" {
		t.Errorf("the next runner got %s", got)
	}
}

func deadProcessLosesItsCall(t *testing.T, open storetest.Open) {
	t.Helper()
	db := open(t)
	d := desk(t, db, &turns{epoch: 1})
	// What a process leaves that was killed in a call: a started call whose lease is over.
	if _, err := db.ExecContext(t.Context(), `INSERT INTO calls (org, turn, key, digest, state, holder, lease_until, expires_at)
		VALUES ('acme', 't1', 't1:1', 'd', 'started', 'dead', $1, $2)`, time.Now().Add(300*time.Millisecond).UnixMicro(), time.Now().Add(time.Hour).UnixMicro()); err != nil {
		t.Fatal(err)
	}
	got, err := d.Do(t.Context(), ask("t1:1", func(context.Context) ([]byte, error) { return []byte("again"), nil }))
	if err != nil || string(got) != "again" {
		t.Errorf("%q, %v", got, err)
	}
}

func panicIsAnError(t *testing.T, open storetest.Open) {
	t.Helper()
	d := desk(t, open(t), &turns{epoch: 1})
	for _, key := range []string{"", "t1:1"} {
		if _, err := d.Do(t.Context(), ask(key, func(context.Context) ([]byte, error) { panic("no") })); !fault.Is(err, fault.Internal) {
			t.Errorf("key %q: %v", key, err)
		}
	}
}

func closeStopsWhatRuns(t *testing.T, open storetest.Open) {
	t.Helper()
	d := desk(t, open(t), &turns{epoch: 1})
	stopped := make(chan error, 1)
	result := make(chan error)
	go func() {
		_, err := d.Do(t.Context(), ask("t1:1", endless(stopped)))
		result <- err
	}()
	<-time.After(50 * time.Millisecond)
	d.Close()
	if err := <-result; !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
}
