package lease

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"bordereau/sandbox"
)

// warmPrefix is of sandboxes that wait for a conversation.
const warmPrefix = "warm-"

// demandWindow is how long a start counts as demand.
const demandWindow = time.Minute

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

func (p *pool) hint() {
	p.mu.Lock()
	if len(p.asked) < 10_000 {
		p.asked = append(p.asked, p.cfg.Now())
	}
	p.mu.Unlock()
	p.poke()
}

// claim gives a waiting sandbox to a conversation. One that turns out dead is dropped and the next one tried.
func (p *pool) claim(ctx context.Context, spec sandbox.Spec) bool {
	if p.claimer == nil {
		return false
	}
	p.hint()
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
				return true
			}
		}
		p.cfg.Log.WarnContext(ctx, "a warm sandbox can't be used", slog.String("sandbox", id), slog.Any("error", err))
		if err := p.cfg.Driver.Delete(ctx, id); err != nil {
			p.cfg.Log.WarnContext(ctx, "can't delete a warm sandbox", slog.String("sandbox", id), slog.Any("error", err))
		}
	}
}

// adopt takes over what an earlier process kept warm.
func (p *pool) adopt(ctx context.Context, infos []sandbox.Info) {
	for _, info := range infos {
		if !strings.HasPrefix(info.ID, warmPrefix) {
			continue
		}
		if p.claimer != nil && info.State == sandbox.Running {
			p.mu.Lock()
			p.ready = append(p.ready, info.ID)
			p.mu.Unlock()
		} else if err := p.cfg.Driver.Delete(ctx, info.ID); err != nil {
			p.cfg.Log.WarnContext(ctx, "can't delete a warm sandbox", slog.String("sandbox", info.ID), slog.Any("error", err))
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
		case <-ctx.Done():
			return
		}
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
			if err := p.cfg.Driver.Delete(ctx, extra); err != nil {
				p.cfg.Log.WarnContext(ctx, "can't delete a warm sandbox", slog.String("sandbox", extra), slog.Any("error", err))
			}
		default:
			id := warmPrefix + random()
			if _, err := p.cfg.Driver.Create(ctx, sandbox.Spec{ID: id, Limits: p.cfg.Limits}); err != nil {
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
