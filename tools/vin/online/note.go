package online

import "time"

// Kind sorts what kept the service from answering.
type Kind string

// The kinds of notes.
const (
	// KindUnreachable: no connection, or it broke.
	KindUnreachable Kind = "unreachable"
	// KindTimeout: no answer in time.
	KindTimeout Kind = "timeout"
	// KindThrottled: the service asks for fewer calls.
	KindThrottled Kind = "throttled"
	// KindFailing: the service answers with an error of its own.
	KindFailing Kind = "failing"
	// KindShape: the service answers something else than it should, such as a page of HTML.
	KindShape Kind = "shape"
	// KindCache: the cache can't be used. Answers are right all the same.
	KindCache Kind = "cache"
	// KindCancelled: the caller gave up.
	KindCancelled Kind = "cancelled"
)

// Note says that and why answers are offline ones.
type Note struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	// Missing is how many VINs stay without the service's answer.
	Missing int `json:"missing,omitempty"`
	// RetryAt is when the service is asked again.
	RetryAt time.Time `json:"retry_at,omitzero"`
}

// Error lets a note be handled as an error.
func (n *Note) Error() string { return string(n.Kind) + ": " + n.Message }
