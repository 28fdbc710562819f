package journal

import (
	"context"
	"fmt"
	"time"
)

// Grouping is by what charges are summed.
type Grouping string

// The groupings.
const (
	ByPerson Grouping = "person"
	ByModel  Grouping = "model"
	ByDay    Grouping = "day" // of UTC
	ByTurn   Grouping = "turn"
)

// SpentFilter chooses charges of an organisation. An empty field chooses all.
type SpentFilter struct {
	Org      string
	Person   string
	By       Grouping
	From, To time.Time // To is exclusive
	Limit    int       // of groups, 100 at most 1,000
}

// SpentGroup sums the charges of one group.
type SpentGroup struct {
	Key    string // a person, a model, a day such as 2026-11-29, a turn
	Person string // whose a turn is
	Spent
}

// group says by what expression a grouping groups, and what comes first: the newest day, else the dearest.
func (g Grouping) group() (expression, order string, ok bool) {
	switch g {
	case ByPerson, ByModel, ByTurn:
		return string(g), "9 DESC, 5 DESC, 1", true
	case ByDay:
		return "at / 86400000000", "1 DESC", true
	}
	return "", "", false
}

// SpentBy sums charges by person, model, day or turn.
func (s *Store) SpentBy(ctx context.Context, f SpentFilter) ([]SpentGroup, error) {
	expression, order, ok := f.By.group()
	if !ok {
		return nil, fmt.Errorf("%w: usage is by person, model, day or turn", ErrInvalid)
	}
	limit := 100
	if f.Limit > 0 {
		limit = min(f.Limit, 1000)
	}
	until := int64(1) << 62
	if !f.To.IsZero() {
		until = micros(f.To)
	}
	groups, err := collect(ctx, s.db, func(r scanner) (SpentGroup, error) {
		var g SpentGroup
		var days int64
		key := any(&g.Key)
		if f.By == ByDay {
			key = &days
		}
		err := r.Scan(key, &g.Person, &g.Attempts, &g.Turns, &g.Input, &g.Output, &g.CacheRead, &g.CacheWrite, &g.CostMicros)
		switch f.By {
		case ByDay:
			g.Key, g.Person = time.Unix(days*86400, 0).UTC().Format(time.DateOnly), ""
		case ByTurn:
		default:
			g.Person = ""
		}
		return g, err
	}, fmt.Sprintf(`SELECT %s, MIN(person), COUNT(*), COUNT(DISTINCT turn), CAST(SUM(input) AS BIGINT), CAST(SUM(output) AS BIGINT),
		CAST(SUM(cache_read) AS BIGINT), CAST(SUM(cache_write) AS BIGINT), CAST(SUM(cost_micros) AS BIGINT)
		FROM ledger WHERE org = $1 AND at >= $2 AND at < $3 AND ($4 = '' OR person = $5) GROUP BY 1 ORDER BY %s LIMIT %d`, expression, order, limit),
		f.Org, micros(f.From), until, f.Person, f.Person)
	if err != nil {
		return nil, fmt.Errorf("summing the ledger: %w", err)
	}
	return groups, nil
}
