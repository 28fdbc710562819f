package gvisor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/guest"
	"bordereau/sandbox/home"
)

var (
	errTimeLimit = errors.New("the command's time is over")
	errClosed    = errors.New("the driver was closed")
)

// Exec runs a command to its end. Nothing that it started outlives it.
func (d *Driver) Exec(ctx context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	if len(cmd.Args) == 0 {
		return sandbox.Result{}, sandbox.Invalid("a command has at least one argument")
	}
	h, err := d.Running(ctx, id)
	if err != nil {
		return sandbox.Result{}, err
	}
	r := h.Record()
	h.Mu.Unlock()
	return h.Book.Do(ctx, cmd, func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		return d.run(ctx, h, r, cmd)
	})
}

func (d *Driver) run(ctx context.Context, h *home.Home, r home.Record, cmd sandbox.Command) (sandbox.Result, error) {
	l := d.listener(h)
	if l == nil {
		return sandbox.Result{}, sandbox.Unavailable(nil, "the sandbox %q is not running", r.ID)
	}
	limit := cmd.Timeout
	if limit <= 0 {
		limit = d.cfg.Timeout
	}
	dir := cmd.Dir
	if dir == "" {
		dir = sandbox.WorkspaceDir
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(errTimeLimit) })
	defer timer.Stop()
	defer context.AfterFunc(d.closed, func() { cancel(errClosed) })() //nolint:contextcheck // the driver's end is the command's too
	begun := d.cfg.Now()
	end, err := l.Run(running, guest.Request{
		Args: cmd.Args, Env: d.img.Env(cmd.Env), Dir: dir, OutputBytes: r.Limits.OutputBytes,
	}, guest.Streams{Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr})
	result := sandbox.Result{ExitCode: end.Code, Truncated: end.Truncated, Duration: d.cfg.Now().Sub(begun)}

	var refused *guest.RefusedError
	switch {
	case errors.As(err, &refused):
		return sandbox.Result{}, sandbox.Invalid("%s", refused.Reason)
	case errors.Is(err, guest.ErrLost):
		d.giveUp(ctx, h, r.Runtime)
		if ctx.Err() != nil {
			return sandbox.Result{}, context.Cause(ctx)
		}
		if errors.Is(context.Cause(running), errTimeLimit) {
			return sandbox.Result{ExitCode: 137, TimedOut: true, Duration: d.cfg.Now().Sub(begun)}, nil
		}
		return sandbox.Result{}, &sandbox.Fault{
			Kind: sandbox.ErrUnavailable, Text: "the sandbox died under the command", Cause: err,
			Hint: "it may have used up its memory or processes; the workspace is kept, start it again",
		}
	case ctx.Err() != nil:
		return sandbox.Result{}, context.Cause(ctx)
	case errors.Is(context.Cause(running), errClosed):
		return sandbox.Result{}, &sandbox.Fault{Kind: sandbox.ErrInterrupted, Text: "the backend is closing"}
	case errors.Is(context.Cause(running), errTimeLimit):
		result.TimedOut = true
		if result.ExitCode == 0 {
			result.ExitCode = 137
		}
		return result, nil
	case err != nil:
		return sandbox.Result{}, sandbox.Unavailable(err, "can't run a command")
	}
	return result, nil
}

// giveUp stops a sandbox whose inside does not obey any more: that ends every process in it, and keeps the workspace.
func (d *Driver) giveUp(ctx context.Context, h *home.Home, runtime string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	h.Mu.Lock()
	defer h.Mu.Unlock()
	if h.Record().Runtime != runtime {
		return
	}
	if err := d.Down(ctx, h); err != nil {
		d.cfg.Log.ErrorContext(ctx, "can't stop a sandbox that does not answer", slog.String("sandbox", h.Record().ID), slog.Any("error", err))
	}
}
