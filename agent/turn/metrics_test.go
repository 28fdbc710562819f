package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/turn"
)

// Failures of the infrastructure and of the model are counted apart, in turns that end and in single tries, and a turn that one of them
// cuts short says as much as one that fails: class, component, step, try, and whose fault.
func TestFailuresAreCountedApart(t *testing.T) {
	t.Parallel()
	down := reportTools()
	down.tools["write"] = func(context.Context, turn.Call) (turn.Result, error) {
		return turn.Result{}, &turn.Failure{Component: "governance", Class: "unavailable", Message: "governance does not answer", Hint: "h"}
	}
	failing := func(class model.Class) scripted {
		return func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
			yield(model.Event{}, &model.Error{Class: class, Message: "m", Hint: "h"})
		}
	}
	for name, c := range map[string]struct {
		model scripted
		tools *bench
		fail  error // of the toolbox
		want  journal.Outcome
		ended string // labels of the one turn that ended
		tries string // labels of one of the model's tries, "" for none
	}{
		"overloaded": {
			model: failing(model.Overloaded), tools: reportTools(),
			want:  journal.Outcome{Status: journal.Failed, Class: "overloaded", Component: "model", Fault: "infrastructure", Step: 1, Attempt: 3},
			ended: `component="model",fault="infrastructure",reason="",status="failed"`, tries: `class="overloaded",fault="infrastructure",model="scripted"`,
		},
		"bad request": {
			model: failing(model.BadRequest), tools: reportTools(),
			want:  journal.Outcome{Status: journal.Failed, Class: "bad_request", Component: "model", Fault: "model", Step: 1, Attempt: 1},
			ended: `component="model",fault="model",reason="",status="failed"`, tries: `class="bad_request",fault="model",model="scripted"`,
		},
		"refusal": {
			model: func(_ context.Context, _ model.Request, yield func(model.Event, error) bool) {
				done(yield, model.Refused)
			}, tools: reportTools(),
			want:  journal.Outcome{Status: journal.Failed, Class: "refusal", Component: "model", Fault: "model", Step: 1, Attempt: 1},
			ended: `component="model",fault="model",reason="",status="failed"`,
		},
		"no tools": {
			model: failing(model.Refusal), tools: reportTools(), fail: &turn.Failure{Component: "governance", Class: "unavailable", Message: "m", Hint: "h"},
			want:  journal.Outcome{Status: journal.Failed, Class: "unavailable", Component: "governance", Fault: "infrastructure"},
			ended: `component="governance",fault="infrastructure",reason="",status="failed"`,
		},
		"a part that doesn't answer": {
			model: busy, tools: down,
			want:  journal.Outcome{Status: journal.CutShort, Reason: "unavailable", Class: "unavailable", Component: "governance", Fault: "infrastructure", Step: 2, Attempt: 3},
			ended: `component="governance",fault="infrastructure",reason="unavailable",status="cut_short"`, tries: `class="ok",fault="",model="scripted"`,
		},
		"context": {
			model: failing(model.ContextExceeded), tools: reportTools(),
			want:  journal.Outcome{Status: journal.CutShort, Reason: "context", Class: "context_exceeded", Component: "model", Fault: "model", Step: 1, Attempt: 3},
			ended: `component="model",fault="model",reason="context",status="cut_short"`, tries: `class="context_exceeded",fault="model",model="scripted"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			c.tools.fail = c.fail
			h := newHouse(t, c.model, c.tools)
			h.cfg.Metrics, h.cfg.Attempts = registry, 3
			r := h.start(t)
			p := h.post(t, "c", "everything")
			r.Wake()
			h.follow(t, p.Turn.ID, 0)
			got := h.ended(t, p.Turn.ID).Outcome
			if got.Message == "" || got.Hint == "" {
				t.Errorf("%+v says too little", got)
			}
			if got.Message, got.Hint = "", ""; got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			r.Stop()
			if got := series(t, registry, "bordereau_turns_ended_total"); len(got) != 1 || got[c.ended] != 1 {
				t.Errorf("ended: %v, want one of %s", got, c.ended)
			}
			if got := series(t, registry, "bordereau_model_attempts_total"); c.tries != "" && got[c.tries] == 0 {
				t.Errorf("tries: %v, want some of %s", got, c.tries)
			}
		})
	}
}

// series are a counter's values by their labels.
func series(t *testing.T, g prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			all[strings.Join(labels, ",")] = m.GetCounter().GetValue()
		}
	}
	return all
}
