package call

import (
	"context"
	"errors"
	"sync"
	"time"

	"bordereau/governance/fault"
)

// errElsewhere says that another process has the call.
var errElsewhere = errors.New("call: another process has it")

// running is a call under way in this process.
type running struct {
	mu     sync.Mutex
	epochs map[int64]int // of the askers that wait, with their number
	last   int64         // the newest epoch that ever asked
	stop   context.CancelCauseFunc
	alone  bool
	done   chan struct{}
	answer []byte
	err    error
}

// join finds the running call, or makes it the caller's to start.
func (d *Desk) join(a Ask) (r *running, mine bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.open[a.ID]
	if !ok {
		r = &running{epochs: map[int64]int{}, done: make(chan struct{})}
		d.open[a.ID] = r
	}
	r.mu.Lock()
	r.epochs[a.Epoch]++
	r.last = max(r.last, a.Epoch)
	r.mu.Unlock()
	return r, !ok
}

// leave ends the call for all who wait.
func (d *Desk) leave(id ID, r *running, answer []byte, err error) {
	d.mu.Lock()
	delete(d.open, id)
	d.mu.Unlock()
	r.answer, r.err = answer, err
	close(r.done)
}

// wait waits for the answer as long as the asker does.
func (d *Desk) wait(ctx context.Context, a Ask, r *running) ([]byte, error) {
	defer func() {
		r.mu.Lock()
		if r.epochs[a.Epoch]--; r.epochs[a.Epoch] == 0 {
			delete(r.epochs, a.Epoch)
		}
		r.mu.Unlock()
	}()
	select {
	case <-r.done:
		return r.answer, r.err
	case <-ctx.Done():
		return nil, (&fault.Error{
			Code: fault.Interrupted, Component: component, Message: "the request ended before the call did", Hint: "ask again under the same key to get its answer", Retryable: true,
		}).Because(context.Cause(ctx))
	}
}

// watch stops a call whose time is up or whose turn is over, and renews its lease meanwhile.
func (d *Desk) watch(ctx context.Context, a Ask, r *running, deadline time.Time) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	timer := time.NewTimer(a.Limit)
	defer timer.Stop()
	silent, dead := 0, 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			r.cancel(&fault.Error{Code: fault.Timeout, Component: component, Message: "the call took longer than " + a.Limit.String(), Hint: "ask for less: a narrower range of days, fewer rows"})
			return
		case <-ticker.C:
		}
		live, err := d.live(ctx, a.ID.Turn, r)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			silent++
		case live:
			silent, dead = 0, 0
		default:
			silent, dead = 0, dead+1
		}
		if silent >= patience {
			r.cancel((&fault.Error{Code: fault.Unavailable, Component: "turn", Message: "nobody can tell whether the turn is live", Retryable: true}).Because(err))
			return
		}
		if dead >= grace || dead > 0 && r.alone {
			r.cancel(&fault.Error{Code: fault.Interrupted, Component: "turn", Message: "the turn has ended or moved on"})
			return
		}
		if !r.alone {
			d.renew(ctx, a.ID, d.c.Now(), deadline)
		}
	}
}

// live tells whether the turn is live under the newest epoch that has asked.
func (d *Desk) live(ctx context.Context, turn string, r *running) (bool, error) {
	r.mu.Lock()
	epoch := r.last
	for e := range r.epochs {
		epoch = max(epoch, e)
	}
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, beat)
	defer cancel()
	return d.c.Live.TurnLive(ctx, turn, epoch)
}

func (r *running) cancel(why error) {
	r.mu.Lock()
	stop := r.stop
	r.mu.Unlock()
	stop(why)
}
