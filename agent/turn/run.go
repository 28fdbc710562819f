package turn

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/stream/uimessage"
)

// maxIdleClaims is how many runners may take a turn without finishing a step before the turn is given up.
const maxIdleClaims = 3

// run is one turn under one epoch.
type run struct {
	r      *Runner
	c      Config
	log    *slog.Logger
	lease  journal.Lease
	cancel context.CancelCauseFunc

	traced  trace.SpanContext // the turn's span, which waits hang below
	turn    journal.Turn
	script  transcript
	used    used
	files   map[string]journal.Artifact // by name
	model   model.Model
	tools   Tools
	list    []model.Tool
	system  string
	pub     *publisher
	squeeze int // how often the model said that the context was too long
	ending  atomic.Bool

	rest []journal.Artifact // found after the last step

	mu    sync.Mutex
	marks []journal.Mark
}

// errHandOver ends the work of a turn whose lease is to be given back.
var errHandOver = errors.New("turn: handed over")

func newRun(r *Runner, t journal.Turn, log *slog.Logger, cancel context.CancelCauseFunc) *run {
	return &run{r: r, c: r.c, log: log, lease: journal.Lease{Turn: t.ID, Epoch: t.Epoch}, cancel: cancel, turn: t, files: map[string]journal.Artifact{}}
}

// handOver asks the turn to stop after the step that runs.
func (u *run) handOver() { u.ending.Store(true) }

// work takes the turn from where it is to its end.
func (u *run) work(ctx context.Context) {
	ctx, span := u.span(ctx, "turn", aboutTurn(u.turn)...)
	u.traced = span.SpanContext()
	var err error
	defer func() { endSpan(span, err) }()
	pubCtx, stopPub := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopPub(errLease)
	err = u.takeOver(ctx, pubCtx)
	var outcome journal.Outcome
	if err == nil {
		outcome, err = u.loop(ctx)
	}
	if u.tools != nil {
		u.collectRest(ctx)
		// The turn may be cancelled; what its tools started must be stopped even so.
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		if cerr := u.tools.Close(closing); cerr != nil {
			u.log.WarnContext(ctx, "closing the tools failed", slog.Any("error", cerr))
		}
		cancel()
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	switch {
	case errors.Is(err, journal.ErrFenced), errors.Is(err, errLease):
		u.r.metrics.fenced.Inc()
		u.log.WarnContext(ctx, "the turn went to another runner", slog.Any("error", err))
		stopPub(journal.ErrFenced)
		u.drain()
		return
	case errors.Is(err, errHandOver), errors.Is(err, errStopping):
		u.flush(stopPub, false)
		releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if rerr := u.c.Journal.Release(releasing, u.lease); rerr != nil {
			u.log.WarnContext(ctx, "giving the lease back failed", slog.Any("error", rerr))
		}
		return
	case err != nil:
		outcome = u.failed(err)
	}
	span.SetAttributes(aboutOutcome(outcome)...)
	u.finish(ctx, stopPub, outcome)
}

// collectRest finds files that a step left which didn't end: they are delivered all the same.
func (u *run) collectRest(ctx context.Context) {
	if errors.Is(context.Cause(ctx), journal.ErrFenced) || u.ending.Load() {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	rest, err := u.tools.Collect(bounded)
	if err != nil {
		u.log.WarnContext(ctx, "collecting the last files failed", slog.Any("error", err))
		return
	}
	u.rest = rest
}

// takeOver reads where the turn is and prepares what its steps need. It asks no model.
func (u *run) takeOver(ctx, pubCtx context.Context) error {
	pub, err := takeOver(ctx, u.c.Journal, u.c.Buffer, u.turn, func(err error) { u.cancel(err) })
	if err != nil {
		return journalFailure(err)
	}
	u.pub = pub
	pub.start(pubCtx)
	if u.script.steps, err = u.c.Journal.StepsOf(ctx, u.turn.ID); err != nil {
		return journalFailure(err)
	}
	if u.script.history, err = u.c.Journal.History(ctx, u.turn); err != nil {
		return journalFailure(err)
	}
	charges, err := u.c.Journal.ChargesOf(ctx, u.turn.ID)
	if err != nil {
		return journalFailure(err)
	}
	for _, c := range charges {
		u.used.charge(c)
	}
	files, err := u.c.Journal.ArtifactsOf(ctx, u.turn.ID)
	if err != nil {
		return journalFailure(err)
	}
	for _, f := range files {
		u.files[f.Name] = f
	}
	u.script.turn = u.turn
	for _, st := range u.script.steps {
		if st.State == journal.Finished {
			u.used.steps++
		}
	}
	// A step that was running is begun again, and reset for readers by that.
	if u.turn.Cancel {
		return errCancelled
	}
	if u.turn.IdleClaims > maxIdleClaims {
		return &Failure{
			Component: "runner", Class: "crash_loop", Message: "three runners took this turn and none finished a step",
			Hint: "look in the log for what ended them; what the turn had delivered is kept",
		}
	}
	if u.model, err = u.c.Models.Model(u.turn.Model); err != nil {
		return &Failure{Component: "model", Class: "unknown_model", Message: "the model that was asked for isn't configured", Hint: "choose one of the configured models", Cause: err}
	}
	return u.preflight(ctx)
}

func (u *run) preflight(ctx context.Context) (err error) {
	ctx, span := u.span(ctx, "preflight")
	defer func() { endSpan(span, err) }()
	began := u.c.Now()
	bounded, cancel := context.WithTimeoutCause(ctx, u.c.Preflight, &Failure{Component: "toolbox", Class: "timeout", Message: "the tools didn't answer in time"})
	defer cancel()
	if u.tools, err = u.c.Toolbox.Open(bounded, u.turn, (*observer)(u)); err != nil {
		if cause := context.Cause(bounded); ctx.Err() == nil && cause != nil {
			err = errors.Join(cause, err)
		}
		return failure(err, "toolbox", "the turn's tools could not be opened")
	}
	u.list = u.tools.List()
	u.mark("preflight", 0, began, u.c.Now().Sub(began), "")
	org := u.turn.Org
	if u.c.Names != nil {
		if name, err := u.c.Names.OrgName(ctx, u.turn.Org); err == nil && name != "" {
			org = name
		}
	}
	u.system, err = systemPrompt(u.turn, org, u.list, u.c.Now())
	return err
}

// loop makes steps until the model has answered or something ends the turn.
func (u *run) loop(ctx context.Context) (journal.Outcome, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, u.c.Limits.end(u.turn), errDeadline)
	defer cancel()
	for {
		if err := ctx.Err(); err != nil {
			return journal.Outcome{}, context.Cause(ctx)
		}
		if u.ending.Load() {
			return journal.Outcome{}, errHandOver
		}
		last, n, calls, err := u.script.open()
		if err != nil {
			return journal.Outcome{}, journalFailure(err)
		}
		if last != nil && len(calls) > 0 {
			if err := u.toolStep(ctx, n, calls[0], len(calls) == 1); err != nil {
				if c, ok := errors.AsType[*cutError](err); ok {
					return u.finalize(ctx, u.blamed(c))
				}
				return journal.Outcome{}, err
			}
			continue
		}
		if last != nil && (last.Stop != model.UseTools || !hasCalls(last.Message)) {
			return u.answered(last, n), nil
		}
		met, err := u.c.Limits.met(ctx, u.turn, u.used, u.c.Now(), u.c.Journal)
		if err != nil {
			return journal.Outcome{}, journalFailure(err)
		}
		if met != nil {
			return u.finalize(ctx, *met)
		}
		if err := u.modelStep(ctx, nil); err != nil {
			if c, ok := errors.AsType[*cutError](err); ok {
				return u.finalize(ctx, u.blamed(c))
			}
			return journal.Outcome{}, err
		}
	}
}

// answered is the outcome of a turn whose model asks for nothing more.
func (u *run) answered(last *reply, n int) journal.Outcome {
	var a asked
	attempt := 0
	for _, st := range u.script.steps {
		if st.N == n {
			attempt = st.Attempt
			_ = json.Unmarshal(st.Request, &a) // written by this package; an unreadable one means no limit
		}
	}
	switch {
	case a.Final != "":
		return cutShort(cut{reason: a.Final, text: reasonText(a.Final), blame: a.Blame})
	case last.Stop == model.Refused:
		return journal.Outcome{
			Status: journal.Failed, Class: string(model.Refusal), Fault: string(model.OfModel), Component: "model", Step: n, Attempt: attempt,
			Message: "the model declined to answer", Hint: "ask differently, or choose another model",
		}
	case last.Stop == model.MaxTokens:
		return cutShort(cut{reason: "reply_length", text: "the limit of one reply's length"})
	default:
		return journal.Outcome{Status: journal.Completed}
	}
}

// finalize makes one last call without tools, so that what was found isn't lost, and ends the turn as cut short. A call that
// was made before a crash isn't made again.
func (u *run) finalize(ctx context.Context, c cut) (journal.Outcome, error) {
	if c.spent {
		u.pub.say(u.opening(1, false)...)
		u.sayPlain("This was not begun: " + c.text + " is spent.")
		u.pub.say(uimessage.FinishStep())
		return cutShort(c), nil
	}
	if err := u.modelStep(ctx, &c); err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errDeadline) {
			return journal.Outcome{}, cause
		}
		if errors.Is(err, journal.ErrFenced) {
			return journal.Outcome{}, err
		}
		u.log.WarnContext(ctx, "the last words failed", slog.Any("error", err))
		u.sayPlain("This answer was cut short by " + c.text + ". What was delivered before that is kept.")
	}
	return cutShort(c), nil
}

func (u *run) sayPlain(text string) {
	id := "cut-" + u.turn.ID
	u.pub.say(uimessage.TextStart(id), uimessage.TextDelta(id, text), uimessage.TextEnd(id))
}

// mark notes a line of the timeline; it is stored with the next transaction.
func (u *run) mark(kind string, n int, at time.Time, took time.Duration, note string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.marks) < 1000 {
		u.marks = append(u.marks, journal.Mark{At: at, N: n, Kind: kind, Took: took, Note: head(note, 200)})
	}
}

func (u *run) takeMarks() []journal.Mark {
	u.mu.Lock()
	defer u.mu.Unlock()
	m := u.marks
	u.marks = nil
	return m
}

// observer is what tools tell beside their results.
type observer run

func (o *observer) Progress(call string, p Progress) {
	u := (*run)(o)
	u.pub.say(uimessage.Passing(uimessage.DataProgress, call, uimessage.Progress{Message: p.Message, Done: p.Done, Total: p.Total}))
}

func (o *observer) Waited(component string, began time.Time, took time.Duration, note string) {
	u := (*run)(o)
	u.mark(component, 0, began, took, note)
	u.waitSpan(component, began, took)
	u.r.metrics.waited(component, took)
}
