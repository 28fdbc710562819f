package bubblewrap

import (
	"context"
	"errors"
	"log/slog"

	"bordereau/sandbox"
	"bordereau/sandbox/cgroup"
	"bordereau/sandbox/home"
)

var errStopped = errors.New("the sandbox was stopped")

// engine is the driver as what runs the processes of homes.
type engine struct{ d *Driver }

var _ home.Runtime = engine{}

// Boot readies a home for commands.
func (e engine) Boot(_ context.Context, h *home.Home) error { return e.d.boot(h) }

// Halt ends all commands.
func (e engine) Halt(_ context.Context, h *home.Home) error {
	e.d.halt(h)
	return nil
}

// Freeze keeps the processes in memory. Without cgroups it can't.
func (e engine) Freeze(_ context.Context, h *home.Home) error {
	g := e.d.group(h)
	if g == nil {
		return &sandbox.Fault{Kind: sandbox.ErrUnsupported, Text: "pausing needs cgroups", Hint: "stop it instead"}
	}
	return g.Freeze(false)
}

// Thaw lets them go on.
func (e engine) Thaw(_ context.Context, h *home.Home) error {
	if g := e.d.group(h); g != nil {
		return g.Freeze(true)
	}
	return nil
}

// Alive is always true of a home that was booted: nothing runs between commands that could die.
func (e engine) Alive(h *home.Home) bool {
	e.d.mu.Lock()
	defer e.d.mu.Unlock()
	return e.d.boxes[h.Key] != nil
}

// boot readies a home, whose Mu is held, for commands.
func (d *Driver) boot(h *home.Home) error {
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
	return nil
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

func (d *Driver) group(h *home.Home) *cgroup.Group {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b := d.boxes[h.Key]; b != nil {
		return b.group
	}
	return nil
}

// Close kills what runs, closes the doors and unmounts the workspaces. Sandboxes are taken up by a later New.
func (d *Driver) Close() {
	for _, h := range d.All() {
		h.Mu.Lock()
		d.halt(h)
		if err := h.Unmount(); err != nil {
			d.cfg.Log.Error("can't unmount a workspace", slog.String("key", h.Key), slog.Any("error", err))
		}
		h.Mu.Unlock()
	}
}
