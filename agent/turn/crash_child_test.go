package turn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	goredis "github.com/redis/go-redis/v9"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/model/anthropic"
	"bordereau/agent/stream"
	"bordereau/agent/stream/redis"
	"bordereau/agent/turn"
	"bordereau/migrations"
)

// The crash tests run backends as processes of their own: this test binary, told by the environment to be one.

func TestMain(m *testing.M) {
	if os.Getenv("BORDEREAU_CRASH_CHILD") == "" {
		os.Exit(m.Run())
	}
	if err := crashChild(); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
}

// childConfig is what the parent tells a backend.
type childConfig struct {
	DSN    string
	Redis  string // its address; "": events in the process
	Models string // the scripted model server
	World  string // the tools' far side
	TTL    time.Duration
	At     int64 // die or stop at this point; 0: never
	Signal syscall.Signal
}

// fuse counts the boundaries that a turn passes and lets the process die, or stop, at one of them.
type fuse struct {
	lit atomic.Bool
	n   atomic.Int64
	at  int64
	sig syscall.Signal
}

func (f *fuse) point() {
	if f.lit.Load() && f.n.Add(1) == f.at {
		_ = syscall.Kill(os.Getpid(), f.sig)
		if f.sig == syscall.SIGKILL {
			select {} // until the signal has come
		}
	}
}

func crashChild() error {
	var c childConfig
	if err := json.Unmarshal([]byte(os.Getenv("BORDEREAU_CRASH_CHILD")), &c); err != nil {
		return err
	}
	f := &fuse{at: c.At, sig: c.Signal}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, dialect, err := migrations.Open(ctx, c.DSN, migrations.Journal)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	now := func() time.Time { f.point(); return time.Now() } // inside every transaction
	store, err := journal.Open(journal.Config{DB: db, Dialect: dialect, NewID: uuid.NewString, LeaseTTL: c.TTL, Now: now})
	if err != nil {
		return err
	}
	claude, err := anthropic.New(anthropic.Config{Model: "m", Key: "k", URL: c.Models, Price: model.Price{Input: 1_000_000, Output: 1_000_000}})
	if err != nil {
		return err
	}
	buffer, release, err := childBuffer(ctx, c.Redis)
	if err != nil {
		return err
	}
	defer release()
	r, err := turn.NewRunner(turn.Config{
		Journal: store, Buffer: fusedBuffer{buffer, f}, Models: oneModel{fusedModel{claude, f}},
		Toolbox: &farBox{world: c.World, f: f}, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), NewID: uuid.NewString, Turns: 1, Poll: 10 * time.Millisecond, BackOff: 5 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	if err := r.Start(ctx); err != nil {
		return err
	}
	fmt.Println("ready")
	<-ctx.Done()
	r.Stop()
	fmt.Fprintln(os.Stderr, "points passed:", f.n.Load())
	return nil
}

func childBuffer(ctx context.Context, address string) (stream.Buffer, func(), error) {
	if address == "" {
		return stream.NewMemory(stream.MemoryConfig{}), func() {}, nil
	}
	client := goredis.NewClient(&goredis.Options{Addr: address})
	buffer, err := redis.New(redis.Config{Client: client})
	if err != nil {
		return nil, nil, err
	}
	return buffer, func() { buffer.Stop(); _ = client.Close() }, buffer.Start(ctx)
}

type fusedBuffer struct {
	stream.Buffer
	f *fuse
}

func (b fusedBuffer) Open(ctx context.Context, turn string, epoch int64) (stream.ID, error) {
	b.f.lit.Store(true)
	b.f.point()
	return b.Buffer.Open(ctx, turn, epoch)
}

func (b fusedBuffer) Append(ctx context.Context, turn string, epoch int64, data ...json.RawMessage) (stream.ID, error) {
	b.f.point()
	id, err := b.Buffer.Append(ctx, turn, epoch, data...)
	b.f.point()
	return id, err
}

func (b fusedBuffer) Close(ctx context.Context, turn string, epoch int64) error {
	b.f.point()
	err := b.Buffer.Close(ctx, turn, epoch)
	b.f.point()
	return err
}

type fusedModel struct {
	model.Model
	f *fuse
}

func (fusedModel) Name() string { return "scripted" }

func (m fusedModel) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		m.f.point()
		for e, err := range m.Model.Stream(ctx, r) {
			m.f.point()
			if !yield(e, err) {
				return
			}
		}
		m.f.point()
	}
}

// farBox is a toolbox whose tools act in the parent, which outlives the backends as governance and sandboxes do.
type farBox struct {
	world string
	f     *fuse
}

// farCall is a tool call on the wire to the world.
type farCall struct {
	Turn  string
	Epoch int64
	Tool  string
	Key   string
	Again bool
}

func (b *farBox) Open(_ context.Context, t journal.Turn, _ turn.Observer) (turn.Tools, error) {
	b.f.point()
	return &farTools{b: b, t: t, seen: map[string]string{}}, nil
}

type farTools struct {
	b    *farBox
	t    journal.Turn
	mu   sync.Mutex
	seen map[string]string
}

func (t *farTools) List() []model.Tool {
	return []model.Tool{{Name: "query", InputSchema: json.RawMessage(`{"type":"object"}`)}, {Name: "write", InputSchema: json.RawMessage(`{"type":"object"}`)}}
}

func (t *farTools) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.b.world+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return &turn.Failure{Component: "governance", Class: "auth", Message: string(text)}
	}
	return json.Unmarshal(text, out)
}

func (t *farTools) Call(ctx context.Context, c turn.Call) (res turn.Result, err error) {
	t.b.f.point()
	var text string
	err = t.post(ctx, "/call", farCall{Turn: t.t.ID, Epoch: t.t.Epoch, Tool: c.Name, Key: c.Key, Again: c.Again}, &text)
	t.b.f.point()
	return turn.Result{Text: text}, err
}

func (t *farTools) Collect(ctx context.Context) (found []journal.Artifact, err error) {
	t.b.f.point()
	files := map[string]string{}
	if err := t.post(ctx, "/files", t.t.ID, &files); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, sha := range files {
		if t.seen[name] != sha {
			t.seen[name] = sha
			found = append(found, journal.Artifact{Name: name, SHA256: sha, Size: int64(len(sha)), MediaType: "text/plain"})
		}
	}
	t.b.f.point()
	return found, nil
}

func (t *farTools) Save(_ context.Context, name string, _ []byte) (string, error) {
	t.b.f.point()
	return "/workspace/" + name, nil
}

func (t *farTools) Close(context.Context) error { t.b.f.point(); return nil }
