// Package remote drives sandboxes on other machines, each of which runs sandboxd.
package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"bordereau/sandbox"
)

// Config is what the driver needs.
type Config struct {
	Hosts []string     // https addresses of sandboxd hosts
	TLS   *tls.Config  // with a client certificate (mTLS), or with Key the authorities that vouch for the hosts
	Key   string       // pre-shared; at least 32 bytes; "" with mTLS
	Log   *slog.Logger // required
}

// Driver drives sandboxes on several hosts. Which host has a sandbox is asked, not remembered for good: hosts are the truth.
type Driver struct {
	cfg    Config
	client *http.Client
	hosts  []*url.URL

	mu    sync.Mutex
	where map[string]*url.URL // by sandbox id; a guess that is checked by use
}

var (
	_ sandbox.Driver  = (*Driver)(nil)
	_ sandbox.Claimer = (*Driver)(nil)
)

// New checks the configuration. Without proof of both sides it refuses.
func New(cfg Config) (*Driver, error) {
	if cfg.Log == nil || len(cfg.Hosts) == 0 || cfg.TLS == nil {
		return nil, errors.New("remote: hosts, TLS and a log are required")
	}
	if len(cfg.TLS.Certificates) == 0 && cfg.TLS.GetClientCertificate == nil && len(cfg.Key) < 32 {
		return nil, errors.New("remote: a client certificate, or a key of at least 32 bytes, is required")
	}
	d := &Driver{cfg: cfg, where: map[string]*url.URL{}}
	for _, h := range cfg.Hosts {
		u, err := url.Parse(strings.TrimSuffix(h, "/"))
		if err != nil || u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("remote: %q is not an https address", h)
		}
		d.hosts = append(d.hosts, u)
	}
	d.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: cfg.TLS, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 32, IdleConnTimeout: 2 * time.Minute,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext, TLSHandshakeTimeout: 5 * time.Second,
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second},
	}}
	return d, nil
}

// Close drops idle connections.
func (d *Driver) Close() { d.client.CloseIdleConnections() }

// ask sends one request to one host.
func (d *Driver) ask(ctx context.Context, host *url.URL, method, path string, query url.Values, body io.Reader) (*http.Response, error) {
	u := *host
	u.Path += "/v1" + path
	u.RawPath = ""
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if d.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+d.cfg.Key)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, sandbox.Unavailable(err, "the sandbox host %s does not answer", host.Host)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	var e Error
	if json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&e) != nil || e.Kind == "" {
		// Not a word of sandboxd: a proxy in between, or a wrong key. Nothing is known of the sandbox.
		return nil, sandbox.Unavailable(nil, "the sandbox host %s answered %s", host.Host, resp.Status)
	}
	return nil, FromError(e)
}

// call sends one request and reads a JSON answer, when out is not nil.
func (d *Driver) call(ctx context.Context, host *url.URL, method, path string, query url.Values, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	resp, err := d.ask(ctx, host, method, path, query, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<20)).Decode(out); err != nil {
		return sandbox.Unavailable(err, "the sandbox host %s broke off its answer", host.Host)
	}
	return nil
}

// Status asks every host; those that don't answer are missing.
func (d *Driver) Status(ctx context.Context) map[string]Status {
	type answer struct {
		host string
		s    Status
		err  error
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	answers := make(chan answer, len(d.hosts))
	for _, h := range d.hosts {
		go func() {
			var a answer
			a.host = h.String()
			a.err = d.call(ctx, h, http.MethodGet, "/host", nil, nil, &a.s)
			answers <- a
		}()
	}
	all := map[string]Status{}
	for range d.hosts {
		if a := <-answers; a.err == nil {
			all[a.host] = a.s
		} else {
			d.cfg.Log.WarnContext(ctx, "a sandbox host does not answer", slog.String("host", a.host), slog.Any("error", a.err))
		}
	}
	return all
}

// Drain tells a host to take no new sandboxes, or to take them again.
func (d *Driver) Drain(ctx context.Context, host string, drain bool) error {
	for _, h := range d.hosts {
		if h.String() == strings.TrimSuffix(host, "/") {
			return d.call(ctx, h, http.MethodPost, "/host/drain", nil, map[string]bool{"drain": drain}, nil)
		}
	}
	return sandbox.Invalid("there is no host %s", host)
}

// locate finds the host that has a sandbox. Not found is confirmed only when every host said so.
func (d *Driver) locate(ctx context.Context, id string) (*url.URL, sandbox.Info, error) {
	if err := sandbox.CheckID(id); err != nil {
		return nil, sandbox.Info{}, err
	}
	d.mu.Lock()
	guess := d.where[id]
	d.mu.Unlock()
	if guess != nil {
		var info sandbox.Info
		err := d.call(ctx, guess, http.MethodGet, "/sandboxes/"+id, nil, nil, &info)
		if !errors.Is(err, sandbox.ErrNotFound) {
			return guess, info, err
		}
		d.forget(id)
	}
	type answer struct {
		host *url.URL
		info sandbox.Info
		err  error
	}
	answers := make(chan answer, len(d.hosts))
	for _, h := range d.hosts {
		go func() {
			a := answer{host: h}
			a.err = d.call(ctx, h, http.MethodGet, "/sandboxes/"+id, nil, nil, &a.info)
			answers <- a
		}()
	}
	failure := sandbox.NotFound(id)
	for range d.hosts {
		a := <-answers
		switch {
		case a.err == nil:
			d.mu.Lock()
			d.where[id] = a.host
			d.mu.Unlock()
			return a.host, a.info, nil
		case !errors.Is(a.err, sandbox.ErrNotFound):
			failure = a.err // a host that can't be asked may have it
		}
	}
	return nil, sandbox.Info{}, failure
}

func (d *Driver) forget(id string) {
	d.mu.Lock()
	delete(d.where, id)
	d.mu.Unlock()
}

// host is where a sandbox is, without asking when it is known.
func (d *Driver) host(ctx context.Context, id string) (*url.URL, error) {
	d.mu.Lock()
	h := d.where[id]
	d.mu.Unlock()
	if h != nil {
		return h, nil
	}
	h, _, err := d.locate(ctx, id)
	return h, err
}

// Create places a sandbox on the host with the most free memory that takes any.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Info, error) {
	if err := sandbox.CheckID(spec.ID); err != nil {
		return sandbox.Info{}, err
	}
	_, _, err := d.locate(ctx, spec.ID)
	if err == nil {
		return sandbox.Info{}, &sandbox.Fault{Kind: sandbox.ErrExists, Text: fmt.Sprintf("%q", spec.ID)}
	}
	// A host that does not answer may hold a sandbox of this name. Names are never given twice, so that is no reason to wait for it.
	if !errors.Is(err, sandbox.ErrNotFound) && !errors.Is(err, sandbox.ErrUnavailable) {
		return sandbox.Info{}, err
	}
	tried := map[string]bool{}
	states := d.Status(ctx)
	for {
		best, most := (*url.URL)(nil), int64(-1)
		for _, h := range d.hosts {
			s, ok := states[h.String()]
			if ok && !s.Draining && !tried[h.String()] && s.FreeMemory > most {
				best, most = h, s.FreeMemory
			}
		}
		if best == nil {
			if err == nil || errors.Is(err, sandbox.ErrNotFound) {
				err = &sandbox.Fault{Kind: sandbox.ErrUnavailable, Text: "no sandbox host takes a new sandbox", Hint: "start one, or end the draining of one"}
			}
			return sandbox.Info{}, err
		}
		tried[best.String()] = true
		var info sandbox.Info
		err = d.call(ctx, best, http.MethodPost, "/sandboxes", nil, spec, &info)
		if err == nil {
			d.mu.Lock()
			d.where[spec.ID] = best
			d.mu.Unlock()
			return info, nil
		}
		if !errors.Is(err, sandbox.ErrUnavailable) || ctx.Err() != nil {
			return sandbox.Info{}, err
		}
		// The answer may be lost and the sandbox there: it must not be made twice.
		if _, found, ferr := d.locate(ctx, spec.ID); ferr == nil && found.State == sandbox.Running {
			return found, nil
		}
	}
}

// Find tells where a sandbox stands.
func (d *Driver) Find(ctx context.Context, id string) (sandbox.Info, error) {
	_, info, err := d.locate(ctx, id)
	return info, err
}

// List tells of all sandboxes; a host that does not answer makes it fail, since a part would look like the whole.
func (d *Driver) List(ctx context.Context) ([]sandbox.Info, error) {
	var all []sandbox.Info
	for _, h := range d.hosts {
		var infos []sandbox.Info
		if err := d.call(ctx, h, http.MethodGet, "/sandboxes", nil, nil, &infos); err != nil {
			return nil, err
		}
		all = append(all, infos...)
	}
	return all, nil
}

// at sends a request to the host of a sandbox. A wrong guess is corrected once.
func (d *Driver) at(ctx context.Context, id string, do func(h *url.URL) error) error {
	h, err := d.host(ctx, id)
	if err != nil {
		return err
	}
	err = do(h)
	if !errors.Is(err, sandbox.ErrNotFound) {
		return err
	}
	d.forget(id)
	again, err2 := d.host(ctx, id)
	if err2 != nil {
		return err2
	}
	if again == h {
		return err
	}
	return do(again)
}

func (d *Driver) post(ctx context.Context, id, verb string) error {
	return d.at(ctx, id, func(h *url.URL) error {
		return d.call(ctx, h, http.MethodPost, "/sandboxes/"+id+"/"+verb, nil, nil, nil)
	})
}

// Start brings a sandbox back.
func (d *Driver) Start(ctx context.Context, id string) error { return d.post(ctx, id, "start") }

// Pause freezes it.
func (d *Driver) Pause(ctx context.Context, id string) error { return d.post(ctx, id, "pause") }

// Stop ends its processes.
func (d *Driver) Stop(ctx context.Context, id string) error { return d.post(ctx, id, "stop") }

// Delete removes it.
func (d *Driver) Delete(ctx context.Context, id string) error {
	err := d.at(ctx, id, func(h *url.URL) error {
		return d.call(ctx, h, http.MethodDelete, "/sandboxes/"+id, nil, nil, nil)
	})
	d.forget(id)
	if errors.Is(err, sandbox.ErrNotFound) {
		return nil
	}
	return err
}

// Claim gives a running sandbox another id and owner, on the host where it is.
func (d *Driver) Claim(ctx context.Context, from string, to sandbox.Spec) (info sandbox.Info, err error) {
	err = d.at(ctx, from, func(h *url.URL) error {
		err := d.call(ctx, h, http.MethodPost, "/sandboxes/"+from+"/claim", nil, to, &info)
		if err == nil {
			d.mu.Lock()
			delete(d.where, from)
			d.where[to.ID] = h
			d.mu.Unlock()
		}
		return err
	})
	return info, err
}
