package turn

import (
	"context"
	"fmt"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// Limits bound what turns may use. Zero means the default for a turn's own and the window, and no limit for a budget.
type Limits struct {
	Steps      int           // of a turn; 60
	Tokens     int64         // of a turn; 3 million
	CostMicros int64         // of a turn; 5 dollars
	Wall       time.Duration // of a turn, from its first claim; 45 min

	Window           time.Duration // of budgets: what was spent before it no longer counts; 24 hours
	PersonTokens     int64         // of a person in the window
	PersonCostMicros int64
	OrgTokens        int64 // of an organisation in the window
	OrgCostMicros    int64
}

// reserve is the share of every limit that is kept back for the last words.
const reserve = 0.08

// lastWords is the time kept back at least, unless that were more than a quarter of the whole.
const lastWords = 60 * time.Second

func (l Limits) complete() Limits {
	set(&l.Steps, 60)
	set(&l.Tokens, 3_000_000)
	set(&l.CostMicros, 5_000_000)
	set(&l.Wall, 45*time.Minute)
	set(&l.Window, 24*time.Hour)
	return l
}

// soft is the part of a limit that ordinary steps may use: one model call like the largest so far stays for the finalizer.
func soft(limit, largest int64) int64 {
	return limit - max(int64(float64(limit)*reserve), largest)
}

func (l Limits) softWall() time.Duration {
	keep := max(time.Duration(float64(l.Wall)*reserve), lastWords)
	return l.Wall - min(keep, l.Wall/4)
}

// window is the budgets' time in words.
func (l Limits) window() string {
	if l.Window == 24*time.Hour {
		return "a day"
	}
	return l.Window.String()
}

// used is what a turn has used so far.
type used struct {
	steps       int
	tokens      int64
	cost        int64
	sum         model.Usage
	largest     int64 // tokens of its largest model call
	largestCost int64
}

func (u *used) charge(c journal.Charge) {
	tokens := c.Usage.Input + c.Usage.Output + c.Usage.CacheRead + c.Usage.CacheWrite
	u.tokens += tokens
	u.sum.Input += c.Usage.Input
	u.sum.Output += c.Usage.Output
	u.sum.CacheRead += c.Usage.CacheRead
	u.sum.CacheWrite += c.Usage.CacheWrite
	u.cost += c.Usage.CostMicros
	u.largest, u.largestCost = max(u.largest, tokens), max(u.largestCost, c.Usage.CostMicros)
}

// cut is a limit that was met.
type cut struct {
	reason string // as in journal.Outcome.Reason
	text   string // for the model and the person
	spent  bool   // nothing is left even for last words, and there is nothing yet that they could sum up
	blame  *blame // nil for a limit, which is nobody's failure
}

// blame is the failure that cut a turn short.
type blame struct {
	Class     string `json:"class"`
	Component string `json:"component"`
	Fault     string `json:"fault"`
	Step      int    `json:"step"`
	Attempt   int    `json:"attempt"`
}

// spending says where spent tokens and money are summed.
type spending interface {
	Spent(ctx context.Context, org, person string, since time.Time) (journal.Spent, error)
}

// met tells whether a turn has no room for another ordinary step.
func (l Limits) met(ctx context.Context, t journal.Turn, u used, now time.Time, ledger spending) (*cut, error) {
	switch {
	case u.steps >= l.Steps-1: // one step is the finalizer's
		return &cut{reason: "steps", text: fmt.Sprintf("the limit of %d steps", l.Steps)}, nil
	case u.tokens >= soft(l.Tokens, u.largest):
		return &cut{reason: "tokens", text: fmt.Sprintf("the limit of %d tokens", l.Tokens)}, nil
	case u.cost >= soft(l.CostMicros, u.largestCost):
		return &cut{reason: "money", text: fmt.Sprintf("the limit of %.2f dollars", float64(l.CostMicros)/1e6)}, nil
	case now.Sub(t.Started) >= l.softWall():
		return &cut{reason: "deadline", text: fmt.Sprintf("the limit of %s", l.Wall)}, nil
	case !t.Deadline.IsZero() && !now.Before(t.Deadline.Add(-min(lastWords, t.Deadline.Sub(t.Started)/4))):
		return &cut{reason: "deadline", text: "the deadline that was set"}, nil
	}
	for _, scope := range []struct {
		person, reason, text string
		tokens, cost         int64
	}{
		{t.Person, "person_budget", "your budget for " + l.window(), l.PersonTokens, l.PersonCostMicros},
		{"", "org_budget", "your organisation's budget for " + l.window(), l.OrgTokens, l.OrgCostMicros},
	} {
		if scope.tokens == 0 && scope.cost == 0 {
			continue
		}
		sum, err := ledger.Spent(ctx, t.Org, scope.person, now.Add(-l.Window))
		if err != nil {
			return nil, err
		}
		if scope.tokens > 0 && sum.Tokens() >= soft(scope.tokens, u.largest) || scope.cost > 0 && sum.CostMicros >= soft(scope.cost, u.largestCost) {
			over := scope.tokens > 0 && sum.Tokens() >= scope.tokens || scope.cost > 0 && sum.CostMicros >= scope.cost
			return &cut{reason: scope.reason, text: scope.text, spent: over && u.steps == 0}, nil
		}
	}
	return nil, nil
}

// end is when the turn is over whatever it does.
func (l Limits) end(t journal.Turn) time.Time {
	end := t.Started.Add(l.Wall)
	if !t.Deadline.IsZero() && t.Deadline.Before(end) {
		return t.Deadline
	}
	return end
}
