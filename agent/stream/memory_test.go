package stream_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"bordereau/agent/stream"
	"bordereau/agent/stream/streamtest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	streamtest.Run(t, func(*testing.T) stream.Buffer { return stream.NewMemory(stream.MemoryConfig{}) })
}

func TestMemoryForgetsEndedTurns(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	m := stream.NewMemory(stream.MemoryConfig{Keep: time.Minute, Now: func() time.Time { return now }})
	for _, turn := range []string{"ended", "live"} {
		if _, err := m.Open(t.Context(), turn, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(t.Context(), "ended", 1); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Minute)
	if _, err := m.Open(t.Context(), "new", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Append(t.Context(), "ended", 1, json.RawMessage("1")); !errors.Is(err, stream.ErrLost) {
		t.Errorf("still there: %v", err)
	}
	if _, err := m.Append(t.Context(), "live", 1, json.RawMessage("1")); err != nil {
		t.Errorf("a live turn was forgotten: %v", err)
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	id := stream.ID{Epoch: 3, Seq: 41}
	if got, err := stream.ParseID(id.String()); err != nil || got != id {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "3", "-1-2", "3-", "a-b", "3-4-5"} {
		if got, err := stream.ParseID(bad); err == nil {
			t.Errorf("%q read as %v", bad, got)
		}
	}
}

func BenchmarkMemoryAppend(b *testing.B) {
	m := stream.NewMemory(stream.MemoryConfig{})
	data := json.RawMessage(`{"type":"text-delta","id":"1-1","delta":"some words "}`)
	n := 0
	for b.Loop() {
		turn := strconv.Itoa(n / 10_000)
		if n%10_000 == 0 {
			if _, err := m.Open(b.Context(), turn, 1); err != nil {
				b.Fatal(err)
			}
		}
		n++
		if _, err := m.Append(b.Context(), turn, 1, data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMemoryReplay10000(b *testing.B) {
	m := stream.NewMemory(stream.MemoryConfig{})
	data := json.RawMessage(`{"type":"text-delta","id":"1-1","delta":"some words "}`)
	if _, err := m.Open(b.Context(), "t", 1); err != nil {
		b.Fatal(err)
	}
	for range 10_000 {
		if _, err := m.Append(b.Context(), "t", 1, data); err != nil {
			b.Fatal(err)
		}
	}
	if err := m.Close(b.Context(), "t", 1); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n := 0
		for _, err := range m.Read(b.Context(), "t", 0) {
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
