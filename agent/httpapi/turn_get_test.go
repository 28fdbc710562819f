package httpapi

import (
	"context"
	"testing"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// A turn's timeline has every wait and every attempt, with whose failure it was.
func TestTimelineHasAttempts(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.script(func(p *pen) {
		ctx, l := context.Background(), journal.Lease{Turn: p.Turn.ID, Epoch: p.Turn.Epoch}
		attempt := func(n int, kind journal.StepKind, name string, marks []journal.Mark, end journal.End) {
			st, err := p.s.store.BeginStep(ctx, l, journal.Intent{N: n, Kind: kind, Name: name, Marks: marks})
			if err != nil {
				panic(err)
			}
			end.N, end.Attempt = n, st.Step.Attempt
			if _, err := p.s.store.FinishStep(ctx, l, end); err != nil {
				panic(err)
			}
		}
		now := time.Now()
		attempt(1, journal.ModelStep, "m", []journal.Mark{{At: now, Kind: "preflight", Took: time.Millisecond}}, journal.End{State: journal.StepFail, ErrorClass: string(model.Overloaded), Error: "busy"})
		attempt(1, journal.ModelStep, "m", []journal.Mark{{At: now, N: 1, Kind: "back_off", Took: time.Second}}, journal.End{State: journal.Finished, FirstByte: now})
		attempt(2, journal.ToolStep, "run", []journal.Mark{{At: now, Kind: "sandbox", Took: 2 * time.Second}, {At: now, Kind: "governance", Took: time.Second, Note: "asked 2 times"}},
			journal.End{State: journal.StepFail, ErrorClass: "unavailable", Error: "no sandbox"})
		attempt(3, journal.ModelStep, "m", nil, journal.End{State: journal.StepFail, ErrorClass: string(model.Refusal)})
		p.end(journal.Outcome{Status: journal.Failed, Class: string(model.Refusal), Component: "model", Fault: string(model.OfModel), Step: 3, Attempt: 1, Message: "m", Hint: "h"}, "")
	})
	resp := r.do(request{who: me, method: "POST", path: "/api/chat", body: chat("c-1", "hi")})
	events(t, resp.Body, 0)
	r.runner.wg.Wait()
	var d TurnDetail
	r.get(request{who: me, method: "GET", path: "/api/turns/" + resp.Header.Get("Bordereau-Turn")}, 200, &d)
	type row struct {
		kind, name, state, class, fault string
		step, attempt                   int
	}
	found := map[row]bool{}
	last := time.Time{}
	for _, l := range d.Timeline {
		found[row{l.Kind, l.Name, l.State, l.Class, l.Fault, l.Step, l.Attempt}] = true
		if l.At.Before(last) || l.Since < 0 && l.Kind != "queued" {
			t.Errorf("out of order: %+v", l)
		}
		last = l.At
	}
	for _, want := range []row{
		{kind: "queued"},
		{kind: "claimed"},
		{kind: "preflight"},
		{kind: "model", name: "m", state: "failed", class: "overloaded", fault: "infrastructure", step: 1, attempt: 1},
		{kind: "back_off", step: 1},
		{kind: "model", name: "m", state: "done", step: 1, attempt: 2},
		{kind: "first_byte", step: 1, attempt: 2},
		{kind: "sandbox"},
		{kind: "governance"},
		{kind: "tool", name: "run", state: "failed", class: "unavailable", fault: "infrastructure", step: 2, attempt: 1},
		{kind: "model", name: "m", state: "failed", class: "refusal", fault: "model", step: 3, attempt: 1},
		{kind: "ended"},
	} {
		if !found[want] {
			t.Errorf("%+v is missing in %+v", want, d.Timeline)
		}
	}
	if o := d.Turn.Outcome; o.Step != 3 || o.Attempt != 1 || o.Component != "model" || o.Fault != "model" || o.Class != "refusal" {
		t.Errorf("%+v", o)
	}
}
