package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"bordereau/agent/model"
	"bordereau/agent/turn"
	"bordereau/sandbox"
)

// fault is a typed error as governance writes it, and as this package answers its own.
type fault struct {
	Code      string `json:"code"`
	Component string `json:"component"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
	Rule      string `json:"rule,omitempty"`
	Position  int    `json:"position,omitempty"`
	Retryable bool   `json:"retryable"`
	AuditID   string `json:"audit_id,omitempty"`
}

func (f *fault) Error() string { return fmt.Sprintf("%s: %s: %s", f.Component, f.Code, f.Message) }

// mendable tells whether the model can do something about it. What it can't, ends the turn or is asked again:
// a failure of the infrastructure must never look like an answer.
func (f *fault) mendable() bool {
	switch f.Code {
	case "denied", "invalid", "not_found", "rate_limited", "timeout", "too_large":
		return true
	}
	return false
}

// passing tells whether the same call may go well in a moment.
func (f *fault) passing() bool {
	return f.Code == "unavailable" || f.Retryable && (!f.mendable() || f.Code == "rate_limited")
}

func (f *fault) result() turn.Result {
	raw, err := json.Marshal(f)
	if err != nil {
		raw = []byte(`{"code":"internal"}`)
	}
	r := turn.Result{Text: string(raw), Error: true, Output: raw}
	if f.AuditID != "" {
		r.AuditIDs = []string{f.AuditID}
	}
	return r
}

// failure ends the turn because of f.
func (f *fault) failure(cause error) *turn.Failure {
	return &turn.Failure{Component: f.Component, Class: f.Code, Fault: model.Infrastructure, Message: f.Message, Hint: f.Hint, Cause: cause}
}

// readFault reads a typed error from JSON text.
func readFault(raw []byte) (*fault, bool) {
	var f fault
	if err := json.Unmarshal(raw, &f); err != nil || f.Code == "" || f.Message == "" {
		return nil, false //nolint:nilerr // that it is no typed error is the answer
	}
	if f.Component == "" {
		f.Component = "governance"
	}
	return &f, true
}

func invalid(message, hint string) *fault {
	return &fault{Code: "invalid", Component: "toolbox", Message: message, Hint: hint}
}

// ofSandbox types an error of a sandbox call.
func ofSandbox(err error) *fault {
	f := &fault{Code: "internal", Component: "sandbox", Message: "the sandbox failed", Hint: "the log has the details"}
	switch {
	case errors.Is(err, sandbox.ErrNoFile):
		f.Code, f.Message, f.Hint = "not_found", "there is no such file", "list_files shows what there is"
	case errors.Is(err, sandbox.ErrInvalid):
		f.Code, f.Message, f.Hint = "invalid", "the sandbox refused the request", "paths are below /workspace and follow no link out of it"
	case errors.Is(err, sandbox.ErrTooLarge):
		f.Code, f.Message, f.Hint = "too_large", "the file or the workspace is too large", "delete what isn't needed below /workspace"
	case errors.Is(err, sandbox.ErrUnsupported):
		f.Code, f.Message, f.Hint = "unavailable", "this sandbox can't do that", ""
	case errors.Is(err, sandbox.ErrNotFound):
		f.Code, f.Message, f.Hint, f.Retryable = "unavailable", "the sandbox is gone", "it is replaced at the next call", true
	case errors.Is(err, sandbox.ErrUnavailable):
		f.Code, f.Message, f.Hint, f.Retryable = "unavailable", "the sandbox does not answer", "the host of sandboxes may be down", true
	case errors.Is(err, sandbox.ErrInterrupted):
		f.Code, f.Message, f.Hint = "interrupted", "the sandbox's host stopped under the request", "ask again"
	case errors.Is(err, context.DeadlineExceeded):
		f.Code, f.Message, f.Hint = "timeout", "the sandbox took too long", ""
	case errors.Is(err, context.Canceled):
		f.Code, f.Message, f.Hint = "interrupted", "stopped", ""
	}
	return f
}

// again calls f until it goes well, fails for good, ctx ends or the patience is used up. Waits grow from 50 ms to 3 s.
func (s *session) again(ctx context.Context, component string, patience time.Duration, f func() (passing bool, err error)) error {
	began := s.c.Now()
	wait := 50 * time.Millisecond
	for n := 1; ; n++ {
		passing, err := f()
		took := s.c.Now().Sub(began)
		if err == nil || !passing || ctx.Err() != nil || took+wait > patience {
			if n > 1 {
				s.observer.Waited(component, began, took, fmt.Sprintf("asked %d times", n))
			}
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
		wait = min(wait*2, 3*time.Second)
	}
}
