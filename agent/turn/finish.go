package turn

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/stream/uimessage"
)

// errDeadline ends a turn whose time is over.
var errDeadline = errors.New("turn: its time is over")

// cutError ends the ordinary steps of a turn: the finalizer has the last word.
type cutError struct {
	cut   cut
	cause error
}

func (e *cutError) Error() string { return "turn: cut short by " + e.cut.text }
func (e *cutError) Unwrap() error { return e.cause }

func cutShort(c cut) journal.Outcome {
	o := journal.Outcome{Status: journal.CutShort, Reason: c.reason, Message: "cut short by " + c.text, Hint: hintFor(c.reason)}
	if b := c.blame; b != nil {
		o.Class, o.Component, o.Fault, o.Step, o.Attempt = b.Class, b.Component, b.Fault, b.Step, b.Attempt
	}
	return o
}

// blamed is the cut of an error with the failure that made it.
func (u *run) blamed(err *cutError) cut {
	c, o := err.cut, u.failed(err.cause)
	c.blame = &blame{Class: o.Class, Component: o.Component, Fault: o.Fault, Step: o.Step, Attempt: o.Attempt}
	return c
}

func hintFor(reason string) string {
	switch reason {
	case "context":
		return "ask about a smaller part, or begin a new conversation"
	case "person_budget", "org_budget":
		return "the budget frees up as earlier turns leave its window; an administrator can raise it"
	case "unavailable":
		return "ask again when the part that failed answers"
	default:
		return "ask it to go on, or ask about a smaller part"
	}
}

func reasonText(reason string) string {
	switch reason {
	case "context":
		return "the length of what the model can read"
	case "unavailable":
		return "a part that didn't answer"
	default:
		return "the limit of " + strings.ReplaceAll(reason, "_", " ")
	}
}

func journalFailure(err error) error {
	if errors.Is(err, journal.ErrFenced) || err == nil {
		return err
	}
	return &Failure{Component: "journal", Class: "unavailable", Message: "the journal could not be read or written", Hint: "check the database", Cause: err}
}

// failure keeps a typed error and gives any other a component and a safe message.
func failure(err error, component, message string) error {
	var f *Failure
	if errors.As(err, &f) || errors.Is(err, journal.ErrFenced) {
		return err
	}
	return &Failure{Component: component, Class: "internal", Message: message, Hint: "the log has the rest under the turn's id", Cause: err}
}

// failed is the outcome of a turn that an error ended.
func (u *run) failed(err error) journal.Outcome {
	step, attempt := 0, 0
	if n := len(u.script.steps); n > 0 {
		step, attempt = u.script.steps[n-1].N, u.script.steps[n-1].Attempt
	}
	switch {
	case errors.Is(err, errCancelled):
		return journal.Outcome{Status: journal.Cancelled, Message: "stopped on request"}
	case errors.Is(err, errDeadline):
		return cutShort(cut{reason: "deadline", text: "the time that a turn may take"})
	}
	o := journal.Outcome{Status: journal.Failed, Fault: string(model.Infrastructure), Step: step, Attempt: attempt}
	var f *Failure
	var m *model.Error
	switch {
	case errors.As(err, &f):
		o.Class, o.Component, o.Message, o.Hint = f.Class, f.Component, f.Message, f.Hint
		if f.Fault != "" {
			o.Fault = string(f.Fault)
		}
	case errors.As(err, &m):
		o.Class, o.Component, o.Message, o.Hint, o.Fault = string(m.Class), "model", m.Message, m.Hint, string(m.Class.Fault())
	default:
		o.Class, o.Component, o.Message, o.Hint = "internal", "runner", "internal error", "the log has the rest under the turn's id"
	}
	return o
}

// finish stores the outcome with the terminal event and waits, within bounds, for the buffer to have it.
func (u *run) finish(ctx context.Context, stopPub context.CancelCauseFunc, o journal.Outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if u.pub == nil { // not even the events could be taken over: the lease runs out and another runner tries
		return
	}
	if o.Status == journal.Failed {
		u.log.ErrorContext(ctx, "the turn failed", slog.String("class", o.Class), slog.String("component", o.Component), slog.String("fault", o.Fault), slog.Int("step", o.Step))
	}
	rest := u.fileParts(u.rest)
	var end []byte
	switch o.Status {
	case journal.Completed:
		end = uimessage.Finish(uimessage.Stop, nil)
	case journal.CutShort:
		end = uimessage.Finish(uimessage.Length, nil)
	case journal.Cancelled:
		end = uimessage.Abort(o.Message)
	default:
		end = uimessage.Error(o.Message)
	}
	for {
		err := u.store(ctx, o, rest, end)
		switch {
		case err == nil:
			u.r.metrics.end(o)
			u.flush(stopPub, true)
			return
		case errors.Is(err, journal.ErrFenced):
			u.r.metrics.fenced.Inc()
			stopPub(journal.ErrFenced)
			u.drain()
			return
		case !wait(ctx, 200*time.Millisecond):
			u.log.ErrorContext(ctx, "the turn's end could not be stored", slog.Any("error", err))
			stopPub(errLease)
			u.drain()
			return
		}
	}
}

func (u *run) store(ctx context.Context, o journal.Outcome, rest []json.RawMessage, end json.RawMessage) error {
	files := slices.SortedFunc(maps.Values(u.files), func(a, b journal.Artifact) int { return strings.Compare(a.Name, b.Name) })
	content, err := answerOf(u.script.steps, files, o)
	if err != nil {
		return err
	}
	chunk := u.pub.stage(append(slices.Clone(rest), uimessage.Data(uimessage.DataOutcome, "outcome", o), end)...)
	ui, err := u.fold(ctx, chunk)
	if err != nil {
		u.pub.abandoned()
		return err
	}
	_, err = u.c.Journal.FinishTurn(ctx, u.lease, journal.Ending{
		Outcome: o, Chunk: chunk, Artifacts: u.rest, Marks: u.takeMarks(),
		Answer: &journal.Message{ID: answerID(u.turn.ID), AfterStep: len(u.script.steps), Content: content, UI: ui},
	})
	if err != nil {
		u.pub.abandoned()
		return err
	}
	u.pub.committed(0)
	return nil
}

// answerID is the id of the message that a turn answers with, in the stream and in the conversation.
func answerID(turn string) string { return "answer-" + turn }

// fold puts the turn's events together to the message that people see when they come back.
func (u *run) fold(ctx context.Context, last journal.Chunk) ([]byte, error) {
	chunks, err := u.c.Journal.Chunks(ctx, u.turn.ID, 0)
	if err != nil {
		return nil, err
	}
	var f uimessage.Folder
	for _, c := range append(chunks, last) {
		for _, e := range c.Events {
			if err := f.Add(e); err != nil {
				return nil, err
			}
		}
	}
	return f.Parts()
}

// flush lets the publisher send the rest, within bounds; what is left is published by whoever finds the turn unpublished.
// closing ends the stream for its readers as well.
func (u *run) flush(stopPub context.CancelCauseFunc, closing bool) {
	if u.pub == nil {
		return
	}
	u.pub.finish(closing)
	timer := time.AfterFunc(5*time.Second, func() { stopPub(errLease) })
	defer timer.Stop()
	<-u.pub.done
}

// drain waits for a publisher that was stopped.
func (u *run) drain() {
	if u.pub != nil {
		<-u.pub.done
	}
}
