// Package streamtest is what every stream.Buffer must do.
package streamtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/stream"
)

// Run is the suite. open returns a buffer; the suite uses turn ids of its own, so it may be shared.
func Run(t *testing.T, open func(t *testing.T) stream.Buffer) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, stream.Buffer){
		"order":                  order,
		"a newer epoch fences":   fencing,
		"close":                  closing,
		"unknown turns are lost": lost,
		"a reader waits":         waiting,
		"many readers":           many,
		"a reader leaves":        leaving,
		"open tells the last":    opening,
		"odd bytes":              odd,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, open(t)) })
	}
}

func msg(n int) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)) }

func msgs(from, to int) (all []json.RawMessage) {
	for i := from; i <= to; i++ {
		all = append(all, msg(i))
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read takes events until the end, an error, or n of them (0: all).
func read(ctx context.Context, b stream.Buffer, turn string, after int64, n int) (all []stream.Event, err error) {
	for e, err := range b.Read(ctx, turn, after) {
		if err != nil {
			return all, err
		}
		all = append(all, e)
		if len(all) == n {
			return all, nil
		}
	}
	return all, nil
}

func order(t *testing.T, b stream.Buffer) {
	ctx, turn := t.Context(), uuid.NewString()
	_, err := b.Open(ctx, turn, 1)
	must(t, err)
	id, err := b.Append(ctx, turn, 1, msgs(1, 1500)...)
	must(t, err)
	if id != (stream.ID{Epoch: 1, Seq: 1500}) {
		t.Errorf("last %v", id)
	}
	id, err = b.Append(ctx, turn, 1, msg(1501))
	must(t, err)
	if id.Seq != 1501 {
		t.Errorf("last %v", id)
	}
	must(t, b.Close(ctx, turn, 1))
	for _, after := range []int64{0, 1, 999, 1000, 1500, 1501} {
		all, err := read(ctx, b, turn, after, 0)
		must(t, err)
		if len(all) != int(1501-after) {
			t.Errorf("after %d: %d events", after, len(all))
		}
		for i, e := range all {
			if want := after + int64(i) + 1; e.ID.Seq != want || string(e.Data) != string(msg(int(want))) {
				t.Fatalf("after %d: event %d is %v %s", after, i, e.ID, e.Data)
			}
		}
	}
}

func fencing(t *testing.T, b stream.Buffer) {
	ctx, turn := t.Context(), uuid.NewString()
	_, err := b.Open(ctx, turn, 1)
	must(t, err)
	_, err = b.Append(ctx, turn, 1, msg(1))
	must(t, err)
	last, err := b.Open(ctx, turn, 3)
	must(t, err)
	if last != (stream.ID{Epoch: 1, Seq: 1}) {
		t.Errorf("last %v", last)
	}
	if _, err := b.Append(ctx, turn, 1, msg(2)); !errors.Is(err, stream.ErrFenced) {
		t.Errorf("the zombie wrote: %v", err)
	}
	if err := b.Close(ctx, turn, 1); !errors.Is(err, stream.ErrFenced) {
		t.Errorf("the zombie closed: %v", err)
	}
	if _, err := b.Open(ctx, turn, 2); !errors.Is(err, stream.ErrFenced) {
		t.Errorf("an older epoch opened: %v", err)
	}
	if _, err := b.Append(ctx, turn, 4, msg(2)); !errors.Is(err, stream.ErrLost) {
		t.Errorf("an epoch that never opened wrote: %v", err)
	}
	id, err := b.Append(ctx, turn, 3, msg(2))
	must(t, err)
	if id != (stream.ID{Epoch: 3, Seq: 2}) {
		t.Errorf("numbers don't go on: %v", id)
	}
	must(t, b.Close(ctx, turn, 3))
	all, err := read(ctx, b, turn, 0, 0)
	must(t, err)
	if len(all) != 2 || all[0].ID.Epoch != 1 || all[1].ID.Epoch != 3 {
		t.Errorf("%v", all)
	}
}

func closing(t *testing.T, b stream.Buffer) {
	ctx, turn := t.Context(), uuid.NewString()
	_, err := b.Open(ctx, turn, 1)
	must(t, err)
	must(t, b.Close(ctx, turn, 1))
	must(t, b.Close(ctx, turn, 1))
	if _, err := b.Append(ctx, turn, 1, msg(1)); !errors.Is(err, stream.ErrClosed) {
		t.Errorf("%v", err)
	}
	all, err := read(ctx, b, turn, 0, 0)
	if err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

func lost(t *testing.T, b stream.Buffer) {
	ctx, turn := t.Context(), uuid.NewString()
	if _, err := read(ctx, b, turn, 0, 0); !errors.Is(err, stream.ErrLost) {
		t.Errorf("read: %v", err)
	}
	if _, err := b.Append(ctx, turn, 1, msg(1)); !errors.Is(err, stream.ErrLost) {
		t.Errorf("append: %v", err)
	}
	if err := b.Close(ctx, turn, 1); !errors.Is(err, stream.ErrLost) {
		t.Errorf("close: %v", err)
	}
}

func waiting(t *testing.T, b stream.Buffer) {
	ctx, turn := t.Context(), uuid.NewString()
	_, err := b.Open(ctx, turn, 1)
	must(t, err)
	got := make(chan stream.Event)
	end := make(chan error, 1)
	go func() {
		for e, err := range b.Read(ctx, turn, 0) {
			if err != nil {
				end <- err
				return
			}
			got <- e
		}
		end <- nil
	}()
	for i := 1; i <= 20; i++ {
		_, err := b.Append(ctx, turn, 1, msg(i))
		must(t, err)
		select {
		case e := <-got:
			if e.ID.Seq != int64(i) {
				t.Fatalf("%v", e)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("nothing came")
		}
	}
	must(t, b.Close(ctx, turn, 1))
	select {
	case err := <-end:
		must(t, err)
	case <-time.After(5 * time.Second):
		t.Fatal("the reader never ended")
	}
}

func many(t *testing.T, b stream.Buffer) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	turn := uuid.NewString()
	_, err := b.Open(ctx, turn, 1)
	must(t, err)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			all, err := read(ctx, b, turn, int64(i), 0)
			if err != nil || len(all) != 200-i {
				t.Errorf("reader %d: %d events, %v", i, len(all), err)
			}
		})
	}
	for i := 1; i <= 200; i += 4 {
		_, err := b.Append(ctx, turn, 1, msgs(i, i+3)...)
		must(t, err)
	}
	must(t, b.Close(ctx, turn, 1))
	wg.Wait()
}

func leaving(t *testing.T, b stream.Buffer) {
	turn := uuid.NewString()
	_, err := b.Open(t.Context(), turn, 1)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := read(ctx, b, turn, 0, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	_, err = b.Append(t.Context(), turn, 1, msgs(1, 3)...)
	must(t, err)
	if all, err := read(t.Context(), b, turn, 0, 2); err != nil || len(all) != 2 {
		t.Errorf("%v %v", all, err)
	}
}

func opening(t *testing.T, b stream.Buffer) {
	ctx, turn := t.Context(), uuid.NewString()
	for i := range 3 {
		last, err := b.Open(ctx, turn, 1)
		must(t, err)
		if last.Seq != int64(i) {
			t.Errorf("last %v, want %d", last, i)
		}
		_, err = b.Append(ctx, turn, 1, msg(i+1))
		must(t, err)
	}
}

func odd(t *testing.T, b stream.Buffer) {
	ctx, turn := t.Context(), uuid.NewString()
	_, err := b.Open(ctx, turn, 1)
	must(t, err)
	want := json.RawMessage("{\"delta\":\"\\u0000 \xc3\xbc \xf0\x9f\x9a\x9a \\\" } ]]\"}")
	_, err = b.Append(ctx, turn, 1, want)
	must(t, err)
	all, err := read(ctx, b, turn, 0, 1)
	must(t, err)
	if string(all[0].Data) != string(want) {
		t.Errorf("%q", all[0].Data)
	}
}
