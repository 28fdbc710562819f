// Package e2b drives sandboxes at E2B. Its client is written by hand from the service's published interface.
package e2b

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/execution"
	"bordereau/sandbox/hosted"
)

// Name is this driver's.
const Name = "e2b"

// Config is what the driver needs.
type Config struct {
	Key      string        // API key, required
	Domain   string        // default e2b.app
	API      string        // address of the control API; default https://api.{Domain}
	Envd     string        // address of all sandboxes' own APIs; default https://sandbox.{Domain}
	Template string        // default "base"; it needs python3 for document work
	Idle     time.Duration // after which the service pauses a sandbox by itself; default 1 hour
	Timeout  time.Duration // of a command that names none; default 10 minutes
	Limits   sandbox.Limits
	HTTP     *http.Client

	Governance hosted.Governance // how code inside reaches governed data; zero: not at all

	Log     *slog.Logger // required
	Now     func() time.Time
	Backoff time.Duration // before a repetition; default 250 ms
}

// Driver drives sandboxes at E2B. A stopped sandbox is a paused one: the service keeps memory and disk alike. E2B gives no door, so
// calls to governed data from inside need a proof of their own.
type Driver struct {
	cfg Config
	api hosted.Client

	mu    sync.Mutex
	known map[string]known // by our id
}

// known is what we know of a sandbox of ours.
type known struct {
	id    string // the service's
	token string // for its own API
	book  *execution.Book
}

var _ sandbox.Driver = (*Driver)(nil)

// New checks the configuration.
func New(cfg Config) (*Driver, error) {
	if cfg.Key == "" || cfg.Log == nil {
		return nil, errors.New("e2b: key and log are required")
	}
	if err := cfg.Governance.Check(); err != nil {
		return nil, err
	}
	def := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	def(&cfg.Domain, "e2b.app")
	def(&cfg.API, "https://api."+cfg.Domain)
	def(&cfg.Envd, "https://sandbox."+cfg.Domain)
	def(&cfg.Template, "base")
	if cfg.Idle <= 0 {
		cfg.Idle = time.Hour
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 10 * time.Minute
	}
	if cfg.Backoff <= 0 {
		cfg.Backoff = 250 * time.Millisecond
	}
	if cfg.HTTP == nil {
		cfg.HTTP = hosted.NewHTTP()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Driver{
		cfg: cfg, known: map[string]known{},
		api: hosted.Client{HTTP: cfg.HTTP, Header: http.Header{"X-Api-Key": {cfg.Key}}, Backoff: cfg.Backoff},
	}, nil
}

// info is a sandbox as the service tells of it.
type info struct {
	SandboxID string            `json:"sandboxID"`
	State     string            `json:"state"`
	StartedAt time.Time         `json:"startedAt"`
	Metadata  map[string]string `json:"metadata"`
	Token     string            `json:"envdAccessToken"`
}

func (i info) ours() sandbox.Info {
	state := sandbox.Running
	if i.State == "paused" {
		state = sandbox.Paused
	}
	return sandbox.Info{ID: i.Metadata["bordereau"], Org: i.Metadata["org"], State: state, Driver: Name, Created: i.StartedAt}
}

// call sends a control request and reads its answer into out when it succeeded.
func (d *Driver) call(ctx context.Context, method, path, id string, in, out any) (int, error) {
	return d.api.Call(ctx, method, d.cfg.API+path, id, in, out)
}

func (d *Driver) seconds() int { return int(d.cfg.Idle / time.Second) }

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
		"templateID": d.cfg.Template, "timeout": d.seconds(), "autoPause": true, "secure": true,
		"metadata": map[string]string{"bordereau": spec.ID, "org": spec.Org},
	}
	if allowed := d.cfg.Governance.Allowed(); len(allowed) > 0 {
		in["network"] = map[string]any{"allowOut": allowed, "denyOut": []string{"0.0.0.0/0"}}
	} else {
		in["allow_internet_access"] = false
	}
	var made info
	_, err := d.call(ctx, http.MethodPost, "/sandboxes", spec.ID, in, &made)
	if err != nil {
		return sandbox.Info{}, err
	}
	d.note(spec.ID, made.SandboxID, made.Token)
	r, err := d.run(ctx, spec.ID, sandbox.Command{Args: []string{"/bin/sh", "-c", hosted.Setup}, Dir: "/", Timeout: time.Minute})
	if err == nil && r.ExitCode != 0 {
		err = sandbox.Unavailable(nil, "its folders can't be made (%d)", r.ExitCode)
	}
	if err == nil {
		err = d.cfg.Governance.Install(ctx, d, spec.ID)
	}
	if err != nil {
		_ = d.Delete(context.WithoutCancel(ctx), spec.ID)
		return sandbox.Info{}, err
	}
	return sandbox.Info{ID: spec.ID, Org: spec.Org, State: sandbox.Running, Driver: Name, Created: d.cfg.Now()}, nil
}

func (d *Driver) note(id, theirs, token string) known {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := d.known[id]
	k.id = theirs
	if token != "" {
		k.token = token
	}
	if k.book == nil {
		k.book = execution.NewBook("", d.cfg.Now)
	}
	d.known[id] = k
	return k
}

func (d *Driver) of(id string) (known, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.known[id]
	return k, ok
}

// list asks for all sandboxes of ours, page by page.
func (d *Driver) list(ctx context.Context, metadata string) ([]info, error) {
	var all []info
	next := ""
	for range 1000 {
		q := url.Values{"state": {"running,paused"}, "limit": {"100"}}
		if metadata != "" {
			q.Set("metadata", metadata)
		}
		if next != "" {
			q.Set("nextToken", next)
		}
		resp, err := d.page(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, resp.items...)
		if next = resp.next; next == "" {
			break
		}
	}
	return all, nil
}

type page struct {
	items []info
	next  string
}

func (d *Driver) page(ctx context.Context, q url.Values) (page, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for n := 0; ; n++ {
		resp, err := d.api.Send(ctx, http.MethodGet, d.cfg.API+"/v2/sandboxes?"+q.Encode(), nil, nil, false)
		if err == nil {
			var p page
			p.next = resp.Header.Get("X-Next-Token")
			if resp.StatusCode == http.StatusOK {
				err = json.NewDecoder(resp.Body).Decode(&p.items)
			} else {
				err = sandbox.Unavailable(nil, "the service answered %d to a list", resp.StatusCode)
			}
			resp.Body.Close()
			if err == nil {
				return p, nil
			}
			err = sandbox.Unavailable(err, "the service can't list sandboxes")
		}
		if n == 3 || ctx.Err() != nil {
			return page{}, err
		}
		t := time.NewTimer(d.cfg.Backoff << n)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
}

// look finds a sandbox by the name we gave it, and what the service says of it now.
func (d *Driver) look(ctx context.Context, id string) (info, error) {
	if err := sandbox.CheckID(id); err != nil {
		return info{}, err
	}
	k, ok := d.of(id)
	if !ok {
		found, err := d.list(ctx, url.Values{"bordereau": {id}}.Encode())
		if err != nil {
			return info{}, err
		}
		for _, i := range found {
			if i.Metadata["bordereau"] == id {
				k, ok = d.note(id, i.SandboxID, ""), true
			}
		}
		if !ok {
			return info{}, sandbox.NotFound(id)
		}
	}
	var i info
	status, err := d.call(ctx, http.MethodGet, "/sandboxes/"+url.PathEscape(k.id), id, nil, &i)
	if status == http.StatusNotFound {
		d.mu.Lock()
		delete(d.known, id)
		d.mu.Unlock()
	}
	if err == nil {
		d.note(id, i.SandboxID, i.Token)
	}
	return i, err
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
	all, err := d.list(ctx, "")
	if err != nil {
		return nil, err
	}
	var ours []sandbox.Info
	for _, i := range all {
		if i.Metadata["bordereau"] != "" {
			ours = append(ours, i.ours())
		}
	}
	return ours, nil
}

// Start brings a paused sandbox back, and gives a running one its full time again.
func (d *Driver) Start(ctx context.Context, id string) error {
	i, err := d.look(ctx, id)
	if err != nil {
		return err
	}
	var got info
	// A body always: without one the service answers 400, and the sandbox stays paused behind a 502.
	if _, err := d.call(ctx, http.MethodPost, "/sandboxes/"+url.PathEscape(i.SandboxID)+"/connect", id, map[string]int{"timeout": d.seconds()}, &got); err != nil {
		return err
	}
	if got.SandboxID != "" && got.SandboxID != i.SandboxID {
		return sandbox.Unavailable(nil, "the service resumed another sandbox")
	}
	d.note(id, i.SandboxID, got.Token)
	return nil
}

// Pause keeps memory and disk. Being paused already is no failure.
func (d *Driver) Pause(ctx context.Context, id string) error {
	i, err := d.look(ctx, id)
	if err != nil {
		return err
	}
	if i.State == "paused" {
		return nil
	}
	// The service's own snapshot of a busy disk was seen to miss what was not written back.
	if _, err := d.run(ctx, id, sandbox.Command{Args: []string{"sync"}, Dir: "/", Timeout: time.Minute}); err != nil {
		return err
	}
	status, err := d.call(ctx, http.MethodPost, "/sandboxes/"+url.PathEscape(i.SandboxID)+"/pause", id, map[string]any{}, nil)
	if status == http.StatusConflict {
		return nil
	}
	return err
}

// Stop is Pause here.
func (d *Driver) Stop(ctx context.Context, id string) error { return d.Pause(ctx, id) }

// Delete removes a sandbox; one that does not exist is as good as deleted.
func (d *Driver) Delete(ctx context.Context, id string) error {
	i, err := d.look(ctx, id)
	if err == nil {
		_, err = d.call(ctx, http.MethodDelete, "/sandboxes/"+url.PathEscape(i.SandboxID), id, nil, nil)
	}
	if err == nil || errors.Is(err, sandbox.ErrNotFound) {
		d.mu.Lock()
		delete(d.known, id)
		d.mu.Unlock()
		return nil
	}
	return err
}
