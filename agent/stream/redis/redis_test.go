package redis_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/uuid"
	goredis "github.com/redis/go-redis/v9"

	"bordereau/agent/stream"
	"bordereau/agent/stream/redis"
	"bordereau/agent/stream/redis/redistest"
	"bordereau/agent/stream/streamtest"
)

func buffer(t testing.TB, addr string, c redis.Config) *redis.Buffer {
	t.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	c.Client = client
	b, err := redis.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	return b
}

func TestRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	streamtest.Run(t, func(t *testing.T) stream.Buffer { return buffer(t, server.Addr, redis.Config{}) })
}

func TestMiniredis(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	streamtest.Run(t, func(t *testing.T) stream.Buffer { return buffer(t, server.Addr(), redis.Config{}) })
}

// TestAnyReplicaReads has one process write and another read.
func TestAnyReplicaReads(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	a, b := buffer(t, server.Addr, redis.Config{}), buffer(t, server.Addr, redis.Config{})
	turn := uuid.NewString()
	if _, err := a.Open(t.Context(), turn, 1); err != nil {
		t.Fatal(err)
	}
	var took time.Duration
	began := make(chan time.Time, 1)
	go func() {
		time.Sleep(100 * time.Millisecond)
		began <- time.Now()
		_, _ = a.Append(t.Context(), turn, 1, json.RawMessage(`{}`))
	}()
	for _, err := range b.Read(t.Context(), turn, 0) {
		if err != nil {
			t.Fatal(err)
		}
		took = time.Since(<-began)
		break
	}
	if took > 500*time.Millisecond {
		t.Errorf("news took %s: the reader found it by looking, not by being told", took)
	}
}

// TestTrimmedIsLost holds that a reader who is too far behind isn't given a stream with a hole.
func TestTrimmedIsLost(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	b := buffer(t, server.Addr, redis.Config{MaxLen: 100})
	turn := uuid.NewString()
	if _, err := b.Open(t.Context(), turn, 1); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if _, err := b.Append(t.Context(), turn, 1, json.RawMessage(`1`), json.RawMessage(`2`), json.RawMessage(`3`), json.RawMessage(`4`), json.RawMessage(`5`)); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range b.Read(t.Context(), turn, 0) {
		if !errors.Is(err, stream.ErrLost) {
			t.Errorf("%v", err)
		}
		break
	}
	for e, err := range b.Read(t.Context(), turn, 2499) {
		if err != nil || e.ID.Seq != 2500 {
			t.Errorf("%v, %v", e, err)
		}
		break
	}
}

func BenchmarkAppendOne(b *testing.B)   { benchmarkAppend(b, 1) }
func BenchmarkAppendEight(b *testing.B) { benchmarkAppend(b, 8) }

func benchmarkAppend(b *testing.B, n int) {
	server := redistest.Start(b)
	buf := buffer(b, server.Addr, redis.Config{})
	turn := uuid.NewString()
	if _, err := buf.Open(b.Context(), turn, 1); err != nil {
		b.Fatal(err)
	}
	batch := make([]json.RawMessage, n)
	for i := range batch {
		batch[i] = json.RawMessage(`{"type":"text-delta","id":"1-1","delta":"some words "}`)
	}
	for b.Loop() {
		if _, err := buf.Append(b.Context(), turn, 1, batch...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkReplay10000(b *testing.B) {
	server := redistest.Start(b)
	buf := buffer(b, server.Addr, redis.Config{})
	turn := uuid.NewString()
	if _, err := buf.Open(b.Context(), turn, 1); err != nil {
		b.Fatal(err)
	}
	batch := make([]json.RawMessage, 8)
	for i := range batch {
		batch[i] = json.RawMessage(`{"type":"text-delta","id":"1-1","delta":"some words "}`)
	}
	for range 1250 {
		if _, err := buf.Append(b.Context(), turn, 1, batch...); err != nil {
			b.Fatal(err)
		}
	}
	if err := buf.Close(b.Context(), turn, 1); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := 0
		for _, err := range buf.Read(b.Context(), turn, 0) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}
}
