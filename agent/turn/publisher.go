package turn

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/stream"
	"bordereau/agent/stream/uimessage"
)

// Sizes of the publisher's work.
const (
	batchMax    = 256  // events of one Append
	refillMax   = 1000 // events of one Append while a lost buffer is filled again
	markAhead   = 1024 // how far the journal's event mark is raised at a time
	stepReserve = 512  // events that a step may publish before the mark is raised again
	sendPause   = 50 * time.Millisecond
	sendPauseTo = 2 * time.Second
)

// publisher numbers a turn's events, keeps those that no transaction has stored yet, and sends them to the buffer in order.
// A buffer that is down delays the events and nothing else; one that was lost is filled again.
type publisher struct {
	store  *journal.Store
	buffer stream.Buffer
	lease  journal.Lease
	fenced func(error)

	mu       sync.Mutex
	pending  []json.RawMessage // said since the last commit; the first has number base+1
	base     int64             // the last number that the journal has
	staged   []json.RawMessage // to be said when the running transaction has committed
	staging  bool
	held     []json.RawMessage // said by others while staging
	queue    []json.RawMessage // not sent yet; the first has number sent+1
	sent     int64             // the last number that the buffer is known, or was told, to have
	last     int64             // the last number given
	mark     int64             // the journal's event mark
	sure     bool              // sent is what the buffer has
	finished bool              // nothing more will be said
	closing  bool              // and the stream is over
	wake     chan struct{}
	done     chan struct{}
	err      error
}

// takeOver finds where a turn's events stand and prepares the sender. Readers may have seen events that the
// journal doesn't have: the step that was running is reset for them when it is begun again.
func takeOver(ctx context.Context, store *journal.Store, buffer stream.Buffer, t journal.Turn, fenced func(error)) (*publisher, error) {
	stored, err := store.LastSeq(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	p := &publisher{
		store: store, buffer: buffer, lease: journal.Lease{Turn: t.ID, Epoch: t.Epoch}, fenced: fenced,
		mark: t.EventMark, wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	has, err := buffer.Open(ctx, t.ID, t.Epoch)
	switch {
	case errors.Is(err, stream.ErrFenced):
		return nil, journal.ErrFenced
	case err != nil: // down: number above everything that was ever published, and fill it again when it is back
		p.last = max(stored, t.EventMark)
		p.sent = p.last
	case has.Seq == 0 && stored > 0: // lost
		p.last, p.sent, p.sure = max(stored, t.EventMark), max(stored, t.EventMark), false
	default:
		p.last, p.sent, p.sure = max(stored, has.Seq), has.Seq, true
		if has.Seq < stored { // committed, never published
			p.sent, p.sure = stored, false
		}
	}
	// What lies between the journal and p.last is gone; the next chunk begins after it.
	p.base = p.last
	return p, nil
}

func (p *publisher) start(ctx context.Context) { go p.run(ctx) }

// say publishes events at once; they are stored with the next commit.
func (p *publisher) say(events ...json.RawMessage) {
	p.mu.Lock()
	if p.staging {
		p.held = append(p.held, events...)
		p.mu.Unlock()
		return
	}
	p.pending = append(p.pending, events...)
	p.queue = append(p.queue, events...)
	p.last += int64(len(events))
	p.mu.Unlock()
	p.poke()
}

// stage begins a commit: it returns all that wasn't stored yet with the given events, which are published by committed.
func (p *publisher) stage(events ...json.RawMessage) journal.Chunk {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.staging, p.staged = true, events
	all := make([]json.RawMessage, 0, len(p.pending)+len(events))
	return journal.Chunk{First: p.base + 1, Epoch: p.lease.Epoch, Events: append(append(all, p.pending...), events...)}
}

// committed publishes what was staged. reserve is what the transaction promised beyond it.
func (p *publisher) committed(reserve int64) {
	p.mu.Lock()
	p.queue = append(p.queue, p.staged...)
	p.last += int64(len(p.staged))
	p.base = p.last
	p.mark = max(p.mark, p.last+reserve)
	p.pending, p.staged, p.staging = nil, nil, false
	held := p.held
	p.held = nil
	p.mu.Unlock()
	p.say(held...)
}

// abandoned ends a commit that failed.
func (p *publisher) abandoned() {
	p.mu.Lock()
	p.staged, p.staging = nil, false
	held := p.held
	p.held = nil
	p.mu.Unlock()
	p.say(held...)
}

func (p *publisher) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// finish tells that nothing more will be said: the sender ends when the buffer has everything, and closes the stream there
// if that is over. done is closed then.
func (p *publisher) finish(closing bool) {
	p.mu.Lock()
	p.finished, p.closing = true, closing
	p.mu.Unlock()
	p.poke()
}

func (p *publisher) run(ctx context.Context) {
	defer close(p.done)
	pause := sendPause
	for {
		idle, over, err := p.send(ctx)
		switch {
		case over:
			return
		case errors.Is(err, stream.ErrFenced), errors.Is(err, journal.ErrFenced):
			p.err = journal.ErrFenced
			p.fenced(journal.ErrFenced)
			return
		case errors.Is(err, stream.ErrClosed): // another runner ended the stream
			p.err = err
			p.fenced(journal.ErrFenced)
			return
		case err != nil:
			p.mu.Lock()
			p.sure = false
			p.mu.Unlock()
			if !wait(ctx, pause) {
				p.err = context.Cause(ctx)
				return
			}
			pause = min(2*pause, sendPauseTo)
			continue
		}
		pause = sendPause
		if !idle {
			continue
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
			p.err = context.Cause(ctx)
			return
		}
	}
}

// send does the next piece of work.
func (p *publisher) send(ctx context.Context) (idle, over bool, err error) {
	p.mu.Lock()
	sure, mark := p.sure, p.mark
	batch := p.queue[:min(len(p.queue), batchMax)]
	finished, closing := p.finished && len(p.queue) == 0, p.closing
	to := p.sent + int64(len(batch))
	p.mu.Unlock()
	if !sure {
		return false, false, p.recover(ctx)
	}
	if finished && !closing {
		return false, true, nil
	}
	if finished {
		err := p.end(ctx)
		return false, err == nil, err
	}
	if len(batch) == 0 {
		return true, false, nil
	}
	if to > mark {
		if err := p.store.RaiseMark(ctx, p.lease, to+markAhead); err != nil {
			return false, false, err
		}
		p.mu.Lock()
		p.mark = max(p.mark, to+markAhead)
		p.mu.Unlock()
	}
	has, err := p.buffer.Append(ctx, p.lease.Turn, p.lease.Epoch, batch...)
	if err == nil && has.Seq != to {
		err = stream.ErrLost
	}
	if errors.Is(err, stream.ErrLost) {
		p.mu.Lock()
		p.sure = false
		p.mu.Unlock()
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	p.mu.Lock()
	p.sent = to
	p.queue = p.queue[len(batch):]
	if len(p.queue) == 0 {
		p.queue = nil
	}
	p.mu.Unlock()
	return false, false, nil
}

func (p *publisher) end(ctx context.Context) error {
	err := p.buffer.Close(ctx, p.lease.Turn, p.lease.Epoch)
	if err != nil && !errors.Is(err, stream.ErrClosed) {
		return err
	}
	return p.store.Published(ctx, p.lease)
}

// recover asks the buffer what it has and gives it the rest, up to what was sent.
func (p *publisher) recover(ctx context.Context) error {
	has, err := p.buffer.Open(ctx, p.lease.Turn, p.lease.Epoch)
	if err != nil {
		return err
	}
	p.mu.Lock()
	sent, queued := p.sent, int64(len(p.queue))
	p.mu.Unlock()
	if has.Seq > sent { // an Append whose answer was lost
		took := min(has.Seq-sent, queued)
		p.mu.Lock()
		p.queue = p.queue[took:]
		p.sent, p.sure = sent+took, true
		p.mu.Unlock()
		return nil
	}
	events, err := p.between(ctx, has.Seq, sent)
	if err != nil {
		return err
	}
	for len(events) > 0 {
		n := min(len(events), refillMax)
		if _, err := p.buffer.Append(ctx, p.lease.Turn, p.lease.Epoch, events[:n]...); err != nil {
			return err
		}
		events = events[n:]
	}
	p.mu.Lock()
	p.sure = true
	p.mu.Unlock()
	return nil
}

// between returns the events after one number up to another: from the journal, then those that no transaction has stored yet.
func (p *publisher) between(ctx context.Context, after, to int64) ([]json.RawMessage, error) {
	if after >= to {
		return nil, nil
	}
	chunks, err := p.store.Chunks(ctx, p.lease.Turn, after)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	chunks = append(chunks, journal.Chunk{First: p.base + 1, Events: append([]json.RawMessage(nil), p.pending...)})
	p.mu.Unlock()
	return spread(chunks, after, to), nil
}

// spread lays chunks out over the numbers after+1 to to, with pads where an event is no longer known.
func spread(chunks []journal.Chunk, after, to int64) []json.RawMessage {
	events := make([]json.RawMessage, to-after)
	for _, c := range chunks {
		for i, e := range c.Events {
			if at := c.First + int64(i) - after - 1; at >= 0 && at < int64(len(events)) {
				events[at] = e
			}
		}
	}
	for i, e := range events {
		if e == nil {
			events[i] = uimessage.Pad()
		}
	}
	return events
}

// wait waits for d and tells whether ctx is still alive.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
