package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/model/anthropic"
	"bordereau/agent/model/modelserver"
)

func quantiles(b *testing.B, name string, all []time.Duration) {
	slices.Sort(all)
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", .5}, {"p95", .95}, {"p99", .99}} {
		b.ReportMetric(float64(all[min(int(float64(len(all))*q.at), len(all)-1)].Microseconds())/1000, name+"-"+q.name+"-ms")
	}
}

// BenchmarkAcceptedToRequest measures from the message's arrival to the model's request on the wire, warm.
func BenchmarkAcceptedToRequest(b *testing.B) {
	server := modelserver.New(modelserver.Script{Replies: []modelserver.Reply{{Text: "hello"}}})
	asked := make(chan time.Time, 1)
	server.OnAsk(func(at time.Time) { asked <- at })
	hs := httptest.NewServer(server)
	defer hs.Close()
	m, err := anthropic.New(anthropic.Config{Model: "m", Key: "k", URL: hs.URL})
	if err != nil {
		b.Fatal(err)
	}
	h := newHouse(b, m, reportTools())
	h.cfg.Models = oneModel{named{m}}
	r := h.start(b)
	var all []time.Duration
	n := 0
	for b.Loop() {
		n++
		began := time.Now()
		p := h.post(b, fmt.Sprint("c", n), "hello")
		r.Wake()
		all = append(all, (<-asked).Sub(began))
		for _, err := range h.events.Read(b.Context(), p.Turn.ID, 0) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	quantiles(b, "request", all)
}

type named struct{ model.Model }

func (named) Name() string { return "scripted" }

// stamped is a model that says the time, so that a reader can tell how long its words took.
func stamped(n int, every time.Duration) scripted {
	return func(ctx context.Context, _ model.Request, yield func(model.Event, error) bool) {
		tick := time.NewTicker(max(every, time.Microsecond))
		defer tick.Stop()
		for range n {
			select {
			case <-tick.C:
			case <-ctx.Done():
				yield(model.Event{}, &model.Error{Class: model.Cancelled})
				return
			}
			if !yield(model.Event{Kind: model.TextDelta, Text: fmt.Sprint(time.Now().UnixNano(), " some words")}, nil) {
				return
			}
		}
		done(yield, model.EndTurn, model.Block{Kind: model.Text, Text: strings.Repeat("words ", n)})
	}
}

// lag reads a turn and returns how long each of its words took.
func (h *house) lag(ctx context.Context, id string) (all []time.Duration, err error) {
	for e, err := range h.events.Read(ctx, id, 0) {
		if err != nil {
			return all, err
		}
		now := time.Now()
		var p part
		if err := json.Unmarshal(e.Data, &p); err != nil {
			return all, err
		}
		var at int64
		if p.Type != "text-delta" {
			continue
		}
		if _, err := fmt.Sscan(p.Delta, &at); err != nil {
			return all, err
		}
		all = append(all, now.Sub(time.Unix(0, at)))
	}
	return all, nil
}

// BenchmarkModelToReader measures from a model's word to the event at a reader.
func BenchmarkModelToReader(b *testing.B) {
	h := newHouse(b, stamped(200, 2*time.Millisecond), reportTools())
	r := h.start(b)
	var all []time.Duration
	n := 0
	for b.Loop() {
		n++
		p := h.post(b, fmt.Sprint("c", n), "hello")
		r.Wake()
		got, err := h.lag(b.Context(), p.Turn.ID)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, got...)
	}
	quantiles(b, "event", all)
}

// BenchmarkThousandTurns streams 1,000 turns at 30 words a second each, every one with a reader.
func BenchmarkThousandTurns(b *testing.B) {
	const turns, words = 1000, 150
	for b.Loop() {
		h := newHouseFor(b, stamped(words, time.Second/30), reportTools(), journal.DefaultLeaseTTL)
		h.cfg.Turns = turns
		r := h.start(b)
		var before, during runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var mu sync.Mutex
		var all []time.Duration
		var wg sync.WaitGroup
		for i := range turns {
			p := h.post(b, fmt.Sprint("c", i), "hello")
			r.Wake()
			wg.Go(func() {
				got, err := h.lag(b.Context(), p.Turn.ID)
				if err != nil {
					b.Error(err)
				}
				mu.Lock()
				all = append(all, got...)
				mu.Unlock()
			})
		}
		time.Sleep(2 * time.Second)
		runtime.ReadMemStats(&during)
		wg.Wait()
		quantiles(b, "event", all)
		b.ReportMetric(float64(during.HeapInuse+during.StackInuse-min(before.HeapInuse+before.StackInuse, during.HeapInuse+during.StackInuse))/turns/1024, "KiB/turn")
		b.ReportMetric(float64(len(all)), "events")
		r.Stop()
	}
}
