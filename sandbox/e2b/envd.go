package e2b

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"bordereau/sandbox"
	"bordereau/sandbox/hosted"
)

// user is whom commands run as in E2B's templates.
const user = "user"

var errTimeLimit = errors.New("the command's time is over")

// headers address one sandbox's own API.
func (d *Driver) headers(k known) http.Header {
	h := http.Header{
		"E2b-Sandbox-Id": {k.id}, "E2b-Sandbox-Port": {"49983"},
		"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"))},
	}
	if k.token != "" {
		h.Set("X-Access-Token", k.token)
	}
	return h
}

// inside returns what is needed to reach a sandbox's own API.
func (d *Driver) inside(ctx context.Context, id string) (known, error) {
	if k, ok := d.of(id); ok {
		return k, nil
	}
	if _, err := d.look(ctx, id); err != nil {
		return known{}, err
	}
	k, _ := d.of(id)
	return k, nil
}

// lost says what an answer of the proxy before a sandbox means: 502 is "not found", "no such port" and "paused" alike, so the control
// API is asked before anything is called gone.
func (d *Driver) lost(ctx context.Context, id string, status int, text string) error {
	i, err := d.look(ctx, id)
	if err != nil {
		return err
	}
	if i.State == "paused" {
		return &sandbox.Fault{Kind: sandbox.ErrUnavailable, Text: "the sandbox is paused", Hint: "start it first"}
	}
	return sandbox.Unavailable(nil, "the sandbox answered %d: %.200s", status, text)
}

// rpcError is a failure in the Connect protocol.
type rpcError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e rpcError) kind(name string) error {
	switch e.Code {
	case "not_found":
		return &sandbox.Fault{Kind: sandbox.ErrNoFile, Text: name}
	case "invalid_argument", "failed_precondition", "already_exists", "permission_denied":
		return sandbox.Invalid("%s: %s", name, e.Message)
	case "resource_exhausted":
		return &sandbox.Fault{Kind: sandbox.ErrTooLarge, Text: e.Message}
	}
	return sandbox.Unavailable(nil, "%s: %s", e.Code, e.Message)
}

// rpc calls a unary procedure.
func (d *Driver) rpc(ctx context.Context, id, procedure, name string, in, out any) error {
	k, err := d.inside(ctx, id)
	if err != nil {
		return err
	}
	h := d.headers(k)
	h.Set("Connect-Protocol-Version", "1")
	c := hosted.Client{HTTP: d.cfg.HTTP, Backoff: d.cfg.Backoff}
	a, err := c.JSON(ctx, http.MethodPost, d.cfg.Envd+"/"+procedure, in, h)
	if err != nil {
		return err
	}
	if a.Status == http.StatusOK {
		if out != nil {
			if err := json.Unmarshal(a.Body, out); err != nil {
				return sandbox.Unavailable(err, "the sandbox's answer can't be read")
			}
		}
		return nil
	}
	var e rpcError
	if json.Unmarshal(a.Body, &e) != nil || e.Code == "" || a.Status == http.StatusBadGateway {
		return d.lost(ctx, id, a.Status, string(a.Body))
	}
	return e.kind(name)
}

// event is one message of a process's stream.
type event struct {
	Event struct {
		Start *struct {
			Pid int `json:"pid"`
		} `json:"start"`
		Data *struct {
			Stdout []byte `json:"stdout"`
			Stderr []byte `json:"stderr"`
		} `json:"data"`
		End *struct {
			ExitCode int    `json:"exitCode"`
			Exited   bool   `json:"exited"`
			Status   string `json:"status"`
			Error    string `json:"error"`
		} `json:"end"`
	} `json:"event"`
}

// Exec runs a command to its end.
func (d *Driver) Exec(ctx context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	if len(cmd.Args) == 0 {
		return sandbox.Result{}, sandbox.Invalid("a command has at least one argument")
	}
	k, err := d.inside(ctx, id)
	if err != nil {
		return sandbox.Result{}, err
	}
	return k.book.Do(ctx, cmd, func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) { return d.run(ctx, id, cmd) })
}

func (d *Driver) run(ctx context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	k, err := d.inside(ctx, id)
	if err != nil {
		return sandbox.Result{}, err
	}
	stdin := ""
	if cmd.Stdin != nil {
		content, err := io.ReadAll(io.LimitReader(cmd.Stdin, 64<<20))
		if err != nil { // input ends where its source breaks
			d.cfg.Log.DebugContext(ctx, "a command's input broke off")
		}
		stdin = hosted.Private + "/stdin-" + uuid.NewString()
		if err := d.WriteFile(ctx, id, stdin, bytes.NewReader(content)); err != nil {
			return sandbox.Result{}, err
		}
		defer func() { _ = d.RemoveFile(context.WithoutCancel(ctx), id, stdin) }()
	}
	limit := cmd.Timeout
	if limit <= 0 {
		limit = d.cfg.Timeout
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(errTimeLimit) })
	defer timer.Stop()
	max := d.cfg.Limits.Or().OutputBytes
	out, errs := &hosted.Capped{W: cmd.Stdout, Left: max}, &hosted.Capped{W: cmd.Stderr, Left: max}
	w := hosted.Wrap(cmd, stdin, d.cfg.Governance.Env())
	begun := d.cfg.Now()
	code, err := d.follow(running, id, k, w, out, errs)
	result := sandbox.Result{ExitCode: code, Truncated: out.Cut || errs.Cut, Duration: d.cfg.Now().Sub(begun)}
	if running.Err() != nil {
		// Ending the stream ends no process.
		d.kill(context.WithoutCancel(ctx), id, k, w)
		if ctx.Err() != nil {
			return sandbox.Result{}, context.Cause(ctx)
		}
		result.TimedOut, result.ExitCode = true, 137
		return result, nil
	}
	if err == nil && code == hosted.NoDir {
		err = sandbox.Invalid("no such folder: %s", cmd.Dir)
	}
	return result, err
}

func (d *Driver) kill(ctx context.Context, id string, k known, w hosted.Wrapped) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	args, env := w.Kill()
	_, _ = d.stream(ctx, id, k, "process.Process/Start", startRequest(args, env, ""), io.Discard, io.Discard, nil)
}

func startRequest(args []string, env map[string]string, tag string) map[string]any {
	r := map[string]any{"process": map[string]any{"cmd": args[0], "args": args[1:], "envs": env, "cwd": "/"}, "stdin": false}
	if tag != "" {
		r["tag"] = tag
	}
	return r
}

// follow starts a process and reads its stream to the end. A stream that ends without one is no result: it is taken up again.
func (d *Driver) follow(ctx context.Context, id string, k known, w hosted.Wrapped, out, errs io.Writer) (int, error) {
	pid := 0
	code, err := d.stream(ctx, id, k, "process.Process/Start", startRequest(w.Args, w.Env, w.Mark), out, errs, &pid)
	wait := d.cfg.Backoff
	for n := 0; errors.Is(err, errBroken) && n < 6 && ctx.Err() == nil; n++ {
		if pid == 0 {
			return 0, sandbox.Unavailable(err, "nobody can tell whether the command was started")
		}
		code, err = d.stream(ctx, id, k, "process.Process/Connect", map[string]any{"process": map[string]any{"tag": w.Mark}}, out, errs, &pid)
		if errors.Is(err, sandbox.ErrNoFile) { // it ended between the two, and its end is lost
			return 0, &sandbox.Fault{Kind: sandbox.ErrInterrupted, Text: "the command ended while the connection was lost; its result is unknown"}
		}
		if errors.Is(err, errBroken) {
			t := time.NewTimer(wait)
			select {
			case <-t.C:
			case <-ctx.Done():
				t.Stop()
			}
			wait *= 2
		}
	}
	if errors.Is(err, errBroken) {
		return 0, errors.Join(d.lost(ctx, id, 0, "its stream broke off"), err)
	}
	return code, err
}

// errBroken is a stream that ended before its process did.
var errBroken = errors.New("the stream broke off")

// stream calls a server-streaming procedure and reads until the process's end.
func (d *Driver) stream(ctx context.Context, id string, k known, procedure string, in any, out, errs io.Writer, pid *int) (int, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	envelope := make([]byte, 5, 5+len(text))
	binary.BigEndian.PutUint32(envelope[1:], uint32(len(text))) // #nosec G115 -- a request is small
	h := d.headers(k)
	h.Set("Content-Type", "application/connect+json")
	h.Set("Connect-Protocol-Version", "1")
	h.Set("Keepalive-Ping-Interval", "50")
	c := hosted.Client{HTTP: d.cfg.HTTP}
	resp, err := c.Send(ctx, http.MethodPost, d.cfg.Envd+"/"+procedure, bytes.NewReader(append(envelope, text...)), h, false)
	if err != nil {
		return 0, errors.Join(errBroken, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return 0, d.lost(ctx, id, resp.StatusCode, string(body))
	}
	for {
		flags, message, err := readEnvelope(resp.Body)
		if err != nil {
			return 0, errors.Join(errBroken, err)
		}
		if flags&2 != 0 {
			var end struct {
				Error *rpcError `json:"error"`
			}
			if json.Unmarshal(message, &end) == nil && end.Error != nil {
				return 0, end.Error.kind("the process")
			}
			return 0, errBroken
		}
		var e event
		if err := json.Unmarshal(message, &e); err != nil {
			return 0, sandbox.Unavailable(err, "the sandbox's stream can't be read")
		}
		switch {
		case e.Event.Start != nil && pid != nil:
			*pid = e.Event.Start.Pid
		case e.Event.Data != nil:
			_, _ = out.Write(e.Event.Data.Stdout)
			_, _ = errs.Write(e.Event.Data.Stderr)
		case e.Event.End != nil:
			return exitCode(e.Event.End.ExitCode, e.Event.End.Status), nil
		}
	}
}

// exitCode is 128+n for a process that a signal ended; the service then says so in words only.
func exitCode(code int, status string) int {
	if code >= 0 && !strings.HasPrefix(status, "signal: ") {
		return code
	}
	if strings.Contains(status, "killed") || code < 0 {
		return 137
	}
	return code
}

func readEnvelope(r io.Reader) (byte, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > 64<<20 {
		return 0, nil, errors.New("a message of " + strconv.FormatUint(uint64(n), 10) + " bytes")
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return head[0], b, err
}
