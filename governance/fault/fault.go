// Package fault is the typed error that governance shows to whoever called it.
package fault

import (
	"errors"
	"fmt"
)

// Code says which kind of failure an error is. The set is closed; callers branch on it.
type Code string

// The codes, as they appear on every wire.
const (
	Auth        Code = "auth"         // who are you: no, bad, expired or dead credentials
	Denied      Code = "denied"       // known, and not allowed
	Invalid     Code = "invalid"      // the request itself is wrong
	NotFound    Code = "not_found"    // no such thing in this organisation
	RateLimited Code = "rate_limited" // a budget or a rate is used up
	Timeout     Code = "timeout"      // the deadline of the work passed
	TooLarge    Code = "too_large"    // a size limit was met
	Unavailable Code = "unavailable"  // the infrastructure failed in passing
	Interrupted Code = "interrupted"  // stopped from outside; the outcome is unknown
	Internal    Code = "internal"     // anything else; the message is safe, the log has the rest
)

// Error is a failure that may be shown: Message and Hint hold nothing secret.
type Error struct {
	Code      Code   `json:"code"`
	Component string `json:"component"`          // which part failed, such as "gate" or "duck"
	Message   string `json:"message"`            // what happened, one sentence
	Hint      string `json:"hint,omitempty"`     // what the caller can do about it
	Rule      string `json:"rule,omitempty"`     // the policy rule that refused, if one did
	Position  int    `json:"position,omitempty"` // 1-based byte offset into the SQL text, 0 when not known
	Retryable bool   `json:"retryable"`
	AuditID   string `json:"audit_id,omitempty"`
	cause     error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s: %s", e.Component, e.Code, e.Message) }

// Unwrap returns the cause, which is for logs and never shown.
func (e *Error) Unwrap() error { return e.cause }

// Because returns a copy of e with a cause.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Of returns err as an *Error. One that isn't becomes Internal with a safe message, keeping err as its cause.
func Of(err error, component string) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Internal, Component: component, Message: "internal error", cause: err}
}

// Is tells whether err is an *Error of that code.
func Is(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}
