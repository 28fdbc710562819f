// Package journaltest is what the journal must do on every engine.
package journaltest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/migrations"
)

// Clock is a time that tests move.
type Clock struct{ offset atomic.Int64 }

// Now is the moved time.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// Pass moves it on.
func (c *Clock) Pass(d time.Duration) { c.offset.Add(int64(d)) }

var kim = journal.Owner{Org: "acme", Person: "kim", Role: "underwriter"}

// bed is one test's journal. Tests of one database tell their rows apart by conversation; those that claim run alone.
type bed struct {
	*journal.Store
	clock *Clock
}

// Run is the suite, over the database that dsn names.
func Run(t *testing.T, dsn string) {
	t.Helper()
	db, dialect, err := migrations.Open(t.Context(), dsn, migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	// One after the other: they claim from one queue.
	for _, test := range []struct {
		name string
		f    func(*testing.T, bed)
	}{
		{"another organisation finds nothing", foreign},
		{"one live turn a conversation", oneLive},
		{"posting again", again},
		{"bad messages", bad},
		{"claims are exclusive", exclusive},
		{"a newer epoch fences every write", fencing},
		{"steps", steps},
		{"charges once", charges},
		{"messages wait for a step", waiting},
		{"events", events},
		{"artifacts", artifacts},
		{"cancel", cancelling},
		{"release and orphans", releasing},
		{"unpublished ends", unpublished},
		{"odd text", odd},
		{"sums", sums},
	} {
		t.Run(test.name, func(t *testing.T) {
			clock := &Clock{}
			s, err := journal.Open(journal.Config{DB: db, Dialect: dialect, NewID: uuid.NewString, Now: clock.Now})
			must(t, err)
			b := bed{s, clock}
			t.Cleanup(func() { b.drain(t) })
			test.f(t, b)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%v, want %v", err, kind)
	}
}

// drain ends whatever a test left live, so that the next one's claims are its own.
func (b bed) drain(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	b.clock.Pass(48 * time.Hour)
	for {
		turn, err := b.Claim(ctx, "drain")
		if errors.Is(err, journal.ErrNotFound) {
			break
		}
		if err != nil {
			return
		}
		_, _ = b.FinishTurn(ctx, lease(turn), journal.Ending{Outcome: journal.Outcome{Status: journal.Cancelled}})
		_ = b.Published(ctx, lease(turn))
	}
	for {
		turn, err := b.ClaimUnpublished(ctx, "drain")
		if err != nil {
			return
		}
		_ = b.Published(ctx, lease(turn))
	}
}

func lease(t journal.Turn) journal.Lease { return journal.Lease{Turn: t.ID, Epoch: t.Epoch} }

func question(text string) model.Message {
	return model.Message{Role: model.User, Blocks: []model.Block{{Kind: model.Text, Text: text}}}
}

func (b bed) post(t *testing.T, conversation, text string) journal.Posted {
	t.Helper()
	p, err := b.Post(t.Context(), journal.Post{Owner: kim, Conversation: conversation, Create: true, Content: question(text)})
	must(t, err)
	return p
}

// running is a fresh claimed turn.
func (b bed) running(t *testing.T) (journal.Turn, string) {
	t.Helper()
	c := uuid.NewString()
	p := b.post(t, c, "hello")
	got, err := b.Claim(t.Context(), "one")
	must(t, err)
	if got.ID != p.Turn.ID {
		t.Fatalf("claimed %s, want %s", got.ID, p.Turn.ID)
	}
	return got, c
}
