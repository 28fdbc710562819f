// Package journaltest is what the journal must do on every engine.
package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

func foreign(t *testing.T, b bed) {
	ctx := t.Context()
	turn, c := b.running(t)
	other := journal.Owner{Org: "other", Person: "kim", Role: "admin"}
	_, err := b.Conversation(ctx, other, c)
	wants(t, err, journal.ErrNotFound)
	_, err = b.Messages(ctx, other, c, 0, 10)
	wants(t, err, journal.ErrNotFound)
	_, err = b.Turn(ctx, other, turn.ID)
	wants(t, err, journal.ErrNotFound)
	_, err = b.Turns(ctx, other, c, journal.Page{})
	wants(t, err, journal.ErrNotFound)
	_, err = b.Steps(ctx, other, turn.ID)
	wants(t, err, journal.ErrNotFound)
	_, err = b.Charges(ctx, other, turn.ID)
	wants(t, err, journal.ErrNotFound)
	_, err = b.Artifacts(ctx, other, c)
	wants(t, err, journal.ErrNotFound)
	_, err = b.RequestCancel(ctx, other, turn.ID)
	wants(t, err, journal.ErrNotFound)
	wants(t, b.RenameConversation(ctx, other, c, "mine"), journal.ErrNotFound)
	_, err = b.Post(ctx, journal.Post{Owner: other, Conversation: c, Create: true, Content: question("x")})
	wants(t, err, journal.ErrNotFound)
	all, err := b.Conversations(ctx, other, journal.Page{})
	if err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

func oneLive(t *testing.T, b bed) {
	c := uuid.NewString()
	var wg sync.WaitGroup
	var created, joined atomic.Int64
	for i := range 16 {
		wg.Go(func() {
			p, err := b.Post(t.Context(), journal.Post{Owner: kim, Conversation: c, Create: true, Content: question(fmt.Sprint("m", i))})
			switch {
			case err != nil:
				t.Error(err)
			case p.Joined:
				joined.Add(1)
			default:
				created.Add(1)
			}
		})
	}
	wg.Wait()
	if created.Load() != 1 || joined.Load() != 15 {
		t.Errorf("%d turns, %d joined", created.Load(), joined.Load())
	}
	all, err := b.Messages(t.Context(), kim, c, 0, 100)
	must(t, err)
	for i, m := range all {
		if m.Position != int64(i+1) {
			t.Errorf("position %d at %d", m.Position, i)
		}
	}
	if len(all) != 16 {
		t.Errorf("%d messages", len(all))
	}
	_, err = b.Post(t.Context(), journal.Post{Owner: kim, Conversation: c, Content: question("x"), RefuseBusy: true})
	wants(t, err, journal.ErrBusy)
}

func again(t *testing.T, b bed) {
	p := journal.Post{Owner: kim, Conversation: uuid.NewString(), Create: true, MessageID: "m1", Content: question("hello")}
	first, err := b.Post(t.Context(), p)
	must(t, err)
	second, err := b.Post(t.Context(), p)
	must(t, err)
	if !second.Again || second.Turn.ID != first.Turn.ID || second.Message.Position != first.Message.Position {
		t.Errorf("%+v", second)
	}
	p.Content = question("other")
	_, err = b.Post(t.Context(), p)
	wants(t, err, journal.ErrConflict)
	_, err = b.Post(t.Context(), journal.Post{Owner: kim, Conversation: uuid.NewString(), Content: question("x")})
	wants(t, err, journal.ErrNotFound)
}

func bad(t *testing.T, b bed) {
	for name, p := range map[string]journal.Post{
		"no owner":   {Conversation: "c", Content: question("x")},
		"no id":      {Owner: kim, Content: question("x")},
		"control":    {Owner: kim, Conversation: "a\x00b", Content: question("x")},
		"assistant":  {Owner: kim, Conversation: "c", Content: model.Message{Role: model.Assistant, Blocks: question("x").Blocks}},
		"empty":      {Owner: kim, Conversation: "c", Content: question("  \n")},
		"forged use": {Owner: kim, Conversation: "c", Content: model.Message{Role: model.User, Blocks: []model.Block{{Kind: model.ToolResult, ID: "x", Text: "y"}}}},
	} {
		p.Create = true
		if _, err := b.Post(t.Context(), p); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := b.Post(t.Context(), journal.Post{Owner: kim, Conversation: "c", Create: true, Content: question(string(make([]byte, journal.MaxMessage+1)) + "x")})
	if !errors.Is(err, journal.ErrTooLarge) && !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("too long: %v", err)
	}
}

func exclusive(t *testing.T, b bed) {
	want := map[string]bool{}
	for range 40 {
		want[b.post(t, uuid.NewString(), "x").Turn.ID] = true
	}
	var mu sync.Mutex
	got := map[string]int{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for {
				turn, err := b.Claim(t.Context(), fmt.Sprint("r", i))
				if errors.Is(err, journal.ErrNotFound) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				got[turn.ID]++
				mu.Unlock()
				if turn.Epoch != 1 {
					t.Errorf("epoch %d", turn.Epoch)
				}
			}
		})
	}
	wg.Wait()
	for id := range want {
		if got[id] != 1 {
			t.Errorf("turn %s was claimed %d times", id, got[id])
		}
	}
}

func fencing(t *testing.T, b bed) {
	ctx := t.Context()
	old, _ := b.running(t)
	begun, err := b.BeginStep(ctx, lease(old), journal.Intent{N: 1, Kind: journal.ModelStep, Name: "m", Request: json.RawMessage(`{}`)})
	must(t, err)
	_, err = b.Claim(ctx, "two")
	wants(t, err, journal.ErrNotFound)
	b.clock.Pass(16 * time.Second)
	taken, err := b.Claim(ctx, "two")
	must(t, err)
	if taken.ID != old.ID || taken.Epoch != 2 {
		t.Fatalf("%+v", taken)
	}
	zombie := lease(old)
	_, err = b.Heartbeat(ctx, zombie)
	wants(t, err, journal.ErrFenced)
	_, err = b.BeginStep(ctx, zombie, journal.Intent{N: 2, Kind: journal.ToolStep, Name: "t", Request: json.RawMessage(`{}`)})
	wants(t, err, journal.ErrFenced)
	_, err = b.FinishStep(ctx, zombie, journal.End{N: 1, Attempt: begun.Step.Attempt, State: journal.Finished, Charge: &journal.Charge{}})
	wants(t, err, journal.ErrFenced)
	wants(t, b.FirstByte(ctx, zombie, 1, 1, "m", model.Usage{}), journal.ErrFenced)
	wants(t, b.RaiseMark(ctx, zombie, 99), journal.ErrFenced)
	wants(t, b.Release(ctx, zombie), journal.ErrFenced)
	_, err = b.FinishTurn(ctx, zombie, journal.Ending{Outcome: journal.Outcome{Status: journal.Completed}})
	wants(t, err, journal.ErrFenced)
	for epoch, want := range map[int64]bool{1: false, 2: true, 3: false} {
		if live, err := b.TurnLive(ctx, old.ID, epoch); err != nil || live != want {
			t.Errorf("epoch %d live: %v, %v", epoch, live, err)
		}
	}
	all, err := b.StepsOf(ctx, old.ID)
	if err != nil || len(all) != 1 || all[0].State != journal.Started {
		t.Errorf("%+v, %v", all, err)
	}
}

func steps(t *testing.T, b bed) {
	ctx := t.Context()
	turn, _ := b.running(t)
	l := lease(turn)
	in := journal.Intent{N: 1, Kind: journal.ToolStep, Name: "sql", Request: json.RawMessage(`{"call":"a"}`), Marks: []journal.Mark{{At: time.Now(), Kind: "preflight", Took: time.Second}}}
	first, err := b.BeginStep(ctx, l, in)
	must(t, err)
	_, err = b.FinishStep(ctx, l, journal.End{N: 1, Attempt: first.Step.Attempt, State: journal.StepFail, ErrorClass: "unavailable", Error: "down"})
	must(t, err)
	second, err := b.BeginStep(ctx, l, in)
	must(t, err)
	if second.Step.Attempt != 2 {
		t.Errorf("attempt %d", second.Step.Attempt)
	}
	_, err = b.FinishStep(ctx, l, journal.End{N: 1, Attempt: 1, State: journal.Finished})
	wants(t, err, journal.ErrConflict)
	_, err = b.FinishStep(ctx, l, journal.End{N: 1, Attempt: 2, State: journal.Finished, Result: json.RawMessage(`{"text":"r"}`)})
	must(t, err)
	_, err = b.BeginStep(ctx, l, in)
	wants(t, err, journal.ErrConflict)
	all, err := b.Steps(ctx, kim, turn.ID)
	must(t, err)
	if len(all) != 1 || all[0].State != journal.Finished || string(all[0].Result) != `{"text":"r"}` || all[0].Ended.IsZero() {
		t.Errorf("%+v", all)
	}
	tries, err := b.Attempts(ctx, kim, turn.ID)
	must(t, err)
	if len(tries) != 2 || tries[0].ErrorClass != "unavailable" || tries[1].State != journal.Finished {
		t.Errorf("%+v", tries)
	}
	marks, err := b.Marks(ctx, kim, turn.ID)
	must(t, err)
	var kinds []string
	for _, m := range marks {
		kinds = append(kinds, m.Kind)
	}
	if diff := cmp.Diff([]string{"queued", "claimed", "preflight", "preflight"}, kinds); diff != "" {
		t.Error(diff)
	}
}

func charges(t *testing.T, b bed) {
	ctx := t.Context()
	turn, _ := b.running(t)
	l := lease(turn)
	in := journal.Intent{N: 1, Kind: journal.ModelStep, Name: "m", Request: json.RawMessage(`{}`), Unknown: journal.Charge{Usage: model.Usage{Input: 40}}}
	_, err := b.BeginStep(ctx, l, in)
	must(t, err)
	must(t, b.FirstByte(ctx, l, 1, 1, "m", model.Usage{Input: 50}))
	must(t, b.FirstByte(ctx, l, 1, 1, "m", model.Usage{Input: 60}))
	b.clock.Pass(time.Minute) // the runner dies
	taken, err := b.Claim(ctx, "two")
	must(t, err)
	l = lease(taken)
	_, err = b.BeginStep(ctx, l, in)
	must(t, err)
	_, err = b.FinishStep(ctx, l, journal.End{N: 1, Attempt: 2, State: journal.Finished, Charge: &journal.Charge{Model: "m", Usage: model.Usage{Input: 70, Output: 5, CostMicros: 9}}})
	must(t, err)
	in.N = 2
	_, err = b.BeginStep(ctx, l, in)
	must(t, err)
	b.clock.Pass(time.Minute)
	taken, err = b.Claim(ctx, "three")
	must(t, err)
	_, err = b.BeginStep(ctx, lease(taken), in)
	must(t, err)
	all, err := b.Charges(ctx, kim, turn.ID)
	must(t, err)
	var got []string
	for _, c := range all {
		got = append(got, fmt.Sprint(c.N, ".", c.Attempt, " ", c.Usage.Input, " ", c.Estimated))
	}
	// The first attempt by its first byte, the second exactly, the third by what was sent; the one that runs not yet.
	if diff := cmp.Diff([]string{"1.1 50 true", "1.2 70 false", "2.1 40 true"}, got); diff != "" {
		t.Error(diff)
	}
}

func waiting(t *testing.T, b bed) {
	ctx := t.Context()
	turn, c := b.running(t)
	l := lease(turn)
	b.post(t, c, "second")
	beat, err := b.Heartbeat(ctx, l)
	must(t, err)
	if beat.Waiting != 1 {
		t.Errorf("%d wait", beat.Waiting)
	}
	begun, err := b.BeginStep(ctx, l, journal.Intent{N: 1, Kind: journal.ModelStep, Name: "m", Request: json.RawMessage(`{}`), Take: true})
	must(t, err)
	if len(begun.Taken) != 1 || begun.Taken[0].Content.Blocks[0].Text != "second" {
		t.Errorf("%+v", begun.Taken)
	}
	b.post(t, c, "third")
	next, err := b.FinishTurn(ctx, l, journal.Ending{
		Outcome: journal.Outcome{Status: journal.Completed},
		Answer:  &journal.Message{ID: "a", Content: model.Message{Role: model.Assistant, Blocks: question("answer").Blocks}, UI: json.RawMessage(`[]`)},
	})
	must(t, err)
	if next == nil || next.Conversation != c {
		t.Fatalf("%+v", next)
	}
	history, err := b.History(ctx, *next)
	must(t, err)
	var said []string
	for _, m := range history {
		said = append(said, m.Content.Blocks[0].Text)
	}
	if diff := cmp.Diff([]string{"hello", "second", "third", "answer"}, said); diff != "" {
		t.Error(diff)
	}
}

func events(t *testing.T, b bed) {
	ctx := t.Context()
	turn, _ := b.running(t)
	l := lease(turn)
	one, two := json.RawMessage(`{"type":"start"}`), json.RawMessage(`{"type":"text-delta","delta":"ü 🚚"}`)
	_, err := b.BeginStep(ctx, l, journal.Intent{N: 1, Kind: journal.ModelStep, Name: "m", Request: json.RawMessage(`{}`), Chunk: journal.Chunk{First: 1, Events: []json.RawMessage{one, two}}, Reserve: 100})
	must(t, err)
	_, err = b.FinishStep(ctx, l, journal.End{N: 1, Attempt: 1, State: journal.Finished, Chunk: journal.Chunk{First: 7, Events: []json.RawMessage{two}}})
	must(t, err)
	must(t, b.RaiseMark(ctx, l, 50))
	got, err := b.Find(ctx, turn.ID)
	must(t, err)
	if got.EventMark != 102 {
		t.Errorf("mark %d", got.EventMark)
	}
	chunks, err := b.Chunks(ctx, turn.ID, 0)
	must(t, err)
	want := []journal.Chunk{{First: 1, Epoch: 1, Events: []json.RawMessage{one, two}}, {First: 7, Epoch: 1, Events: []json.RawMessage{two}}}
	if diff := cmp.Diff(want, chunks); diff != "" {
		t.Error(diff)
	}
	if chunks, err = b.Chunks(ctx, turn.ID, 2); err != nil || len(chunks) != 1 {
		t.Errorf("%v, %v", chunks, err)
	}
	if last, err := b.LastSeq(ctx, turn.ID); err != nil || last != 7 {
		t.Errorf("%d, %v", last, err)
	}
}

func artifacts(t *testing.T, b bed) {
	ctx := t.Context()
	turn, c := b.running(t)
	l := lease(turn)
	for n, sha := range map[int]string{1: "one"} {
		_, err := b.BeginStep(ctx, l, journal.Intent{N: n, Kind: journal.ToolStep, Name: "w", Request: json.RawMessage(`{}`)})
		must(t, err)
		stored, err := b.FinishStep(ctx, l, journal.End{N: n, Attempt: 1, State: journal.Finished, Artifacts: []journal.Artifact{{Name: "a.xlsx", MediaType: "x", Size: 1, SHA256: sha}}})
		must(t, err)
		if len(stored) != 1 || stored[0].Org != "acme" || stored[0].Conversation != c || stored[0].ID == "" {
			t.Errorf("%+v", stored)
		}
	}
	_, err := b.FinishTurn(ctx, l, journal.Ending{Outcome: journal.Outcome{Status: journal.Failed}, Artifacts: []journal.Artifact{{Name: "a.xlsx", SHA256: "two", Size: 2}, {Name: "b", SHA256: "b"}}})
	must(t, err)
	all, err := b.Artifacts(ctx, kim, c)
	must(t, err)
	if len(all) != 2 || all[0].SHA256 != "two" {
		t.Errorf("%+v", all)
	}
	one, err := b.Artifact(ctx, kim, all[0].ID)
	if err != nil || one.Size != 2 {
		t.Errorf("%+v, %v", one, err)
	}
	_, err = b.Artifact(ctx, journal.Owner{Org: "other"}, all[0].ID)
	wants(t, err, journal.ErrNotFound)
}

func cancelling(t *testing.T, b bed) {
	ctx := t.Context()
	turn, _ := b.running(t)
	for range 2 {
		got, err := b.RequestCancel(ctx, kim, turn.ID)
		must(t, err)
		if !got.Cancel || got.Outcome.Status != journal.Running {
			t.Errorf("%+v", got)
		}
	}
	beat, err := b.Heartbeat(ctx, lease(turn))
	must(t, err)
	if !beat.Cancel {
		t.Error("the heartbeat doesn't tell")
	}
	begun, err := b.BeginStep(ctx, lease(turn), journal.Intent{N: 1, Kind: journal.ToolStep, Name: "t", Request: json.RawMessage(`{}`)})
	must(t, err)
	if !begun.Cancel {
		t.Error("a step's begin doesn't tell")
	}
	_, err = b.FinishTurn(ctx, lease(turn), journal.Ending{Outcome: journal.Outcome{Status: journal.Cancelled, Message: "stopped"}})
	must(t, err)
	got, err := b.RequestCancel(ctx, kim, turn.ID)
	must(t, err)
	if got.Outcome.Status != journal.Cancelled || got.Outcome.Message != "stopped" {
		t.Errorf("%+v", got.Outcome)
	}
	all, err := b.StepsOf(ctx, turn.ID)
	if err != nil || all[0].State != journal.StepFail || all[0].ErrorClass != "cancelled" {
		t.Errorf("%+v, %v", all, err)
	}
}

func releasing(t *testing.T, b bed) {
	ctx := t.Context()
	turn, _ := b.running(t)
	must(t, b.Release(ctx, lease(turn)))
	again, err := b.Claim(ctx, "dead")
	must(t, err)
	if again.Epoch != 2 || again.IdleClaims != 1 {
		t.Errorf("%+v", again)
	}
	names, err := b.Runners(ctx)
	must(t, err)
	if diff := cmp.Diff([]string{"dead"}, names); diff != "" {
		t.Error(diff)
	}
	if freed, err := b.Orphan(ctx, "dead"); err != nil || freed != 1 {
		t.Errorf("%d, %v", freed, err)
	}
	third, err := b.Claim(ctx, "three")
	must(t, err)
	if third.Epoch != 3 || third.IdleClaims != 2 {
		t.Errorf("%+v", third)
	}
}

func unpublished(t *testing.T, b bed) {
	ctx := t.Context()
	turn, _ := b.running(t)
	_, err := b.FinishTurn(ctx, lease(turn), journal.Ending{Outcome: journal.Outcome{Status: journal.Completed}})
	must(t, err)
	_, err = b.ClaimUnpublished(ctx, "two")
	wants(t, err, journal.ErrNotFound)
	b.clock.Pass(time.Minute)
	got, err := b.ClaimUnpublished(ctx, "two")
	must(t, err)
	if got.ID != turn.ID || got.Epoch != 2 {
		t.Errorf("%+v", got)
	}
	wants(t, b.Published(ctx, lease(turn)), journal.ErrFenced)
	must(t, b.Published(ctx, lease(got)))
	b.clock.Pass(time.Minute)
	_, err = b.ClaimUnpublished(ctx, "three")
	wants(t, err, journal.ErrNotFound)
}

func odd(t *testing.T, b bed) {
	text := "NUL \x00, broken \xff, 🚚 'quotes' \"; DROP TABLE turns; --"
	c := uuid.NewString()
	b.post(t, c, text)
	all, err := b.Messages(t.Context(), kim, c, 0, 10)
	must(t, err)
	if got := all[0].Content.Blocks[0].Text; got != "NUL , broken �, 🚚 'quotes' \"; DROP TABLE turns; --" {
		t.Errorf("%q", got)
	}
}

func sums(t *testing.T, b bed) {
	ctx := t.Context()
	before, err := b.Spent(ctx, kim.Org, kim.Person, b.clock.Now().Add(-time.Hour))
	must(t, err)
	turn, _ := b.running(t)
	_, err = b.BeginStep(ctx, lease(turn), journal.Intent{N: 1, Kind: journal.ModelStep, Name: "m", Request: json.RawMessage(`{}`)})
	must(t, err)
	_, err = b.FinishStep(ctx, lease(turn), journal.End{N: 1, Attempt: 1, State: journal.Finished, Charge: &journal.Charge{Model: "m", Usage: model.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, CostMicros: 5}}})
	must(t, err)
	after, err := b.Spent(ctx, kim.Org, kim.Person, b.clock.Now().Add(-time.Hour))
	must(t, err)
	if after.Tokens()-before.Tokens() != 10 || after.CostMicros-before.CostMicros != 5 || after.Attempts-before.Attempts != 1 {
		t.Errorf("%+v, %+v", before, after)
	}
	by, err := b.SpentByPerson(ctx, kim.Org, b.clock.Now().Add(-time.Hour))
	if err != nil || by["kim"] != after {
		t.Errorf("%+v, %v", by, err)
	}
	if none, err := b.Spent(ctx, "nobody", "", time.Time{}); err != nil || none.Attempts != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}
