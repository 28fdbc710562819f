package stream

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"
	"time"
)

// Memory is a Buffer in this process. After a restart the events are filled in again from the journal.
type Memory struct {
	now  func() time.Time
	keep time.Duration

	mu    sync.Mutex
	turns map[string]*tape
	ended []endedTape // in the order they ended
}

type endedTape struct {
	turn string
	at   time.Time
}

// tape is one turn's events. Event i has sequence number i+1.
type tape struct {
	mu     sync.Mutex
	epoch  int64
	since  []ID // where each epoch's first event is
	events []json.RawMessage
	closed bool
	more   chan struct{} // closed when something changed; nil while nobody waits
}

var _ Buffer = (*Memory)(nil)

// MemoryConfig is what a Memory is made from.
type MemoryConfig struct {
	Keep time.Duration    // how long an ended turn's events stay; 0: 10 minutes, the journal has them for longer
	Now  func() time.Time // nil: time.Now
}

// NewMemory returns an empty Memory.
func NewMemory(cfg MemoryConfig) *Memory {
	if cfg.Keep == 0 {
		cfg.Keep = 10 * time.Minute
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Memory{now: cfg.Now, keep: cfg.Keep, turns: map[string]*tape{}}
}

// Open implements Buffer.
func (m *Memory) Open(_ context.Context, turn string, epoch int64) (ID, error) {
	m.mu.Lock()
	m.forget()
	t := m.turns[turn]
	if t == nil {
		t = &tape{}
		m.turns[turn] = t
	}
	m.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if epoch < t.epoch {
		return t.last(), ErrFenced
	}
	t.epoch = epoch
	return t.last(), nil
}

// forget drops turns that ended long enough ago. The caller holds m.mu.
func (m *Memory) forget() {
	edge, n := m.now().Add(-m.keep), 0
	for n < len(m.ended) && m.ended[n].at.Before(edge) {
		delete(m.turns, m.ended[n].turn)
		n++
	}
	m.ended = slices.Delete(m.ended, 0, n)
}

func (m *Memory) find(turn string) (*tape, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.turns[turn]; t != nil {
		return t, nil
	}
	return nil, ErrLost
}

// Append implements Buffer.
func (m *Memory) Append(_ context.Context, turn string, epoch int64, data ...json.RawMessage) (ID, error) {
	t, err := m.find(turn)
	if err != nil {
		return ID{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.writable(epoch); err != nil {
		return t.last(), err
	}
	if len(data) > 0 && (len(t.since) == 0 || t.since[len(t.since)-1].Epoch != epoch) {
		t.since = append(t.since, ID{Epoch: epoch, Seq: int64(len(t.events)) + 1})
	}
	t.events = append(t.events, data...)
	t.wake()
	return t.last(), nil
}

// Close implements Buffer.
func (m *Memory) Close(_ context.Context, turn string, epoch int64) error {
	t, err := m.find(turn)
	if err != nil {
		return err
	}
	t.mu.Lock()
	if t.closed && epoch == t.epoch {
		t.mu.Unlock()
		return nil
	}
	if err := t.writable(epoch); err != nil {
		t.mu.Unlock()
		return err
	}
	t.closed = true
	t.wake()
	t.mu.Unlock()
	m.mu.Lock()
	m.ended = append(m.ended, endedTape{turn, m.now()})
	m.mu.Unlock()
	return nil
}

// Read implements Buffer.
func (m *Memory) Read(ctx context.Context, turn string, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		t, err := m.find(turn)
		if err != nil {
			yield(Event{}, err)
			return
		}
		after = max(after, 0)
		for {
			t.mu.Lock()
			var batch []json.RawMessage
			if after < int64(len(t.events)) {
				batch = t.events[after:len(t.events):len(t.events)]
			}
			closed, since := t.closed, t.since
			var more chan struct{}
			if len(batch) == 0 && !closed {
				if t.more == nil {
					t.more = make(chan struct{})
				}
				more = t.more
			}
			t.mu.Unlock()
			if len(batch) == 0 {
				if closed {
					return
				}
				select {
				case <-more:
					continue
				case <-ctx.Done():
					yield(Event{}, context.Cause(ctx))
					return
				}
			}
			for _, data := range batch {
				after++
				if !yield(Event{ID: ID{Epoch: epochAt(since, after), Seq: after}, Data: data}, nil) {
					return
				}
			}
		}
	}
}

func (t *tape) writable(epoch int64) error {
	switch {
	case epoch < t.epoch:
		return ErrFenced
	case epoch > t.epoch: // this epoch never opened the turn here: the buffer it opened was lost
		return ErrLost
	case t.closed:
		return ErrClosed
	default:
		return nil
	}
}

func (t *tape) last() ID {
	n := int64(len(t.events))
	if n == 0 {
		return ID{}
	}
	return ID{Epoch: epochAt(t.since, n), Seq: n}
}

func (t *tape) wake() {
	if t.more != nil {
		close(t.more)
		t.more = nil
	}
}

func epochAt(since []ID, seq int64) int64 {
	for _, s := range slices.Backward(since) {
		if s.Seq <= seq {
			return s.Epoch
		}
	}
	return 0
}
