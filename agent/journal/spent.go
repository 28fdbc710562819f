package journal

import (
	"context"
	"fmt"
	"time"
)

// Spent sums charges.
type Spent struct {
	Attempts   int64 `json:"attempts"`
	Turns      int64 `json:"turns"`
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	CostMicros int64 `json:"cost_micros"`
}

// Tokens is everything that was read or written.
func (s Spent) Tokens() int64 { return s.Input + s.Output + s.CacheRead + s.CacheWrite }

// Spent sums what an organisation, or one person of it when person isn't "", was charged since a moment.
func (s *Store) Spent(ctx context.Context, org, person string, since time.Time) (sum Spent, err error) {
	// Postgres sums BIGINT to NUMERIC: cast back.
	err = s.db.QueryRowContext(ctx, `SELECT COUNT(*), COUNT(DISTINCT turn), CAST(COALESCE(SUM(input), 0) AS BIGINT), CAST(COALESCE(SUM(output), 0) AS BIGINT),
		CAST(COALESCE(SUM(cache_read), 0) AS BIGINT), CAST(COALESCE(SUM(cache_write), 0) AS BIGINT), CAST(COALESCE(SUM(cost_micros), 0) AS BIGINT)
		FROM ledger WHERE org = $1 AND ($2 = '' OR person = $3) AND at >= $4`, org, person, person, micros(since)).
		Scan(&sum.Attempts, &sum.Turns, &sum.Input, &sum.Output, &sum.CacheRead, &sum.CacheWrite, &sum.CostMicros)
	if err != nil {
		return sum, fmt.Errorf("summing the ledger: %w", err)
	}
	return sum, nil
}

// SpentByPerson is Spent for each person of an organisation.
func (s *Store) SpentByPerson(ctx context.Context, org string, since time.Time) (map[string]Spent, error) {
	by := map[string]Spent{}
	_, err := collect(ctx, s.db, func(r scanner) (struct{}, error) {
		var person string
		var sum Spent
		err := r.Scan(&person, &sum.Attempts, &sum.Turns, &sum.Input, &sum.Output, &sum.CacheRead, &sum.CacheWrite, &sum.CostMicros)
		by[person] = sum
		return struct{}{}, err
	}, `SELECT person, COUNT(*), COUNT(DISTINCT turn), CAST(SUM(input) AS BIGINT), CAST(SUM(output) AS BIGINT), CAST(SUM(cache_read) AS BIGINT),
		CAST(SUM(cache_write) AS BIGINT), CAST(SUM(cost_micros) AS BIGINT) FROM ledger WHERE org = $1 AND at >= $2 GROUP BY person`, org, micros(since))
	if err != nil {
		return nil, fmt.Errorf("summing the ledger: %w", err)
	}
	return by, nil
}
