package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"bordereau/sandbox"
)

// rejoins is how often a lost connection is taken up again.
const rejoins = 5

// Exec runs a command. It has an ID in any case, so that a lost connection can be taken up again without running it twice.
func (d *Driver) Exec(ctx context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	if len(cmd.Args) == 0 {
		return sandbox.Result{}, sandbox.Invalid("a command has at least one argument")
	}
	if cmd.ID == "" {
		cmd.ID = "auto-" + uuid.NewString()
	}
	waiter := uuid.NewString()
	out, errs := &skipping{w: cmd.Stdout}, &skipping{w: cmd.Stderr}
	wait := 100 * time.Millisecond
	for n := 0; ; n++ {
		var result sandbox.Result
		answered := false
		err := d.at(ctx, id, func(h *url.URL) (err error) {
			result, answered, err = d.once(ctx, h, id, waiter, cmd, out, errs)
			return err
		})
		if err == nil || answered {
			return result, err
		}
		if ctx.Err() != nil {
			d.cancel(context.WithoutCancel(ctx), id, waiter)
			return sandbox.Result{}, context.Cause(ctx)
		}
		if !errors.Is(err, sandbox.ErrUnavailable) || n == rejoins {
			return sandbox.Result{}, err
		}
		if cmd.Stdin != nil && n == 0 && out.begun {
			return sandbox.Result{}, &sandbox.Fault{Kind: sandbox.ErrInterrupted, Text: "the connection was lost while the command took its input", Cause: err}
		}
		out.rewind()
		errs.rewind()
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
		wait *= 2
	}
}

// cancel says that this waiter does not come back; without it the host would keep the command for a while.
func (d *Driver) cancel(ctx context.Context, id, waiter string) {
	ctx, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	_ = d.at(ctx, id, func(h *url.URL) error {
		return d.call(ctx, h, http.MethodDelete, "/sandboxes/"+id+"/commands", url.Values{"waiter": {waiter}}, nil, nil)
	})
}

// once asks for a command and reads its answer. answered tells that the host itself gave result or error.
func (d *Driver) once(ctx context.Context, h *url.URL, id, waiter string, cmd sandbox.Command, out, errs *skipping) (r sandbox.Result, answered bool, err error) {
	head, err := json.Marshal(Command{
		ID: cmd.ID, Waiter: waiter, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, Timeout: cmd.Timeout, Stdin: cmd.Stdin != nil,
	})
	if err != nil {
		return r, true, err
	}
	body := io.Reader(bytes.NewReader(append(head, '\n')))
	if cmd.Stdin != nil {
		body = io.MultiReader(body, quiet{cmd.Stdin})
	}
	resp, err := d.ask(ctx, h, http.MethodPost, "/sandboxes/"+id+"/exec", nil, body)
	if err != nil {
		return r, false, err
	}
	defer resp.Body.Close()
	for {
		kind, payload, err := ReadFrame(resp.Body)
		if err != nil {
			return r, false, sandbox.Unavailable(err, "the connection to the sandbox host was lost")
		}
		switch kind {
		case FrameStdout:
			out.write(payload)
		case FrameStderr:
			errs.write(payload)
		case FrameResult:
			return r, true, json.Unmarshal(payload, &r)
		case FrameError:
			var e Error
			if err := json.Unmarshal(payload, &e); err != nil {
				return r, true, err
			}
			return r, true, FromError(e)
		}
	}
}

// quiet ends where its source breaks.
type quiet struct{ r io.Reader }

// Read gives what there is.
func (q quiet) Read(p []byte) (int, error) {
	n, err := q.r.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}

// skipping writes a stream that may begin anew, without writing any byte twice.
type skipping struct {
	w          io.Writer
	sent, seen int64
	begun      bool
}

func (s *skipping) rewind() { s.seen = 0 }

func (s *skipping) write(p []byte) {
	s.begun = true
	skip := min(max(s.sent-s.seen, 0), int64(len(p)))
	s.seen += int64(len(p))
	p = p[skip:]
	if len(p) == 0 {
		return
	}
	s.sent += int64(len(p))
	if s.w != nil {
		_, _ = s.w.Write(p)
	}
}
