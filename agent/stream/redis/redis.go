// Package redis keeps the events of turns in Redis or Valkey, so that any replica serves any stream.
package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"bordereau/agent/stream"
)

// ErrConfig is returned by New for a Config that lacks something.
var ErrConfig = errors.New("redis buffer: incomplete configuration")

// Config is what a Buffer is made from. Client is required; its Close stays the caller's.
type Config struct {
	Client  redis.UniversalClient
	Prefix  string        // of all keys; "": "bordereau"
	Running time.Duration // life of a turn's events after the last write; 0: 24 h
	Ended   time.Duration // after its end; 0: 1 h, the journal has them for longer
	MaxLen  int64         // about how many batches of events a turn keeps; 0: 20,000
}

// Buffer is a stream.Buffer. One subscription serves all readers of the process.
type Buffer struct {
	c Config

	mu      sync.Mutex
	sub     *redis.PubSub
	waiting map[string]map[chan struct{}]struct{} // by channel
	stop    context.CancelFunc
	wg      sync.WaitGroup
}

var _ stream.Buffer = (*Buffer)(nil)

// New returns a Buffer; Start it before reading.
func New(c Config) (*Buffer, error) {
	if c.Client == nil {
		return nil, fmt.Errorf("%w: it needs Client", ErrConfig)
	}
	if c.Prefix == "" {
		c.Prefix = "bordereau"
	}
	if c.Running == 0 {
		c.Running = 24 * time.Hour
	}
	if c.Ended == 0 {
		c.Ended = time.Hour
	}
	if c.MaxLen == 0 {
		c.MaxLen = 20_000
	}
	return &Buffer{c: c, waiting: map[string]map[chan struct{}]struct{}{}}, nil
}

// Start begins to listen for news. Redis may be down: readers look for themselves until it is back.
func (b *Buffer) Start(ctx context.Context) error {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sub != nil {
		stop()
		return nil
	}
	b.stop, b.sub = stop, b.c.Client.Subscribe(ctx)
	sub := b.sub
	b.wg.Go(func() { b.listen(ctx, sub) })
	return nil
}

// Stop ends the subscription and waits for it. It is idempotent.
func (b *Buffer) Stop() {
	b.mu.Lock()
	stop, sub := b.stop, b.sub
	b.stop, b.sub = nil, nil
	b.mu.Unlock()
	if sub == nil {
		return
	}
	stop()
	_ = sub.Close() // it only fails when it was closed before
	b.wg.Wait()
}

// listen wakes the readers of each turn that has news.
func (b *Buffer) listen(ctx context.Context, sub *redis.PubSub) {
	for ctx.Err() == nil {
		m, err := sub.ReceiveMessage(ctx)
		if err != nil {
			// Down, or not subscribed to anything yet: the client connects again by itself.
			pause(ctx, 20*time.Millisecond)
			continue
		}
		b.mu.Lock()
		for c := range b.waiting[m.Channel] {
			select {
			case c <- struct{}{}:
			default:
			}
		}
		b.mu.Unlock()
	}
}

// await registers a reader of a turn.
func (b *Buffer) await(ctx context.Context, channel string) (news chan struct{}, leave func()) {
	news = make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	first := b.waiting[channel] == nil
	if first {
		b.waiting[channel] = map[chan struct{}]struct{}{}
	}
	b.waiting[channel][news] = struct{}{}
	if first && b.sub != nil {
		_ = b.sub.Subscribe(ctx, channel) // when Redis is down the client subscribes once it is back
	}
	return news, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.waiting[channel], news)
		if len(b.waiting[channel]) == 0 {
			delete(b.waiting, channel)
			if b.sub != nil {
				bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
				defer cancel()
				_ = b.sub.Unsubscribe(bounded, channel) // news that nobody waits for is passed over
			}
		}
	}
}

func (b *Buffer) state(turn string) string   { return b.c.Prefix + ":{" + turn + "}:state" }
func (b *Buffer) events(turn string) string  { return b.c.Prefix + ":{" + turn + "}:events" }
func (b *Buffer) channel(turn string) string { return b.c.Prefix + ":{" + turn + "}:news" }

// Open implements stream.Buffer.
func (b *Buffer) Open(ctx context.Context, turn string, epoch int64) (stream.ID, error) {
	return answer(open.Run(ctx, b.c.Client, []string{b.state(turn)}, epoch, seconds(b.c.Running)))
}

// Append implements stream.Buffer.
func (b *Buffer) Append(ctx context.Context, turn string, epoch int64, data ...json.RawMessage) (stream.ID, error) {
	size := 0
	for _, d := range data {
		size += len(d) + 1
	}
	joined := make([]byte, 0, size)
	for i, d := range data {
		if i > 0 {
			joined = append(joined, separator...)
		}
		joined = append(joined, d...)
	}
	return answer(add.Run(ctx, b.c.Client, []string{b.state(turn), b.events(turn)}, epoch, seconds(b.c.Running), b.c.MaxLen, b.channel(turn), len(data), joined))
}

// Close implements stream.Buffer.
func (b *Buffer) Close(ctx context.Context, turn string, epoch int64) error {
	_, err := answer(end.Run(ctx, b.c.Client, []string{b.state(turn), b.events(turn)}, epoch, seconds(b.c.Ended), b.channel(turn)))
	return err
}

func seconds(d time.Duration) int64 { return int64(max(d, time.Second) / time.Second) }

// answer reads what the scripts return: a verdict and the last event's id.
func answer(cmd *redis.Cmd) (stream.ID, error) {
	pair, err := cmd.StringSlice()
	if err != nil {
		return stream.ID{}, fmt.Errorf("redis buffer: %w", err)
	}
	if len(pair) != 2 {
		return stream.ID{}, fmt.Errorf("redis buffer: odd answer %q", pair)
	}
	id, err := stream.ParseID(pair[1])
	if err != nil {
		return stream.ID{}, err
	}
	switch pair[0] {
	case "ok":
		return id, nil
	case "fenced":
		return id, stream.ErrFenced
	case "closed":
		return id, stream.ErrClosed
	default:
		return id, stream.ErrLost
	}
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
