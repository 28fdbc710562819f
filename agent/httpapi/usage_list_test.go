package httpapi

import (
	"context"
	"testing"

	"bordereau/agent/journal"
)

type turnsBelow = Turns

// asked notes which charges are asked for.
type asked struct {
	turnsBelow
	filter journal.SpentFilter
}

func (a *asked) SpentBy(ctx context.Context, f journal.SpentFilter) ([]journal.SpentGroup, error) {
	a.filter = f
	groups, err := a.turnsBelow.SpentBy(ctx, f)
	return append(groups, journal.SpentGroup{Key: "k", Spent: journal.Spent{Attempts: 2, Turns: 1, Input: 3, CostMicros: 4}}), err
}

// People see what they used themselves; auditors and admins what the organisation used.
func TestUsageIsOnesOwn(t *testing.T) {
	t.Parallel()
	var noted *asked
	r := newRig(t, func(c *Config) { noted = &asked{turnsBelow: c.Turns}; c.Turns = noted })
	for who, all := range map[string]bool{me: false, "acme/analyst": false, "acme/auditor": true, "acme/admin": true} {
		var list UsageList
		r.get(request{who: who, method: "GET", path: "/api/usage?by=model&person=somebody&from=2026-11-01"}, 200, &list)
		if list.All != all || (noted.filter.Person == "somebody") != all || noted.filter.Person == "" || noted.filter.Org != "acme" || noted.filter.From.Day() != 1 {
			t.Errorf("%s: %+v, %+v", who, list, noted.filter)
		}
		if g := list.Groups[0]; g.Key != "k" || g.Attempts != 2 || g.Usage.Input != 3 || g.Usage.CostMicros != 4 {
			t.Errorf("%+v", g)
		}
	}
	for _, wrong := range []string{"by=colour", "from=yesterday", "to=1", "limit=0"} {
		r.fails(request{who: me, method: "GET", path: "/api/usage?" + wrong}, 400, Invalid)
	}
}
