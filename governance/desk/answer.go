package desk

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/guidelines"
	"bordereau/governance/run"
	"bordereau/tools/guideline"
)

// maxBody is the most bytes of a request: the longest guideline, as JSON.
const maxBody = 2 * guidelines.MaxText

// handle answers a request of a principal. An error that it returns is written as the answer.
type handle func(w http.ResponseWriter, r *http.Request, p gate.Principal) error

// handler lets people of the roles through to h, with a body of at most so many bytes, and writes its error.
func (d *Desk) handler(roles []string, most int64, h handle) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := d.c.Authorise(r)
		switch {
		case err != nil:
		case roles != nil && !slices.Contains(roles, p.Role):
			err = &fault.Error{Code: fault.Denied, Component: component, Message: "your role " + p.Role + " may not do that", Hint: "Ask an administrator."}
		default:
			r.Body = http.MaxBytesReader(w, r.Body, most)
			err = h(w, r, p)
		}
		if err == nil {
			return
		}
		f := typed(err)
		if f.Code == fault.Internal || f.Code == fault.Unavailable {
			d.c.Log.ErrorContext(r.Context(), "request failed", "route", r.Pattern, "org", p.Org, "error", err)
		}
		answer(w, status(f), map[string]*fault.Error{"error": f})
	})
}

// typed maps what the parts below say to what a caller sees.
func typed(err error) *fault.Error {
	var tooLarge *http.MaxBytesError
	var problems guideline.Problems
	because := func(code fault.Code, message, hint string) *fault.Error {
		return (&fault.Error{Code: code, Component: component, Message: message, Hint: hint}).Because(err)
	}
	switch {
	case errors.As(err, &problems):
		return because(fault.Invalid, "the guideline has problems: "+problems[0].String(), "Mend what the check names, then publish.")
	case errors.Is(err, guidelines.ErrNotFound), errors.Is(err, guideline.ErrNone):
		return because(fault.NotFound, "there is no such guideline or draft", "It may have been published or discarded since.")
	case errors.Is(err, guidelines.ErrChanged):
		return because(fault.Invalid, "somebody else has changed the draft since you opened it", "Open it again; your text is still on this page to copy.")
	case errors.Is(err, guidelines.ErrTaken):
		return because(fault.Invalid, "that version is published already, and never changes", "Give the draft another version.")
	case errors.Is(err, guidelines.ErrTooLarge), errors.As(err, &tooLarge):
		return because(fault.TooLarge, "the text is too long", "A guideline has at most 512 KiB.")
	case errors.Is(err, run.ErrNotFound):
		return because(fault.NotFound, "there is no such run or finding", "The id may be wrong, or it may belong to somebody else.")
	case errors.Is(err, run.ErrReview):
		return because(fault.Invalid, err.Error(), "Load the finding again.")
	}
	return fault.Of(err, component)
}

func status(f *fault.Error) int {
	switch f.Code {
	case fault.Auth:
		return http.StatusUnauthorized
	case fault.Denied:
		return http.StatusForbidden
	case fault.Invalid:
		if errors.Is(f, guidelines.ErrChanged) || errors.Is(f, guidelines.ErrTaken) {
			return http.StatusConflict
		}
		return http.StatusUnprocessableEntity
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

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // a caller that left is nobody's failure
}

func read(r *http.Request, into any) error {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if tooLarge := new(http.MaxBytesError); err == nil || errors.As(err, &tooLarge) {
		return err
	}
	return (&fault.Error{Code: fault.Invalid, Component: component, Message: "the request's body is not the JSON that is wanted here", Hint: "Send an object with the documented fields."}).Because(err)
}
