package console

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"bordereau/governance/audit"
	"bordereau/governance/export"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
)

// maxBody is the most bytes of a request: a statement of the longest length, as JSON, and a saved one's name.
const maxBody = 256 << 10

// handler lets people of the roles through to h and writes its error.
func (c *Console) handler(roles []string, h handle) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &answering{ResponseWriter: w}
		p, err := c.c.Authorise(r)
		switch {
		case err != nil:
		case roles != nil && !slices.Contains(roles, p.Role):
			err = &fault.Error{Code: fault.Denied, Component: component, Message: "your role " + p.Role + " may not do that", Hint: "Ask an administrator."}
		default:
			r.Body = http.MaxBytesReader(answer, r.Body, maxBody)
			err = h(answer, r, p)
		}
		if err == nil {
			return
		}
		f := typed(err)
		if f.Code == fault.Internal || f.Code == fault.Unavailable {
			c.c.Log.ErrorContext(r.Context(), "console request failed", "route", r.Pattern, "org", p.Org, "audit_id", f.AuditID, "error", err, "cause", errors.Unwrap(f))
		}
		if !answer.begun {
			writeJSON(answer, status(f), failure{f})
		}
	})
}

// answering notices that an answer has begun.
type answering struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (a *answering) WriteHeader(code int) {
	a.begun = true
	a.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (a *answering) Write(p []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController through.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// failure is the JSON of an error, and the last line of a stream that failed.
type failure struct {
	Error *fault.Error `json:"error"`
}

// typed maps what the parts below say to what a caller sees.
func typed(err error) *fault.Error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, audit.ErrNotFound):
		return notFound("statement").Because(err)
	case errors.Is(err, export.ErrNotFound):
		return (&fault.Error{Code: fault.NotFound, Component: component, Message: "there is no such export", Hint: "It may have expired; export again."}).Because(err)
	case errors.Is(err, export.ErrTooLarge):
		return (&fault.Error{Code: fault.TooLarge, Component: component, Message: err.Error(), Hint: "Filter or aggregate, or choose Parquet."}).Because(err)
	case errors.Is(err, export.ErrValue):
		return (&fault.Error{Code: fault.Invalid, Component: component, Message: "a value has no place in this format", Hint: "Cast that column to VARCHAR, or choose CSV."}).Because(err)
	case errors.As(err, &tooLarge):
		return (&fault.Error{Code: fault.TooLarge, Component: component, Message: "the request is too large", Hint: "Send a shorter statement."}).Because(err)
	}
	return fault.Of(err, component)
}

func notFound(what string) *fault.Error {
	return &fault.Error{Code: fault.NotFound, Component: component, Message: "there is no such " + what, Hint: "The id may be wrong, or it may belong to somebody else."}
}

func invalid(message, hint string) *fault.Error {
	return &fault.Error{Code: fault.Invalid, Component: component, Message: message, Hint: hint}
}

// status is HTTP's word for a code. A statement that was refused is a request that can't be processed as it is.
func status(f *fault.Error) int {
	switch f.Code {
	case fault.Auth:
		return http.StatusUnauthorized
	case fault.Denied:
		if f.AuditID != "" {
			return http.StatusUnprocessableEntity
		}
		return http.StatusForbidden
	case fault.Invalid:
		if f.AuditID != "" {
			return http.StatusUnprocessableEntity
		}
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.RateLimited:
		return http.StatusTooManyRequests
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Timeout:
		return http.StatusGatewayTimeout
	case fault.Unavailable, fault.Interrupted:
		return http.StatusServiceUnavailable
	case fault.Internal:
	}
	return http.StatusInternalServerError
}

// writeJSON answers. A caller that left before it is nobody's failure.
func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(true) // SQL and values are hostile, whatever reads this
	_ = enc.Encode(v)
}

// decode reads a request's JSON.
func decode(r *http.Request, into any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("more than one value")
	}
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return err
	}
	return invalid("the request's body is not the JSON that is wanted here", "Send an object with the documented fields.").Because(err)
}

// own tells whether a principal sees only what she asked herself.
func own(p gate.Principal) bool { return p.Role == underwriter }
