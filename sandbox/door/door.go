// Package door is the one endpoint that a sandbox can reach: governed data's MCP, with the sandbox's stamp on each call.
package door

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/home"
)

// Defaults of Config.
const (
	DefaultBodyBytes   = 8 << 20
	DefaultConnections = 16
)

// Config is what doors need.
type Config struct {
	// Upstream is the MCP endpoint, such as http://127.0.0.1:8081/mcp. Its path is the only one let through.
	Upstream string
	// Stamp gives the header that vouches that token is used from a sandbox. What the sandbox itself sends there is dropped.
	Stamp       func(sandboxID, token string) (header, value string)
	Log         *slog.Logger
	BodyBytes   int64 // of one request
	Connections int   // of one sandbox at a time
}

// Doors opens doors for drivers.
type Doors struct {
	cfg       Config
	upstream  *url.URL
	transport *http.Transport

	mu    sync.Mutex
	doors map[string]*door // by folder
}

type door struct {
	id     atomic.Pointer[string]
	server *http.Server
	served sync.WaitGroup
}

var _ home.Doors = (*Doors)(nil)

// New checks the configuration. Nothing listens yet.
func New(cfg Config) (*Doors, error) {
	if cfg.Stamp == nil || cfg.Log == nil {
		return nil, errors.New("door: a stamp and a log are required")
	}
	u, err := url.Parse(cfg.Upstream)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Path == "" || u.RawQuery != "" {
		return nil, fmt.Errorf("door: the upstream %q is not an http address with a path", cfg.Upstream)
	}
	if cfg.BodyBytes <= 0 {
		cfg.BodyBytes = DefaultBodyBytes
	}
	if cfg.Connections <= 0 {
		cfg.Connections = DefaultConnections
	}
	return &Doors{
		cfg: cfg, upstream: u, doors: map[string]*door{},
		transport: &http.Transport{
			MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 10 * time.Minute,
			DialContext:        (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			DisableCompression: true,
		},
	}, nil
}

// Open listens in a folder for a sandbox. An open door takes over the new id.
func (d *Doors) Open(id, dir string) error {
	if err := sandbox.CheckID(id); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if open := d.doors[dir]; open != nil {
		open.id.Store(&id)
		return nil
	}
	socket, err := home.ListenUnix(dir, "mcp.sock", 0o666)
	if err != nil {
		return fmt.Errorf("door: listen: %w", err)
	}
	n := &door{}
	n.id.Store(&id)
	n.server = &http.Server{
		Handler: d.handler(n), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(d.cfg.Log.Handler(), slog.LevelDebug),
	}
	d.doors[dir] = n
	n.served.Go(func() { _ = n.server.Serve(newLimited(socket, d.cfg.Connections)) })
	return nil
}

// Close ends a door and the calls through it.
func (d *Doors) Close(dir string) {
	d.mu.Lock()
	n := d.doors[dir]
	delete(d.doors, dir)
	d.mu.Unlock()
	if n != nil {
		_ = n.server.Close()
		n.served.Wait()
	}
}

// Stop closes all doors.
func (d *Doors) Stop() {
	d.mu.Lock()
	dirs := make([]string, 0, len(d.doors))
	for dir := range d.doors {
		dirs = append(dirs, dir)
	}
	d.mu.Unlock()
	for _, dir := range dirs {
		d.Close(dir)
	}
	d.transport.CloseIdleConnections()
}

// Headers that pass. Everything else stays on its side.
var (
	inward  = []string{"Content-Type", "Accept", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-Id"} //nolint:gochecknoglobals // a constant
	outward = []string{"Content-Type", "Content-Length", "Mcp-Session-Id", "Cache-Control", "Retry-After"}                            //nolint:gochecknoglobals // a constant
)

func (d *Doors) handler(n *door) http.Handler {
	proxy := &httputil.ReverseProxy{
		Transport: d.transport, FlushInterval: -1, ErrorLog: slog.NewLogLogger(d.cfg.Log.Handler(), slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) {
			token := bearer(r.In)
			header, value := d.cfg.Stamp(*n.id.Load(), token)
			out := http.Header{"Authorization": {"Bearer " + token}, "User-Agent": {"bordereau-door"}}
			for _, name := range inward {
				if v := r.In.Header.Get(name); v != "" {
					out.Set(name, v)
				}
			}
			out.Set(header, value)
			r.Out.Header = out
			r.Out.Trailer = nil
			u := *d.upstream
			r.Out.URL, r.Out.Host = &u, d.upstream.Host
		},
		ModifyResponse: func(r *http.Response) error {
			kept := http.Header{}
			for _, name := range outward {
				if v := r.Header.Values(name); len(v) > 0 {
					kept[name] = v
				}
			}
			r.Header, r.Trailer = kept, nil
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				refuse(w, http.StatusRequestEntityTooLarge, "too_large", false, "a request through the door is too large")
				return
			}
			d.cfg.Log.WarnContext(r.Context(), "governed data can't be reached", slog.String("sandbox", *n.id.Load()), slog.Any("error", err))
			refuse(w, http.StatusBadGateway, "unavailable", true, "governed data can't be reached just now; try again")
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != d.upstream.Path || r.URL.RawQuery != "":
			d.refused(r, n, "path")
			refuse(w, http.StatusNotFound, "not_found", false, "only "+d.upstream.Path+" is behind this door")
		case r.Method != http.MethodPost && r.Method != http.MethodGet && r.Method != http.MethodDelete:
			d.refused(r, n, "method")
			refuse(w, http.StatusMethodNotAllowed, "invalid", false, "only POST, GET and DELETE pass this door")
		case bearer(r) == "":
			d.refused(r, n, "no token")
			refuse(w, http.StatusUnauthorized, "auth", false, "a call needs the turn's token, which is in "+sandbox.TokenFile)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, d.cfg.BodyBytes)
			proxy.ServeHTTP(w, r)
		}
	})
}

func (d *Doors) refused(r *http.Request, n *door, why string) {
	d.cfg.Log.WarnContext(r.Context(), "the door refused a call", slog.String("sandbox", *n.id.Load()), slog.String("why", why))
}

func bearer(r *http.Request) string {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || len(token) > 8<<10 || strings.ContainsAny(token, " \t,") {
		return ""
	}
	return token
}

func refuse(w http.ResponseWriter, status int, code string, retryable bool, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"code":%q,"retryable":%t,"message":%q}}`+"\n", code, retryable, text)
}
