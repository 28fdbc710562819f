package toolbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"bordereau/agent/turn"
	"bordereau/sandbox"
)

// Bounds of run.
const (
	maxScript     = 100 << 10 // an argument of a program has at most 128 KiB on Linux
	maxOutput     = 1 << 20
	runTimeout    = 120 * time.Second
	maxRunTimeout = 30 * time.Minute
	quietProgress = 300 * time.Millisecond
)

// once runs a script under a key at most once in a workspace: a second run under the same key says so and does nothing.
// The marker is made by the sandbox itself, in the workspace that the script changes, so both are restored or lost together.
const once = `d=/workspace/.bordereau/steps
mkdir -p "$d" && if ! mkdir "$d/$1" 2>/dev/null; then echo "` + alreadyRan + `" >&2; exit 213; fi
exec bash -c "$2"`

const alreadyRan = "bordereau: this step has run before"

func (s *session) run(ctx context.Context, c turn.Call) (turn.Result, error) {
	var in struct {
		Script         string `json:"script"`
		TimeoutSeconds int    `json:"timeout_seconds"`
	}
	if err := decode(c, &in); err != nil {
		return turn.Result{}, err
	}
	switch {
	case strings.TrimSpace(in.Script) == "":
		return turn.Result{}, invalid("the script is empty", "give bash commands")
	case len(in.Script) > maxScript:
		return turn.Result{}, &fault{Code: "too_large", Component: "toolbox", Message: fmt.Sprintf("the script has more than %d bytes", maxScript), Hint: "write parts of it with write_file"}
	case strings.ContainsRune(in.Script, 0):
		return turn.Result{}, invalid("the script holds a zero byte", "")
	}
	timeout := time.Duration(in.TimeoutSeconds) * time.Second
	if timeout <= 0 {
		timeout = runTimeout
	}
	timeout = min(timeout, maxRunTimeout)
	id, err := s.space.get(ctx)
	if err != nil {
		return turn.Result{}, err
	}
	s.space.touch()
	out := &output{progress: func(line string) { s.observer.Progress(c.ID, turn.Progress{Message: line}) }, now: s.c.Now}
	step := strings.NewReplacer(":", "-", "/", "-").Replace(c.Key)
	res, err := s.c.Sandboxes.Exec(ctx, id, sandbox.Command{
		ID: c.Key, Args: []string{"bash", "-c", once, "bash", step, in.Script}, Timeout: timeout, Stdout: out, Stderr: out,
	})
	if lost(err) {
		return s.lostWhileRunning(ctx, id, err)
	}
	// The backend that ran this script died with it: nobody can tell how far it came.
	if errors.Is(err, sandbox.ErrInterrupted) {
		return turn.Result{}, errors.Join(turn.ErrUnknownOutcome, err)
	}
	if err != nil {
		return turn.Result{}, err
	}
	if res.ExitCode == 213 && strings.HasPrefix(out.text(), alreadyRan) {
		return turn.Result{}, turn.ErrUnknownOutcome
	}
	return s.ran(res, out, timeout)
}

// lostWhileRunning tells the model that the sandbox went away under its script, once it is clear that another one is there to
// go on in; else the turn ends.
func (s *session) lostWhileRunning(ctx context.Context, id string, cause error) (turn.Result, error) {
	s.space.drop(id)
	if _, err := s.space.get(ctx); err != nil {
		return turn.Result{}, errors.Join(err, cause)
	}
	note := s.space.takeNote()
	if note == "" {
		note = "the workspace is there again"
	}
	f := &fault{
		Code: "interrupted", Component: "sandbox", Message: "the sandbox was lost while the script ran; " + note,
		Hint: "look at the files with list_files, then run what is missing again", Retryable: true,
	}
	return f.result(), nil
}

func (s *session) ran(res sandbox.Result, out *output, timeout time.Duration) (turn.Result, error) {
	text := out.text()
	head := fmt.Sprintf("exit code %d after %.1f s", res.ExitCode, res.Duration.Seconds())
	if res.TimedOut {
		head = fmt.Sprintf("stopped after %s: out of time", timeout)
	}
	if res.Truncated || out.cut {
		head += "; the output was longer and is cut"
	}
	if note := s.space.takeNote(); note != "" {
		head += "\nnote: " + note
	}
	r, err := answer(map[string]any{
		"exit_code": res.ExitCode, "seconds": res.Duration.Seconds(), "timed_out": res.TimedOut,
		"truncated": res.Truncated || out.cut, "output": text,
	})
	r.Text = head + "\n" + text
	r.Error = res.ExitCode != 0 || res.TimedOut
	return r, err
}

// output keeps what a program says, both streams as they come, and shows its newest line.
type output struct {
	progress func(line string)
	now      func() time.Time

	mu    sync.Mutex
	buf   bytes.Buffer
	cut   bool
	shown time.Time
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	if room := maxOutput - o.buf.Len(); room < len(p) {
		o.cut = true
		o.buf.Write(p[:max(room, 0)])
	} else {
		o.buf.Write(p)
	}
	line := ""
	if now := o.now(); now.Sub(o.shown) >= quietProgress {
		if line = newest(p); line != "" {
			o.shown = now
		}
	}
	o.mu.Unlock()
	if line != "" {
		o.progress(line)
	}
	return len(p), nil
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.ToValidUTF8(strings.ReplaceAll(o.buf.String(), "\x00", ""), "�")
}

// newest is the last line with text, short and printable.
func newest(p []byte) string {
	lines := strings.Split(strings.ToValidUTF8(string(p), ""), "\n")
	for _, line := range slices.Backward(lines) {
		line := strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < 0x20 || r == 0x7f {
				return ' '
			}
			return r
		}, line))
		if line == "" || strings.HasPrefix(line, "{") {
			continue
		}
		if r := []rune(line); len(r) > 160 {
			line = string(r[:159]) + "…"
		}
		return line
	}
	return ""
}
