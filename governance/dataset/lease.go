package dataset

import (
	"context"
	"path"
	"time"
)

// leaseLife is how long a replica that read a generation keeps the others from retiring it. A lease is renewed when half of it is over, so
// that what was pinned stays for at least an hour, the most that a statement may take.
const leaseLife = 2 * time.Hour

// lease tells the other replicas that this one reads a generation. Within one machine the lock in the generation's folder does.
func (s *Store) lease(ctx context.Context, org, id string) error {
	if s.cfg.Bucket == nil {
		return nil
	}
	now, name := s.cfg.Now(), path.Join(org, id)
	s.mu.Lock()
	until := s.leases[name]
	s.mu.Unlock()
	if until.Sub(now) > leaseLife/2 {
		return nil
	}
	until = now.Add(leaseLife)
	if err := s.ledger.lease(ctx, org, id, s.holder, until); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, u := range s.leases { // those that are over
		if u.Before(now) {
			delete(s.leases, n)
		}
	}
	s.leases[name] = until
	return nil
}

func (l ledger) lease(ctx context.Context, org, id, holder string, until time.Time) error {
	_, err := l.db.ExecContext(ctx, "INSERT INTO dataset_leases (org, id, holder, until) VALUES ($1, $2, $3, $4) ON CONFLICT (org, id, holder) DO UPDATE SET until = excluded.until",
		org, id, holder, until.UnixMicro())
	return err
}

// leased tells whether another process has a lease on a generation, and forgets those that are over.
func (l ledger) leased(ctx context.Context, org, id, holder string, now time.Time) (bool, error) {
	if _, err := l.db.ExecContext(ctx, "DELETE FROM dataset_leases WHERE org = $1 AND until < $2", org, now.UnixMicro()); err != nil {
		return false, err
	}
	var n int
	err := l.db.QueryRowContext(ctx, "SELECT count(*) FROM dataset_leases WHERE org = $1 AND id = $2 AND holder <> $3", org, id, holder).Scan(&n)
	return n > 0, err
}
