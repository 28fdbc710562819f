package journaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

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
		stored, err := b.FinishStep(ctx, l, journal.End{N: n, Attempt: 1, State: journal.Finished, Artifacts: []journal.Artifact{{Name: "a.xlsx", MediaType: "x", Size: 1, SHA256: sha, Run: "run-" + sha}}})
		must(t, err)
		if len(stored) != 1 || stored[0].Org != "acme" || stored[0].Conversation != c || stored[0].ID == "" || stored[0].Run != "run-"+sha {
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
	for grouping, key := range map[journal.Grouping]string{
		journal.ByPerson: "kim", journal.ByModel: "m", journal.ByTurn: turn.ID, journal.ByDay: b.clock.Now().UTC().Format(time.DateOnly),
	} {
		groups, err := b.SpentBy(ctx, journal.SpentFilter{Org: kim.Org, Person: kim.Person, By: grouping, From: b.clock.Now().Add(-time.Hour), To: b.clock.Now().Add(time.Hour)})
		if err != nil || !slices.ContainsFunc(groups, func(g journal.SpentGroup) bool { return g.Key == key && g.Tokens() >= 10 && g.Attempts >= 1 }) {
			t.Errorf("by %s: %+v, %v", grouping, groups, err)
		}
		if groups, err := b.SpentBy(ctx, journal.SpentFilter{Org: kim.Org, Person: kim.Person, By: grouping, To: b.clock.Now().Add(-10000 * time.Hour)}); err != nil || len(groups) != 0 {
			t.Errorf("by %s before: %+v, %v", grouping, groups, err)
		}
	}
	if _, err := b.SpentBy(ctx, journal.SpentFilter{Org: kim.Org, By: "colour"}); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("by colour: %v", err)
	}
	if none, err := b.Spent(ctx, "nobody", "", time.Time{}); err != nil || none.Attempts != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}
