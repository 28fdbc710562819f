// Package hosted is what drivers of other people's sandboxes share: requests that tell gone from unreachable, and commands that leave
// nothing behind where the service itself does not see to that.
package hosted

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"bordereau/sandbox"
)

// Private is a folder of our own in the workspace. Checkpoints and listings for people leave it out.
const Private = sandbox.WorkspaceDir + "/.bordereau"

// TokenFile is where the turn's token is: the services give no read-only folder.
const TokenFile = Private + "/token" // #nosec G101 -- a path

// markName is the variable by which every process of a command is known.
const markName = "BORDEREAU_COMMAND"

// Setup makes the folders that every sandbox has.
const Setup = `for d in /workspace /workspace/documents /workspace/artifacts /workspace/.bordereau; do
  mkdir -p "$d" 2>/dev/null || { sudo -n mkdir -p "$d" && sudo -n chown "$(id -u):$(id -g)" "$d"; } || exit 1
done; mkdir -p "${HOME:-/tmp/home}" 2>/dev/null; test -w /workspace`

// wrapper runs "$@" with its input from $1, then kills everything that carries the mark and was left behind. Its own shell carries the mark too, so it is spared.
const wrapper = `in=$1; shift
cd "$BORDEREAU_DIR" 2>/dev/null || exit 254
"$@" < "$in" &
child=$!
wait "$child"; code=$?
` + sweep + `
exit "$code"`

const sweep = `for round in 1 2; do
  for f in $(grep -lzxF "BORDEREAU_COMMAND=$BORDEREAU_COMMAND" /proc/[0-9]*/environ 2>/dev/null); do
    n=${f#/proc/}; n=${n%/environ}
    [ "$n" = "$$" ] || kill -9 "$n" 2>/dev/null
  done
done`

// NoDir is the exit code that says that the working folder does not exist.
const NoDir = 254

// Wrapped is a command made ready for a service.
type Wrapped struct {
	Mark string
	Args []string // /bin/sh and its arguments
	Env  map[string]string
}

// Wrap readies a command; stdin is a file inside, "" for none, and base what every command's environment has.
func Wrap(cmd sandbox.Command, stdin string, base map[string]string) Wrapped {
	w := Wrapped{Mark: uuid.NewString(), Env: map[string]string{
		"MPLBACKEND": "Agg", "OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1", "BORDEREAU_TOKEN_FILE": TokenFile, "LANG": "C.UTF-8",
	}}
	maps.Copy(w.Env, base)
	maps.Copy(w.Env, cmd.Env)
	w.Env[markName] = w.Mark
	w.Env["BORDEREAU_DIR"] = cmd.Dir
	if cmd.Dir == "" {
		w.Env["BORDEREAU_DIR"] = sandbox.WorkspaceDir
	}
	if stdin == "" {
		stdin = "/dev/null"
	}
	w.Args = append([]string{"/bin/sh", "-c", wrapper, "sh", stdin}, cmd.Args...)
	return w
}

// Kill is a command that ends all processes of a wrapped one.
func (w Wrapped) Kill() (args []string, env map[string]string) {
	return []string{"/bin/sh", "-c", sweep + "\nsleep 0.05\n" + sweep}, map[string]string{markName: w.Mark}
}

// Capped passes on up to Left bytes.
type Capped struct {
	W    io.Writer
	Left int64
	Cut  bool
}

// Write never fails.
func (c *Capped) Write(p []byte) (int, error) {
	keep := min(int64(len(p)), c.Left)
	c.Left -= keep
	c.Cut = c.Cut || keep < int64(len(p))
	if c.W != nil && keep > 0 {
		_, _ = c.W.Write(p[:keep])
	}
	return len(p), nil
}

// Client sends requests to a service's API, and repeats those that failed in passing when that is safe.
type Client struct {
	HTTP    *http.Client
	Header  http.Header
	Backoff time.Duration // before the first repetition
}

// NewHTTP is an http.Client with the limits that all services get.
func NewHTTP() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second,
		DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 2 * time.Minute,
	}}
}

// Answer is a service's, read to its end.
type Answer struct {
	Status int
	Body   []byte
}

// repeats is how often a request that failed in passing is sent again.
const repeats = 4

// JSON sends a request with a JSON body (nil for none) and reads the answer. Requests that change something are repeated only when the
// service said that it did not act: 429 and 503. in is what the caller makes of other states.
func (c *Client) JSON(ctx context.Context, method, url string, in any, header http.Header) (Answer, error) {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return Answer{}, err
		}
	}
	wait := c.Backoff
	for n := 0; ; n++ {
		a, after, err := c.once(ctx, method, url, body, in != nil, header)
		again := err == nil && (a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable)
		if method == http.MethodGet {
			again = again || err != nil || a.Status >= 500 && a.Status != http.StatusBadGateway
		}
		if !again || n == repeats || ctx.Err() != nil {
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return a, err
		}
		t := time.NewTimer(max(wait, min(after, 30*time.Second)))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return a, context.Cause(ctx)
		}
		wait *= 2
	}
}

func (c *Client) once(ctx context.Context, method, url string, body []byte, has bool, header http.Header) (Answer, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	var r io.Reader
	if has {
		r = bytes.NewReader(body)
	}
	resp, err := c.Send(ctx, method, url, r, header, has)
	if err != nil {
		return Answer{}, 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return Answer{}, 0, sandbox.Unavailable(err, "the service broke off its answer")
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	return Answer{Status: resp.StatusCode, Body: text}, time.Duration(seconds) * time.Second, nil
}

// Send sends one request and leaves the answer's body to the caller.
func (c *Client) Send(ctx context.Context, method, url string, body io.Reader, header http.Header, isJSON bool) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	for _, h := range []http.Header{c.Header, header} {
		maps.Copy(req.Header, h)
	}
	if isJSON && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, sandbox.Unavailable(err, "the service can't be reached")
	}
	return resp, nil
}
