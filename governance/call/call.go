// Package call runs a tool's call once for its idempotency key: who asks again joins the running call or gets its answer.
package call

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/turntoken"
)

const component = "governance"

// The rhythm of calls.
const (
	beat     = time.Second      // how often a running call asks whether its turn is live, and renews its lease
	patience = 5                // beats without an answer about the turn before the call is stopped
	grace    = 5                // beats that a call without its turn goes on, for another runner to take the turn over
	lease    = 10 * time.Second // after that without a beat, another process may make the call
	glance   = 100 * time.Millisecond
)

// Config is what a Desk needs. All of it is required.
type Config struct {
	DB    *sql.DB // the governance database
	Live  turntoken.Liveness
	TTL   time.Duration // how long answers are kept
	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger
}

// Desk takes calls.
type Desk struct {
	c      Config
	holder string // this process
	mu     sync.Mutex
	open   map[ID]*running
	ending sync.WaitGroup
	closed context.Context //nolint:containedctx // the life of the desk, which all calls share
	close  context.CancelCauseFunc
}

// NewDesk returns a Desk.
func NewDesk(c Config) (*Desk, error) {
	if c.DB == nil || c.Live == nil || c.TTL <= 0 || c.Now == nil || c.NewID == nil || c.Log == nil {
		return nil, errors.New("call: DB, Live, TTL, Now, NewID and Log are required")
	}
	d := &Desk{c: c, holder: c.NewID(), open: map[ID]*running{}}
	d.closed, d.close = context.WithCancelCause(context.Background())
	return d, nil
}

// Close stops what runs and waits for it.
func (d *Desk) Close() {
	d.close(&fault.Error{Code: fault.Unavailable, Component: component, Message: "governance is stopping", Hint: "ask again", Retryable: true})
	d.ending.Wait()
}

// ID says which call is meant. Digest is of the tool and its arguments: a key used for another call is another call,
// so that code in a sandbox can't answer for the agent.
type ID struct{ Org, Turn, Key, Digest string }

// Digest is the ID's part for a tool and its arguments.
func Digest(tool string, arguments []byte) string {
	h := sha256.New()
	h.Write([]byte(tool + "\n"))
	h.Write(arguments)
	return hex.EncodeToString(h.Sum(nil))
}

// Work is what a call does. It must end soon after its context does.
type Work func(ctx context.Context) ([]byte, error)

// Ask is one asking of a call.
type Ask struct {
	ID    ID    // with Key "": an anonymous call, which ends with its request
	Epoch int64 // of the asker's token
	Limit time.Duration
	Work  Work
}

// Do answers a call. Its error, if any, is a *fault.Error or the Work's own.
func (d *Desk) Do(ctx context.Context, a Ask) ([]byte, error) {
	if a.ID.Key == "" {
		return d.alone(ctx, a)
	}
	for {
		r, mine := d.join(a)
		if mine {
			if answer, done, err := d.claim(ctx, a.ID); err != nil || done {
				d.leave(a.ID, r, answer, err)
			} else {
				d.start(ctx, a, r)
			}
		}
		answer, err := d.wait(ctx, a, r)
		if errors.Is(err, errElsewhere) {
			if err := d.elsewhere(ctx, a); err != nil {
				return nil, err
			}
			continue
		}
		return answer, err
	}
}

// alone runs a call that nobody can join, within its request, its turn and its own time.
func (d *Desk) alone(ctx context.Context, a Ask) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(d.closed, func() { cancel(context.Cause(d.closed)) })() //nolint:contextcheck // the desk's end is the call's too
	r := &running{epochs: map[int64]int{a.Epoch: 1}, stop: cancel, alone: true}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		d.watch(ctx, a, r, d.c.Now().Add(a.Limit))
	}()
	answer, err := work(ctx, a.Work)
	cancel(nil)
	<-stopped
	return answer, cause(ctx, err)
}

// start runs a call in a goroutine of its own, which outlives the request.
func (d *Desk) start(ctx context.Context, a Ask, r *running) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r.mu.Lock()
	r.stop = cancel
	r.mu.Unlock()
	d.ending.Go(func() {
		defer cancel(nil)
		defer context.AfterFunc(d.closed, func() { cancel(context.Cause(d.closed)) })() //nolint:contextcheck // the desk's end is the call's too
		watched := make(chan struct{})
		deadline := d.c.Now().Add(a.Limit)
		go func() {
			defer close(watched)
			d.watch(ctx, a, r, deadline)
		}()
		answer, err := work(ctx, a.Work)
		err = cause(ctx, err)
		cancel(nil)
		<-watched
		d.finish(context.WithoutCancel(ctx), a.ID, answer, err)
		d.leave(a.ID, r, answer, err)
	})
}

// work runs w; a panic of it is an error like any other, not the end of the process.
func work(ctx context.Context, w Work) (answer []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = (&fault.Error{Code: fault.Internal, Component: component, Message: "internal error"}).Because(fmt.Errorf("panic: %v", p))
		}
	}()
	return w(ctx)
}

// cause is why a call really ended: a fault that stopped its context says more than the fault that it brought about.
func cause(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var f, own *fault.Error
	if !errors.As(context.Cause(ctx), &f) {
		return err
	}
	if errors.As(err, &own) && own.AuditID != "" {
		f = f.Because(err)
		f.AuditID = own.AuditID
	}
	return f
}
