package bubblewrap

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"bordereau/sandbox"
	"bordereau/sandbox/cgroup"
	"bordereau/sandbox/home"
)

var errStopped = errors.New("the sandbox was stopped")

// Create makes a sandbox.
func (d *Driver) Create(_ context.Context, s sandbox.Spec) (sandbox.Info, error) {
	d.mu.Lock()
	d.created++
	key := strconv.FormatInt(d.cfg.Now().UnixNano(), 36) + "-" + strconv.FormatUint(d.created, 36) + "-" + token(3)
	d.mu.Unlock()
	h, err := d.Store.Create(s, key)
	if err != nil {
		return sandbox.Info{}, err
	}
	dir := filepath.Join(h.Tmp(), "home")
	err = os.Mkdir(dir, 0o700)
	if err == nil && d.root {
		err = os.Chown(dir, h.Record().UID, h.Record().UID)
	}
	if err == nil {
		err = d.boot(h)
	}
	if err != nil {
		d.halt(h)
		h.Discard()
		return sandbox.Info{}, sandbox.Unavailable(err, "can't start sandbox %q", s.ID)
	}
	defer h.Mu.Unlock()
	return h.Info(Name), nil
}

// boot readies a home, whose Mu is held, for commands.
func (d *Driver) boot(h *home.Home) error {
	if err := h.Mount(); err != nil {
		return err
	}
	b := &box{commands: map[*context.CancelCauseFunc]struct{}{}}
	if d.cgroups {
		var err error
		if b.group, err = cgroup.New(h.Key, h.Record().Limits); err != nil {
			return err
		}
		// Left by a process that died: its commands must not go on beside ours.
		if err := errors.Join(b.group.Freeze(true), b.group.Kill()); err != nil {
			return err
		}
	}
	if err := h.OpenDoor(); err != nil {
		return err
	}
	d.mu.Lock()
	d.boxes[h.Key] = b
	d.mu.Unlock()
	return h.Update(func(r *home.Record) { r.State = sandbox.Running })
}

// halt ends all commands of a home whose Mu is held.
func (d *Driver) halt(h *home.Home) {
	d.mu.Lock()
	b := d.boxes[h.Key]
	delete(d.boxes, h.Key)
	if b != nil {
		for cancel := range b.commands {
			(*cancel)(errStopped)
		}
	}
	d.mu.Unlock()
	h.CloseDoor()
	if b == nil {
		return
	}
	if b.group != nil {
		_ = b.group.Freeze(true)
		_ = b.group.Kill()
	}
	b.running.Wait()
	if b.group != nil {
		b.group.Remove()
	}
}

// Find tells where a sandbox stands.
func (d *Driver) Find(_ context.Context, id string) (sandbox.Info, error) {
	h, err := d.Lock(id)
	if err != nil {
		return sandbox.Info{}, err
	}
	defer h.Mu.Unlock()
	return h.Info(Name), nil
}

// List tells of all sandboxes, oldest first.
func (d *Driver) List(context.Context) ([]sandbox.Info, error) {
	var infos []sandbox.Info
	for _, h := range d.All() {
		h.Mu.Lock()
		if h.Record().ID != "" {
			infos = append(infos, h.Info(Name))
		}
		h.Mu.Unlock()
	}
	return infos, nil
}

// Start brings a stopped or paused sandbox back.
func (d *Driver) Start(_ context.Context, id string) error {
	h, err := d.Lock(id)
	if err != nil {
		return err
	}
	defer h.Mu.Unlock()
	switch h.Record().State {
	case sandbox.Paused:
		if g := d.group(h); g != nil {
			err = g.Freeze(true)
		}
		if err == nil {
			err = h.Update(func(r *home.Record) { r.State = sandbox.Running })
		}
	case sandbox.Stopped:
		if err = d.boot(h); err != nil {
			d.halt(h)
		}
	case sandbox.Running, sandbox.Creating, sandbox.Gone:
	}
	if err != nil {
		return sandbox.Unavailable(err, "can't start %q", id)
	}
	return nil
}

func (d *Driver) group(h *home.Home) *cgroup.Group {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b := d.boxes[h.Key]; b != nil {
		return b.group
	}
	return nil
}

// Pause freezes the processes in memory. Without cgroups it can't.
func (d *Driver) Pause(ctx context.Context, id string) error {
	h, err := d.Lock(id)
	if err != nil {
		return err
	}
	defer h.Mu.Unlock()
	switch h.Record().State {
	case sandbox.Paused:
		return nil
	case sandbox.Running:
		g := d.group(h)
		if g == nil {
			return &sandbox.Fault{Kind: sandbox.ErrUnsupported, Text: "pausing needs cgroups", Hint: "stop it instead"}
		}
		err := errors.Join(g.Freeze(false), h.Sync(ctx))
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
func (d *Driver) Stop(_ context.Context, id string) error {
	h, err := d.Lock(id)
	if err != nil {
		return err
	}
	defer h.Mu.Unlock()
	d.halt(h)
	if err := errors.Join(h.Unmount(), h.Update(func(r *home.Record) { r.State = sandbox.Stopped })); err != nil {
		return sandbox.Unavailable(err, "can't stop %q", id)
	}
	return nil
}

// Delete removes a sandbox with all its files; one that does not exist is as good as deleted.
func (d *Driver) Delete(_ context.Context, id string) error {
	h, err := d.Lock(id)
	if errors.Is(err, sandbox.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	d.halt(h)
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

// Close kills what runs and closes the doors. Sandboxes are taken up by a later New.
func (d *Driver) Close() {
	for _, h := range d.All() {
		h.Mu.Lock()
		d.halt(h)
		h.Mu.Unlock()
	}
}
