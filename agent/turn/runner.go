package turn

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"bordereau/agent/journal"
)

// Why a turn's work was stopped.
var (
	errCancelled = errors.New("turn: cancelled by a person")
	errStopping  = errors.New("turn: this replica is shutting down")
	errLease     = errors.New("turn: the lease could not be kept")
)

// Runner claims turns and runs them, many at once.
type Runner struct {
	c       Config
	name    string
	metrics *metrics

	wake chan struct{}
	quit context.CancelFunc // no new claims
	stop context.CancelCauseFunc
	wg   sync.WaitGroup
	once sync.Once

	mu   sync.Mutex
	live map[string]context.CancelCauseFunc
	ends map[string]func() // ask for an orderly hand-over
	slot chan struct{}
}

// NewRunner checks cfg and returns a Runner that isn't started.
func NewRunner(cfg Config) (*Runner, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	return &Runner{
		c: cfg, name: processName(cfg.NewID()), metrics: newMetrics(cfg.Metrics), wake: make(chan struct{}, 1),
		live: map[string]context.CancelCauseFunc{}, ends: map[string]func(){}, slot: make(chan struct{}, cfg.Turns),
	}, nil
}

// Start begins to claim turns. Turns of a process of this host that is gone are taken over at once.
func (r *Runner) Start(ctx context.Context) error {
	if err := r.c.Journal.Ping(ctx); err != nil {
		return &Failure{Component: "journal", Class: "unavailable", Message: "the journal doesn't answer", Hint: "check the data source name and that the database runs", Cause: err}
	}
	r.orphan(ctx)
	// Turns outlive the context that started the runner: Stop ends them in order.
	base, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	claims, quit := context.WithCancel(base)
	r.stop, r.quit = stop, quit
	r.wg.Go(func() { r.claimLoop(claims, base) })
	r.wg.Go(func() { r.publishLoop(claims) })
	return nil
}

// Stop claims nothing more, lets each turn end its step for at most Config.Grace, and gives the leases back. It is idempotent.
func (r *Runner) Stop() {
	r.once.Do(func() {
		if r.quit == nil {
			return
		}
		r.quit()
		r.mu.Lock()
		for _, end := range r.ends {
			end()
		}
		r.mu.Unlock()
		timer := time.AfterFunc(r.c.Grace, func() { r.stop(errStopping) })
		r.wg.Wait()
		timer.Stop()
		r.stop(errStopping)
	})
}

// Wake tells that a turn was queued.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Cancel asks for a turn's end: at once when it runs here, else within a heartbeat of whoever runs it.
func (r *Runner) Cancel(ctx context.Context, o journal.Owner, turn string) error {
	t, err := r.c.Journal.RequestCancel(ctx, o, turn)
	if err != nil {
		return err
	}
	if !t.Outcome.Status.Live() {
		return journal.ErrNotFound
	}
	r.mu.Lock()
	cancel := r.live[turn]
	r.mu.Unlock()
	if cancel != nil {
		cancel(errCancelled)
	}
	r.Wake()
	return nil
}

// orphan frees the turns of runners that are dead for certain.
func (r *Runner) orphan(ctx context.Context) {
	names, err := r.c.Journal.Runners(ctx)
	if err != nil {
		r.c.Log.WarnContext(ctx, "dead runners could not be looked for", slog.Any("error", err))
		return
	}
	for _, name := range names {
		if !dead(name) {
			continue
		}
		freed, err := r.c.Journal.Orphan(ctx, name)
		if err != nil {
			r.c.Log.WarnContext(ctx, "a dead runner's turns could not be freed", slog.Any("error", err))
			continue
		}
		r.c.Log.InfoContext(ctx, "a dead runner's turns are free", slog.String("runner", name), slog.Int64("turns", freed))
	}
}

// claimLoop claims while there is room. base outlives it: running turns end in their own time.
func (r *Runner) claimLoop(ctx, base context.Context) {
	lookForDead := r.c.Now()
	for {
		select {
		case r.slot <- struct{}{}:
		case <-ctx.Done():
			return
		}
		t, err := r.c.Journal.Claim(ctx, r.name)
		if err == nil {
			r.wg.Go(func() {
				defer func() { <-r.slot }()
				r.run(base, t)
				r.Wake() // the next turn of the conversation may be due
			})
			continue
		}
		<-r.slot
		if ctx.Err() != nil {
			return
		}
		pause := r.c.Poll
		if !errors.Is(err, journal.ErrNotFound) {
			r.c.Log.WarnContext(ctx, "claiming failed", slog.Any("error", err))
			pause = max(pause, time.Second)
		}
		if now := r.c.Now(); now.Sub(lookForDead) > r.c.Journal.LeaseTTL()/3 {
			lookForDead = now
			r.orphan(ctx)
		}
		if !r.idle(ctx, pause) {
			return
		}
	}
}

// idle waits for a wake-up, at most d; false when ctx ended.
func (r *Runner) idle(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.wake:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// publishLoop finishes the streams of turns that ended without their last events reaching the buffer.
func (r *Runner) publishLoop(ctx context.Context) {
	for wait(ctx, max(r.c.Poll*4, 200*time.Millisecond)) {
		t, err := r.c.Journal.ClaimUnpublished(ctx, r.name)
		if err != nil {
			if !errors.Is(err, journal.ErrNotFound) && ctx.Err() == nil {
				r.c.Log.WarnContext(ctx, "looking for unfinished streams failed", slog.Any("error", err))
			}
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, r.c.Journal.LeaseTTL()/2)
		p, err := takeOver(bounded, r.c.Journal, r.c.Buffer, t, func(error) {})
		if err == nil {
			p.start(bounded)
			p.finish(true)
			<-p.done
			err = p.err
		}
		cancel()
		if err != nil && ctx.Err() == nil {
			r.c.Log.WarnContext(ctx, "finishing a stream failed", slog.String("turn_id", t.ID), slog.Any("error", err))
		}
	}
}

// run runs one claimed turn to its end, or until its lease is lost or given back.
func (r *Runner) run(base context.Context, t journal.Turn) {
	log := r.c.Log.With(slog.String("turn_id", t.ID), slog.String("org", t.Org), slog.Int64("epoch", t.Epoch))
	ctx, cancel := context.WithCancelCause(base)
	defer cancel(nil)
	run := newRun(r, t, log, cancel)
	r.mu.Lock()
	r.live[t.ID], r.ends[t.ID] = cancel, run.handOver
	r.mu.Unlock()
	r.metrics.running.Inc()
	if t.Epoch > 1 {
		r.metrics.takeovers.Inc()
	}
	defer func() {
		r.metrics.running.Dec()
		r.mu.Lock()
		delete(r.live, t.ID)
		delete(r.ends, t.ID)
		r.mu.Unlock()
	}()
	keeper := make(chan struct{})
	keep, stopKeeping := context.WithCancel(context.WithoutCancel(ctx))
	go func() { defer close(keeper); r.keep(keep, run.lease, cancel) }()
	run.work(ctx)
	stopKeeping()
	<-keeper
}

// keep beats at a third of the lease. It ends the turn's work when somebody cancelled it or the lease is gone.
func (r *Runner) keep(ctx context.Context, l journal.Lease, cancel context.CancelCauseFunc) {
	ttl := r.c.Journal.LeaseTTL()
	until := time.Now().Add(ttl)
	for wait(ctx, min(ttl/3, time.Until(until)/2+time.Millisecond)) {
		asked := time.Now()
		bounded, done := context.WithTimeout(ctx, ttl/3)
		beat, err := r.c.Journal.Heartbeat(bounded, l)
		done()
		switch {
		case err == nil:
			until = asked.Add(ttl)
			if beat.Cancel {
				cancel(errCancelled)
			}
		case errors.Is(err, journal.ErrFenced):
			cancel(journal.ErrFenced) // or the turn has ended, and nobody hears
			return
		case time.Now().After(until):
			cancel(errLease)
			return
		}
	}
}
