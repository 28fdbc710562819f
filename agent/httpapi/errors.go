package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"bordereau/agent/artifact"
	"bordereau/agent/identity"
	"bordereau/agent/journal"
	"bordereau/agent/schedule"
)

// Code says which kind of failure an error is, as everywhere in Bordereau.
type Code string

// The codes that this face answers with.
const (
	Auth        Code = "auth"
	Denied      Code = "denied"
	Invalid     Code = "invalid"
	NotFound    Code = "not_found"
	RateLimited Code = "rate_limited"
	TooLarge    Code = "too_large"
	Unavailable Code = "unavailable"
	Internal    Code = "internal"
)

// Error is a failure that may be shown.
type Error struct {
	Status    int    `json:"-"`
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
	Field     string `json:"field,omitempty"` // of the body, where one is wrong
	Retryable bool   `json:"retryable"`
	RequestID string `json:"request_id"`
	// Organisations are what to choose from, where an e-mail address and its password fit several.
	Organisations []OrganisationRef `json:"organisations,omitempty"`
	retryAfter    time.Duration
	cause         error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap returns the cause, which is for logs.
func (e *Error) Unwrap() error { return e.cause }

// ErrorBody is the JSON of a failure.
type ErrorBody struct {
	Error *Error `json:"error"`
}

func invalid(message, hint string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: Invalid, Message: message, Hint: hint}
}

func notFound(what string) *Error {
	return &Error{Status: http.StatusNotFound, Code: NotFound, Message: "there is no such " + what, Hint: "the id may be wrong, or it may belong to somebody else"}
}

// seeDescription is the hint of a request whose form is wrong.
const seeDescription = "GET /openapi.json describes it"

// typed maps what the parts below say to what a client sees. This is the one place where that is decided.
func typed(err error) *Error {
	var e *Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &tooLarge):
		return &Error{Status: http.StatusRequestEntityTooLarge, Code: TooLarge, Message: fmt.Sprintf("the body has more than %d bytes", tooLarge.Limit), Hint: "upload files instead of sending them inside a message", cause: err}
	case errors.Is(err, journal.ErrNotFound):
		return notFound("conversation, turn or file")
	case errors.Is(err, artifact.ErrNotFound):
		return notFound("file")
	case errors.Is(err, journal.ErrTooLarge):
		return &Error{Status: http.StatusRequestEntityTooLarge, Code: TooLarge, Message: fmt.Sprintf("the message has more than %d bytes", journal.MaxMessage), Hint: "upload long texts as a file", cause: err}
	case errors.Is(err, journal.ErrInvalid):
		return &Error{Status: http.StatusBadRequest, Code: Invalid, Message: trim(err, journal.ErrInvalid), Hint: seeDescription, cause: err}
	case errors.Is(err, journal.ErrBusy):
		return &Error{Status: http.StatusConflict, Code: Invalid, Message: "the conversation has a running turn", Hint: "wait for its end, or stop it", Retryable: true, cause: err}
	case errors.Is(err, journal.ErrConflict):
		return &Error{Status: http.StatusConflict, Code: Invalid, Message: "that id is taken by something else", Hint: "leave the id out, or choose another one", cause: err}
	}
	if e := typedIdentity(err); e != nil {
		return e
	}
	if e := typedSchedule(err); e != nil {
		return e
	}
	return typedFile(err)
}

// typedSchedule is nil for what has nothing to do with schedules.
func typedSchedule(err error) *Error {
	if p, ok := schedule.IsProblem(err); ok {
		return &Error{Status: http.StatusUnprocessableEntity, Code: Invalid, Field: p.Field, Message: p.Message, Hint: p.Hint, cause: err}
	}
	switch {
	case errors.Is(err, schedule.ErrNotFound):
		return notFound("schedule")
	case errors.Is(err, schedule.ErrBusy):
		return &Error{Status: http.StatusConflict, Code: Invalid, Message: "a run of the schedule is under way", Hint: "wait for its end, or let overlapping runs queue", Retryable: true, cause: err}
	}
	return nil
}

// typedIdentity is nil for what has nothing to do with who asks.
func typedIdentity(err error) *Error {
	var limited *identity.Limited
	var weak *identity.WeakPassword
	var field *identity.FieldError
	var choice *identity.Choice
	switch {
	case errors.As(err, &limited):
		return &Error{Status: http.StatusTooManyRequests, Code: RateLimited, Message: "too many sign-ins failed", Hint: "wait some minutes", Retryable: true, retryAfter: limited.RetryAfter, cause: err}
	case errors.As(err, &weak):
		return &Error{Status: http.StatusUnprocessableEntity, Code: Invalid, Field: "password", Message: "the password is refused: " + weak.Why, Hint: "choose another one", cause: err}
	case errors.As(err, &field):
		return &Error{Status: http.StatusUnprocessableEntity, Code: Invalid, Field: field.Field, Message: field.Why, Hint: "change it and send it again", cause: err}
	case errors.As(err, &choice):
		e := &Error{Status: http.StatusConflict, Code: Invalid, Field: "organisation", Message: "the address and the password fit several organisations", Hint: "send one of them as organisation", cause: err}
		for _, o := range choice.Organisations {
			e.Organisations = append(e.Organisations, OrganisationRef{ID: o.ID, Name: o.Name})
		}
		return e
	case errors.Is(err, identity.ErrKey):
		return &Error{Status: http.StatusUnauthorized, Code: Auth, Message: "nobody is signed in, or the API key is refused", Hint: "sign in, or send Authorization: Bearer KEY with a key that is neither expired nor revoked", cause: err}
	case errors.Is(err, identity.ErrSession):
		return &Error{Status: http.StatusUnauthorized, Code: Auth, Message: "the session is over", Hint: "sign in again", cause: err}
	case errors.Is(err, identity.ErrCredentials):
		return &Error{Status: http.StatusUnauthorized, Code: Auth, Field: "password", Message: "the e-mail address or the password is wrong", Hint: "try again, or ask an administrator for a link", cause: err}
	case errors.Is(err, identity.ErrLink):
		return &Error{Status: http.StatusGone, Code: NotFound, Message: "the link was used already, or is too old", Hint: "ask an administrator for a new one", cause: err}
	case errors.Is(err, identity.ErrBusy):
		return &Error{Status: http.StatusServiceUnavailable, Code: Unavailable, Message: "too many people sign in at this moment", Hint: "try again", Retryable: true, retryAfter: time.Second, cause: err}
	case errors.Is(err, identity.ErrNotFound):
		return &Error{Status: http.StatusNotFound, Code: NotFound, Message: "there is no such person, key or session", Hint: "the list may have changed", cause: err}
	case errors.Is(err, identity.ErrConflict):
		return &Error{Status: http.StatusConflict, Code: Invalid, Message: trim(err, identity.ErrConflict), Hint: "look at what is there, and choose something else", cause: err}
	case errors.Is(err, identity.ErrInvalid):
		return &Error{Status: http.StatusUnprocessableEntity, Code: Invalid, Message: trim(err, identity.ErrInvalid), Hint: seeDescription, cause: err}
	}
	return nil
}

func typedFile(err error) *Error {
	switch {
	case errors.Is(err, artifact.ErrTooLarge):
		return &Error{Status: http.StatusRequestEntityTooLarge, Code: TooLarge, Message: "the file is too large", Hint: "split it", cause: err}
	case errors.Is(err, artifact.ErrName):
		return &Error{Status: http.StatusBadRequest, Code: Invalid, Message: trim(err, artifact.ErrName), Hint: "give a plain file name, without folders", cause: err}
	case errors.Is(err, artifact.ErrArchive):
		return &Error{Status: http.StatusUnprocessableEntity, Code: Invalid, Message: "the archive is refused: " + trim(err, artifact.ErrArchive), Hint: "upload what is inside it, as single files", cause: err}
	case errors.Is(err, artifact.ErrHash):
		return &Error{Status: http.StatusUnprocessableEntity, Code: Invalid, Message: "the content doesn't match its hash", Hint: "send it again", Retryable: true, cause: err}
	case errors.Is(err, artifact.ErrConflict):
		return &Error{Status: http.StatusConflict, Code: Invalid, Message: "the conversation has another file of that name", Hint: "give it another name", cause: err}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, context.Canceled):
		return &Error{Status: http.StatusBadRequest, Code: Invalid, Message: "the request ended early", Hint: "send it again", Retryable: true, cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Status: http.StatusServiceUnavailable, Code: Unavailable, Message: "it took too long", Hint: "try again", Retryable: true, cause: err}
	}
	return &Error{Status: http.StatusInternalServerError, Code: Internal, Message: "internal error", Hint: "the log has the details under the request id", cause: err}
}

// trim is the text of a safe error without the sentinel in front and what was being done.
func trim(err, sentinel error) string {
	text, mark := err.Error(), sentinel.Error()+": "
	for i := range text {
		if len(text[i:]) > len(mark) && text[i:i+len(mark)] == mark {
			return text[i+len(mark):]
		}
	}
	return "refused"
}

func (a *API) write(c *gin.Context, err error) {
	e := *typed(err)
	e.RequestID = c.GetString(requestKey)
	if e.Status >= 500 {
		a.c.Log.ErrorContext(c.Request.Context(), "request failed", slog.String("request_id", e.RequestID), slog.String("route", c.FullPath()), slog.Any("error", err))
	}
	if c.Writer.Written() {
		return // a stream has begun; its end without [DONE] tells the client
	}
	e.headers(c.Writer.Header())
	c.AbortWithStatusJSON(e.Status, ErrorBody{Error: &e})
}

// headers are what a failure says to programs.
func (e *Error) headers(h http.Header) {
	if e.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="bordereau"`)
	}
	if e.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(e.retryAfter.Seconds())))
	}
}

// readJSON reads a body into v. What else stands in it is refused unless loose is set.
func readJSON(c *gin.Context, v any, loose bool) error {
	dec := json.NewDecoder(c.Request.Body)
	if !loose {
		dec.DisallowUnknownFields()
	}
	err := dec.Decode(v)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
	case errors.As(err, &tooLarge):
		return err
	case errors.Is(err, io.EOF):
		return invalid("the body is empty", "send JSON")
	default:
		return invalid("the body is no JSON of the expected form: "+oneLine(err.Error()), seeDescription)
	}
	if dec.More() {
		return invalid("the body holds more than one JSON value", "send one")
	}
	return nil
}

func oneLine(s string) string {
	out := []rune{}
	for _, r := range s {
		if r < 0x20 {
			r = ' '
		}
		if out = append(out, r); len(out) == 200 {
			break
		}
	}
	return string(out)
}
