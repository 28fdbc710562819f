package journaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

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
