package model

import (
	"errors"
	"fmt"
	"time"
)

// Fault says whose failure it was: the reader's first question after "what happened".
type Fault string

// The faults.
const (
	Infrastructure Fault = "infrastructure"
	OfModel        Fault = "model"
)

// Fault tells whose failure a class is. Overflow, refusal and a malformed request are of the model's making (or of
// what it was asked); the rest never reached its judgement.
func (c Class) Fault() Fault {
	switch c {
	case ContextExceeded, Refusal, BadRequest:
		return OfModel
	default:
		return Infrastructure
	}
}

// Retryable tells whether the same request may succeed when it is sent again.
func (c Class) Retryable() bool {
	switch c {
	case Overloaded, RateLimited, Truncated, Transport:
		return true
	default:
		return false
	}
}

// Error is a failed attempt of a model call. Message is safe to show; the cause is for logs.
type Error struct {
	Class      Class
	Message    string
	Hint       string
	Status     int           // the HTTP status, 0 when there was none
	RetryAfter time.Duration // what the provider asked for, 0 when it didn't
	Usage      Usage         // what the attempt is known to have used before it failed
	Cause      error
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model: %s (HTTP %d): %s", e.Class, e.Status, e.Message)
	}
	return fmt.Sprintf("model: %s: %s", e.Class, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// AsError returns err as an *Error; one that isn't becomes class Transport.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Class: Transport, Message: "the model could not be reached", Cause: err}
}
