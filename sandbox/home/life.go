package home

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"bordereau/sandbox"
)

// Runtime is what runs the processes of homes on this host. Every call has the home's Mu.
type Runtime interface {
	// Boot makes a home whose workspace is mounted take commands. Halt follows when it fails.
	Boot(ctx context.Context, h *Home) error
	// Halt ends everything that runs; it may be asked again.
	Halt(ctx context.Context, h *Home) error
	// Freeze keeps the processes in memory, Thaw lets them go on.
	Freeze(ctx context.Context, h *Home) error
	Thaw(ctx context.Context, h *Home) error
	// Alive tells whether what runs a home that counts as running or paused is still there.
	Alive(h *Home) bool
}

// Lives takes sandboxes of this host through their states, whatever runs them.
type Lives struct {
	*Store // files and tokens

	name    string
	runtime Runtime
	created atomic.Uint64
}

// NewLives returns the lives of a store's homes; name is the driver's.
func NewLives(s *Store, name string, r Runtime) *Lives {
	return &Lives{Store: s, name: name, runtime: r}
}

// Random is a name of n random bytes, in hex.
func Random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// Create makes a sandbox and returns when it takes commands.
func (l *Lives) Create(ctx context.Context, s sandbox.Spec) (sandbox.Info, error) {
	key := strconv.FormatInt(l.cfg.Now().UnixNano(), 36) + "-" + strconv.FormatUint(l.created.Add(1), 36) + "-" + Random(3)
	h, err := l.Store.Create(s, key)
	if err != nil {
		return sandbox.Info{}, err
	}
	dir := filepath.Join(h.Tmp(), "home")
	err = os.Mkdir(dir, 0o700)
	if err == nil && l.cfg.FirstUID != 0 {
		err = os.Chown(dir, h.record.UID, h.record.UID)
	}
	if err == nil {
		err = l.Up(ctx, h)
	}
	if err != nil {
		h.Discard()
		return sandbox.Info{}, sandbox.Unavailable(err, "can't start sandbox %q", s.ID)
	}
	defer h.Mu.Unlock()
	return h.Info(l.name), nil
}

// Up makes a home, whose Mu is held, take commands, or leaves it stopped.
func (l *Lives) Up(ctx context.Context, h *Home) error {
	err := h.Mount()
	if err == nil {
		err = l.runtime.Boot(ctx, h)
	}
	if err != nil {
		return errors.Join(err, l.Down(context.WithoutCancel(ctx), h))
	}
	return h.Update(func(r *Record) { r.State = sandbox.Running })
}

// Down leaves a home, whose Mu is held, stopped.
func (l *Lives) Down(ctx context.Context, h *Home) error {
	if err := l.runtime.Halt(ctx, h); err != nil {
		return err
	}
	if err := h.Unmount(); err != nil {
		return err
	}
	return h.Update(func(r *Record) { r.State = sandbox.Stopped })
}

// Refresh notices a runtime that died by itself: its workspace is kept, so the sandbox is stopped. The caller holds Mu.
func (l *Lives) Refresh(ctx context.Context, h *Home) error {
	if s := h.record.State; s != sandbox.Running && s != sandbox.Paused || l.runtime.Alive(h) {
		return nil
	}
	l.cfg.Log.WarnContext(ctx, "a sandbox's runtime died", slog.String("sandbox", h.record.ID))
	return l.Down(ctx, h)
}

// Locked finds a home as it is now and returns it with Mu held.
func (l *Lives) Locked(ctx context.Context, id string) (*Home, error) {
	h, err := l.Lock(id)
	if err != nil {
		return nil, err
	}
	if err := l.Refresh(ctx, h); err != nil {
		h.Mu.Unlock()
		return nil, sandbox.Unavailable(err, "can't tell the state of %q", id)
	}
	return h, nil
}

// Running is Locked for a sandbox that is to take a command.
func (l *Lives) Running(ctx context.Context, id string) (*Home, error) {
	h, err := l.Locked(ctx, id)
	if err != nil {
		return nil, err
	}
	if s := h.record.State; s != sandbox.Running {
		h.Mu.Unlock()
		return nil, &sandbox.Fault{Kind: sandbox.ErrUnavailable, Text: "the sandbox is " + string(s), Hint: "start it first"}
	}
	return h, nil
}

// Find tells where a sandbox stands.
func (l *Lives) Find(ctx context.Context, id string) (sandbox.Info, error) {
	h, err := l.Locked(ctx, id)
	if err != nil {
		return sandbox.Info{}, err
	}
	defer h.Mu.Unlock()
	return h.Info(l.name), nil
}

// List tells of all sandboxes, oldest first.
func (l *Lives) List(ctx context.Context) ([]sandbox.Info, error) {
	var infos []sandbox.Info
	for _, h := range l.All() {
		h.Mu.Lock()
		if err := l.Refresh(ctx, h); err != nil {
			l.cfg.Log.ErrorContext(ctx, "can't clear a dead sandbox", slog.String("sandbox", h.record.ID), slog.Any("error", err))
		}
		if h.record.ID != "" {
			infos = append(infos, h.Info(l.name))
		}
		h.Mu.Unlock()
	}
	return infos, nil
}

// Start brings a stopped or paused sandbox back.
func (l *Lives) Start(ctx context.Context, id string) error {
	h, err := l.Locked(ctx, id)
	if err != nil {
		return err
	}
	defer h.Mu.Unlock()
	switch h.record.State {
	case sandbox.Paused:
		err = l.runtime.Thaw(ctx, h)
		if err == nil {
			err = h.Update(func(r *Record) { r.State = sandbox.Running })
		}
	case sandbox.Stopped:
		err = l.Up(ctx, h)
	case sandbox.Running, sandbox.Creating, sandbox.Gone:
	}
	if err != nil {
		return sandbox.Unavailable(err, "can't start %q", id)
	}
	return nil
}

// Pause freezes the processes in memory.
func (l *Lives) Pause(ctx context.Context, id string) error {
	h, err := l.Locked(ctx, id)
	if err != nil {
		return err
	}
	defer h.Mu.Unlock()
	switch h.record.State {
	case sandbox.Paused:
		return nil
	case sandbox.Running:
		err = l.runtime.Freeze(ctx, h)
		if errors.Is(err, sandbox.ErrUnsupported) {
			return err
		}
		// What is written survives a crash of the host from here on.
		err = errors.Join(err, h.Sync(ctx))
		if err == nil {
			err = h.Update(func(r *Record) { r.State = sandbox.Paused })
		}
		if err != nil {
			return sandbox.Unavailable(err, "can't pause %q", id)
		}
		return nil
	case sandbox.Stopped, sandbox.Creating, sandbox.Gone:
	}
	return sandbox.Invalid("a sandbox that is %s can't be paused", h.record.State)
}

// Stop ends all processes and keeps the workspace.
func (l *Lives) Stop(ctx context.Context, id string) error {
	h, err := l.Lock(id)
	if err != nil {
		return err
	}
	defer h.Mu.Unlock()
	if err := l.Down(ctx, h); err != nil {
		return sandbox.Unavailable(err, "can't stop %q", id)
	}
	return nil
}

// Delete removes a sandbox with all its files; one that does not exist is as good as deleted.
func (l *Lives) Delete(ctx context.Context, id string) error {
	h, err := l.Lock(id)
	if errors.Is(err, sandbox.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := l.runtime.Halt(ctx, h); err != nil {
		h.Mu.Unlock()
		return sandbox.Unavailable(err, "can't delete %q", id)
	}
	h.Discard()
	return nil
}

// Claim gives a running sandbox another id and owner, and its door the new stamp.
func (l *Lives) Claim(_ context.Context, from string, to sandbox.Spec) (sandbox.Info, error) {
	h, err := l.Lock(from)
	if err != nil {
		return sandbox.Info{}, err
	}
	defer h.Mu.Unlock()
	if err := l.Store.Claim(h, to); err != nil {
		return sandbox.Info{}, err
	}
	if err := h.OpenDoor(); err != nil {
		return sandbox.Info{}, sandbox.Unavailable(err, "can't open the door of %q", to.ID)
	}
	return h.Info(l.name), nil
}
