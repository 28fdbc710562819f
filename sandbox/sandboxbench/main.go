// Command sandboxbench measures local sandboxes the way hosted ones are measured: create to first result, exec, and stop, start and
// verify a 5 MiB file with a canary. It draws the distribution. A run that was interrupted goes on where it was.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"gocloud.dev/blob/fileblob"

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

// options are what the command line says.
type options struct {
	runsc, guest, driver, image, out, doc string
	pairs, runs, many                     int
	fresh                                 bool
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("sandboxbench", flag.ContinueOnError)
	f.StringVar(&o.runsc, "runsc", "build/bin/runsc", "gVisor's runtime")
	f.StringVar(&o.guest, "guest", "build/bin/guest", "its first process")
	f.StringVar(&o.driver, "driver", "", "gvisor or bubblewrap; empty: the strongest that works")
	f.StringVar(&o.image, "image", "", "a Debian root by make sandbox-image; empty: this host's /usr")
	f.StringVar(&o.out, "out", "out/sandbox", "folder for figures.json and distribution.png")
	f.StringVar(&o.doc, "doc", "", "Markdown file whose section Sandboxes is replaced; the picture is laid beside it")
	f.IntVar(&o.pairs, "pairs", 30, "stop and start pairs, cold")
	f.IntVar(&o.runs, "runs", 1000, "verified recoveries, warm (paused and resumed)")
	f.IntVar(&o.many, "many", 100, "creations at once")
	f.BoolVar(&o.fresh, "fresh", false, "measure everything anew, also what an interrupted run has measured")
	return o, f.Parse(args)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	state, err := os.MkdirTemp("", "bordereau-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	d, err := local.New(ctx, local.Config{Driver: o.driver, Folder: state, Runsc: o.runsc, Guest: o.guest, Image: o.image, Log: log})
	if err != nil {
		return err
	}
	defer d.Close()
	points, closePoints, err := openCheckpoints(filepath.Join(state, "checkpoints"))
	if err != nil {
		return err
	}
	defer closePoints()
	bare, err := newPeer(o.runsc, state)
	if err != nil {
		return err
	}
	b := &bench{driver: d, peer: bare, points: points, fixture: make([]byte, 5<<20), canary: rand.Text(), state: state, log: log}
	if _, err := rand.Read(b.fixture); err != nil {
		return err
	}
	// Nothing stays behind, also after an interrupt.
	defer b.clear(ctx)
	if err := os.MkdirAll(o.out, 0o755); err != nil { // #nosec G301 -- results
		return err
	}
	r, err := openResults(filepath.Join(o.out, "figures.json"), local.NameOf(d), d.Image(), o.fresh)
	if err != nil {
		return err
	}
	for _, s := range steps(b, o) {
		if r.has(s.figure.Name, s.n) {
			fmt.Fprintf(os.Stderr, "%s: measured already\n", s.figure.Name)
			continue
		}
		fmt.Fprintf(os.Stderr, "%s …\n", s.figure.Name)
		within, cancel := context.WithTimeoutCause(ctx, s.budget+time.Minute, errors.New("the step took too long"))
		b.until = time.Now().Add(s.budget)
		f := s.figure
		err := s.measure(within, &f, s.n)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := r.keep(f); err != nil {
			return err
		}
	}
	return r.report(out, o)
}

func openCheckpoints(dir string) (points *workspace.Checkpoints, end func(), err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, nil, err
	}
	bucket, err := fileblob.OpenBucket(dir, &fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite})
	if err != nil {
		return nil, nil, err
	}
	points, err = workspace.NewCheckpoints(workspace.CheckpointConfig{Bucket: bucket})
	return points, func() { _ = bucket.Close() }, err
}
