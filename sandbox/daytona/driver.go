// Package daytona drives sandboxes at Daytona. Its client is written by hand from the service's published interface.
package daytona

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/execution"
	"bordereau/sandbox/hosted"
)

// Name is this driver's.
const Name = "daytona"

// Config is what the driver needs.
type Config struct {
	Key          string // API key, required
	API          string // default https://app.daytona.io/api
	Organization string // with a JWT as Key only
	Snapshot     string // "" is the service's default; it needs python3 for document work
	Limits       sandbox.Limits
	Governance   hosted.Governance // how code inside reaches governed data; zero: not at all
	Timeout      time.Duration     // of a command that names none; default 10 minutes
	Boot         time.Duration     // how long a sandbox may take to start; default 3 minutes
	HTTP         *http.Client
	Log          *slog.Logger // required
	Now          func() time.Time
	Backoff      time.Duration // before a repetition, and between looks at a state; default 250 ms
}

// Driver drives sandboxes at Daytona. It gives no door, so calls to governed data from inside need a proof of their own. Output of a
// command arrives when it ends: the service's own stream of it is not safe for bytes.
type Driver struct {
	cfg Config
	api hosted.Client

	mu    sync.Mutex
	books map[string]*execution.Book
	boxes map[string]string // toolbox address by our id
}

var _ sandbox.Driver = (*Driver)(nil)

// New checks the configuration.
func New(cfg Config) (*Driver, error) {
	if cfg.Key == "" || cfg.Log == nil {
		return nil, errors.New("daytona: key and log are required")
	}
	if err := cfg.Governance.Check(); err != nil {
		return nil, err
	}
	if cfg.API == "" {
		cfg.API = "https://app.daytona.io/api"
	}
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&cfg.Timeout, 10*time.Minute)
	def(&cfg.Boot, 3*time.Minute)
	def(&cfg.Backoff, 250*time.Millisecond)
	if cfg.HTTP == nil {
		cfg.HTTP = hosted.NewHTTP()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	h := http.Header{"Authorization": {"Bearer " + cfg.Key}}
	if cfg.Organization != "" {
		h.Set("X-Daytona-Organization-ID", cfg.Organization)
	}
	return &Driver{
		cfg: cfg, books: map[string]*execution.Book{}, boxes: map[string]string{},
		api: hosted.Client{HTTP: cfg.HTTP, Header: h, Backoff: cfg.Backoff},
	}, nil
}

// info is a sandbox as the service tells of it.
type info struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	State       string            `json:"state"`
	Reason      string            `json:"errorReason"`
	Recoverable bool              `json:"recoverable"`
	Labels      map[string]string `json:"labels"`
	Created     time.Time         `json:"createdAt"`
	Toolbox     string            `json:"toolboxProxyUrl"`
}

// state is ours for one of theirs. What we don't know is taken for a change under way, never for a loss.
func (i info) state() sandbox.State {
	switch i.State {
	case "started":
		return sandbox.Running
	case "paused", "pausing":
		return sandbox.Paused
	case "stopped", "stopping", "archived", "archiving", "error":
		return sandbox.Stopped
	case "destroyed", "destroying", "build_failed":
		return sandbox.Gone
	}
	return sandbox.Creating
}

func (i info) ours() sandbox.Info {
	return sandbox.Info{ID: i.Labels["bordereau"], Org: i.Labels["org"], State: i.state(), Driver: Name, Created: i.Created}
}

func (d *Driver) call(ctx context.Context, method, path, id string, in, out any) (int, error) {
	return d.api.Call(ctx, method, d.cfg.API+path, id, in, out)
}

func (d *Driver) look(ctx context.Context, id string) (info, error) {
	if err := sandbox.CheckID(id); err != nil {
		return info{}, err
	}
	var i info
	if _, err := d.call(ctx, http.MethodGet, "/sandbox/"+url.PathEscape(id), id, nil, &i); err != nil {
		return info{}, err
	}
	if i.Labels["bordereau"] != id || i.state() == sandbox.Gone {
		return info{}, sandbox.NotFound(id)
	}
	if i.Toolbox != "" {
		d.mu.Lock()
		d.boxes[id] = strings.TrimSuffix(i.Toolbox, "/") + "/" + url.PathEscape(i.ID)
		d.mu.Unlock()
	}
	return i, nil
}

// await looks until a sandbox is in a state.
func (d *Driver) await(ctx context.Context, id string, want sandbox.State) error {
	ctx, cancel := context.WithTimeoutCause(ctx, d.cfg.Boot, errors.New("the sandbox takes too long"))
	defer cancel()
	wait := d.cfg.Backoff / 4
	for {
		i, err := d.look(ctx, id)
		if err != nil && !errors.Is(err, sandbox.ErrUnavailable) {
			return err
		}
		if err == nil {
			if i.state() == want && !strings.HasSuffix(i.State, "ing") {
				return nil
			}
			if i.State == "error" {
				return &sandbox.Fault{Kind: sandbox.ErrUnavailable, Text: "the service reports an error of the sandbox: " + i.Reason}
			}
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return sandbox.Unavailable(context.Cause(ctx), "sandbox %q did not become %s", id, want)
		}
		wait = min(2*wait, 2*time.Second)
	}
}

// Create makes a sandbox and readies its folders.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Info, error) {
	if err := sandbox.CheckID(spec.ID); err != nil {
		return sandbox.Info{}, err
	}
	if _, err := d.look(ctx, spec.ID); err == nil {
		return sandbox.Info{}, &sandbox.Fault{Kind: sandbox.ErrExists, Text: fmt.Sprintf("%q", spec.ID)}
	} else if !errors.Is(err, sandbox.ErrNotFound) {
		return sandbox.Info{}, err
	}
	in := map[string]any{
		"name": spec.ID, "labels": map[string]string{"bordereau": spec.ID, "org": spec.Org}, "networkBlockAll": true,
		"autoStopInterval": 60, "autoArchiveInterval": 7 * 24 * 60, "autoDeleteInterval": -1,
	}
	if allowed := d.cfg.Governance.Allowed(); len(allowed) > 0 {
		in["networkBlockAll"], in["networkAllowList"] = false, strings.Join(allowed, ",")
	}
	if d.cfg.Snapshot != "" {
		in["snapshot"] = d.cfg.Snapshot
	}
	status, err := d.call(ctx, http.MethodPost, "/sandbox", spec.ID, in, nil)
	if status == http.StatusConflict {
		return sandbox.Info{}, &sandbox.Fault{Kind: sandbox.ErrExists, Text: fmt.Sprintf("%q", spec.ID)}
	}
	if err == nil {
		err = d.await(ctx, spec.ID, sandbox.Running)
	}
	if err == nil {
		var r sandbox.Result
		r, err = d.setup(ctx, spec.ID)
		if err == nil && r.ExitCode != 0 {
			err = sandbox.Unavailable(nil, "its folders can't be made (%d)", r.ExitCode)
		}
	}
	if err == nil {
		err = d.cfg.Governance.Install(ctx, d, spec.ID)
	}
	if err != nil {
		_ = d.Delete(context.WithoutCancel(ctx), spec.ID)
		return sandbox.Info{}, err
	}
	return d.Find(ctx, spec.ID)
}

// Find tells where a sandbox stands.
func (d *Driver) Find(ctx context.Context, id string) (sandbox.Info, error) {
	i, err := d.look(ctx, id)
	if err != nil {
		return sandbox.Info{}, err
	}
	return i.ours(), nil
}

// List tells of all sandboxes that carry our mark.
func (d *Driver) List(ctx context.Context) ([]sandbox.Info, error) {
	var ours []sandbox.Info
	cursor := ""
	for range 1000 {
		var page struct {
			Items []info `json:"items"`
			Next  string `json:"nextCursor"`
		}
		q := url.Values{"limit": {"100"}}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		if _, err := d.call(ctx, http.MethodGet, "/sandbox?"+q.Encode(), "", nil, &page); err != nil {
			return nil, err
		}
		for _, i := range page.Items {
			if i.Labels["bordereau"] != "" && i.state() != sandbox.Gone {
				ours = append(ours, i.ours())
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	return ours, nil
}

// move asks for a change of state and waits for it. 409 is a change under way: wait for that.
func (d *Driver) move(ctx context.Context, id, verb string, want sandbox.State) error {
	status, err := d.call(ctx, http.MethodPost, "/sandbox/"+url.PathEscape(id)+"/"+verb, id, map[string]any{}, nil)
	if err != nil && status != http.StatusConflict {
		return err
	}
	return d.await(ctx, id, want)
}

// Start brings back what is stopped, archived, paused or in a state that the service can recover from.
func (d *Driver) Start(ctx context.Context, id string) error {
	i, err := d.look(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case i.State == "started":
		return nil
	case i.State == "error" && i.Recoverable:
		if _, err := d.call(ctx, http.MethodPost, "/sandbox/"+url.PathEscape(id)+"/recover", id, map[string]any{}, nil); err != nil {
			return err
		}
		if i, err = d.look(ctx, id); err != nil || i.State == "started" {
			return err
		}
	case i.State == "error":
		return &sandbox.Fault{
			Kind: sandbox.ErrUnavailable, Text: "the service can't recover the sandbox: " + i.Reason,
			Hint: "delete it at the service; its files then come from the last checkpoint",
		}
	}
	return d.move(ctx, id, "start", sandbox.Running)
}

// Pause freezes the processes.
func (d *Driver) Pause(ctx context.Context, id string) error {
	i, err := d.look(ctx, id)
	if err != nil || i.State == "paused" {
		return err
	}
	return d.move(ctx, id, "pause", sandbox.Paused)
}

// Stop ends all processes.
func (d *Driver) Stop(ctx context.Context, id string) error {
	i, err := d.look(ctx, id)
	if err != nil || i.State == "stopped" || i.State == "archived" {
		return err
	}
	return d.move(ctx, id, "stop", sandbox.Stopped)
}

// Delete removes a sandbox; one that does not exist is as good as deleted.
func (d *Driver) Delete(ctx context.Context, id string) error {
	_, err := d.call(ctx, http.MethodDelete, "/sandbox/"+url.PathEscape(id), id, nil, nil)
	if err == nil || errors.Is(err, sandbox.ErrNotFound) {
		d.mu.Lock()
		delete(d.books, id)
		delete(d.boxes, id)
		d.mu.Unlock()
		return nil
	}
	return err
}
