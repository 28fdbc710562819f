package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/stream/uimessage"
)

// errStalled ends a model call that has been silent for too long.
var errStalled = errors.New("turn: the model fell silent")

// maxSqueeze is how often a context that was too long is compacted further before the turn is cut short.
const maxSqueeze = 2

// modelStep asks the model once, trying again after failures in passing. With last it is the finalizer's: no tools, no more
// than two tries.
func (u *run) modelStep(ctx context.Context, last *cut) (err error) {
	n := 1
	if k := len(u.script.steps); k > 0 {
		n = u.script.steps[k-1].N
		if u.script.steps[k-1].State == journal.Finished {
			n++
		}
	}
	ctx, span := u.span(ctx, "step", attribute.Int("bordereau.step", n), attribute.String("bordereau.kind", string(journal.ModelStep)))
	defer func() { endSpan(span, err) }()
	tries := u.c.Attempts
	if last != nil {
		tries = 2
	}
	pause := u.c.BackOff
	for try := 1; ; try++ {
		err := u.attempt(ctx, n, last)
		var failed *model.Error
		if err == nil || !errors.As(err, &failed) || ctx.Err() != nil {
			return err
		}
		switch {
		case failed.Class == model.ContextExceeded && u.squeeze < maxSqueeze:
			u.squeeze++
			continue
		case failed.Class == model.ContextExceeded && last == nil:
			u.squeeze++
			return &cutError{cut{reason: "context", text: reasonText("context")}, err}
		case !failed.Class.Retryable() || try >= tries:
			if last == nil && u.used.steps > 1 && failed.Class.Retryable() {
				// There is work worth handing over, and the model can't be asked for last words.
				u.sayPlain("The model stopped answering before this was finished. What was delivered before that is kept.")
			}
			return err
		}
		pauseNow := max(pause/2+time.Duration(float64(pause)*u.c.Jitter()/2), failed.RetryAfter)
		if end := u.c.Limits.end(u.turn); u.c.Now().Add(pauseNow).After(end) {
			return err // it would not be tried again in time
		}
		u.pub.say(uimessage.Passing(uimessage.DataRetry, "", uimessage.Retry{Step: n, Attempt: try, Class: string(failed.Class), WaitMS: pauseNow.Milliseconds()}))
		u.mark("back_off", n, u.c.Now(), pauseNow, string(failed.Class))
		if !wait(ctx, pauseNow) {
			return context.Cause(ctx)
		}
		pause = min(2*pause, 30*time.Second)
	}
}

// request builds what the model is asked.
func (u *run) request(last *cut) (model.Request, asked, error) {
	messages, err := u.script.messages()
	if err != nil {
		return model.Request{}, asked{}, journalFailure(err)
	}
	req := model.Request{System: u.system, Tools: u.list, MaxTokens: u.c.ReplyMax}
	about := asked{}
	if last != nil {
		req.Tools, about.Final, about.Blame = nil, last.reason, last.blame
		messages = add(messages, model.User, model.Block{Kind: model.Text, Text: "[Bordereau: this turn met " + last.text +
			". You can call no more tools. Sum up what you found so far, what is missing and what to ask next. Give only figures that you have seen.]"})
	}
	fixed := tokens(len(req.System)+toolSize(req.Tools)) + req.MaxTokens
	budget := max(u.c.ContextMax-fixed, 1000) >> u.squeeze
	messages, dropped := compact(messages, budget)
	req.Messages = messages
	about.Messages, about.Tools, about.Dropped = len(messages), len(req.Tools), dropped
	about.Estimate = tokens(len(req.System) + toolSize(req.Tools) + sizeOf(messages))
	return req, about, nil
}

// attempt is one try of a model step: intent, stream, end.
func (u *run) attempt(ctx context.Context, n int, last *cut) error {
	req, about, err := u.request(last)
	if err != nil {
		return err
	}
	summary, err := json.Marshal(about)
	if err != nil {
		return err
	}
	again := len(u.script.steps) > 0 && u.script.steps[len(u.script.steps)-1].N == n
	head := u.opening(n, again)
	chunk := u.pub.stage(head...)
	begun, err := u.c.Journal.BeginStep(ctx, u.lease, journal.Intent{
		N: n, Kind: journal.ModelStep, Name: u.model.Name(), Request: summary,
		Chunk: chunk, Reserve: stepReserve, Take: last == nil, Marks: u.takeMarks(), Unknown: u.unknownCharge(again),
	})
	if err != nil {
		u.pub.abandoned()
		return journalFailure(err)
	}
	u.pub.committed(stepReserve)
	u.setStep(begun.Step)
	if begun.Cancel {
		return errCancelled
	}
	if len(begun.Taken) > 0 {
		u.script.history = append(u.script.history, begun.Taken...)
		if req, _, err = u.request(last); err != nil {
			return err
		}
	}
	if n == 1 && begun.Step.Attempt == 1 {
		u.r.metrics.toRequest.Observe(u.c.Now().Sub(u.turn.Created).Seconds())
	}
	return u.converse(ctx, begun.Step, req)
}

// opening is what readers see before a model step: the head of the whole message, a new step, or the old one reset.
func (u *run) opening(n int, again bool) (events []json.RawMessage) {
	if n == 1 && !again {
		events = append(events, uimessage.Start(answerID(u.turn.ID)))
	}
	if n == 1 && !again || u.turn.Epoch > 1 {
		events = append(events, uimessage.Data(uimessage.DataTurn, "turn", uimessage.Turn{Turn: u.turn.ID, Conversation: u.turn.Conversation, Epoch: u.turn.Epoch, Model: u.model.Name()}))
	}
	if again {
		return append(events, uimessage.ResetStep())
	}
	return append(events, uimessage.StartStep())
}

// unknownCharge estimates an attempt whose end nobody saw and that has no charge yet: what was sent, and nothing that came back.
func (u *run) unknownCharge(again bool) journal.Charge {
	if !again {
		return journal.Charge{}
	}
	var a asked
	if err := json.Unmarshal(u.script.steps[len(u.script.steps)-1].Request, &a); err != nil {
		return journal.Charge{}
	}
	return journal.Charge{Usage: model.Usage{Input: int64(a.Estimate)}}
}

func (u *run) setStep(st journal.Step) {
	if k := len(u.script.steps); k > 0 && u.script.steps[k-1].N == st.N {
		u.script.steps[k-1] = st
		return
	}
	u.script.steps = append(u.script.steps, st)
}

// converse streams the reply to the readers and stores its end.
func (u *run) converse(ctx context.Context, st journal.Step, req model.Request) (err error) {
	ctx, span := u.span(ctx, "chat "+st.Name, attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", st.Name),
		attribute.Int("bordereau.step", st.N), attribute.Int("bordereau.attempt", st.Attempt))
	defer func() { endSpan(span, err) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(u.c.Stall, func() { cancel(errStalled) })
	defer watch.Stop()
	began := u.c.Now()
	teller := &teller{pub: u.pub, step: st.N}
	var known model.Usage
	var end *model.Event
	var failed *model.Error
	first := time.Time{}
	noted := make(chan struct{})
	close(noted)
	for e, err := range u.model.Stream(ctx, req) {
		watch.Reset(u.c.Stall)
		if err != nil {
			failed = model.AsError(err)
			break
		}
		if first.IsZero() {
			first = u.c.Now()
			u.r.metrics.firstByte.Observe(first.Sub(began).Seconds())
			span.AddEvent("first byte")
		}
		switch e.Kind {
		case model.UsageEvent:
			if known == (model.Usage{}) && e.Usage != known {
				noted = u.noteFirstByte(ctx, st, e.Usage)
			}
			known = e.Usage
		case model.Done:
			end = &e
		default:
			teller.tell(e)
		}
	}
	<-noted
	if end == nil && failed == nil {
		failed = &model.Error{Class: model.Truncated, Message: "the model's stream ended without its end"}
	}
	if cause := context.Cause(ctx); failed != nil && cause != nil {
		if !errors.Is(cause, errStalled) {
			if errors.Is(cause, errCancelled) || errors.Is(cause, errDeadline) {
				if err := u.endAttempt(ctx, st, failed, known, first); err != nil {
					return err
				}
			}
			return cause // else the attempt stays open for whoever goes on
		}
		failed = &model.Error{Class: model.Transport, Message: fmt.Sprintf("the model was silent for %s", u.c.Stall), Cause: cause}
	}
	if failed != nil {
		u.r.metrics.attempt(st.Name, failed, known)
		if err := u.endAttempt(ctx, st, failed, known, first); err != nil {
			return err
		}
		u.log.WarnContext(ctx, "a model attempt failed", slog.Int("step", st.N), slog.Int("attempt", st.Attempt), slog.String("class", string(failed.Class)), slog.Any("error", failed))
		return failed
	}
	u.r.metrics.attempt(st.Name, nil, end.Usage)
	span.SetAttributes(append(aboutUsage(end.Usage), attribute.StringSlice("gen_ai.response.finish_reasons", []string{string(end.Stop)}))...)
	return u.endReply(ctx, st, *end, fingerprint(req), teller, first)
}

// noteFirstByte charges the attempt by what its first usage event says, beside the stream.
func (u *run) noteFirstByte(ctx context.Context, st journal.Step, known model.Usage) chan struct{} {
	noted := make(chan struct{})
	go func() {
		defer close(noted)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := u.c.Journal.FirstByte(bounded, u.lease, st.N, st.Attempt, st.Name, known); err != nil {
			if errors.Is(err, journal.ErrFenced) {
				u.cancel(err)
				return
			}
			u.log.WarnContext(ctx, "a first byte could not be recorded", slog.Any("error", err))
		}
	}()
	return noted
}

// endAttempt stores a failed attempt. A cut stream is billed upstream all the same, so it is charged by what is known.
func (u *run) endAttempt(ctx context.Context, st journal.Step, failed *model.Error, known model.Usage, first time.Time) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if known == (model.Usage{}) {
		known = failed.Usage
	}
	end := journal.End{N: st.N, Attempt: st.Attempt, State: journal.StepFail, ErrorClass: string(failed.Class), Error: failed.Message, FirstByte: first, Marks: u.takeMarks()}
	if !first.IsZero() || known != (model.Usage{}) {
		charge := journal.Charge{Model: st.Name, Usage: known, Estimated: true}
		if known == (model.Usage{}) {
			charge.Usage = u.unknownCharge(true).Usage
		}
		end.Charge = &charge
		u.used.charge(charge)
	}
	end.Chunk = u.pub.stage()
	if _, err := u.c.Journal.FinishStep(ctx, u.lease, end); err != nil {
		u.pub.abandoned()
		return journalFailure(err)
	}
	u.pub.committed(0)
	st.State, st.ErrorClass = journal.StepFail, string(failed.Class)
	u.setStep(st)
	return nil
}

// endReply stores a whole reply.
func (u *run) endReply(ctx context.Context, st journal.Step, e model.Event, hash string, t *teller, first time.Time) error {
	result, err := json.Marshal(reply{Message: e.Message, Stop: e.Stop, Usage: e.Usage, Request: hash})
	if err != nil {
		return fmt.Errorf("storing a reply: %w", err)
	}
	charge := journal.Charge{Model: st.Name, Usage: e.Usage}
	u.used.charge(charge)
	u.used.steps++
	events := t.closing()
	events = append(events, uimessage.Data(uimessage.DataUsage, "usage", u.usage()))
	if !hasCalls(e.Message) {
		events = append(events, uimessage.FinishStep())
	}
	chunk := u.pub.stage(events...)
	if _, err := u.c.Journal.FinishStep(ctx, u.lease, journal.End{
		N: st.N, Attempt: st.Attempt, State: journal.Finished, Result: result,
		Charge: &charge, Chunk: chunk, FirstByte: first, Marks: u.takeMarks(),
	}); err != nil {
		u.pub.abandoned()
		return journalFailure(err)
	}
	u.pub.committed(0)
	st.State, st.Result = journal.Finished, result
	u.setStep(st)
	return nil
}

func (u *run) usage() uimessage.Usage {
	sum := u.used.sum
	return uimessage.Usage{Steps: u.used.steps, Input: sum.Input, Output: sum.Output, CacheRead: sum.CacheRead, CacheWrite: sum.CacheWrite, CostMicros: u.used.cost}
}

func hasCalls(m model.Message) bool {
	for _, b := range m.Blocks {
		if b.Kind == model.ToolUse {
			return true
		}
	}
	return false
}

// teller turns what a model says into parts of the stream.
type teller struct {
	pub  *publisher
	step int
	n    int
	open model.EventKind
	id   string
}

func (t *teller) tell(e model.Event) {
	switch e.Kind {
	case model.TextDelta, model.ReasoningDelta:
		if e.Text == "" {
			return
		}
		var events []json.RawMessage
		if t.open != e.Kind {
			events = t.closing()
			t.n++
			t.open, t.id = e.Kind, strconv.Itoa(t.step)+"-"+strconv.Itoa(t.n)
			if e.Kind == model.TextDelta {
				events = append(events, uimessage.TextStart(t.id))
			} else {
				events = append(events, uimessage.ReasoningStart(t.id))
			}
		}
		if e.Kind == model.TextDelta {
			events = append(events, uimessage.TextDelta(t.id, e.Text))
		} else {
			events = append(events, uimessage.ReasoningDelta(t.id, e.Text))
		}
		t.pub.say(events...)
	case model.ToolStart:
		t.pub.say(append(t.closing(), uimessage.ToolInputStart(e.ID, e.Name))...)
	case model.ToolDelta:
		t.pub.say(uimessage.ToolInputDelta(e.ID, e.Text))
	case model.ToolReady:
		if raw, bad := malformed(e.Input); bad {
			t.pub.say(uimessage.ToolInputError(e.ID, e.Name, e.Input, "not a JSON object: "+head(raw, 200)))
			return
		}
		t.pub.say(uimessage.ToolInputAvailable(e.ID, e.Name, e.Input))
	}
}

// closing ends the block that is open.
func (t *teller) closing() []json.RawMessage {
	open, id := t.open, t.id
	t.open = ""
	switch open {
	case model.TextDelta:
		return []json.RawMessage{uimessage.TextEnd(id)}
	case model.ReasoningDelta:
		return []json.RawMessage{uimessage.ReasoningEnd(id)}
	default:
		return nil
	}
}
