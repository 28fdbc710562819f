package lease

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"bordereau/sandbox"
)

// warmPrefix is of sandboxes that wait for a conversation.
const warmPrefix = "warm-"

// demandWindow is how long a start counts as demand.
const demandWindow = time.Minute

// warmLife is how long a waiting sandbox counts as its owner's, who renews that; after it the owner died.
const warmLife = 2 * demandWindow

// refillAfter is how long after a claim the pool is filled again.
const refillAfter = 300 * time.Millisecond

// Warm says how many sandboxes wait ready. Max 0 turns the pool off.
type Warm struct {
	Min int // always
	Max int // when many were wanted in the last minute, or somebody is about to ask
}

// pool keeps running sandboxes of nobody.
type pool struct {
	cfg     Config
	claimer sandbox.Claimer // nil: the driver has no warm pool

	mu    sync.Mutex
	ready []string
	asked []time.Time // claims and hints within the window
	wake  chan struct{}
}

func newPool(cfg Config) *pool {
	p := &pool{cfg: cfg, wake: make(chan struct{}, 1)}
	if c, ok := cfg.Driver.(sandbox.Claimer); ok && cfg.Warm.Max > 0 {
		p.claimer = c
	}
	return p
}

func (p *pool) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// want is the size that demand asks for. The caller holds mu.
func (p *pool) want() int {
	if p.claimer == nil {
		return 0
	}
	oldest := p.cfg.Now().Add(-demandWindow)
	p.asked = slices.DeleteFunc(p.asked, func(t time.Time) bool { return t.Before(oldest) })
	return min(max(p.cfg.Warm.Min, len(p.asked)), max(p.cfg.Warm.Max, p.cfg.Warm.Min))
}

// hint counts a coming need and sees to it now.
func (p *pool) hint() {
	p.demand()
	p.poke()
}

func (p *pool) demand() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) < 10_000 {
		p.asked = append(p.asked, p.cfg.Now())
	}
}

// claim gives a waiting sandbox to a conversation. One that turns out dead is dropped and the next one tried.
func (p *pool) claim(ctx context.Context, spec sandbox.Spec) bool {
	if p.claimer == nil {
		return false
	}
	p.demand()
	// Whoever claims waits for a first result: the next sandbox's start must not take the cores from it.
	time.AfterFunc(refillAfter, p.poke)
	for {
		p.mu.Lock()
		if len(p.ready) == 0 {
			p.mu.Unlock()
			return false
		}
		id := p.ready[0]
		p.ready = p.ready[1:]
		p.mu.Unlock()
		info, err := p.cfg.Driver.Find(ctx, id)
		if err == nil && info.State == sandbox.Running {
			if _, err = p.claimer.Claim(ctx, id, spec); err == nil {
				if err := p.cfg.Store.Remove(ctx, id); err != nil { // an old record of nothing is removed later
					p.cfg.Log.WarnContext(ctx, "can't forget a warm sandbox", slog.String("sandbox", id), slog.Any("error", err))
				}
				return true
			}
		}
		p.cfg.Log.WarnContext(ctx, "a warm sandbox can't be used", slog.String("sandbox", id), slog.Any("error", err))
		p.discard(ctx, id)
	}
}

// discard deletes a waiting sandbox, then its record.
func (p *pool) discard(ctx context.Context, id string) {
	err := p.cfg.Driver.Delete(ctx, id)
	if err == nil {
		err = p.cfg.Store.Remove(ctx, id)
	}
	if err != nil { // its record stays, so that it is tried again
		p.cfg.Log.WarnContext(ctx, "can't delete a warm sandbox", slog.String("sandbox", id), slog.Any("error", err))
	}
}

// tidy deletes a waiting sandbox whose owner died: nobody renewed its record.
func (p *pool) tidy(ctx context.Context, r Record) {
	if p.cfg.Now().Sub(r.Used) < warmLife {
		return
	}
	p.mu.Lock()
	mine := slices.Contains(p.ready, r.ID())
	p.mu.Unlock()
	if !mine {
		p.discard(ctx, r.ID())
	}
}

// renew says in the records that the owner of the waiting sandboxes lives.
func (p *pool) renew(ctx context.Context) {
	p.mu.Lock()
	ids := slices.Clone(p.ready)
	p.mu.Unlock()
	for _, id := range ids {
		if err := p.cfg.Store.Save(ctx, Record{Conversation: id, Used: p.cfg.Now()}); err != nil {
			p.cfg.Log.WarnContext(ctx, "can't renew a warm sandbox's record", slog.String("sandbox", id), slog.Any("error", err))
		}
	}
}

// run keeps the pool at the size that demand asks for, until ctx ends.
func (p *pool) run(ctx context.Context) {
	if p.claimer == nil {
		return
	}
	tick := time.NewTicker(demandWindow / 4)
	defer tick.Stop()
	for {
		p.level(ctx)
		select {
		case <-p.wake:
		case <-tick.C:
			p.renew(ctx)
		case <-ctx.Done():
			p.drain(ctx)
			return
		}
	}
}

// drain deletes what waits: the next process makes its own.
func (p *pool) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	p.mu.Lock()
	ids := p.ready
	p.ready = nil
	p.mu.Unlock()
	for _, id := range ids {
		p.discard(ctx, id)
	}
}

func (p *pool) level(ctx context.Context) {
	for ctx.Err() == nil {
		p.mu.Lock()
		missing := p.want() - len(p.ready)
		var extra string
		if missing < 0 {
			extra = p.ready[len(p.ready)-1]
			p.ready = p.ready[:len(p.ready)-1]
		}
		p.mu.Unlock()
		switch {
		case missing == 0:
			return
		case missing < 0:
			p.discard(ctx, extra)
		default:
			id := warmPrefix + random()
			err := p.cfg.Store.Save(ctx, Record{Conversation: id, Used: p.cfg.Now()})
			if err == nil {
				_, err = p.cfg.Driver.Create(ctx, sandbox.Spec{ID: id, Limits: p.cfg.Limits})
			}
			if err != nil {
				p.discard(context.WithoutCancel(ctx), id)
				if ctx.Err() == nil {
					p.cfg.Log.WarnContext(ctx, "can't warm a sandbox", slog.Any("error", err))
				}
				return // the tick tries again
			}
			p.mu.Lock()
			p.ready = append(p.ready, id)
			p.mu.Unlock()
		}
	}
}
