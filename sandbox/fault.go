package sandbox

import "fmt"

// Fault is a failure with what to do about it. errors.Is sees its Kind and its Cause.
type Fault struct {
	Kind  error  // one of the Err… of this package
	Text  string // what happened, safe to show
	Hint  string // what a person or a model can do about it; may be empty
	Cause error  // for the log; may be nil
}

// Error says what happened, and the hint when there is one.
func (f *Fault) Error() string {
	s := f.Kind.Error()
	if f.Text != "" {
		s += ": " + f.Text
	}
	if f.Cause != nil {
		s += ": " + f.Cause.Error()
	}
	if f.Hint != "" {
		s += " (" + f.Hint + ")"
	}
	return s
}

// Unwrap gives kind and cause.
func (f *Fault) Unwrap() []error {
	if f.Cause == nil {
		return []error{f.Kind}
	}
	return []error{f.Kind, f.Cause}
}

// NotFound is the confirmed absence of a sandbox.
func NotFound(id string) error {
	return &Fault{Kind: ErrNotFound, Text: fmt.Sprintf("%q", id)}
}

// Invalid is a request that can't be met as it was made.
func Invalid(format string, args ...any) error {
	return &Fault{Kind: ErrInvalid, Text: fmt.Sprintf(format, args...)}
}

// Unavailable is a failure in passing.
func Unavailable(cause error, format string, args ...any) error {
	return &Fault{Kind: ErrUnavailable, Text: fmt.Sprintf(format, args...), Cause: cause}
}
