package daytona_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/sandbox"
)

// fake answers as Daytona's published interface says, slow starts and all, with real sandboxes behind it.
type fake struct {
	*httptest.Server
	inner sandbox.Driver

	mu      sync.Mutex
	n       int
	boxes   map[string]*fakeBox // by the service's id
	fault   func(w http.ResponseWriter, r *http.Request) bool
	allowed string // of the last creation
}

type fakeBox struct {
	id, name, state, next string
	polls                 int // looks until state becomes next
	labels                map[string]string
	commands              map[string]*int
	recoverable           bool
}

func newFake(t *testing.T, inner sandbox.Driver) *fake {
	t.Helper()
	f := &fake{inner: inner, boxes: map[string]*fakeBox{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/sandbox", f.create)
	mux.HandleFunc("GET /api/sandbox", f.list)
	mux.HandleFunc("GET /api/sandbox/{id}", f.box(func(w http.ResponseWriter, r *http.Request, b *fakeBox) { say(w, 200, f.info(b)) }))
	mux.HandleFunc("DELETE /api/sandbox/{id}", f.box(func(w http.ResponseWriter, r *http.Request, b *fakeBox) {
		_ = inner.Delete(r.Context(), b.id)
		f.mu.Lock()
		b.state, b.next = "destroyed", "destroyed"
		f.mu.Unlock()
		say(w, 200, f.info(b))
	}))
	mux.HandleFunc("GET /api/sandbox/{id}/toolbox-proxy-url", f.box(func(w http.ResponseWriter, r *http.Request, b *fakeBox) {
		say(w, 200, map[string]string{"url": f.URL + "/toolbox"})
	}))
	mux.HandleFunc("POST /api/sandbox/{id}/{verb}", f.box(f.change))
	mux.HandleFunc("/toolbox/{id}/", f.tools)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		fault := f.fault
		f.mu.Unlock()
		switch {
		case fault != nil && fault(w, r):
		case r.Header.Get("Authorization") != "Bearer dtn_test":
			wrong(w, 401, "Unauthorized", "", "")
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func wrong(w http.ResponseWriter, status int, text, code, source string) {
	say(w, status, map[string]any{"statusCode": status, "message": text, "code": code, "source": source})
}

// info moves a state on by one look, as time does.
func (f *fake) info(b *fakeBox) map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b.polls--; b.polls <= 0 {
		b.state = b.next
	}
	return map[string]any{"id": b.id, "name": b.name, "state": b.state, "labels": b.labels, "createdAt": time.Now(), "recoverable": b.recoverable}
}

func (f *fake) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
		Block  bool              `json:"networkBlockAll"`
		Allow  string            `json:"networkAllowList"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	f.mu.Lock()
	for _, b := range f.boxes {
		if b.name == in.Name && b.state != "destroyed" {
			f.mu.Unlock()
			wrong(w, 409, "name is taken", "CONFLICT", "API")
			return
		}
	}
	f.n++
	b := &fakeBox{id: fmt.Sprintf("d%d-%d", f.n, time.Now().UnixNano()), name: in.Name, state: "creating", next: "started", polls: 3, labels: in.Labels, commands: map[string]*int{}}
	f.mu.Unlock()
	f.mu.Lock()
	f.allowed = in.Allow
	f.mu.Unlock()
	if in.Block == (in.Allow != "") {
		wrong(w, 400, "this test wants no network, or a narrow one", "", "")
		return
	}
	if _, err := f.inner.Create(r.Context(), sandbox.Spec{ID: b.id}); err != nil {
		wrong(w, 500, err.Error(), "", "")
		return
	}
	f.mu.Lock()
	f.boxes[b.id] = b
	f.mu.Unlock()
	say(w, 200, f.info(b))
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	f.mu.Lock()
	var all []*fakeBox
	for _, b := range f.boxes {
		all = append(all, b)
	}
	f.mu.Unlock()
	items := []map[string]any{}
	for _, b := range all[min(from, len(all)):] {
		items = append(items, f.info(b))
	}
	say(w, 200, map[string]any{"items": items})
}

func (f *fake) box(do func(http.ResponseWriter, *http.Request, *fakeBox)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		var found *fakeBox
		for _, b := range f.boxes {
			if (b.id == r.PathValue("id") || b.name == r.PathValue("id")) && (found == nil || found.state == "destroyed") {
				found = b
			}
		}
		f.mu.Unlock()
		if found == nil {
			wrong(w, 404, "Sandbox not found", "NOT_FOUND", "API")
			return
		}
		do(w, r, found)
	}
}

func (f *fake) change(w http.ResponseWriter, r *http.Request, b *fakeBox) {
	f.mu.Lock()
	if b.polls > 0 && b.state != b.next {
		f.mu.Unlock()
		wrong(w, 409, "Sandbox state change in progress", "CONFLICT", "API")
		return
	}
	f.mu.Unlock()
	var err error
	var state, next string
	switch r.PathValue("verb") {
	case "start", "recover":
		err, state, next = f.inner.Start(r.Context(), b.id), "starting", "started"
	case "stop":
		err, state, next = f.inner.Stop(r.Context(), b.id), "stopping", "stopped"
	case "pause":
		err, state, next = f.inner.Pause(r.Context(), b.id), "pausing", "paused"
	default:
		wrong(w, 404, "Cannot POST", "", "")
		return
	}
	if err != nil {
		wrong(w, 400, err.Error(), "", "")
		return
	}
	f.mu.Lock()
	b.state, b.next, b.polls = state, next, 2
	f.mu.Unlock()
	say(w, 200, f.info(b))
}

// tools is the API inside a sandbox, behind the proxy.
func (f *fake) tools(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	f.mu.Lock()
	b := f.boxes[id]
	gone := b == nil || b.state == "destroyed"
	f.mu.Unlock()
	if gone {
		wrong(w, 400, "failed to get runner info", "BAD_REQUEST", "PROXY")
		return
	}
	if i, err := f.inner.Find(r.Context(), id); err != nil || i.State != sandbox.Running {
		wrong(w, 502, "no IP address found. Is the Sandbox started?", "", "PROXY")
		return
	}
	where := strings.TrimPrefix(r.URL.Path, "/toolbox/"+id)
	q := r.URL.Query()
	p := q.Get("path")
	ctx := r.Context()
	var err error
	switch {
	case r.Method == http.MethodPost && where == "/process/execute":
		f.execute(w, r, id)
		return
	case r.Method == http.MethodPost && where == "/process/session":
		w.WriteHeader(http.StatusCreated)
		return
	case r.Method == http.MethodPost && strings.HasSuffix(where, "/exec"):
		f.session(w, r, b)
		return
	case r.Method == http.MethodGet && strings.Contains(where, "/command/"):
		f.mu.Lock()
		code, ok := b.commands[path.Base(where)]
		out := map[string]any{"id": path.Base(where)}
		if ok && code != nil {
			out["exitCode"] = *code
		}
		f.mu.Unlock()
		if !ok {
			wrong(w, 404, "command not found", "NOT_FOUND", "DAYTONA_DAEMON")
			return
		}
		say(w, 200, out)
		return
	case r.Method == http.MethodDelete && strings.HasPrefix(where, "/process/session/"):
		w.WriteHeader(http.StatusNoContent)
		return
	case r.Method == http.MethodGet && where == "/files":
		var files []sandbox.File
		if files, err = f.inner.ListFiles(ctx, id, p); err == nil {
			out := []map[string]any{}
			for _, x := range files {
				out = append(out, map[string]any{"name": path.Base(x.Path), "isDir": x.Mode.IsDir(), "size": x.Size, "mode": mode(x.Mode), "modTime": x.Modified})
			}
			say(w, 200, out)
			return
		}
	case r.Method == http.MethodGet && where == "/files/download":
		var file io.ReadCloser
		if file, _, err = f.inner.ReadFile(ctx, id, p); err == nil {
			defer file.Close()
			_, _ = io.Copy(w, file)
			return
		}
	case r.Method == http.MethodPost && where == "/files/upload-v2":
		var part io.Reader
		if form, ferr := r.MultipartReader(); ferr == nil {
			if np, perr := form.NextPart(); perr == nil && np.FormName() == "file" {
				part = np
			}
		}
		if part == nil {
			wrong(w, 400, "no file", "BAD_REQUEST", "DAYTONA_DAEMON")
			return
		}
		text, rerr := io.ReadAll(part)
		if err = f.inner.WriteFile(context.Background(), id, p, bytes.NewReader(text)); err == nil && rerr == nil { // half a file stays, as at the real one
			say(w, 200, map[string]any{})
			return
		}
	case r.Method == http.MethodPost && where == "/files/folder":
		if err = f.inner.WriteFile(ctx, id, p+"/.made", strings.NewReader("")); err == nil {
			err = f.inner.RemoveFile(ctx, id, p+"/.made")
		}
	case r.Method == http.MethodPost && where == "/files/move":
		err = f.inner.MoveFile(ctx, id, q.Get("source"), q.Get("destination"))
	case r.Method == http.MethodDelete && where == "/files":
		err = f.inner.RemoveFile(ctx, id, p)
	default:
		wrong(w, 404, "no such call "+where, "", "DAYTONA_DAEMON")
		return
	}
	switch {
	case errors.Is(err, sandbox.ErrNoFile):
		wrong(w, 404, "file not found", "FILE_NOT_FOUND", "DAYTONA_DAEMON")
	case err != nil:
		wrong(w, 400, err.Error(), "BAD_REQUEST", "DAYTONA_DAEMON")
	default:
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "{}")
	}
}

// mode writes one as Go does, which is what the service's daemon sends.
func mode(m fs.FileMode) string { return m.String() }

func (f *fake) execute(w http.ResponseWriter, r *http.Request, id string) {
	var in struct {
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	var out bytes.Buffer
	res, err := f.inner.Exec(r.Context(), id, sandbox.Command{
		Args: []string{"/bin/sh", "-c", in.Command}, Dir: "/", Stdout: &out, Stderr: &out, Timeout: time.Duration(in.Timeout) * time.Second,
	})
	switch {
	case err != nil:
		wrong(w, 500, err.Error(), "", "DAYTONA_DAEMON")
	case res.TimedOut:
		wrong(w, 408, "command execution timeout", "", "DAYTONA_DAEMON")
	default:
		say(w, 200, map[string]any{"exitCode": res.ExitCode, "result": out.String()})
	}
}

func (f *fake) session(w http.ResponseWriter, r *http.Request, b *fakeBox) {
	var in struct {
		Command string `json:"command"`
		Async   bool   `json:"runAsync"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	f.mu.Lock()
	f.n++
	id := fmt.Sprintf("cmd%d", f.n)
	b.commands[id] = nil
	f.mu.Unlock()
	go func() {
		res, err := f.inner.Exec(context.Background(), b.id, sandbox.Command{Args: []string{"/bin/sh", "-c", in.Command}, Dir: "/", Timeout: 5 * time.Minute})
		if err != nil {
			return // its end is never known
		}
		f.mu.Lock()
		b.commands[id] = &res.ExitCode
		f.mu.Unlock()
	}()
	say(w, 202, map[string]string{"cmdId": id})
}
