package duck

import (
	"context"
	"sync"
	"time"

	"bordereau/governance/fault"
)

// admission decides who runs next: at most total at a time, at most perOrg of one organisation, and among those who wait the
// organisations take turns, so that one that asks a thousand questions delays another by one.
type admission struct {
	total, perOrg, queue int

	mu      sync.Mutex
	running int
	orgs    map[string]*line
	turns   []string // organisations with someone waiting, next first
}

type line struct {
	running int
	waiting []chan struct{}
}

func newAdmission(total, perOrg, queue int) *admission {
	return &admission{total: total, perOrg: perOrg, queue: queue, orgs: map[string]*line{}}
}

// enter waits for a place. leave must be called once when err is nil.
func (a *admission) enter(ctx context.Context, org string) (waited time.Duration, err error) {
	begun := time.Now()
	a.mu.Lock()
	l := a.orgs[org]
	if l == nil {
		l = &line{}
		a.orgs[org] = l
	}
	if a.running < a.total && l.running < a.perOrg && len(l.waiting) == 0 {
		a.running++
		l.running++
		a.mu.Unlock()
		return 0, nil
	}
	if len(l.waiting) >= a.queue {
		a.mu.Unlock()
		return 0, &fault.Error{
			Code: fault.RateLimited, Component: component, Rule: "queue", Message: "too many statements of this organisation wait already",
			Hint: "Wait for the ones that run.", Retryable: true,
		}
	}
	if len(l.waiting) == 0 {
		a.turns = append(a.turns, org)
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	a.mu.Unlock()
	select {
	case <-turn:
		return time.Since(begun), nil
	case <-ctx.Done():
		if a.giveUp(org, turn) {
			return time.Since(begun), ctx.Err()
		}
		a.leave(org) // the place came at the same moment
		return time.Since(begun), ctx.Err()
	}
}

// giveUp takes a waiter out of its line; false if it was admitted meanwhile.
func (a *admission) giveUp(org string, turn chan struct{}) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.orgs[org]
	for i, w := range l.waiting {
		if w == turn {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			a.tidy(org, l)
			return true
		}
	}
	return false
}

func (a *admission) leave(org string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running--
	l := a.orgs[org]
	l.running--
	for i := 0; i < len(a.turns) && a.running < a.total; {
		name := a.turns[i]
		next := a.orgs[name]
		if next.running >= a.perOrg {
			i++
			continue
		}
		a.turns = append(a.turns[:i], a.turns[i+1:]...)
		close(next.waiting[0])
		next.waiting = next.waiting[1:]
		next.running++
		a.running++
		if len(next.waiting) > 0 {
			a.turns = append(a.turns, name)
		}
	}
	a.tidy(org, l)
}

// tidy forgets an organisation that has nothing running or waiting, and its place among the turns when nobody waits.
func (a *admission) tidy(org string, l *line) {
	if len(l.waiting) > 0 {
		return
	}
	for i, t := range a.turns {
		if t == org {
			a.turns = append(a.turns[:i], a.turns[i+1:]...)
			break
		}
	}
	if l.running == 0 {
		delete(a.orgs, org)
	}
}
