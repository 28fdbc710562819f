package run

import (
	"context"
	"fmt"
)

const listOfTurn = `SELECT ` + columns + ` FROM runs WHERE org = $1 AND turn = $2 ORDER BY created_at, id`

// OfTurn returns the runs that a turn made, oldest first.
func (s *Store) OfTurn(ctx context.Context, org, turn string) ([]Run, error) {
	rows, err := s.db.QueryContext(ctx, listOfTurn, org, turn)
	if err != nil {
		return nil, fmt.Errorf("listing a turn's runs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var runs []Run
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("listing a turn's runs: %w", err)
		}
		runs = append(runs, r)
	}
	return runs, rows.Err()
}
