// Package host is the server half of sandbox/remote: it lets a backend elsewhere use this machine's driver.
package host

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/remote"
)

// Config is what a host needs.
type Config struct {
	Driver sandbox.Driver
	Name   string // of the driver
	Key    string // pre-shared, at least 32 bytes; "" only when the listener demands client certificates
	MTLS   bool   // the listener demands them
	Log    *slog.Logger
	Grace  time.Duration // how long a command goes on when the connection of the one who waits is lost; default 30 s
	Free   func() int64  // free memory in bytes; default from /proc/meminfo
}

// Server answers remote.Driver.
type Server struct {
	cfg      Config
	key      [sha256.Size]byte
	draining atomic.Bool
	mux      *http.ServeMux

	mu       sync.Mutex
	commands map[string]map[*context.CancelFunc]struct{} // by sandbox and waiter
}

// New checks the configuration. Without proof of who asks it refuses.
func New(cfg Config) (*Server, error) {
	if cfg.Driver == nil || cfg.Log == nil || cfg.Name == "" {
		return nil, errors.New("host: a driver, its name and a log are required")
	}
	if len(cfg.Key) < 32 && !cfg.MTLS {
		return nil, errors.New("host: client certificates, or a key of at least 32 bytes, are required")
	}
	if cfg.Grace <= 0 {
		cfg.Grace = 30 * time.Second
	}
	if cfg.Free == nil {
		cfg.Free = freeMemory
	}
	s := &Server{cfg: cfg, key: sha256.Sum256([]byte(cfg.Key)), mux: http.NewServeMux(), commands: map[string]map[*context.CancelFunc]struct{}{}}
	s.routes()
	return s, nil
}

func freeMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(f[0], 10, 64)
				return n << 10
			}
		}
	}
	return 0
}

// ServeHTTP asks who it is first.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.TLS == nil || s.cfg.MTLS && len(r.TLS.VerifiedChains) == 0 {
		answer(w, http.StatusUnauthorized, remote.Error{Kind: "invalid", Text: "a client certificate is required"})
		return
	}
	if s.cfg.Key != "" {
		given := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
		if subtle.ConstantTimeCompare(given[:], s.key[:]) != 1 {
			s.cfg.Log.WarnContext(r.Context(), "a call with a wrong key", slog.String("from", r.RemoteAddr))
			answer(w, http.StatusUnauthorized, remote.Error{Kind: "unavailable", Text: "the key is wrong"})
			return
		}
	}
	s.mux.ServeHTTP(w, r)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, err error) {
	e, status := remote.ToError(err)
	answer(w, status, e)
}

// reply answers with v, or with what failed.
func reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		fail(w, err)
		return
	}
	if v == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	answer(w, http.StatusOK, v)
}

func decode(r *http.Request, v any) error {
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(v); err != nil {
		return sandbox.Invalid("the request can't be read: %v", err)
	}
	return nil
}

func (s *Server) routes() {
	d := s.cfg.Driver
	s.mux.HandleFunc("GET /v1/host", func(w http.ResponseWriter, r *http.Request) {
		infos, err := d.List(r.Context())
		reply(w, remote.Status{Driver: s.cfg.Name, FreeMemory: s.cfg.Free(), Sandboxes: len(infos), Draining: s.draining.Load()}, err)
	})
	s.mux.HandleFunc("POST /v1/host/drain", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Drain bool `json:"drain"`
		}
		err := decode(r, &in)
		if err == nil {
			s.Drain(in.Drain)
		}
		reply(w, nil, err)
	})
	s.mux.HandleFunc("POST /v1/sandboxes", func(w http.ResponseWriter, r *http.Request) {
		var spec sandbox.Spec
		if err := decode(r, &spec); err != nil {
			fail(w, err)
			return
		}
		if s.draining.Load() {
			fail(w, sandbox.Unavailable(nil, "this host takes no new sandboxes"))
			return
		}
		info, err := d.Create(r.Context(), spec)
		reply(w, info, err)
	})
	s.mux.HandleFunc("GET /v1/sandboxes", func(w http.ResponseWriter, r *http.Request) {
		infos, err := d.List(r.Context())
		if infos == nil {
			infos = []sandbox.Info{}
		}
		reply(w, infos, err)
	})
	s.mux.HandleFunc("GET /v1/sandboxes/{id}", func(w http.ResponseWriter, r *http.Request) {
		info, err := d.Find(r.Context(), r.PathValue("id"))
		reply(w, info, err)
	})
	s.mux.HandleFunc("DELETE /v1/sandboxes/{id}", func(w http.ResponseWriter, r *http.Request) {
		reply(w, nil, d.Delete(r.Context(), r.PathValue("id")))
	})
	for verb, do := range map[string]func(context.Context, string) error{"start": d.Start, "pause": d.Pause, "stop": d.Stop} {
		s.mux.HandleFunc("POST /v1/sandboxes/{id}/"+verb, func(w http.ResponseWriter, r *http.Request) {
			reply(w, nil, do(r.Context(), r.PathValue("id")))
		})
	}
	s.mux.HandleFunc("POST /v1/sandboxes/{id}/claim", s.claim)
	s.mux.HandleFunc("POST /v1/sandboxes/{id}/exec", s.exec)
	s.mux.HandleFunc("DELETE /v1/sandboxes/{id}/commands", s.cancel)
	s.mux.HandleFunc("GET /v1/sandboxes/{id}/file", s.readFile)
	s.mux.HandleFunc("PUT /v1/sandboxes/{id}/file", func(w http.ResponseWriter, r *http.Request) {
		reply(w, nil, d.WriteFile(r.Context(), r.PathValue("id"), r.URL.Query().Get("path"), r.Body))
	})
	s.mux.HandleFunc("DELETE /v1/sandboxes/{id}/file", func(w http.ResponseWriter, r *http.Request) {
		reply(w, nil, d.RemoveFile(r.Context(), r.PathValue("id"), r.URL.Query().Get("path")))
	})
	s.mux.HandleFunc("GET /v1/sandboxes/{id}/files", func(w http.ResponseWriter, r *http.Request) {
		files, err := d.ListFiles(r.Context(), r.PathValue("id"), r.URL.Query().Get("dir"))
		if files == nil {
			files = []sandbox.File{}
		}
		reply(w, files, err)
	})
	s.mux.HandleFunc("POST /v1/sandboxes/{id}/move", func(w http.ResponseWriter, r *http.Request) {
		var names [2]string
		err := decode(r, &names)
		if err == nil {
			err = d.MoveFile(r.Context(), r.PathValue("id"), names[0], names[1])
		}
		reply(w, nil, err)
	})
	s.mux.HandleFunc("PUT /v1/sandboxes/{id}/token", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Token string `json:"token"`
		}
		err := decode(r, &in)
		if err == nil {
			err = d.SetToken(r.Context(), r.PathValue("id"), in.Token)
		}
		reply(w, nil, err)
	})
}

// Drain makes the host take no new sandboxes; those it has go on.
func (s *Server) Drain(drain bool) { s.draining.Store(drain) }

func (s *Server) claim(w http.ResponseWriter, r *http.Request) {
	c, ok := s.cfg.Driver.(sandbox.Claimer)
	if !ok {
		fail(w, &sandbox.Fault{Kind: sandbox.ErrUnsupported, Text: "this driver has no warm pool"})
		return
	}
	var to sandbox.Spec
	if err := decode(r, &to); err != nil {
		fail(w, err)
		return
	}
	info, err := c.Claim(r.Context(), r.PathValue("id"), to)
	reply(w, info, err)
}

func (s *Server) readFile(w http.ResponseWriter, r *http.Request) {
	f, info, err := s.cfg.Driver.ReadFile(r.Context(), r.PathValue("id"), r.URL.Query().Get("path"))
	if err != nil {
		fail(w, err)
		return
	}
	defer f.Close()
	head, err := json.Marshal(info)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set(remote.FileHeader, string(head))
	w.Header().Set("Content-Type", "application/octet-stream")
	if _, err := io.Copy(w, io.LimitReader(f, info.Size)); err != nil {
		panic(http.ErrAbortHandler) // half a file must not look like a whole one
	}
}
