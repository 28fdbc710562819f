package gvisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"bordereau/sandbox"
	"bordereau/sandbox/guest"
	"bordereau/sandbox/home"
	"bordereau/sandbox/image"
)

// bootLimit is how long a new sandbox may take until its first process answers.
const bootLimit = 10 * time.Second

// Driver drives sandboxes on this host. Its sandboxes outlive it: New finds those of an earlier process again.
type Driver struct {
	*home.Lives

	cfg     Config
	img     *image.Image
	cgroups bool

	starts chan struct{} // one for each runtime that is being started

	mu     sync.Mutex
	inside map[string]*guest.Listener // by home key

	closed context.Context //nolint:containedctx // ends with Close, not with a call
	end    context.CancelCauseFunc
}

var (
	_ sandbox.Driver  = (*Driver)(nil)
	_ sandbox.Claimer = (*Driver)(nil)
)

// New opens the state folder, proves with a throwaway sandbox that the runtime works here, and adopts what runs already.
func New(ctx context.Context, cfg Config) (*Driver, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(cfg.Folder, "runsc"), 0o711); err != nil {
		return nil, err
	}
	img, store, err := cfg.open()
	if err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, img: img, cgroups: true, inside: map[string]*guest.Listener{}, starts: make(chan struct{}, startsAtOnce())}
	d.Lives = home.NewLives(store, Name, engine{d})
	d.closed, d.end = context.WithCancelCause(context.WithoutCancel(ctx))
	d.adopt(ctx)
	if err := d.probe(ctx); err != nil {
		d.cgroups = false
		if again := d.probe(ctx); again != nil {
			d.Close()
			return nil, &sandbox.Fault{Kind: sandbox.ErrUnsupported, Text: "gVisor does not work here", Cause: errors.Join(err, again)}
		}
		cfg.Log.WarnContext(ctx, "gVisor works here without cgroups only: memory and CPU of a sandbox are not limited", slog.Any("error", err))
	}
	return d, nil
}

// Cgroups tells whether memory, CPU and processes are limited by the kernel of the host too.
func (d *Driver) Cgroups() bool { return d.cgroups }

// Image is the name of what sandboxes see.
func (d *Driver) Image() string { return d.img.Name }

// probe makes, uses and deletes a sandbox.
func (d *Driver) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*bootLimit, errors.New("the runtime did not answer"))
	defer cancel()
	id := "probe-" + home.Random(6)
	if _, err := d.Create(ctx, sandbox.Spec{ID: id, Limits: sandbox.Limits{WorkspaceBytes: 16 << 20}}); err != nil {
		return err
	}
	r, err := d.Exec(ctx, id, sandbox.Command{Args: []string{"true"}})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("true ended with %d", r.ExitCode)
	}
	return errors.Join(err, d.Delete(context.WithoutCancel(ctx), id))
}

// adopt finds what an earlier process left: what runs is listened to again, what died counts as stopped.
func (d *Driver) adopt(ctx context.Context) {
	for _, h := range d.All() {
		h.Mu.Lock()
		r := h.Record()
		if r.State == sandbox.Running || r.State == sandbox.Paused {
			err := d.revive(h)
			if err != nil {
				d.cfg.Log.WarnContext(ctx, "a sandbox's runtime is gone; its workspace is kept", slog.String("sandbox", r.ID), slog.Any("error", err))
				if err := d.Down(ctx, h); err != nil {
					d.cfg.Log.ErrorContext(ctx, "can't clear a dead sandbox", slog.String("sandbox", r.ID), slog.Any("error", err))
				}
			}
		}
		h.Mu.Unlock()
	}
}

func (d *Driver) revive(h *home.Home) error {
	if !alive(h.Record()) {
		return errors.New("its process is gone")
	}
	if err := d.listen(h); err != nil {
		return err
	}
	return h.OpenDoor()
}

func alive(r home.Record) bool { return r.Start != 0 && startTime(r.Pid) == r.Start }

// listen opens the control socket of a home.
func (d *Driver) listen(h *home.Home) error {
	d.unlisten(h)
	socket, err := home.ListenUnix(h.ControlDir(), "ctl.sock", 0o600)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.inside[h.Key] = guest.Listen(socket)
	d.mu.Unlock()
	return nil
}

func (d *Driver) unlisten(h *home.Home) {
	d.mu.Lock()
	l := d.inside[h.Key]
	delete(d.inside, h.Key)
	d.mu.Unlock()
	if l != nil {
		l.Close()
	}
}

func (d *Driver) listener(h *home.Home) *guest.Listener {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inside[h.Key]
}

// engine is the driver as what runs the processes of homes.
type engine struct{ d *Driver }

var _ home.Runtime = engine{}

// Boot starts the runtime.
func (e engine) Boot(ctx context.Context, h *home.Home) error { return e.d.boot(ctx, h) }

// Halt ends it.
func (e engine) Halt(ctx context.Context, h *home.Home) error { return e.d.halt(ctx, h) }

// Freeze keeps it in memory.
func (e engine) Freeze(ctx context.Context, h *home.Home) error {
	return e.d.control(ctx, h.Record().Runtime, "containerManager.Pause")
}

// Thaw lets it go on.
func (e engine) Thaw(ctx context.Context, h *home.Home) error {
	return e.d.control(ctx, h.Record().Runtime, "containerManager.Resume")
}

// Alive looks for the runtime's process; runsc's own word lags behind it.
func (e engine) Alive(h *home.Home) bool { return alive(h.Record()) }

// startsAtOnce bounds how many runtimes start at the same time. More than the machine has cores for makes all of them slow, and the
// first ones miss their time limits.
func startsAtOnce() int { return runtime.NumCPU() + 1 }

// boots is how often a runtime that died at its start is started again: on a busy machine runsc's own process is sometimes
// gone before it says that it is there ("cannot read client sync file").
const boots = 5

// boot starts the runtime of a home whose Mu is held.
func (d *Driver) boot(ctx context.Context, h *home.Home) error {
	select {
	case d.starts <- struct{}{}:
		defer func() { <-d.starts }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var failed error
	for n := range boots {
		if n > 0 { // what was short a moment ago may be there again
			t := time.NewTimer(time.Duration(n) * 100 * time.Millisecond)
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
			}
		}
		err := d.bootOnce(ctx, h)
		if err == nil {
			return nil
		}
		failed = errors.Join(failed, err)
		if err := d.halt(context.WithoutCancel(ctx), h); err != nil {
			return errors.Join(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
		d.cfg.Log.WarnContext(ctx, "a sandbox's runtime did not start", slog.String("sandbox", h.Record().ID), slog.Any("error", err))
	}
	return failed
}

func (d *Driver) bootOnce(ctx context.Context, h *home.Home) error {
	if err := home.LinkOrCopy(d.cfg.Guest, filepath.Join(h.ControlDir(), "guest")); err != nil {
		return err
	}
	if err := d.listen(h); err != nil {
		return err
	}
	if err := h.OpenDoor(); err != nil {
		return err
	}
	container := "b-" + h.Key + "-" + home.Random(3)
	if err := d.bundle(h, container); err != nil {
		return err
	}
	// Written before the start, so that a crash in between leaves a name to delete.
	if err := h.Update(func(r *home.Record) { r.Runtime, r.Pid, r.Start = container, 0, 0 }); err != nil {
		return err
	}
	pidFile := filepath.Join(h.Dir, "pid")
	if err := d.runsc(ctx, "run", "--detach", "--bundle", h.Bundle(), "--pid-file", pidFile, container); err != nil {
		return err
	}
	text, err := os.ReadFile(pidFile) // #nosec G304 -- our own folder
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, bootLimit, errors.New("its first process does not answer"))
	defer cancel()
	if err := d.listener(h).Await(waiting); err != nil {
		return err
	}
	return h.Update(func(r *home.Record) { r.Pid, r.Start = pid, startTime(pid) })
}

// halt ends the runtime of a home whose Mu is held. It may be asked again.
func (d *Driver) halt(ctx context.Context, h *home.Home) error {
	d.unlisten(h)
	h.CloseDoor()
	container := h.Record().Runtime
	if container == "" {
		return nil
	}
	kill(h.Record())
	if err := d.runsc(ctx, "delete", "--force", container); err != nil && !strings.Contains(err.Error(), "does not exist") {
		return err
	}
	return h.Update(func(r *home.Record) { r.Runtime, r.Pid, r.Start = "", 0, 0 })
}

// kill ends the runtime's process while runsc, which clears what is left of it, only starts.
func kill(r home.Record) {
	p, err := os.FindProcess(r.Pid) // from here on the number can't become another's
	if err != nil {
		return
	}
	if alive(r) {
		_ = p.Kill()
	}
	_ = p.Release()
}

// Close ends the commands under way and stops listening. Sandboxes go on; a later New adopts them.
func (d *Driver) Close() {
	d.end(errClosed)
	for _, h := range d.All() {
		h.Mu.Lock()
		d.unlisten(h)
		h.CloseDoor()
		h.Mu.Unlock()
	}
	if len(d.All()) == 0 {
		// The runtime keeps an empty network namespace mounted in its folder, which nobody could remove otherwise.
		_ = unix.Unmount(filepath.Join(d.runtimeDir(), "null-netns"), unix.MNT_DETACH)
	}
}
