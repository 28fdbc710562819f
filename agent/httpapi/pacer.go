package httpapi

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxPaced is how many people the pacer remembers before it forgets those who have been quiet.
const maxPaced = 10_000

// pacer lets each person change things so many times a minute, a third of it at once.
type pacer struct {
	every rate.Limit
	burst int

	mu sync.Mutex
	by map[string]*rate.Limiter
}

func newPacer(perMinute int) *pacer {
	return &pacer{every: rate.Limit(float64(perMinute) / 60), burst: max(perMinute/3, 1), by: map[string]*rate.Limiter{}}
}

// wait takes one turn of who, or says how long it is until there is one.
func (p *pacer) wait(who string, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.by[who]
	if l == nil {
		if len(p.by) >= maxPaced {
			for name, other := range p.by {
				if other.TokensAt(now) >= float64(p.burst) {
					delete(p.by, name)
				}
			}
		}
		l = rate.NewLimiter(p.every, p.burst)
		p.by[who] = l
	}
	r := l.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}
