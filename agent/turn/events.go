package turn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/stream"
)

// Pauses of a reader whose events aren't in the buffer yet, or whose buffer is down.
const (
	readPause   = 25 * time.Millisecond
	readPauseTo = time.Second
)

// Events reads a turn's events wherever they are: in the buffer while it lives, in the journal after. It is what the HTTP
// face reads.
type Events struct {
	Journal *journal.Store
	Buffer  stream.Buffer
	Now     func() time.Time // nil: time.Now
}

// Read yields the events after a sequence number and ends after the terminal one. It outlives a lost buffer, a change of
// runner and a buffer that is down; it ends with an error only when ctx does or the turn is unknown.
func (e Events) Read(ctx context.Context, turn string, afterSeq int64) iter.Seq2[stream.Event, error] {
	return func(yield func(stream.Event, error) bool) {
		pause := readPause
		for {
			more, err := e.follow(ctx, turn, &afterSeq, yield)
			switch {
			case !more:
				return
			case ctx.Err() != nil:
				yield(stream.Event{}, context.Cause(ctx))
				return
			case err == nil: // the buffer says that the stream is over
				return
			}
			over, err := e.fallBack(ctx, turn, &afterSeq, yield)
			if over || err != nil {
				if err != nil {
					yield(stream.Event{}, err)
				}
				return
			}
			if !wait(ctx, pause) {
				yield(stream.Event{}, context.Cause(ctx))
				return
			}
			pause = min(2*pause, readPauseTo)
		}
	}
}

// follow reads the buffer. more is false when the reader wants no more; a nil error means that the stream is over.
func (e Events) follow(ctx context.Context, turn string, after *int64, yield func(stream.Event, error) bool) (more bool, err error) {
	for event, err := range e.Buffer.Read(ctx, turn, *after) {
		if err != nil {
			return true, err
		}
		if event.ID.Seq <= *after {
			continue
		}
		if event.ID.Seq != *after+1 { // the buffer dropped its oldest: the journal has them
			return true, stream.ErrLost
		}
		if !yield(event, nil) {
			return false, nil
		}
		*after = event.ID.Seq
	}
	return true, nil
}

// fallBack serves what the journal has when the buffer has nothing. A turn that nobody runs yet gets an empty tape to wait at.
func (e Events) fallBack(ctx context.Context, turn string, after *int64, yield func(stream.Event, error) bool) (over bool, err error) {
	t, err := e.Journal.Find(ctx, turn)
	if err != nil {
		return false, fmt.Errorf("reading events: %w", err)
	}
	if t.Outcome.Status == journal.Queued && t.Epoch == 0 {
		if _, err := e.Buffer.Open(ctx, turn, 0); err != nil && !errors.Is(err, stream.ErrFenced) {
			return false, nil
		}
		return false, nil
	}
	last, err := e.Journal.LastSeq(ctx, turn)
	if err != nil || last <= *after {
		return err == nil && !t.Outcome.Status.Live(), err
	}
	chunks, err := e.Journal.Chunks(ctx, turn, *after)
	if err != nil {
		return false, err
	}
	first := *after
	for i, data := range spread(chunks, first, last) {
		seq := first + int64(i) + 1
		if !yield(stream.Event{ID: stream.ID{Epoch: t.Epoch, Seq: seq}, Data: data}, nil) {
			return true, nil
		}
		*after = seq
	}
	return !t.Outcome.Status.Live(), nil
}
