package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// Timeline is what happened to a turn, in order: the answer to "which part failed, and what was it waiting for".
type Timeline struct {
	Turn      journal.Turn       `json:"-"`
	ID        string             `json:"turn"`
	Org       string             `json:"org"`
	Outcome   journal.Outcome    `json:"outcome"`
	Lines     []Line             `json:"lines"`
	Charges   []journal.Charge   `json:"charges"`
	Artifacts []journal.Artifact `json:"artifacts"`
	Waited    map[string]float64 `json:"waited_seconds"` // by part
}

// Line is one thing that happened.
type Line struct {
	At      time.Time     `json:"at"`
	Since   time.Duration `json:"since_ns"` // the message was accepted
	Took    time.Duration `json:"took_ns,omitempty"`
	Epoch   int64         `json:"epoch"`
	Step    int           `json:"step,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Kind    string        `json:"kind"` // "queued", "claimed", "released", "preflight", "model", "tool", "first_byte", "sandbox", "governance", "back_off", "cancel", "ended"
	Name    string        `json:"name,omitempty"`
	State   string        `json:"state,omitempty"`
	Class   string        `json:"class,omitempty"`
	Fault   string        `json:"fault,omitempty"` // of a failed attempt: infrastructure or model
	Note    string        `json:"note,omitempty"`
}

// ReadTimeline puts a turn's timeline together. Scope the turn by its owner before showing it to a person.
func ReadTimeline(ctx context.Context, store *journal.Store, id string) (t Timeline, err error) {
	if t.Turn, err = store.Find(ctx, id); err != nil {
		return t, err
	}
	t.ID, t.Org, t.Outcome, t.Waited = t.Turn.ID, t.Turn.Org, t.Turn.Outcome, map[string]float64{}
	steps, err := store.StepsOf(ctx, id)
	if err != nil {
		return t, err
	}
	attempts, err := store.AttemptsOf(ctx, id)
	if err != nil {
		return t, err
	}
	marks, err := store.MarksOf(ctx, id)
	if err != nil {
		return t, err
	}
	if t.Charges, err = store.ChargesOf(ctx, id); err != nil {
		return t, err
	}
	if t.Artifacts, err = store.ArtifactsOf(ctx, id); err != nil {
		return t, err
	}
	for _, m := range marks {
		if m.Took > 0 {
			t.Waited[m.Kind] += m.Took.Seconds()
		}
	}
	t.Lines = Lines(t.Turn, steps, attempts, marks)
	return t, nil
}

// Lines puts what the journal holds of a turn into the order in which it happened.
func Lines(t journal.Turn, steps []journal.Step, attempts []journal.Attempt, marks []journal.Mark) []Line {
	var all []Line
	for _, m := range marks {
		all = append(all, Line{At: m.At, Took: m.Took, Epoch: m.Epoch, Step: m.N, Kind: m.Kind, Note: m.Note})
	}
	byN := map[int]journal.Step{}
	for _, s := range steps {
		byN[s.N] = s
	}
	for _, a := range attempts {
		all = append(all, attemptLines(a, byN[a.N])...)
	}
	slices.SortStableFunc(all, func(a, b Line) int { return a.At.Compare(b.At) })
	for i := range all {
		all[i].Since = all[i].At.Sub(t.Created)
	}
	return all
}

func attemptLines(a journal.Attempt, s journal.Step) []Line {
	l := Line{At: a.Started, Epoch: a.Epoch, Step: a.N, Attempt: a.Attempt, Kind: string(s.Kind), Name: s.Name, State: string(a.State), Class: a.ErrorClass, Note: a.Error}
	if !a.Ended.IsZero() {
		l.Took = a.Ended.Sub(a.Started)
	}
	if a.State == journal.StepFail {
		l.Fault = string(model.Infrastructure)
		if s.Kind == journal.ModelStep {
			l.Fault = string(model.Class(a.ErrorClass).Fault())
		}
	}
	lines := []Line{l}
	if !a.FirstByte.IsZero() {
		lines = append(lines, Line{At: a.FirstByte, Took: a.FirstByte.Sub(a.Started), Epoch: a.Epoch, Step: a.N, Attempt: a.Attempt, Kind: "first_byte"})
	}
	return lines
}

// String is one line for a terminal.
func (l Line) String() string {
	what := l.Kind
	if l.Name != "" {
		what += " " + l.Name
	}
	where := fmt.Sprintf("epoch %d", l.Epoch)
	if l.Step > 0 {
		where += fmt.Sprintf(" step %d", l.Step)
	}
	if l.Attempt > 0 {
		where += fmt.Sprintf(" attempt %d", l.Attempt)
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%10.3fs  %-26s  %-28s", l.Since.Seconds(), where, what)
	if l.Took > 0 {
		fmt.Fprintf(&s, "  %9.1fms", float64(l.Took.Microseconds())/1000)
	} else {
		s.WriteString("             ")
	}
	for _, extra := range []string{l.State, l.Class, l.Fault, l.Note} {
		if extra != "" {
			s.WriteString("  " + extra)
		}
	}
	return s.String()
}
