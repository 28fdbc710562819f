package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/stream"
	"bordereau/agent/turn"
	"bordereau/migrations"
)

// owner is who asks in tests.
var owner = journal.Owner{Org: "acme", Person: "kim", Role: "underwriter"}

// scripted is a model that answers by a function of the request.
type scripted func(ctx context.Context, r model.Request, yield func(model.Event, error) bool)

func (scripted) Name() string { return "scripted" }
func (s scripted) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) { s(ctx, r, yield) }
}

// replies counts the assistant's messages after the last question: which reply is due, whoever asks and however often.
func replies(r model.Request) (n int) {
	for _, m := range r.Messages {
		if m.Role == model.Assistant {
			n++
		}
	}
	return n
}

// say streams a text and ends the reply.
func say(yield func(model.Event, error) bool, text string) {
	for _, word := range strings.SplitAfter(text, " ") {
		if !yield(model.Event{Kind: model.TextDelta, Text: word}, nil) {
			return
		}
	}
	done(yield, model.EndTurn, model.Block{Kind: model.Text, Text: text})
}

func done(yield func(model.Event, error) bool, stop model.StopReason, blocks ...model.Block) {
	yield(model.Event{Kind: model.Done, Stop: stop, Usage: model.Usage{Input: 100, Output: 10, CostMicros: 50}, Message: model.Message{Role: model.Assistant, Blocks: blocks}}, nil)
}

// call asks for one tool.
func call(yield func(model.Event, error) bool, id, name, input string) {
	if !yield(model.Event{Kind: model.ToolStart, ID: id, Name: name}, nil) || !yield(model.Event{Kind: model.ToolReady, ID: id, Name: name, Input: json.RawMessage(input)}, nil) {
		return
	}
	done(yield, model.UseTools, model.Block{Kind: model.ToolUse, ID: id, Name: name, Input: json.RawMessage(input)})
}

type oneModel struct{ m model.Model }

func (o oneModel) Model(name string) (model.Model, error) {
	if name != "" && name != o.m.Name() {
		return nil, fmt.Errorf("no model %q", name)
	}
	return o.m, nil
}

// bench is a toolbox of functions.
type bench struct {
	mu    sync.Mutex
	fail  error
	tools map[string]func(ctx context.Context, c turn.Call) (turn.Result, error)
	files []journal.Artifact
	calls []turn.Call
	saved map[string]string
	open  int
}

func (b *bench) Open(_ context.Context, _ journal.Turn, o turn.Observer) (turn.Tools, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return nil, b.fail
	}
	b.open++
	return &benchTools{b: b, o: o}, nil
}

type benchTools struct {
	b *bench
	o turn.Observer
}

func (t *benchTools) List() (all []model.Tool) {
	for name := range t.b.tools {
		all = append(all, model.Tool{Name: name, Description: "a tool", InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return all
}

func (t *benchTools) Call(ctx context.Context, c turn.Call) (turn.Result, error) {
	t.b.mu.Lock()
	t.b.calls = append(t.b.calls, c)
	f := t.b.tools[c.Name]
	t.b.mu.Unlock()
	t.o.Progress(c.ID, turn.Progress{Message: "half", Done: 1, Total: 2})
	t.o.Waited("sandbox", time.Now(), time.Millisecond, "")
	return f(ctx, c)
}

func (t *benchTools) Collect(context.Context) ([]journal.Artifact, error) {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	files := t.b.files
	t.b.files = nil
	return files, nil
}

func (t *benchTools) Save(_ context.Context, name string, content []byte) (string, error) {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	if t.b.saved == nil {
		t.b.saved = map[string]string{}
	}
	t.b.saved[name] = string(content)
	return "/workspace/.results/" + name, nil
}

func (t *benchTools) Close(context.Context) error {
	t.b.mu.Lock()
	defer t.b.mu.Unlock()
	t.b.open--
	return nil
}

// house is everything a turn needs, in a folder of the test.
type house struct {
	store  *journal.Store
	buffer stream.Buffer
	events turn.Events
	cfg    turn.Config
}

func newHouse(t testing.TB, m model.Model, b turn.Toolbox) *house {
	t.Helper()
	return newHouseFor(t, m, b, 2*time.Second)
}

func newHouseFor(t testing.TB, m model.Model, b turn.Toolbox, ttl time.Duration) *house {
	t.Helper()
	db, dialect, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store, err := journal.Open(journal.Config{DB: db, Dialect: dialect, NewID: uuid.NewString, LeaseTTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{store: store, buffer: stream.NewMemory(stream.MemoryConfig{})}
	h.events = turn.Events{Journal: store, Buffer: h.buffer}
	h.cfg = turn.Config{
		Journal: store, Buffer: h.buffer, Models: oneModel{m}, Toolbox: b, Log: slog.New(slog.DiscardHandler), NewID: uuid.NewString,
		BackOff: time.Millisecond, Poll: 10 * time.Millisecond,
	}
	return h
}

func (h *house) start(t testing.TB) *turn.Runner {
	t.Helper()
	r, err := turn.NewRunner(h.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

func (h *house) post(t testing.TB, conversation, text string) journal.Posted {
	t.Helper()
	p, err := h.store.Post(t.Context(), journal.Post{
		Owner: owner, Conversation: conversation, Create: true,
		Content: model.Message{Role: model.User, Blocks: []model.Block{{Kind: model.Text, Text: text}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// part is an event as a test looks at it.
type part struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Delta string          `json:"delta"`
	Data  json.RawMessage `json:"data"`
	Raw   string          `json:"-"`
	Seq   int64           `json:"-"`
}

// follow reads a turn's events to the end.
func (h *house) follow(t testing.TB, id string, after int64) (all []part) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for e, err := range h.events.Read(ctx, id, after) {
		if err != nil {
			t.Fatalf("after %d events: %v", len(all), err)
		}
		var p part
		if err := json.Unmarshal(e.Data, &p); err != nil {
			t.Fatal(err)
		}
		p.Raw, p.Seq = string(e.Data), e.ID.Seq
		if p.Seq != after+int64(len(all))+1 {
			t.Fatalf("event %d follows %d others after %d", p.Seq, len(all), after)
		}
		all = append(all, p)
	}
	return all
}

// text is what a reader would see in the end.
func text(all []part) string {
	var steps []string
	for _, p := range all {
		switch p.Type {
		case "start-step":
			steps = append(steps, "")
		case "reset-step":
			steps[len(steps)-1] = ""
		case "text-delta":
			if len(steps) == 0 {
				steps = append(steps, "")
			}
			steps[len(steps)-1] += p.Delta
		}
	}
	return strings.Join(steps, "|")
}

func terminals(all []part) (names []string) {
	for _, p := range all {
		if p.Type == "finish" || p.Type == "abort" || p.Type == "error" {
			names = append(names, p.Type)
		}
	}
	return names
}

func (h *house) ended(t testing.TB, id string) journal.Turn {
	t.Helper()
	got, err := h.store.Turn(t.Context(), owner, id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func emptyBuffer() stream.Buffer { return stream.NewMemory(stream.MemoryConfig{}) }
