package model

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// FromStatus classes a provider's refusal by its HTTP status and text. The text is matched for one thing only: that the
// request was too long, for which no provider has a status of its own.
func FromStatus(status int, message string) *Error {
	e := &Error{Status: status, Message: "the model's provider refused the request"}
	if message != "" {
		e.Message = clip(message, 300)
	}
	switch {
	case TooLong(message):
		e.Class = ContextExceeded
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		e.Class, e.Hint = Auth, "check the key of the model's provider and its credit"
	case status == http.StatusNotFound:
		e.Class, e.Hint = BadRequest, "check the model's name and the provider's address"
	case status == http.StatusTooManyRequests:
		e.Class = RateLimited
	case status == http.StatusRequestEntityTooLarge:
		e.Class = ContextExceeded
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		e.Class = Overloaded
	case status >= 400:
		e.Class = BadRequest
	default:
		e.Class = Transport
	}
	return e
}

// TooLong tells whether a provider's message says that the request exceeds the context.
func TooLong(message string) bool {
	m := strings.ToLower(message)
	for _, sign := range []string{"prompt is too long", "context_length_exceeded", "maximum context length", "context window", "exceeds the available context", "input is too long"} {
		if strings.Contains(m, sign) {
			return true
		}
	}
	return false
}

// RetryAfter reads how long a provider asks to wait, at most ten minutes.
func RetryAfter(h http.Header) time.Duration {
	wait := time.Duration(0)
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		wait = time.Duration(ms * float64(time.Millisecond))
	} else if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		wait = time.Duration(s * float64(time.Second))
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), 10*time.Minute)
}

// ReadInput reads the JSON that a model wrote as a call's input. Text that is no JSON object is kept under MalformedInput.
func ReadInput(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err == nil && object != nil {
		return json.RawMessage(text)
	}
	kept, err := json.Marshal(map[string]string{MalformedInput: text})
	if err != nil {
		return json.RawMessage("{}")
	}
	return kept
}

func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
