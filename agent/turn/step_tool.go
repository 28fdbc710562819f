package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/stream/uimessage"
)

// toolStep makes one call of the model's last reply; final is the reply's last one.
func (u *run) toolStep(ctx context.Context, replyN int, call model.Block, final bool) (err error) {
	n := u.script.steps[len(u.script.steps)-1].N
	again := u.script.steps[len(u.script.steps)-1].State != journal.Finished
	if !again {
		n++
	}
	ctx, span := u.span(ctx, "step", attribute.Int("bordereau.step", n), attribute.String("bordereau.kind", string(journal.ToolStep)))
	defer func() { endSpan(span, err) }()
	request, err := json.Marshal(called{Call: call.ID, Reply: replyN, Input: call.Input})
	if err != nil {
		return err
	}
	pause := u.c.BackOff
	for try := 1; ; try++ {
		err := u.tryTool(ctx, n, call, request, again, final)
		var f *Failure
		if err == nil || ctx.Err() != nil || !errors.As(err, &f) || f.Class != "unavailable" || f.Component == "journal" {
			return err
		}
		if try >= u.c.Attempts {
			return &cutError{cut{reason: "unavailable", text: f.Component + " not answering"}, err}
		}
		u.mark("back_off", n, u.c.Now(), pause, f.Component)
		if !wait(ctx, pause/2+time.Duration(float64(pause)*u.c.Jitter()/2)) {
			return context.Cause(ctx)
		}
		pause, again = min(2*pause, 30*time.Second), true
	}
}

// tryTool is one try of a call: intent, call, end.
func (u *run) tryTool(ctx context.Context, n int, call model.Block, request json.RawMessage, again, final bool) error {
	chunk := u.pub.stage()
	begun, err := u.c.Journal.BeginStep(ctx, u.lease, journal.Intent{
		N: n, Kind: journal.ToolStep, Name: call.Name, Request: request,
		Chunk: chunk, Reserve: stepReserve, Marks: u.takeMarks(),
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
	res, err := u.call(ctx, begun.Step, call, again)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		u.r.metrics.tools.WithLabelValues(call.Name, "failed").Inc()
		if errors.Is(err, journal.ErrFenced) || errors.Is(err, errStopping) {
			return err // the step stays open: whoever goes on joins the call by its key
		}
		if ferr := u.failTool(ctx, begun.Step, err); ferr != nil {
			return ferr
		}
		return err
	}
	return u.endTool(ctx, begun.Step, call, res, final)
}

// call runs a tool, unless the call can't be run: then it says so to the model.
func (u *run) call(ctx context.Context, st journal.Step, call model.Block, again bool) (Result, error) {
	if raw, bad := malformed(call.Input); bad {
		return Result{Error: true, Text: "The input of this call was not a JSON object. It began with: " + head(raw, 300)}, nil
	}
	if !slices.ContainsFunc(u.list, func(t model.Tool) bool { return t.Name == call.Name }) {
		names := make([]string, len(u.list))
		for i, t := range u.list {
			names[i] = t.Name
		}
		return Result{Error: true, Text: fmt.Sprintf("There is no tool %q. The tools are: %s.", call.Name, strings.Join(names, ", "))}, nil
	}
	ctx, span := u.span(ctx, "execute_tool "+call.Name, attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", call.Name),
		attribute.String("gen_ai.tool.call.id", call.ID), attribute.Int("bordereau.step", st.N), attribute.Int("bordereau.attempt", st.Attempt))
	res, err := u.tools.Call(ctx, Call{ID: call.ID, Name: call.Name, Input: call.Input, Key: fmt.Sprintf("%s:%d", u.turn.ID, st.N), Again: again})
	span.SetAttributes(attribute.Bool("bordereau.tool.error", res.Error))
	endSpan(span, err)
	if errors.Is(err, ErrUnknownOutcome) {
		return Result{Error: true, Text: "Interrupted, outcome unknown: this call was running when its machine failed, and it may or may not have had its effect. Check before you call it again."}, nil
	}
	if err != nil {
		return res, failure(err, "toolbox", "the tool "+call.Name+" failed")
	}
	return res, nil
}

func (u *run) failTool(ctx context.Context, st journal.Step, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	end := journal.End{N: st.N, Attempt: st.Attempt, State: journal.StepFail, ErrorClass: "internal", Error: head(err.Error(), 500), Marks: u.takeMarks()}
	if f, ok := errors.AsType[*Failure](err); ok {
		end.ErrorClass = f.Component + "/" + f.Class
	}
	end.Chunk = u.pub.stage()
	if _, err := u.c.Journal.FinishStep(ctx, u.lease, end); err != nil {
		u.pub.abandoned()
		return journalFailure(err)
	}
	u.pub.committed(0)
	st.State, st.ErrorClass = journal.StepFail, end.ErrorClass
	u.setStep(st)
	return nil
}

// endTool stores a call's result with the files that it left, and shows both.
func (u *run) endTool(ctx context.Context, st journal.Step, call model.Block, res Result, final bool) error {
	result := answered{Text: strings.ToValidUTF8(strings.ReplaceAll(res.Text, "\x00", ""), "�"), Error: res.Error, Bytes: len(res.Text), AuditIDs: res.AuditIDs}
	if len(result.Text) > u.c.ResultMax {
		path, err := u.tools.Save(ctx, fmt.Sprintf("step-%d-%s.txt", st.N, call.Name), []byte(res.Text))
		if err != nil {
			u.log.WarnContext(ctx, "a long result could not be kept whole", slog.Int("step", st.N), slog.Any("error", err))
		}
		result.Path = path
		result.Text = excerpt(result.Text, u.c.ResultMax, path)
	}
	found, err := u.tools.Collect(ctx)
	if err != nil {
		return failure(err, "sandbox", "the files that the turn wrote could not be collected")
	}
	files := append(slices.Clone(res.Artifacts), found...)
	stored, err := json.Marshal(result)
	if err != nil {
		return err
	}
	events := u.fileParts(files)
	switch {
	case res.Error:
		events = append(events, uimessage.ToolOutputError(call.ID, head(result.Text, 4000)))
	case res.Output != nil && json.Valid(res.Output):
		events = append(events, uimessage.ToolOutput(call.ID, res.Output))
	default:
		text, _ := json.Marshal(result.Text) // a string always marshals
		events = append(events, uimessage.ToolOutput(call.ID, text))
	}
	u.used.steps++
	if final {
		events = append(events, uimessage.FinishStep())
	}
	chunk := u.pub.stage(events...)
	kept, err := u.c.Journal.FinishStep(ctx, u.lease, journal.End{
		N: st.N, Attempt: st.Attempt, State: journal.Finished, Result: stored,
		Chunk: chunk, Artifacts: files, Marks: u.takeMarks(),
	})
	if err != nil {
		u.pub.abandoned()
		return journalFailure(err)
	}
	u.pub.committed(0)
	for _, f := range kept {
		u.files[f.Name] = f
	}
	st.State, st.Result = journal.Finished, stored
	u.setStep(st)
	verdict := "ok"
	if res.Error {
		verdict = "error"
	}
	u.r.metrics.tools.WithLabelValues(call.Name, verdict).Inc()
	return nil
}

// fileParts gives delivered files their ids and shows them.
func (u *run) fileParts(files []journal.Artifact) (events []json.RawMessage) {
	for i := range files {
		f := &files[i]
		known, again := u.files[f.Name]
		switch {
		case again:
			f.ID = known.ID
		case f.ID == "":
			f.ID = u.c.NewID()
		}
		u.files[f.Name] = *f
		url := "/api/artifacts/" + f.ID
		events = append(events, uimessage.Data(uimessage.DataArtifact, "artifact-"+f.Name, uimessage.Artifact{ID: f.ID, Name: f.Name, MediaType: f.MediaType, Size: f.Size, SHA256: f.SHA256, URL: url}))
		if !again {
			events = append(events, uimessage.File(url, f.MediaType))
		}
	}
	return events
}

// malformed tells whether an adapter could not read a call's input; it then keeps the text under one key.
func malformed(input json.RawMessage) (raw string, bad bool) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(input, &m); err != nil {
		return string(input), true
	}
	text, ok := m[model.MalformedInput]
	if !ok || len(m) != 1 {
		return "", false
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return string(text), true
	}
	return raw, true
}
