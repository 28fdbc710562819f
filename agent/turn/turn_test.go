package turn_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/turn"
)

// report is a model that asks for two tools and then answers.
var report = scripted(func(_ context.Context, r model.Request, yield func(model.Event, error) bool) {
	switch replies(r) {
	case 0:
		call(yield, "c1", "sql", `{"query":"SELECT 1"}`)
	case 1:
		call(yield, "c2", "write", `{}`)
	default:
		say(yield, "Two findings in report.xlsx.")
	}
})

func reportTools() *bench {
	b := &bench{}
	b.tools = map[string]func(context.Context, turn.Call) (turn.Result, error){
		"sql": func(context.Context, turn.Call) (turn.Result, error) {
			return turn.Result{Text: `{"rows":[[1]]}`}, nil
		},
		"write": func(context.Context, turn.Call) (turn.Result, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.files = []journal.Artifact{{Name: "report.xlsx", MediaType: "application/vnd.ms-excel", Size: 3, SHA256: "abc"}}
			return turn.Result{Text: "written"}, nil
		},
	}
	return b
}

func TestTurnFromMessageToOneTerminalEvent(t *testing.T) {
	t.Parallel()
	b := reportTools()
	h := newHouse(t, report, b)
	r := h.start(t)
	p := h.post(t, "c", "Reconcile today")
	r.Wake()
	all := h.follow(t, p.Turn.ID, 0)
	if got := text(all); got != "||Two findings in report.xlsx." {
		t.Errorf("text: %q", got)
	}
	if got := terminals(all); !slices.Equal(got, []string{"finish"}) || all[len(all)-1].Type != "finish" {
		t.Errorf("terminal events: %v, last %s", got, all[len(all)-1].Raw)
	}
	got := h.ended(t, p.Turn.ID)
	if got.Outcome.Status != journal.Completed {
		t.Errorf("outcome: %+v", got.Outcome)
	}
	steps, err := h.store.Steps(t.Context(), owner, p.Turn.ID)
	if err != nil || len(steps) != 5 {
		t.Errorf("steps: %d, %v", len(steps), err)
	}
	charges, err := h.store.Charges(t.Context(), owner, p.Turn.ID)
	if err != nil || len(charges) != 3 {
		t.Errorf("charges: %v, %v", charges, err)
	}
	files, err := h.store.Artifacts(t.Context(), owner, "c")
	if err != nil || len(files) != 1 || files[0].Name != "report.xlsx" {
		t.Errorf("artifacts: %v, %v", files, err)
	}
	if !slices.ContainsFunc(all, func(p part) bool {
		return p.Type == "data-artifact" && strings.Contains(p.Raw, files[0].ID)
	}) {
		t.Error("the artifact isn't in the stream under its id")
	}
	messages, err := h.store.Messages(t.Context(), owner, "c", 0, 10)
	if err != nil || len(messages) != 2 || !strings.Contains(string(messages[1].UI), `"dynamic-tool"`) {
		t.Errorf("messages: %v, %v", messages, err)
	}
	if len(b.calls) != 2 || b.calls[0].Key != p.Turn.ID+":2" || b.calls[0].Again {
		t.Errorf("calls: %+v", b.calls)
	}
	// Readers who come back get the same, from any place and from the journal alone.
	whole := h.follow(t, p.Turn.ID, 0)
	h.events.Buffer = emptyBuffer()
	if diff := cmp.Diff(whole, h.follow(t, p.Turn.ID, 0)); diff != "" {
		t.Error("the journal tells another story (-buffer +journal):", diff)
	}
	if diff := cmp.Diff(whole[7:], h.follow(t, p.Turn.ID, 7)); diff != "" {
		t.Error(diff)
	}
}

func TestPreflightFailureNeverAsksTheModel(t *testing.T) {
	t.Parallel()
	asked := false
	m := scripted(func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
		asked = true
		say(yield, "I have no tools")
	})
	h := newHouse(t, m, &bench{fail: &turn.Failure{Component: "governance", Class: "unavailable", Message: "no answer", Hint: "start it"}})
	r := h.start(t)
	p := h.post(t, "c", "hello")
	r.Wake()
	all := h.follow(t, p.Turn.ID, 0)
	want := journal.Outcome{Status: journal.Failed, Class: "unavailable", Fault: "infrastructure", Component: "governance", Message: "no answer", Hint: "start it"}
	if diff := cmp.Diff(want, h.ended(t, p.Turn.ID).Outcome); diff != "" || asked {
		t.Error("asked", asked, diff)
	}
	if !slices.Equal(terminals(all), []string{"error"}) {
		t.Errorf("terminal: %v", terminals(all))
	}
}

func TestModelFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		class  model.Class
		times  int // failures before success
		status journal.Status
		fault  string
	}{
		"overloaded, then well":   {model.Overloaded, 2, journal.Completed, ""},
		"truncated in mid-text":   {model.Truncated, 1, journal.Completed, ""},
		"never well":              {model.Transport, 99, journal.Failed, "infrastructure"},
		"wrong key is no retry":   {model.Auth, 1, journal.Failed, "infrastructure"},
		"refused by the model":    {model.Refusal, 1, journal.Failed, "model"},
		"context too long, twice": {model.ContextExceeded, 2, journal.Completed, ""},
		"context always too long": {model.ContextExceeded, 99, journal.CutShort, "model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			m := scripted(func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
				if n++; n <= c.times {
					if yield(model.Event{Kind: model.TextDelta, Text: "wrong"}, nil) {
						yield(model.Event{}, &model.Error{Class: c.class, Message: "no"})
					}
					return
				}
				say(yield, "right")
			})
			h := newHouse(t, m, reportTools())
			r := h.start(t)
			p := h.post(t, "c", "hello")
			r.Wake()
			all := h.follow(t, p.Turn.ID, 0)
			got := h.ended(t, p.Turn.ID).Outcome
			if got.Status != c.status || got.Fault != c.fault {
				t.Errorf("outcome: %+v", got)
			}
			if c.status == journal.Completed && text(all) != "right" {
				t.Errorf("a reader sees %q", text(all))
			}
			charges, err := h.store.Charges(t.Context(), owner, p.Turn.ID)
			if err != nil || len(charges) != n {
				t.Errorf("%d attempts, %d charges, %v", n, len(charges), err)
			}
			if len(terminals(all)) != 1 {
				t.Errorf("terminal events: %v", terminals(all))
			}
		})
	}
}

func TestCancelStopsAtOnce(t *testing.T) {
	t.Parallel()
	running := make(chan struct{})
	m := scripted(func(ctx context.Context, _ model.Request, yield func(model.Event, error) bool) {
		if !yield(model.Event{Kind: model.TextDelta, Text: "thinking"}, nil) {
			return
		}
		close(running)
		<-ctx.Done()
		yield(model.Event{}, &model.Error{Class: model.Cancelled, Cause: ctx.Err()})
	})
	h := newHouse(t, m, reportTools())
	r := h.start(t)
	p := h.post(t, "c", "hello")
	r.Wake()
	<-running
	if err := r.Cancel(t.Context(), journal.Owner{Org: "other", Person: "x", Role: "admin"}, p.Turn.ID); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("another organisation cancelled: %v", err)
	}
	began := time.Now()
	if err := r.Cancel(t.Context(), owner, p.Turn.ID); err != nil {
		t.Fatal(err)
	}
	all := h.follow(t, p.Turn.ID, 0)
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %s", took)
	}
	if got := h.ended(t, p.Turn.ID).Outcome.Status; got != journal.Cancelled || !slices.Equal(terminals(all), []string{"abort"}) {
		t.Errorf("%s, %v", got, terminals(all))
	}
}

func TestMessageDuringATurnJoinsAtTheNextStep(t *testing.T) {
	t.Parallel()
	var h *house
	saw := ""
	m := scripted(func(_ context.Context, r model.Request, yield func(model.Event, error) bool) {
		if replies(r) == 0 {
			call(yield, "c1", "sql", `{}`)
			return
		}
		last := r.Messages[len(r.Messages)-1]
		for _, b := range last.Blocks {
			saw += string(b.Kind) + ":" + b.Text + ";"
		}
		say(yield, "ok")
	})
	b := reportTools()
	b.tools["sql"] = func(context.Context, turn.Call) (turn.Result, error) {
		if p := h.post(t, "c", "and July too"); !p.Joined {
			t.Error("a second turn beside the first")
		}
		return turn.Result{Text: "rows"}, nil
	}
	h = newHouse(t, m, b)
	r := h.start(t)
	p := h.post(t, "c", "June")
	r.Wake()
	h.follow(t, p.Turn.ID, 0)
	if saw != "tool_result:rows;text:and July too;" {
		t.Errorf("the model saw %q", saw)
	}
}

func TestMessageTooLateGetsATurnOfItsOwn(t *testing.T) {
	t.Parallel()
	var h *house
	m := scripted(func(_ context.Context, r model.Request, yield func(model.Event, error) bool) {
		if replies(r) == 0 {
			h.post(t, "c", "second")
		}
		say(yield, "answer")
	})
	h = newHouse(t, m, reportTools())
	r := h.start(t)
	p := h.post(t, "c", "first")
	r.Wake()
	h.follow(t, p.Turn.ID, 0)
	last, err := h.store.LastTurn(t.Context(), owner, "c")
	if err != nil || last.ID == p.Turn.ID {
		t.Fatalf("no second turn: %v", err)
	}
	h.follow(t, last.ID, 0)
	if got := h.ended(t, last.ID).Outcome.Status; got != journal.Completed {
		t.Error(got)
	}
}
