package journal

import (
	"context"
	"fmt"
)

// Ahead counts the queued turns, of everybody, that runners take before t.
func (s *Store) Ahead(ctx context.Context, t Turn) (int, error) {
	var n int
	err := s.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM turns WHERE status = 'queued' AND created < $1`, micros(t.Created)).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("counting the queue: %w", err)
	}
	return n, nil
}
