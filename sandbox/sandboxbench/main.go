// Command sandboxbench measures local sandboxes the way hosted ones are measured: create to first result, exec, and stop, start and
// verify a 5 MiB file with a canary. It draws the distribution.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gocloud.dev/blob/fileblob"

	"bordereau/sandbox"
	"bordereau/sandbox/lease"
	"bordereau/sandbox/local"
	"bordereau/sandbox/workspace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandboxbench:", err)
		os.Exit(1)
	}
}

// figure is one row of the table.
type figure struct {
	Name   string
	Times  []time.Duration
	Wrong  int
	Reach  time.Duration // p50 to reach; 0 none
	Hosted string        // what hosted services show, and what differs
}

func (f figure) at(q float64) time.Duration {
	if len(f.Times) == 0 {
		return 0
	}
	s := slices.Clone(f.Times)
	slices.Sort(s)
	return s[min(int(q*float64(len(s))), len(s)-1)]
}

type bench struct {
	driver  local.Driver
	figures []figure
	fixture []byte
	canary  string
	points  *workspace.Checkpoints
}

func run(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("sandboxbench", flag.ContinueOnError)
	var (
		runsc  = f.String("runsc", "build/bin/runsc", "gVisor's runtime")
		guest  = f.String("guest", "build/bin/guest", "its first process")
		driver = f.String("driver", "", "gvisor or bubblewrap; empty: the strongest that works")
		pairs  = f.Int("pairs", 30, "stop and start pairs, cold")
		runs   = f.Int("runs", 1000, "verified recoveries, warm (paused and resumed)")
		many   = f.Int("many", 100, "creations at once")
		dir    = f.String("out", "out", "folder for figures.json and distribution.png")
	)
	if err := f.Parse(args); err != nil {
		return err
	}
	state, err := os.MkdirTemp("", "bordereau-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	d, err := local.New(ctx, local.Config{Driver: *driver, Folder: state, Runsc: *runsc, Guest: *guest, Log: log})
	if err != nil {
		return err
	}
	defer d.Close()
	points := filepath.Join(state, "checkpoints")
	if err := os.Mkdir(points, 0o700); err != nil {
		return err
	}
	bucket, err := fileblob.OpenBucket(points, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return err
	}
	defer bucket.Close()
	b := &bench{driver: d, fixture: make([]byte, 5<<20), canary: rand.Text()}
	if _, err := rand.Read(b.fixture); err != nil {
		return err
	}
	if b.points, err = workspace.NewCheckpoints(workspace.CheckpointConfig{Bucket: bucket}); err != nil {
		return err
	}
	defer func() { // nothing stays behind, also after an interrupt
		clean := context.WithoutCancel(ctx)
		infos, _ := d.List(clean)
		for _, i := range infos {
			_ = d.Delete(clean, i.ID)
		}
	}()
	for _, step := range []func() error{
		func() error { return b.creates(ctx, *pairs) },
		func() error { return b.warm(ctx, *pairs, state, log) },
		func() error { return b.execs(ctx) },
		func() error { return b.recoveries(ctx, *pairs, *runs) },
		func() error { return b.restores(ctx, *pairs) },
		func() error { return b.atOnce(ctx, *many) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil { // #nosec G301 -- results
		return err
	}
	return errors.Join(b.table(out, local.NameOf(d), d.Image()), b.store(*dir), draw(filepath.Join(*dir, "distribution.png"), b.figures))
}

func (b *bench) add(f figure) { b.figures = append(b.figures, f) }

func (b *bench) exec(ctx context.Context, id string, args ...string) (string, error) {
	var out bytes.Buffer
	r, err := b.driver.Exec(ctx, id, sandbox.Command{Args: args, Stdout: &out, Timeout: time.Minute})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("%q ended with %d", args, r.ExitCode)
	}
	return strings.TrimSpace(out.String()), err
}

// creates measures from nothing to the first result.
func (b *bench) creates(ctx context.Context, n int) error {
	f := figure{Name: "create to first result, cold", Reach: 150 * time.Millisecond, Hosted: "Daytona 110 ms, E2B 440 ms, Vercel 1.75 s, Modal 2.66 s median, over their networks"}
	for i := range n {
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
	b.add(f)
	return nil
}

// warm measures the same with a waiting sandbox.
func (b *bench) warm(ctx context.Context, n int, state string, log *slog.Logger) error {
	store, err := lease.NewFolder(filepath.Join(state, "leases"))
	if err != nil {
		return err
	}
	m, err := lease.New(lease.Config{Driver: b.driver, Store: store, Log: log, Warm: lease.Warm{Min: 4, Max: 8}})
	if err != nil {
		return err
	}
	if err := m.Start(ctx); err != nil {
		return err
	}
	defer m.Stop()
	f := figure{Name: "create to first result, warm pool", Reach: 25 * time.Millisecond, Hosted: "the same"}
	for i := range n {
		for range 600 { // let the pool fill: what is measured is the claim
			infos, err := b.driver.List(ctx)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(infos, func(i sandbox.Info) bool { return strings.HasPrefix(i.ID, "warm-") }) {
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
	b.add(f)
	return nil
}

func (b *bench) execs(ctx context.Context) error {
	if _, err := b.driver.Create(ctx, sandbox.Spec{ID: "exec"}); err != nil {
		return err
	}
	f := figure{Name: "exec", Reach: 15 * time.Millisecond, Hosted: "not published the same way"}
	for range 200 {
		begun := time.Now()
		if _, err := b.exec(ctx, "exec", "true"); err != nil {
			return err
		}
		f.Times = append(f.Times, time.Since(begun))
	}
	b.add(f)
	return b.driver.Delete(ctx, "exec")
}

func (b *bench) seed(ctx context.Context, id string) error {
	if _, err := b.driver.Create(ctx, sandbox.Spec{ID: id}); err != nil {
		return err
	}
	return errors.Join(b.driver.WriteFile(ctx, id, "fixture.bin", bytes.NewReader(b.fixture)), b.driver.WriteFile(ctx, id, "canary", strings.NewReader(b.canary)))
}

// verified tells whether code inside sees the fixture and the canary as they were.
func (b *bench) verified(ctx context.Context, id string) (bool, error) {
	out, err := b.exec(ctx, id, "/bin/sh", "-c", "sha256sum < fixture.bin | cut -d' ' -f1; cat canary")
	sum := sha256.Sum256(b.fixture)
	return out == hex.EncodeToString(sum[:])+"\n"+b.canary, err
}

// recoveries measures suspend, recover and verify: cold (stopped) and warm (paused).
func (b *bench) recoveries(ctx context.Context, pairs, runs int) error {
	if err := b.seed(ctx, "recover"); err != nil {
		return err
	}
	for _, kind := range []struct {
		name string
		n    int
		down func(context.Context, string) error
		f    figure
	}{
		{"stop, start, 5 MiB and canary verified, cold", pairs, b.driver.Stop, figure{Reach: 200 * time.Millisecond, Hosted: "Daytona 1.27 s median, 1.68 s p95, 11.84 s worst; Vercel 2.30 s median"}},
		{"pause, resume, 5 MiB and canary verified, warm", runs, b.driver.Pause, figure{Reach: 80 * time.Millisecond, Hosted: "the same"}},
	} {
		kind.f.Name = kind.name
		for range kind.n {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			begun := time.Now()
			if err := kind.down(ctx, "recover"); errors.Is(err, sandbox.ErrUnsupported) {
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
				kind.f.Wrong++
			}
			kind.f.Times = append(kind.f.Times, time.Since(begun))
		}
		b.add(kind.f)
	}
	return b.driver.Delete(ctx, "recover")
}

// restores measures a lost sandbox coming back from its checkpoint.
func (b *bench) restores(ctx context.Context, n int) error {
	if err := b.seed(ctx, "lost"); err != nil {
		return err
	}
	if _, err := b.points.Save(ctx, b.driver, "lost", "conversation"); err != nil {
		return err
	}
	if err := b.driver.Delete(ctx, "lost"); err != nil {
		return err
	}
	f := figure{Name: "lost, restored from its checkpoint, 5 MiB verified", Reach: 500 * time.Millisecond, Hosted: "no service restores a lost sandbox"}
	for i := range n {
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
	b.add(f)
	return nil
}

// atOnce measures many creations at the same time.
func (b *bench) atOnce(ctx context.Context, n int) error {
	f := figure{Name: fmt.Sprintf("%d creations at once, each to its first result", n), Hosted: "not published the same way"}
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
		if err := b.driver.Delete(ctx, fmt.Sprintf("many-%d", i)); err != nil {
			failed = append(failed, err)
		}
	}
	b.add(f)
	if len(failed) > 0 {
		fmt.Fprintf(os.Stderr, "of %d creations at once %d failed; the first: %v\n", n, len(failed), failed[0])
	}
	return nil
}

func (b *bench) table(out io.Writer, driver, image string) error {
	fmt.Fprintf(out, "Sandboxes: %s, image %s\n\n| what | n | p50 | p95 | worst | wrong | reach (p50) | hosted, for comparison |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n", driver, image)
	for _, f := range b.figures {
		reach := "-"
		if f.Reach > 0 {
			reach = f.Reach.String()
		}
		if _, err := fmt.Fprintf(out, "| %s | %d | %s | %s | %s | %d | %s | %s |\n", f.Name, len(f.Times), ms(f.at(.5)), ms(f.at(.95)), ms(f.at(1)), f.Wrong, reach, f.Hosted); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, "\nWhat differs: these sandboxes are on the machine that asks, so no network lies between; hosted figures are medians that others published.")
	return err
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func (b *bench) store(dir string) error {
	text, err := json.MarshalIndent(b.figures, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "figures.json"), text, 0o644) // #nosec G306 -- results
}
