package httpapi

import (
	"context"
	"errors"
	"testing"

	"bordereau/agent/journal"
	"bordereau/agent/stream/uimessage"
)

// boxes are sandboxes of which a test says everything.
type boxes struct {
	warmed chan string
	state  string
	err    error
}

func (b *boxes) Warm(_ context.Context, conversation, org string) error {
	err := b.err
	b.warmed <- org + "/" + conversation // a test may say something else from now on
	return err
}

func (b *boxes) State(context.Context, string) (string, error) { return b.state, b.err }

func TestWarm(t *testing.T) {
	t.Parallel()
	b := &boxes{warmed: make(chan string, 1)}
	r := newRig(t, func(c *Config) { c.Sandboxes = b })
	// A conversation that isn't there yet is about to be.
	r.get(request{who: me, method: "POST", path: "/api/chat/c-new/warm"}, 202, nil)
	if got := <-b.warmed; got != "acme/" {
		t.Errorf("warmed %s", got)
	}
	r.get(request{who: me, method: "POST", path: "/api/conversations", body: `{"id":"c-1","title":"mine"}`}, 201, nil)
	r.get(request{who: "other/admin", method: "POST", path: "/api/chat/c-1/warm"}, 202, nil)
	if got := <-b.warmed; got != "other/" {
		t.Errorf("another organisation's conversation: warmed %s", got)
	}
	for _, who := range []string{"acme/auditor", "acme/admin"} { // they may read it, and not ask in it
		r.fails(request{who: who, method: "POST", path: "/api/chat/c-1/warm"}, 404, NotFound)
	}
	b.err = errors.New("no host answers") // harms nobody
	r.get(request{who: me, method: "POST", path: "/api/chat/c-1/warm"}, 202, nil)
	if got := <-b.warmed; got != "acme/c-1" {
		t.Errorf("warmed %s", got)
	}
	without := newRig(t, nil)
	without.get(request{who: me, method: "POST", path: "/api/chat/c-new/warm"}, 202, nil)
}

func TestActivity(t *testing.T) {
	t.Parallel()
	b := &boxes{warmed: make(chan string, 1), state: "running"}
	r := newRig(t, func(c *Config) { c.Sandboxes = b })
	activity := func(who, conversation string) (a Activity) {
		t.Helper()
		r.get(request{who: who, method: "GET", path: "/api/chat/" + conversation + "/activity"}, 200, &a)
		return a
	}
	r.get(request{who: me, method: "POST", path: "/api/conversations", body: `{"id":"c-1","title":"mine"}`}, 201, nil)
	if a := activity(me, "c-1"); a.Turn != nil || a.Sandbox != "running" {
		t.Errorf("before a turn: %+v", a)
	}
	began, goOn := make(chan struct{}), make(chan struct{})
	r.script(func(p *pen) {
		p.say(uimessage.Start("answer-" + p.Turn.ID))
		close(began)
		<-goOn
		p.end(journal.Outcome{Status: journal.Completed}, "Done.")
	})
	asked := r.do(request{who: me, method: "POST", path: "/api/chat", body: chat("c-1", "hello")})
	<-began
	if a := activity(me, "c-1"); a.Turn == nil || a.Turn.Status != "running" || a.Turn.ID != asked.Header.Get("Bordereau-Turn") || a.Turn.Ahead != 0 {
		t.Errorf("while a turn runs: %+v", a)
	}
	// Another conversation's turn waits behind those that were queued before it.
	r.runner.hold(true)
	for _, id := range []string{"c-2", "c-3"} {
		r.do(request{who: "acme/analyst", method: "POST", path: "/api/chat", body: chat(id, "wait "+id)})
	}
	if a := activity("acme/analyst", "c-3"); a.Turn == nil || a.Turn.Status != "queued" || a.Turn.Ahead != 1 {
		t.Errorf("in the queue: %+v", a)
	}
	if a := activity("acme/auditor", "c-1"); a.Turn == nil {
		t.Errorf("an auditor reads it: %+v", a)
	}
	for _, who := range []string{"acme/analyst", "other/admin"} {
		r.fails(request{who: who, method: "GET", path: "/api/chat/c-1/activity"}, 404, NotFound)
	}
	b.err = errors.New("no host answers") // is no reason to hide the queue
	if a := activity(me, "c-1"); a.Sandbox != "none" || a.Turn == nil {
		t.Errorf("without its host: %+v", a)
	}
	close(goOn)
	if _, done := events(t, asked.Body, 0); !done {
		t.Error("the turn has no end")
	}
	if a := activity(me, "c-1"); a.Turn == nil || a.Turn.Status != "completed" {
		t.Errorf("after the turn: %+v", a)
	}
}
