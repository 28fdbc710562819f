package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"bordereau/agent/stream"
)

// page is how many entries are fetched at a time.
const page = 500

// look is how often a reader looks by itself, in case that news was lost with a connection.
const look = time.Second

// Read implements stream.Buffer.
func (b *Buffer) Read(ctx context.Context, turn string, after int64) iter.Seq2[stream.Event, error] {
	return func(yield func(stream.Event, error) bool) {
		news, leave := b.await(ctx, b.channel(turn))
		defer leave()
		after = max(after, 0)
		at := ""
		for {
			closed, seq, from, err := b.where(ctx, turn, after)
			if err == nil && at == "" && after < seq { // before that, its epoch isn't known
				at = from
			}
			for err == nil && after < seq {
				var events []stream.Event
				if events, err = b.fetch(ctx, turn, at, after); err != nil {
					break
				}
				if len(events) == 0 || events[0].ID.Seq != after+1 { // trimmed, or gone between two calls
					err = stream.ErrLost
					break
				}
				for _, e := range events {
					after, at = e.ID.Seq, stream.ID{Epoch: e.ID.Epoch, Seq: e.ID.Seq + 1}.String()
					if !yield(e, nil) {
						return
					}
				}
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(stream.Event{}, err)
				return
			}
			if closed {
				return
			}
			timer := time.NewTimer(look)
			select {
			case <-news:
			case <-timer.C:
			case <-ctx.Done():
			}
			timer.Stop()
		}
	}
}

// where tells whether a turn is closed, its last number, and the entry id from which on the event after+1 is to be found.
func (b *Buffer) where(ctx context.Context, turn string, after int64) (closed bool, seq int64, from string, err error) {
	state, err := b.c.Client.HGetAll(ctx, b.state(turn)).Result()
	if err != nil {
		return false, 0, "", fmt.Errorf("redis buffer: %w", err)
	}
	if state["epoch"] == "" {
		return false, 0, "", stream.ErrLost
	}
	if text := state["seq"]; text != "" {
		if seq, err = strconv.ParseInt(text, 10, 64); err != nil {
			return false, 0, "", fmt.Errorf("redis buffer: %w", err)
		}
	}
	epoch := int64(0)
	for key, text := range state {
		digits, ok := strings.CutPrefix(key, "e")
		if !ok {
			continue
		}
		e, err1 := strconv.ParseInt(digits, 10, 64)
		before, err2 := strconv.ParseInt(text, 10, 64)
		if err1 == nil && err2 == nil && before <= after && e > epoch {
			epoch = e
		}
	}
	return state["closed"] != "", seq, stream.ID{Epoch: epoch, Seq: after + 1}.String(), nil
}

// fetch returns the events after a number, from the entry on that holds the next one.
func (b *Buffer) fetch(ctx context.Context, turn, from string, after int64) ([]stream.Event, error) {
	entries, err := b.c.Client.XRangeN(ctx, b.events(turn), from, "+", page).Result()
	if err != nil {
		return nil, fmt.Errorf("redis buffer: %w", err)
	}
	events := make([]stream.Event, 0, len(entries))
	for _, e := range entries {
		id, err := stream.ParseID(e.ID)
		if err != nil {
			return nil, err
		}
		joined, ok := e.Values["d"].(string)
		if !ok {
			return nil, fmt.Errorf("redis buffer: entry %s has no data", e.ID)
		}
		seq := id.Seq - int64(strings.Count(joined, separator))
		for data := range strings.SplitSeq(joined, separator) {
			if seq > after {
				events = append(events, stream.Event{ID: stream.ID{Epoch: id.Epoch, Seq: seq}, Data: json.RawMessage(data)})
			}
			seq++
		}
	}
	return events, nil
}
