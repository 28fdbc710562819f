package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/lease"
	"bordereau/sandbox/local"
	"bordereau/sandbox/workspace"
)

// bench is what every step measures with.
type bench struct {
	driver  local.Driver
	peer    *peer
	points  *workspace.Checkpoints
	fixture []byte
	canary  string
	state   string // folder
	log     *slog.Logger
	until   time.Time // the present step's end: what is not measured by then is left out
}

// step is one figure and how it is come by.
type step struct {
	figure  figure
	n       int
	budget  time.Duration
	measure func(ctx context.Context, f *figure, n int) error
}

// steps take fifteen minutes at most, all together.
func steps(b *bench, o options) []step {
	hostedCreate := "create to first command, median: Daytona 110 ms, E2B 440 ms, Vercel 1.75 s, Modal 2.66 s"
	hostedRecover := "Daytona 1.27 s median, 1.68 s p95, 11.84 s worst; Vercel snapshots 2.30 s, 6.94 s, 19.69 s"
	beside := "the runtime's own command, with the least of a bundle"
	return []step{
		{figure{Name: "peer: a start of runsc that does nothing", Hosted: beside}, o.pairs, 30 * time.Second, b.peer.idles},
		{figure{Name: "peer: bare runsc, create to first result", Hosted: beside}, o.pairs, 90 * time.Second, b.peer.creates},
		{figure{Name: "peer: bare runsc, exec", Hosted: beside}, o.pairs, 30 * time.Second, b.peer.execs},
		{figure{Name: "create to first result, cold", Reach: 150 * time.Millisecond, Hosted: hostedCreate}, o.pairs, 90 * time.Second, b.creates},
		{figure{Name: "create to first result, warm pool", Reach: 25 * time.Millisecond, Hosted: hostedCreate}, o.pairs, 90 * time.Second, b.warm},
		{figure{Name: "exec", Reach: 15 * time.Millisecond, Hosted: "not published"}, 200, 30 * time.Second, b.execs},
		{figure{Name: "stop, start, 5 MiB and canary verified, cold", Reach: 200 * time.Millisecond, Hosted: hostedRecover}, o.pairs, 90 * time.Second, b.recoveries(b.driver.Stop)},
		{figure{Name: "pause, resume, 5 MiB and canary verified, warm", Reach: 80 * time.Millisecond, Hosted: hostedRecover}, o.runs, 4 * time.Minute, b.recoveries(b.driver.Pause)},
		{figure{Name: "lost, restored from its checkpoint, 5 MiB verified", Reach: 500 * time.Millisecond, Hosted: "nobody restores a lost one"}, o.pairs, 90 * time.Second, b.restores},
		{figure{Name: fmt.Sprintf("%d creations at once, each to its first result", o.many), Hosted: "not published"}, o.many, 2 * time.Minute, b.atOnce},
	}
}

func (b *bench) over() bool { return time.Now().After(b.until) }

func (b *bench) exec(ctx context.Context, id string, args ...string) (string, error) {
	var out bytes.Buffer
	r, err := b.driver.Exec(ctx, id, sandbox.Command{Args: args, Stdout: &out, Timeout: time.Minute})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("%q ended with %d", args, r.ExitCode)
	}
	return strings.TrimSpace(out.String()), err
}

// creates measures from nothing to the first result.
func (b *bench) creates(ctx context.Context, f *figure, n int) error {
	for i := range n {
		if b.over() {
			break
		}
		id := fmt.Sprintf("create-%d", i)
		begun := time.Now()
		if _, err := b.driver.Create(ctx, sandbox.Spec{ID: id}); err != nil {
			return err
		}
		if _, err := b.exec(ctx, id, "true"); err != nil {
			return err
		}
		f.Times = append(f.Times, time.Since(begun))
		if err := b.driver.Delete(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// warm measures the same with a waiting sandbox.
func (b *bench) warm(ctx context.Context, f *figure, n int) error {
	store, err := lease.NewFolder(filepath.Join(b.state, "leases"))
	if err != nil {
		return err
	}
	m, err := lease.New(lease.Config{Driver: b.driver, Store: store, Log: b.log, Warm: lease.Warm{Min: 2, Max: 2}})
	if err != nil {
		return err
	}
	if err := m.Start(ctx); err != nil {
		return err
	}
	defer b.clear(ctx) // what waits in the pool would take part in the next step
	defer m.Stop()
	for i := range n {
		if b.over() {
			break
		}
		// The pool fills first: what is measured is the claim, not a race with the creation of the next one.
		for {
			infos, err := b.driver.List(ctx)
			if err != nil {
				return err
			}
			waiting := slices.DeleteFunc(infos, func(i sandbox.Info) bool { return !strings.HasPrefix(i.ID, "warm-") || i.State != sandbox.Running })
			if len(waiting) == 2 || b.over() {
				break
			}
			<-time.After(20 * time.Millisecond)
		}
		begun := time.Now()
		l, err := m.Get(ctx, fmt.Sprintf("conversation-%d", i), "bench")
		if err != nil {
			return err
		}
		if _, err := l.Exec(ctx, sandbox.Command{Args: []string{"true"}}); err != nil {
			return err
		}
		took := time.Since(begun)
		if l.Recovery().How == lease.Warmed {
			f.Times = append(f.Times, took)
		}
		l.Release()
		if err := m.Forget(ctx, fmt.Sprintf("conversation-%d", i)); err != nil {
			return err
		}
	}
	return nil
}

// clear deletes all sandboxes.
func (b *bench) clear(ctx context.Context) {
	clean := context.WithoutCancel(ctx)
	infos, _ := b.driver.List(clean)
	for _, i := range infos {
		_ = b.driver.Delete(clean, i.ID)
	}
}

func (b *bench) execs(ctx context.Context, f *figure, n int) error {
	if _, err := b.driver.Create(ctx, sandbox.Spec{ID: "exec"}); err != nil {
		return err
	}
	for range n {
		if b.over() {
			break
		}
		begun := time.Now()
		if _, err := b.exec(ctx, "exec", "true"); err != nil {
			return err
		}
		f.Times = append(f.Times, time.Since(begun))
	}
	return b.driver.Delete(ctx, "exec")
}

func (b *bench) seed(ctx context.Context, id string) error {
	if _, err := b.driver.Create(ctx, sandbox.Spec{ID: id}); err != nil {
		return err
	}
	return errors.Join(b.driver.WriteFile(ctx, id, "fixture.bin", bytes.NewReader(b.fixture)), b.driver.WriteFile(ctx, id, "canary", strings.NewReader(b.canary)))
}

// verified tells whether code inside sees the fixture and the canary as they were, byte by byte.
func (b *bench) verified(ctx context.Context, id string) (bool, error) {
	out, err := b.exec(ctx, id, "sha256sum", "fixture.bin", "canary")
	fixture, canary := sha256.Sum256(b.fixture), sha256.Sum256([]byte(b.canary))
	return out == hex.EncodeToString(fixture[:])+"  fixture.bin\n"+hex.EncodeToString(canary[:])+"  canary", err
}

// recoveries measures suspend, recover and verify: cold (stopped: no process is left) or warm (paused: frozen in memory).
func (b *bench) recoveries(down func(context.Context, string) error) func(context.Context, *figure, int) error {
	return func(ctx context.Context, f *figure, n int) error {
		if err := b.seed(ctx, "recover"); err != nil {
			return err
		}
		for range n {
			if b.over() {
				break
			}
			begun := time.Now()
			if err := down(ctx, "recover"); errors.Is(err, sandbox.ErrUnsupported) {
				break
			} else if err != nil {
				return err
			}
			if err := b.driver.Start(ctx, "recover"); err != nil {
				return err
			}
			ok, err := b.verified(ctx, "recover")
			if err != nil {
				return err
			}
			if !ok {
				f.Wrong++
			}
			f.Times = append(f.Times, time.Since(begun))
		}
		return b.driver.Delete(ctx, "recover")
	}
}

// restores measures a lost sandbox coming back from its checkpoint.
func (b *bench) restores(ctx context.Context, f *figure, n int) error {
	if err := b.seed(ctx, "lost"); err != nil {
		return err
	}
	if _, err := b.points.Save(ctx, b.driver, "lost", "conversation"); err != nil {
		return err
	}
	if err := b.driver.Delete(ctx, "lost"); err != nil {
		return err
	}
	for i := range n {
		if b.over() {
			break
		}
		id := fmt.Sprintf("restored-%d", i)
		begun := time.Now()
		if _, err := b.driver.Create(ctx, sandbox.Spec{ID: id}); err != nil {
			return err
		}
		if _, err := b.points.Restore(ctx, b.driver, id, "conversation"); err != nil {
			return err
		}
		ok, err := b.verified(ctx, id)
		if err != nil {
			return err
		}
		if !ok {
			f.Wrong++
		}
		f.Times = append(f.Times, time.Since(begun))
		if err := b.driver.Delete(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// atOnce measures many creations at the same time. One that fails counts as wrong.
func (b *bench) atOnce(ctx context.Context, f *figure, n int) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed []error
	begun := time.Now()
	for i := range n {
		wg.Go(func() {
			id := fmt.Sprintf("many-%d", i)
			_, err := b.driver.Create(ctx, sandbox.Spec{ID: id})
			if err == nil {
				_, err = b.exec(ctx, id, "true")
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, err)
				f.Wrong++
				return
			}
			f.Times = append(f.Times, time.Since(begun))
		})
	}
	wg.Wait()
	for i := range n {
		if err := b.driver.Delete(context.WithoutCancel(ctx), fmt.Sprintf("many-%d", i)); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) > 0 {
		fmt.Fprintf(os.Stderr, "of %d creations at once %d failed; the first: %v\n", n, len(failed), failed[0])
	}
	return nil
}
