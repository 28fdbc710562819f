package daytona

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"bordereau/sandbox"
	"bordereau/sandbox/execution"
	"bordereau/sandbox/hosted"
)

var errTimeLimit = errors.New("the command's time is over")

func (d *Driver) book(id string) *execution.Book {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.books[id] == nil {
		d.books[id] = execution.NewBook("", d.cfg.Now)
	}
	return d.books[id]
}

// Exec runs a command to its end.
func (d *Driver) Exec(ctx context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	if len(cmd.Args) == 0 {
		return sandbox.Result{}, sandbox.Invalid("a command has at least one argument")
	}
	i, err := d.look(ctx, id)
	if err != nil {
		return sandbox.Result{}, err
	}
	if s := i.state(); s != sandbox.Running {
		return sandbox.Result{}, &sandbox.Fault{Kind: sandbox.ErrUnavailable, Text: "the sandbox is " + string(s), Hint: "start it first"}
	}
	return d.book(id).Do(ctx, cmd, func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) { return d.run(ctx, id, cmd) })
}

// setup makes the folders. It goes by the one-string call, since nothing of ours exists yet.
func (d *Driver) setup(ctx context.Context, id string) (sandbox.Result, error) {
	var got struct {
		ExitCode int `json:"exitCode"`
	}
	err := d.tool(ctx, id, http.MethodPost, "/process/execute", "", map[string]any{"command": "/bin/sh -c " + quote(hosted.Setup), "timeout": 60}, &got)
	return sandbox.Result{ExitCode: got.ExitCode}, err
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// run starts a command in a session of its own, its outputs in files, and looks until it has ended. A lost answer is asked for again.
func (d *Driver) run(ctx context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	session := "b-" + uuid.NewString()
	folder := hosted.Private + "/" + session
	content := []byte{}
	if cmd.Stdin != nil {
		content, _ = io.ReadAll(io.LimitReader(cmd.Stdin, 64<<20)) // input ends where its source breaks
	}
	if err := d.WriteFile(ctx, id, folder+"/in", bytes.NewReader(content)); err != nil {
		return sandbox.Result{}, err
	}
	tidy := context.WithoutCancel(ctx)
	defer func() { _ = d.RemoveFile(tidy, id, folder) }()
	if err := d.tool(ctx, id, http.MethodPost, "/process/session", "", map[string]string{"sessionId": session}, nil); err != nil {
		return sandbox.Result{}, err
	}
	defer func() { _ = d.tool(tidy, id, http.MethodDelete, "/process/session/"+session, "", nil, nil) }()

	limit := cmd.Timeout
	if limit <= 0 {
		limit = d.cfg.Timeout
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(errTimeLimit) })
	defer timer.Stop()
	w := hosted.Wrap(cmd, folder+"/in", d.cfg.Governance.Env())
	begun := d.cfg.Now()
	code, err := d.follow(running, id, session, line(w, folder, d.cfg.Limits.Or().OutputBytes))
	result := sandbox.Result{ExitCode: code, Duration: d.cfg.Now().Sub(begun)}
	if running.Err() != nil {
		d.kill(tidy, id, w)
		if ctx.Err() != nil {
			return sandbox.Result{}, context.Cause(ctx)
		}
		result.TimedOut, result.ExitCode, err = true, 137, nil
	}
	if err == nil && code == hosted.NoDir {
		err = sandbox.Invalid("no such folder: %s", cmd.Dir)
	}
	if err != nil {
		return sandbox.Result{}, err
	}
	for name, to := range map[string]io.Writer{"out": cmd.Stdout, "err": cmd.Stderr} {
		c := &hosted.Capped{W: to, Left: d.cfg.Limits.Or().OutputBytes}
		f, _, rerr := d.ReadFile(tidy, id, folder+"/"+name)
		if rerr != nil {
			return sandbox.Result{}, rerr
		}
		_, rerr = io.Copy(c, f)
		f.Close()
		if rerr != nil {
			return sandbox.Result{}, sandbox.Unavailable(rerr, "the command's output broke off")
		}
		result.Truncated = result.Truncated || c.Cut
	}
	return result, nil
}

// line is a wrapped command as one line of shell, its outputs cut one byte beyond the limit so that the cut shows.
func line(w hosted.Wrapped, folder string, limit int64) string {
	var b, args strings.Builder
	// Only the wrapped command carries the mark: what reads its output must outlive it.
	args.WriteString(" env")
	for k, v := range w.Env {
		args.WriteString(" " + quote(k+"="+v))
	}
	n := strconv.FormatInt(limit+1, 10)
	keep := func(to string) string {
		return "{ head -c " + n + " > " + quote(folder+"/"+to) + "; cat > /dev/null; }"
	}
	for _, a := range w.Args {
		args.WriteString(" " + quote(a))
	}
	// Pipes to head would hide the exit code, so it goes through a file.
	code := quote(folder + "/code")
	b.WriteString("{ {" + args.String() + "; echo $? > " + code + "; } 2>&3 | " + keep("out") + "; } 3>&1 | " + keep("err") + "; exit $(cat " + code + ")")
	return "/bin/sh -c " + quote(b.String())
}

// follow asks how a session's command stands. An exit code that is not there yet is no zero.
func (d *Driver) follow(ctx context.Context, id, session, command string) (int, error) {
	var started struct {
		ID string `json:"cmdId"`
	}
	if err := d.tool(ctx, id, http.MethodPost, "/process/session/"+session+"/exec", "", map[string]any{"command": command, "runAsync": true}, &started); err != nil {
		return 0, err
	}
	wait, troubles := 10*time.Millisecond, 0
	for {
		var got struct {
			ExitCode *int `json:"exitCode"`
		}
		err := d.tool(ctx, id, http.MethodGet, "/process/session/"+session+"/command/"+started.ID, "the command", nil, &got)
		switch {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case err != nil && (!errors.Is(err, sandbox.ErrUnavailable) || troubles == 6):
			return 0, err
		case err != nil:
			troubles++
		case got.ExitCode != nil:
			return *got.ExitCode, nil
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return 0, context.Cause(ctx)
		}
		wait = min(wait*3/2, time.Second)
	}
}

func (d *Driver) kill(ctx context.Context, id string, w hosted.Wrapped) {
	args, env := w.Kill()
	var b strings.Builder
	for k, v := range env {
		b.WriteString("export " + k + "=" + quote(v) + "; ")
	}
	b.WriteString(args[2])
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_ = d.tool(ctx, id, http.MethodPost, "/process/execute", "", map[string]any{"command": "/bin/sh -c " + quote(b.String()), "timeout": 15}, nil)
}
