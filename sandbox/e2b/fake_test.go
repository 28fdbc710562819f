package e2b_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/sandbox"
)

// fake answers as E2B's published interface says, with real sandboxes behind it, so that the whole suite means something here.
type fake struct {
	*httptest.Server
	t     *testing.T
	inner sandbox.Driver
	key   string

	mu      sync.Mutex
	n       int
	boxes   map[string]*fakeBox
	fault   func(w http.ResponseWriter, r *http.Request) bool // answers instead when it returns true
	cut     int                                               // how many process streams break off in the middle
	started map[string]int
	allowed []string // of the last creation
}

type fakeBox struct {
	metadata map[string]string
	token    string
	started  time.Time
	procs    map[string]*proc
}

// proc is a process with what it said, so that a stream can be taken up again.
type proc struct {
	mu      sync.Mutex
	events  []map[string]any
	changed chan struct{}
	over    bool
	read    int // events handed out
}

func (p *proc) add(e map[string]any, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events, p.over = append(p.events, e), p.over || over
	close(p.changed)
	p.changed = make(chan struct{})
}

func newFake(t *testing.T, inner sandbox.Driver) *fake {
	t.Helper()
	f := &fake{t: t, inner: inner, key: "e2b_test", boxes: map[string]*fakeBox{}, started: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sandboxes", f.create)
	mux.HandleFunc("GET /v2/sandboxes", f.list)
	mux.HandleFunc("GET /sandboxes/{id}", f.box(func(w http.ResponseWriter, r *http.Request, id string, b *fakeBox) { say(w, 200, f.info(id, b)) }))
	mux.HandleFunc("DELETE /sandboxes/{id}", f.box(f.remove))
	mux.HandleFunc("POST /sandboxes/{id}/pause", f.box(f.pause))
	mux.HandleFunc("POST /sandboxes/{id}/connect", f.box(f.connect))
	mux.HandleFunc("POST /process.Process/Start", f.envd(f.start))
	mux.HandleFunc("POST /process.Process/Connect", f.envd(f.reconnect))
	mux.HandleFunc("GET /files", f.envd(f.download))
	mux.HandleFunc("POST /files", f.envd(f.upload))
	mux.HandleFunc("POST /filesystem.Filesystem/{call}", f.envd(f.filesystem))
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		fault := f.fault
		f.mu.Unlock()
		if fault == nil || !fault(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func say(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if v != nil {
		_ = json.NewEncoder(w).Encode(v)
	}
}

func wrong(w http.ResponseWriter, status int, text string) {
	say(w, status, map[string]any{"code": status, "message": text})
}

func (f *fake) info(id string, b *fakeBox) map[string]any {
	state := "running"
	if i, err := f.inner.Find(context.Background(), id); err == nil && i.State != sandbox.Running {
		state = "paused"
	}
	return map[string]any{"sandboxID": id, "templateID": "base", "state": state, "startedAt": b.started, "endAt": b.started.Add(time.Hour), "metadata": b.metadata, "envdAccessToken": b.token}
}

func (f *fake) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		TemplateID string            `json:"templateID"`
		Timeout    int               `json:"timeout"`
		Metadata   map[string]string `json:"metadata"`
		Secure     bool              `json:"secure"`
		Internet   *bool             `json:"allow_internet_access"`
		Network    struct {
			AllowOut []string `json:"allowOut"`
			DenyOut  []string `json:"denyOut"`
		} `json:"network"`
	}
	if r.Header.Get("X-API-Key") != f.key {
		wrong(w, 401, "invalid api key")
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.TemplateID == "" || in.Timeout == 0 {
		wrong(w, 400, "templateID is required")
		return
	}
	closed := in.Internet != nil && !*in.Internet
	narrow := len(in.Network.AllowOut) > 0 && slices.Equal(in.Network.DenyOut, []string{"0.0.0.0/0"})
	if !in.Secure || !closed && !narrow {
		f.t.Error("a sandbox was asked for that is open to all or to the internet")
	}
	f.mu.Lock()
	f.allowed = in.Network.AllowOut
	f.n++
	id := fmt.Sprintf("i%dx%d", f.n, time.Now().UnixNano())
	b := &fakeBox{metadata: in.Metadata, token: "token-" + id, started: time.Now(), procs: map[string]*proc{}}
	f.mu.Unlock()
	if _, err := f.inner.Create(r.Context(), sandbox.Spec{ID: id}); err != nil {
		wrong(w, 500, err.Error())
		return
	}
	f.mu.Lock()
	f.boxes[id] = b
	f.mu.Unlock()
	say(w, 201, map[string]any{"sandboxID": id, "templateID": in.TemplateID, "clientID": "c", "envdVersion": "0.2.0", "envdAccessToken": b.token})
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("nextToken"))
	f.mu.Lock()
	var ids []string
	for id := range f.boxes {
		ids = append(ids, id)
	}
	f.mu.Unlock()
	var all []map[string]any
	for _, id := range ids {
		f.mu.Lock()
		b := f.boxes[id]
		f.mu.Unlock()
		if b == nil {
			continue
		}
		match := true
		for pair := range strings.SplitSeq(r.URL.Query().Get("metadata"), "&") {
			if k, v, ok := strings.Cut(pair, "="); ok && b.metadata[k] != v {
				match = false
			}
		}
		if match {
			all = append(all, f.info(id, b))
		}
	}
	page := all[min(from, len(all)):min(from+2, len(all))] // small pages, so that clients must turn them
	if from+2 < len(all) {
		w.Header().Set("X-Next-Token", strconv.Itoa(from+2))
	}
	if page == nil {
		page = []map[string]any{}
	}
	say(w, 200, page)
}

func (f *fake) box(do func(http.ResponseWriter, *http.Request, string, *fakeBox)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		f.mu.Lock()
		b := f.boxes[id]
		f.mu.Unlock()
		switch {
		case r.Header.Get("X-API-Key") != f.key:
			wrong(w, 401, "invalid api key")
		case b == nil:
			wrong(w, 404, "Sandbox "+id+" not found")
		default:
			do(w, r, id, b)
		}
	}
}

func (f *fake) remove(w http.ResponseWriter, r *http.Request, id string, _ *fakeBox) {
	f.mu.Lock()
	delete(f.boxes, id)
	f.mu.Unlock()
	_ = f.inner.Delete(r.Context(), id)
	w.WriteHeader(http.StatusNoContent)
}

func (f *fake) pause(w http.ResponseWriter, r *http.Request, id string, _ *fakeBox) {
	if i, err := f.inner.Find(r.Context(), id); err == nil && i.State == sandbox.Paused {
		wrong(w, 409, "already paused")
		return
	}
	if err := f.inner.Stop(r.Context(), id); err != nil {
		wrong(w, 500, err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (f *fake) connect(w http.ResponseWriter, r *http.Request, id string, b *fakeBox) {
	var in struct {
		Timeout *int `json:"timeout"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.Timeout == nil {
		wrong(w, 400, "request body has an error: value is required")
		return
	}
	status := 200
	if i, err := f.inner.Find(r.Context(), id); err == nil && i.State != sandbox.Running {
		status = 201
		if err := f.inner.Start(r.Context(), id); err != nil {
			wrong(w, 500, err.Error())
			return
		}
	}
	say(w, status, f.info(id, b))
}

// envd is the sandboxes' own API behind the proxy.
func (f *fake) envd(do func(http.ResponseWriter, *http.Request, string, *fakeBox)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("E2b-Sandbox-Id")
		f.mu.Lock()
		b := f.boxes[id]
		f.mu.Unlock()
		if b == nil || r.Header.Get("E2b-Sandbox-Port") != "49983" {
			say(w, 502, map[string]any{"sandboxId": id, "message": "The sandbox was not found", "code": 502})
			return
		}
		if i, err := f.inner.Find(r.Context(), id); err != nil || i.State != sandbox.Running {
			say(w, 502, map[string]any{"sandboxId": id, "message": "The sandbox is running but port is not open", "code": 502})
			return
		}
		if r.Header.Get("X-Access-Token") != b.token {
			wrong(w, 401, "unauthorized access")
			return
		}
		do(w, r, id, b)
	}
}

func rpcFail(w http.ResponseWriter, status int, code, text string) {
	say(w, status, map[string]string{"code": code, "message": text})
}

type startMessage struct {
	Process struct {
		Cmd  string            `json:"cmd"`
		Args []string          `json:"args"`
		Envs map[string]string `json:"envs"`
		Cwd  string            `json:"cwd"`
		Tag  string            `json:"tag"`
	} `json:"process"`
	Tag string `json:"tag"`
}

func readStart(r *http.Request) (m startMessage, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r.Body, head[:]); err != nil {
		return m, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(r.Body, b); err != nil {
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}

// output is one stream of a process.
type output struct {
	p    *proc
	kind string
}

// Write makes an event.
func (o output) Write(b []byte) (int, error) {
	o.p.add(map[string]any{"event": map[string]any{"data": map[string]any{o.kind: append([]byte{}, b...)}}}, false)
	return len(b), nil
}

func (f *fake) start(w http.ResponseWriter, r *http.Request, id string, b *fakeBox) {
	m, err := readStart(r)
	if err != nil || m.Process.Cmd == "" || r.Header.Get("Content-Type") != "application/connect+json" {
		rpcFail(w, 400, "invalid_argument", "bad request")
		return
	}
	p := &proc{changed: make(chan struct{})}
	p.add(map[string]any{"event": map[string]any{"start": map[string]any{"pid": 100}}}, false)
	f.mu.Lock()
	b.procs[m.Tag] = p
	f.started[m.Process.Cmd]++
	f.mu.Unlock()
	go func() { // a process does not end with its stream
		res, err := f.inner.Exec(context.Background(), id, sandbox.Command{
			Args: append([]string{m.Process.Cmd}, m.Process.Args...), Env: m.Process.Envs, Dir: m.Process.Cwd,
			Stdout: output{p, "stdout"}, Stderr: output{p, "stderr"}, Timeout: 5 * time.Minute,
		})
		end := map[string]any{"exited": true, "status": fmt.Sprintf("exit status %d", res.ExitCode)}
		if res.ExitCode != 0 {
			end["exitCode"] = res.ExitCode
		}
		if err != nil {
			end = map[string]any{"exitCode": -1, "exited": false, "status": "signal: killed", "error": "signal: killed"}
		}
		p.add(map[string]any{"event": map[string]any{"end": end}}, true)
	}()
	f.send(w, r, p, 0)
}

func (f *fake) reconnect(w http.ResponseWriter, r *http.Request, _ string, b *fakeBox) {
	m, err := readStart(r)
	f.mu.Lock()
	p := b.procs[m.Process.Tag]
	f.mu.Unlock()
	if err != nil || p == nil {
		envelope(w, 2, map[string]any{"error": map[string]string{"code": "not_found", "message": "process not found"}})
		return
	}
	p.mu.Lock()
	from := p.read
	p.mu.Unlock()
	f.send(w, r, p, from) // what was sent before is not sent again
}

func envelope(w io.Writer, flags byte, v any) bool {
	text, _ := json.Marshal(v)
	head := binary.BigEndian.AppendUint32([]byte{flags}, uint32(len(text)))
	_, err := w.Write(append(head, text...))
	return err == nil
}

func (f *fake) send(w http.ResponseWriter, r *http.Request, p *proc, from int) {
	w.Header().Set("Content-Type", "application/connect+json")
	w.WriteHeader(http.StatusOK)
	for {
		p.mu.Lock()
		events, over, changed := p.events[from:], p.over, p.changed
		p.mu.Unlock()
		for _, e := range events {
			if !envelope(w, 0, e) {
				return
			}
			from++
			p.mu.Lock()
			p.read = from
			p.mu.Unlock()
			w.(http.Flusher).Flush()
			f.mu.Lock()
			cut := f.cut > 0 && from == 2
			if cut {
				f.cut--
			}
			f.mu.Unlock()
			if cut {
				panic(http.ErrAbortHandler)
			}
		}
		if over {
			envelope(w, 2, map[string]any{})
			return
		}
		select {
		case <-changed:
		case <-time.After(200 * time.Millisecond):
			if !envelope(w, 0, map[string]any{"event": map[string]any{"keepalive": map[string]any{}}}) {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fake) download(w http.ResponseWriter, r *http.Request, id string, _ *fakeBox) {
	file, _, err := f.inner.ReadFile(r.Context(), id, r.URL.Query().Get("path"))
	if err != nil {
		f.fail(w, err)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = io.Copy(w, file)
}

func (f *fake) fail(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, sandbox.ErrNoFile):
		wrong(w, 404, "path does not exist")
	case errors.Is(err, sandbox.ErrTooLarge):
		wrong(w, 507, "not enough disk space")
	default:
		wrong(w, 400, err.Error())
	}
}

func (f *fake) upload(w http.ResponseWriter, r *http.Request, id string, _ *fakeBox) {
	// The real one writes what it got: a broken upload leaves half a file.
	b, err := io.ReadAll(r.Body)
	if werr := f.inner.WriteFile(context.Background(), id, r.URL.Query().Get("path"), strings.NewReader(string(b))); werr != nil {
		f.fail(w, werr)
		return
	}
	if err != nil {
		return
	}
	say(w, 200, []map[string]string{{"path": r.URL.Query().Get("path"), "name": path.Base(r.URL.Query().Get("path")), "type": "file"}})
}

func entryOf(x sandbox.File) map[string]any {
	kind := "FILE_TYPE_FILE"
	if x.Mode.IsDir() {
		kind = "FILE_TYPE_DIRECTORY"
	} else if !x.Mode.IsRegular() {
		kind = "FILE_TYPE_UNSPECIFIED"
	}
	e := map[string]any{"name": path.Base(x.Path), "type": kind, "path": x.Path, "size": strconv.FormatInt(x.Size, 10), "mode": uint32(x.Mode.Perm()), "modifiedTime": x.Modified}
	if x.Mode&fs.ModeSymlink != 0 {
		e["symlinkTarget"] = x.Link
	}
	return e
}

func (f *fake) filesystem(w http.ResponseWriter, r *http.Request, id string, _ *fakeBox) {
	var in struct {
		Path, Source, Destination string
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	ctx := r.Context()
	var out any = map[string]any{}
	var err error
	switch r.PathValue("call") {
	case "ListDir":
		var files []sandbox.File
		files, err = f.inner.ListFiles(ctx, id, in.Path)
		entries := []map[string]any{}
		for _, x := range files {
			entries = append(entries, entryOf(x))
		}
		out = map[string]any{"entries": entries}
	case "Stat":
		err = &sandbox.Fault{Kind: sandbox.ErrNoFile}
		files, lerr := f.inner.ListFiles(ctx, id, path.Dir(in.Path))
		if lerr != nil {
			err = lerr
		}
		for _, x := range files {
			if x.Path == in.Path {
				out, err = map[string]any{"entry": entryOf(x)}, nil
			}
		}
	case "MakeDir":
		err = f.inner.WriteFile(ctx, id, in.Path+"/.made", strings.NewReader(""))
		if err == nil {
			err = f.inner.RemoveFile(ctx, id, in.Path+"/.made")
		}
	case "Move":
		err = f.inner.MoveFile(ctx, id, in.Source, in.Destination)
	case "Remove":
		err = f.inner.RemoveFile(ctx, id, in.Path)
	}
	switch {
	case errors.Is(err, sandbox.ErrNoFile):
		rpcFail(w, 404, "not_found", "path not found")
	case err != nil:
		rpcFail(w, 400, "invalid_argument", err.Error())
	default:
		say(w, 200, out)
	}
}
