// Package stream keeps each turn's events with sequence numbers, for browsers that come and go.
package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// ID is the place of an event in its turn: Seq counts 1, 2, 3, … over all epochs of the turn.
type ID struct {
	Epoch int64
	Seq   int64
}

func (id ID) String() string { return fmt.Sprintf("%d-%d", id.Epoch, id.Seq) }

// ErrID is returned for text that is not "<epoch>-<seq>".
var ErrID = errors.New("event id: want <epoch>-<seq>")

// ParseID reads what ID.String wrote.
func ParseID(s string) (ID, error) {
	e, q, ok := strings.Cut(s, "-")
	epoch, err1 := strconv.ParseInt(e, 10, 64)
	seq, err2 := strconv.ParseInt(q, 10, 64)
	if !ok || err1 != nil || err2 != nil || epoch < 0 || seq < 0 {
		return ID{}, ErrID
	}
	return ID{Epoch: epoch, Seq: seq}, nil
}

// Event is one part of the AI SDK UI message stream, as JSON.
type Event struct {
	ID   ID
	Data json.RawMessage
}

// Kinds of failure.
var (
	ErrFenced = errors.New("stream: a newer epoch writes this turn") // the writer lost its lease
	ErrClosed = errors.New("stream: closed")                         // the terminal event was written
	ErrLost   = errors.New("stream: events are not here")            // expired or lost; rebuild them from the journal
)

// Buffer keeps events. Implementations are safe for concurrent use and pass streamtest.
type Buffer interface {
	// Open says that epoch now writes the turn. It returns the last ID in the buffer (zero for none).
	// Older epochs get ErrFenced from then on.
	Open(ctx context.Context, turn string, epoch int64) (ID, error)
	// Append adds events, numbers them, and returns the last ID.
	Append(ctx context.Context, turn string, epoch int64, data ...json.RawMessage) (ID, error)
	// Close marks the end after the last event; readers end there.
	Close(ctx context.Context, turn string, epoch int64) error
	// Read yields events after the given sequence number, then waits for more until Close or ctx ends.
	// A turn that was never opened here yields ErrLost.
	Read(ctx context.Context, turn string, afterSeq int64) iter.Seq2[Event, error]
}
