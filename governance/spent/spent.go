// Package spent remembers the proofs of possession that were used, for all replicas of governance, so that none works twice.
package spent

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"bordereau/governance/turntoken"
)

// sweepEvery is how often a process removes what is too old to be used again.
const sweepEvery = time.Minute

// Store remembers in governance's database.
type Store struct {
	db  *sql.DB
	now func() time.Time

	mu    sync.Mutex
	swept time.Time
}

var _ turntoken.Spent = (*Store)(nil)

// New returns a Store; both are required.
func New(db *sql.DB, now func() time.Time) (*Store, error) {
	if db == nil || now == nil {
		return nil, errors.New("spent: a database and a clock are required")
	}
	return &Store{db: db, now: now, swept: now()}, nil
}

// Spend notes a proof and tells whether it was fresh. Of two that ask at once for the same, in any process, one is told so.
func (s *Store) Spend(ctx context.Context, proof string, until time.Time) (bool, error) {
	if s.due() {
		if _, err := s.db.ExecContext(ctx, `DELETE FROM spent_proofs WHERE expires_at < $1`, s.now().Unix()); err != nil {
			return false, fmt.Errorf("forgetting old proofs: %w", err)
		}
	}
	r, err := s.db.ExecContext(ctx, `INSERT INTO spent_proofs (proof, expires_at) VALUES ($1, $2) ON CONFLICT (proof) DO NOTHING`, proof, until.Unix()+1)
	if err != nil {
		return false, fmt.Errorf("noting a proof: %w", err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("noting a proof: %w", err)
	}
	return n == 1, nil
}

func (s *Store) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now().Sub(s.swept) < sweepEvery {
		return false
	}
	s.swept = s.now()
	return true
}
