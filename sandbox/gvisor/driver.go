package gvisor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
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
	*home.Store // files and tokens

	cfg     Config
	img     *image.Image
	cgroups bool

	starts chan struct{} // one for each runtime that is being started

	mu      sync.Mutex
	inside  map[string]*guest.Listener // by home key
	created uint64

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
	d := &Driver{Store: store, cfg: cfg, img: img, cgroups: true, inside: map[string]*guest.Listener{}, starts: make(chan struct{}, startsAtOnce())}
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
	id := "probe-" + token(6)
	if _, err := d.Create(ctx, sandbox.Spec{ID: id, Limits: sandbox.Limits{WorkspaceBytes: 16 << 20}}); err != nil {
		return err
	}
	r, err := d.Exec(ctx, id, sandbox.Command{Args: []string{"true"}})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("true ended with %d", r.ExitCode)
	}
	return errors.Join(err, d.Delete(context.WithoutCancel(ctx), id))
}

func token(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
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
				if err := d.halt(ctx, h); err != nil {
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

// Create makes a sandbox and returns when it takes commands.
func (d *Driver) Create(ctx context.Context, s sandbox.Spec) (sandbox.Info, error) {
	d.mu.Lock()
	d.created++
	key := strconv.FormatInt(d.cfg.Now().UnixNano(), 36) + "-" + strconv.FormatUint(d.created, 36) + "-" + token(3)
	d.mu.Unlock()
	h, err := d.Store.Create(s, key)
	if err != nil {
		return sandbox.Info{}, err
	}
	dir := filepath.Join(h.Tmp(), "home")
	err = os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.Chown(dir, DefaultUID, DefaultUID)
	}
	if err != nil {
		h.Discard()
		return sandbox.Info{}, sandbox.Unavailable(err, "can't make a home folder")
	}
	if err := d.boot(ctx, h); err != nil {
		h.Discard()
		return sandbox.Info{}, sandbox.Unavailable(err, "can't start sandbox %q", s.ID)
	}
	defer h.Mu.Unlock()
	return h.Info(Name), nil
}

// startsAtOnce bounds how many runtimes start at the same time. More than the machine has cores for makes all of them slow, and the
// first ones miss their time limits.
func startsAtOnce() int { return runtime.NumCPU() + 1 }

// boots is how often a runtime that died at its start is started again: on a busy machine runsc's own process is sometimes
// gone before it says that it is there ("cannot read client sync file").
const boots = 3

// boot starts the runtime of a home whose Mu is held, or leaves it stopped.
func (d *Driver) boot(ctx context.Context, h *home.Home) error {
	select {
	case d.starts <- struct{}{}:
		defer func() { <-d.starts }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var failed error
	for range boots {
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
	if err := h.Mount(); err != nil {
		return err
	}
	if err := home.LinkOrCopy(d.cfg.Guest, filepath.Join(h.ControlDir(), "guest")); err != nil {
		return err
	}
	if err := d.listen(h); err != nil {
		return err
	}
	if err := h.OpenDoor(); err != nil {
		return err
	}
	container := "b-" + h.Key + "-" + token(3)
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
	return h.Update(func(r *home.Record) { r.State, r.Pid, r.Start = sandbox.Running, pid, startTime(pid) })
}

// halt ends the runtime of a home whose Mu is held and leaves it stopped. It may be asked again.
func (d *Driver) halt(ctx context.Context, h *home.Home) error {
	d.unlisten(h)
	h.CloseDoor()
	if container := h.Record().Runtime; container != "" {
		if err := d.runsc(ctx, "delete", "--force", container); err != nil && !strings.Contains(err.Error(), "does not exist") {
			return err
		}
	}
	if err := h.Unmount(); err != nil {
		return err
	}
	return h.Update(func(r *home.Record) { r.State, r.Runtime, r.Pid, r.Start = sandbox.Stopped, "", 0, 0 })
}

// refresh notices a runtime that died by itself. The caller holds Mu.
func (d *Driver) refresh(ctx context.Context, h *home.Home) error {
	r := h.Record()
	if (r.State == sandbox.Running || r.State == sandbox.Paused) && !alive(r) {
		d.cfg.Log.WarnContext(ctx, "a sandbox's runtime died", slog.String("sandbox", r.ID))
		return d.halt(ctx, h)
	}
	return nil
}

// Find tells where a sandbox stands.
func (d *Driver) Find(ctx context.Context, id string) (sandbox.Info, error) {
	h, err := d.Lock(id)
	if err != nil {
		return sandbox.Info{}, err
	}
	defer h.Mu.Unlock()
	if err := d.refresh(ctx, h); err != nil {
		return sandbox.Info{}, sandbox.Unavailable(err, "can't tell the state of %q", id)
	}
	return h.Info(Name), nil
}

// List tells of all sandboxes, oldest first.
func (d *Driver) List(ctx context.Context) ([]sandbox.Info, error) {
	var infos []sandbox.Info
	for _, h := range d.All() {
		h.Mu.Lock()
		if err := d.refresh(ctx, h); err != nil {
			d.cfg.Log.ErrorContext(ctx, "can't clear a dead sandbox", slog.String("sandbox", h.Record().ID), slog.Any("error", err))
		}
		if h.Record().ID != "" {
			infos = append(infos, h.Info(Name))
		}
		h.Mu.Unlock()
	}
	return infos, nil
}

// Start brings a stopped or paused sandbox back.
func (d *Driver) Start(ctx context.Context, id string) error {
	h, err := d.Lock(id)
	if err != nil {
		return err
	}
	defer h.Mu.Unlock()
	if err := d.refresh(ctx, h); err != nil {
		return sandbox.Unavailable(err, "can't start %q", id)
	}
	switch h.Record().State {
	case sandbox.Paused:
		err = d.runsc(ctx, "resume", h.Record().Runtime)
		if err == nil {
			err = h.Update(func(r *home.Record) { r.State = sandbox.Running })
		}
	case sandbox.Stopped:
		err = d.boot(ctx, h)
	case sandbox.Running, sandbox.Creating, sandbox.Gone:
	}
	if err != nil {
		return sandbox.Unavailable(err, "can't start %q", id)
	}
	return nil
}

// Pause freezes the processes in memory.
func (d *Driver) Pause(ctx context.Context, id string) error {
	h, err := d.Lock(id)
	if err != nil {
		return err
	}
	defer h.Mu.Unlock()
	if err := d.refresh(ctx, h); err != nil {
		return sandbox.Unavailable(err, "can't pause %q", id)
	}
	switch h.Record().State {
	case sandbox.Paused:
		return nil
	case sandbox.Running:
		err = h.Sync(ctx)
		if err == nil {
			err = d.runsc(ctx, "pause", h.Record().Runtime)
		}
		if err == nil {
			err = h.Update(func(r *home.Record) { r.State = sandbox.Paused })
		}
		if err != nil {
			return sandbox.Unavailable(err, "can't pause %q", id)
		}
		return nil
	case sandbox.Stopped, sandbox.Creating, sandbox.Gone:
	}
	return sandbox.Invalid("a sandbox that is %s can't be paused", h.Record().State)
}

// Stop ends all processes and keeps the workspace.
func (d *Driver) Stop(ctx context.Context, id string) error {
	h, err := d.Lock(id)
	if err != nil {
		return err
	}
	defer h.Mu.Unlock()
	if err := d.halt(ctx, h); err != nil {
		return sandbox.Unavailable(err, "can't stop %q", id)
	}
	return nil
}

// Delete removes a sandbox with all its files; one that does not exist is as good as deleted.
func (d *Driver) Delete(ctx context.Context, id string) error {
	h, err := d.Lock(id)
	if errors.Is(err, sandbox.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := d.halt(ctx, h); err != nil {
		h.Mu.Unlock()
		return sandbox.Unavailable(err, "can't delete %q", id)
	}
	h.Discard()
	return nil
}

// Claim gives a running sandbox another id and owner, and its door the new stamp.
func (d *Driver) Claim(_ context.Context, from string, to sandbox.Spec) (sandbox.Info, error) {
	h, err := d.Lock(from)
	if err != nil {
		return sandbox.Info{}, err
	}
	defer h.Mu.Unlock()
	if err := d.Store.Claim(h, to); err != nil {
		return sandbox.Info{}, err
	}
	if err := h.OpenDoor(); err != nil {
		return sandbox.Info{}, sandbox.Unavailable(err, "can't open the door of %q", to.ID)
	}
	return h.Info(Name), nil
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
		_ = unix.Unmount(filepath.Join(d.cfg.Folder, "runsc", "null-netns"), unix.MNT_DETACH)
	}
}
