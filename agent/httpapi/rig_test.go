package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/artifact"
	"bordereau/agent/identity"
	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/schedule"
	"bordereau/agent/stream"
	"bordereau/agent/stream/uimessage"
	"bordereau/migrations"
)

// rig is an API over real stores, with a runner whose turns a test writes itself.
type rig struct {
	t       *testing.T
	server  *httptest.Server
	db      *sql.DB
	folder  string // of the files
	store   *journal.Store
	files   *artifact.Store
	people  *identity.Directory
	buffer  *stream.Memory
	runner  *scripted
	desk    *schedule.Desk
	keys    map[string]string // by person, such as "acme/underwriter"
	persons map[string]string
}

// scripted claims turns and lets a test write their events.
type scripted struct {
	store  *journal.Store
	buffer *stream.Memory

	mu        sync.Mutex
	script    func(p *pen)
	held      bool // turns stay queued
	cancelled map[string]chan struct{}
	wg        sync.WaitGroup
}

// pen writes one turn.
type pen struct {
	s      *scripted
	Turn   journal.Turn
	Cancel chan struct{}
	all    []json.RawMessage
}

func (s *scripted) hold(held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = held
}

func (s *scripted) Wake() {
	s.mu.Lock()
	held := s.held
	s.mu.Unlock()
	if held {
		return
	}
	t, err := s.store.Claim(context.Background(), "test")
	if err != nil {
		return
	}
	if _, err := s.buffer.Open(context.Background(), t.ID, t.Epoch); err != nil {
		return
	}
	s.mu.Lock()
	script, cancel := s.script, make(chan struct{})
	s.cancelled[t.ID] = cancel
	s.mu.Unlock()
	s.wg.Go(func() { script(&pen{s: s, Turn: t, Cancel: cancel}) })
}

func (s *scripted) Cancel(ctx context.Context, o journal.Owner, turn string) error {
	if _, err := s.store.RequestCancel(ctx, o, turn); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.cancelled[turn]; ok {
		close(c)
		delete(s.cancelled, turn)
	}
	return nil
}

func (p *pen) say(parts ...json.RawMessage) {
	p.all = append(p.all, parts...)
	if _, err := p.s.buffer.Append(context.Background(), p.Turn.ID, p.Turn.Epoch, parts...); err != nil {
		panic(err)
	}
}

func (p *pen) text(text string) {
	p.say(uimessage.StartStep(), uimessage.TextStart("1"), uimessage.TextDelta("1", text), uimessage.TextEnd("1"), uimessage.FinishStep())
}

func (p *pen) end(o journal.Outcome, answer string, files ...journal.Artifact) {
	last := uimessage.Finish(uimessage.Stop, nil)
	p.say(uimessage.Data(uimessage.DataOutcome, "outcome", o), last)
	_, err := p.s.store.FinishTurn(context.Background(), journal.Lease{Turn: p.Turn.ID, Epoch: p.Turn.Epoch}, journal.Ending{
		Outcome: o, Chunk: journal.Chunk{First: 1, Epoch: p.Turn.Epoch, Events: p.all}, Artifacts: files,
		Answer: &journal.Message{
			ID: "answer-" + p.Turn.ID, Content: model.Message{Role: model.Assistant, Blocks: []model.Block{{Kind: model.Text, Text: answer}}},
			UI: json.RawMessage(`[{"type":"text","text":` + quoted(answer) + `}]`),
		},
	})
	if err != nil {
		panic(err)
	}
	if err := p.s.buffer.Close(context.Background(), p.Turn.ID, p.Turn.Epoch); err != nil {
		panic(err)
	}
}

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

type names []string

func (n names) Names() []string { return n }

func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	ctx := t.Context()
	db, dialect, err := migrations.Open(ctx, filepath.Join(t.TempDir(), "journal.db"), migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	r := &rig{t: t, db: db, folder: t.TempDir(), keys: map[string]string{}, persons: map[string]string{}, buffer: stream.NewMemory(stream.MemoryConfig{})}
	if r.store, err = journal.Open(journal.Config{DB: db, Dialect: dialect, NewID: uuid.NewString}); err != nil {
		t.Fatal(err)
	}
	if r.people, err = identity.New(identity.Config{DB: db, Cost: identity.Cost{MemoryKiB: 64, Passes: 1, Threads: 1}}); err != nil {
		t.Fatal(err)
	}
	if r.files, err = artifact.OpenFolder(r.folder); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.files.Close() })
	library, err := artifact.NewLibrary(db, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, org := range []string{"acme", "other"} {
		if err := r.people.PutOrganisation(ctx, identity.Organisation{ID: org, Name: org}); err != nil {
			t.Fatal(err)
		}
		for _, role := range identity.Roles() {
			p, err := r.people.PutPerson(ctx, identity.Person{Org: org, Email: role + "@" + org + ".example", Name: role, Role: role})
			if err != nil {
				t.Fatal(err)
			}
			_, key, err := r.people.IssueKey(ctx, org, p.ID, "test", time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			r.keys[org+"/"+role], r.persons[org+"/"+role] = key, p.ID
		}
	}
	r.runner = &scripted{store: r.store, buffer: r.buffer, cancelled: map[string]chan struct{}{}}
	r.script(func(p *pen) {
		p.say(uimessage.Start("answer-" + p.Turn.ID))
		p.text("Hello.")
		p.end(journal.Outcome{Status: journal.Completed}, "Hello.")
	})
	guard, err := NewGuard(GuardConfig{Identity: r.people, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r.desk = r.schedules(db)
	c := Config{
		Guard: guard, SignIn: r.people, Sessions: r.people, People: r.people, Keys: r.people, Conversations: r.store, Turns: r.store, Events: r.buffer, Runner: r.runner, Models: names{"playbook", "other"},
		Files: r.files, Uploads: library, Schedules: r.desk, ScheduleRuns: r.desk, Log: slog.New(slog.DiscardHandler), Limits: Limits{KeepAlive: 100 * time.Millisecond},
	}
	if change != nil {
		change(&c)
	}
	api, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	r.server = httptest.NewServer(api.Handler())
	t.Cleanup(func() { r.server.Close(); r.runner.wg.Wait() })
	return r
}

func (r *rig) script(f func(p *pen)) {
	r.runner.mu.Lock()
	defer r.runner.mu.Unlock()
	r.runner.script = f
}

// request is one call of the API. who is "org/role", or a key.
type request struct {
	who, method, path string
	body              any // a string or []byte is sent as it is
	head              map[string]string
}

func (r *rig) do(q request) *http.Response {
	r.t.Helper()
	var body io.Reader
	switch b := q.body.(type) {
	case nil:
	case string:
		body = strings.NewReader(b)
	case []byte:
		body = bytes.NewReader(b)
	case io.Reader:
		body = b
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			r.t.Fatal(err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), q.method, r.server.URL+q.path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	key, ok := r.keys[q.who]
	if !ok {
		key = q.who
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for k, v := range q.head {
		req.Header.Set(k, v)
	}
	resp, err := r.server.Client().Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// get reads a JSON answer of the wanted status.
func (r *rig) get(q request, status int, into any) {
	r.t.Helper()
	resp := r.do(q)
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if resp.StatusCode != status {
		r.t.Fatalf("%s %s: status %d, want %d: %s", q.method, q.path, resp.StatusCode, status, raw)
	}
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			r.t.Fatalf("%s %s: %v in %s", q.method, q.path, err, raw)
		}
	}
}

// fails wants a typed failure.
func (r *rig) fails(q request, status int, code Code) *Error {
	r.t.Helper()
	var body ErrorBody
	r.get(q, status, &body)
	if body.Error == nil || body.Error.Code != code || body.Error.Message == "" || body.Error.Hint == "" || body.Error.RequestID == "" {
		r.t.Errorf("%s %s: %+v, want code %s", q.method, q.path, body.Error, code)
	}
	return body.Error
}

// sseEvent is one event as it came over the wire.
type sseEvent struct {
	id   string
	data string
}

// events reads server-sent events until [DONE], the end, or n of them.
func events(t *testing.T, body io.Reader, n int) (all []sseEvent, done bool) {
	t.Helper()
	s := bufio.NewScanner(body)
	s.Buffer(nil, 1<<20)
	id := ""
	for s.Scan() {
		line := s.Text()
		if v, ok := strings.CutPrefix(line, "id: "); ok {
			id = v
		}
		if v, ok := strings.CutPrefix(line, "data: "); ok {
			if v == "[DONE]" {
				return all, true
			}
			if all = append(all, sseEvent{id, v}); n > 0 && len(all) == n {
				return all, false
			}
		}
	}
	return all, false
}

func chat(id, text string) map[string]any {
	return map[string]any{"id": id, "message": map[string]any{"id": "m-" + text, "role": "user", "parts": []map[string]any{{"type": "text", "text": text}}}}
}

func (p *pen) context() context.Context { return context.Background() }

// pause lets readers come in between.
func (p *pen) pause() {
	timer := time.NewTimer(300 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.Cancel:
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
