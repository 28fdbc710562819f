package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Config is what a Scheduler is made of. Store, Journal, People, Files, Wake, NewID and Log are required.
type Config struct {
	Store      *Store
	Journal    Journal
	People     People
	Files      Files
	Deliverers map[Kind]Deliverer // what is set up here
	Wake       func()             // tells the runner that a turn was queued
	NewID      func() string
	Log        *slog.Logger
	Link       func(path string) string // makes an address that a recipient can open; nil: links are paths
	Metrics    prometheus.Registerer    // nil: none
	Now        func() time.Time         // nil: time.Now
	Jitter     func() float64           // nil: random in [0,1)

	Poll     time.Duration   // how often it looks what is due; 0: 1 s
	Grace    time.Duration   // how late a tick may start before it counts as missed; 0: 2 min
	Attempt  time.Duration   // the bound of one delivery attempt; 0: 2 min
	Workers  int             // deliveries at once; 0: 4
	BackOffs []time.Duration // between attempts; nil: 30 s up to 6 h, twelve attempts in all
}

func (c Config) complete() (Config, error) {
	if c.Store == nil || c.Journal == nil || c.People == nil || c.Files == nil || c.Wake == nil || c.NewID == nil || c.Log == nil {
		return c, fmt.Errorf("%w: a scheduler needs Store, Journal, People, Files, Wake, NewID and Log", ErrConfig)
	}
	if c.Link == nil {
		c.Link = func(path string) string { return path }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	set(&c.Poll, time.Second)
	set(&c.Grace, 2*time.Minute)
	set(&c.Attempt, 2*time.Minute)
	if c.Workers == 0 {
		c.Workers = 4
	}
	if c.BackOffs == nil {
		c.BackOffs = []time.Duration{
			30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 6 * time.Hour, 6 * time.Hour,
		}
	}
	return c, nil
}

func set(d *time.Duration, to time.Duration) {
	if *d == 0 {
		*d = to
	}
}

// Scheduler starts what is due, settles what has ended, and delivers. Any number of replicas may run one.
type Scheduler struct {
	c       Config
	metrics *metrics

	stop context.CancelFunc
	wg   sync.WaitGroup
	once sync.Once
}

// New checks c and returns a Scheduler that isn't started.
func New(c Config) (*Scheduler, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	return &Scheduler{c: c, metrics: newMetrics(c.Metrics)}, nil
}

// Start begins to look at the clock.
func (s *Scheduler) Start(ctx context.Context) {
	// Its work outlives the context that started it: Stop ends it in order.
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.wg.Go(func() { s.loop(ctx, s.pass) })
	for range s.c.Workers {
		s.wg.Go(func() { s.loop(ctx, s.deliverAll) })
	}
}

// Stop ends what is under way and waits for it. An attempt to deliver that it cuts is known to have an unknown end.
func (s *Scheduler) Stop() {
	s.once.Do(func() {
		if s.stop != nil {
			s.stop()
			s.wg.Wait()
		}
	})
}

func (s *Scheduler) loop(ctx context.Context, work func(context.Context)) {
	tick := time.NewTicker(s.c.Poll)
	defer tick.Stop()
	for {
		work(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// pass does once what is due by now.
func (s *Scheduler) pass(ctx context.Context) {
	s.settleAll(ctx)
	s.beginAll(ctx)
	due, err := s.c.Store.Due(ctx, s.c.Now())
	if err != nil {
		s.trouble(ctx, "looking for schedules that are due failed", err)
		return
	}
	for _, v := range due {
		if err := s.fire(ctx, v); err != nil && !errors.Is(err, ErrTaken) {
			s.trouble(ctx, "a schedule's tick failed; it is tried again", err, slog.String("schedule_id", v.ID), slog.String("org", v.Org))
		}
	}
}

// trouble logs what nobody is left to return to.
func (s *Scheduler) trouble(ctx context.Context, message string, err error, with ...slog.Attr) {
	if ctx.Err() != nil {
		return
	}
	s.metrics.trouble.Inc()
	s.c.Log.LogAttrs(ctx, slog.LevelWarn, "a scheduler's work failed", append(with, slog.String("what", message), slog.Any("error", err))...)
}
