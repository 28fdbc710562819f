package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Lease is the right to write a turn: whoever claims it later has a higher epoch, and every write of a lower one is ErrFenced.
type Lease struct {
	Turn  string
	Epoch int64
}

// Beat is what a heartbeat brings back.
type Beat struct {
	Cancel  bool // somebody asked to cancel the turn
	Waiting int  // messages that wait for the next step
}

// Claim takes the queued or orphaned turn that has waited longest. ErrNotFound when there is none.
func (s *Store) Claim(ctx context.Context, runner string) (t Turn, err error) {
	// Look first: an idle runner asks many times a second and must not take the write lock for it.
	for {
		var id string
		err := s.db.QueryRowContext(ctx, `SELECT id FROM turns WHERE status IN ('queued', 'running') AND lease_until <= $1 ORDER BY lease_until, created LIMIT 1`,
			micros(s.now())).Scan(&id)
		if err != nil {
			return t, missing(err)
		}
		t, err = s.claim(ctx, id, runner)
		if !errors.Is(err, ErrNotFound) {
			return t, err
		}
		// Another runner was faster; look again.
	}
}

func (s *Store) claim(ctx context.Context, id, runner string) (t Turn, err error) {
	err = s.write(ctx, "claiming a turn", func(tx *sql.Tx) error {
		now := s.now()
		// The condition is repeated: a second claimer waits here for the first and must then see that it came too late.
		t, err = scanTurn(tx.QueryRowContext(ctx, `UPDATE turns SET runner = $1, epoch = epoch + 1, lease_until = $2, idle_claims = idle_claims + 1, status = 'running',
			started = CASE WHEN started = 0 THEN $3 ELSE started END
			WHERE id = $4 AND status IN ('queued', 'running') AND lease_until <= $5 RETURNING `+turnColumns,
			runner, micros(now.Add(s.ttl)), micros(now), id, micros(now)))
		if err != nil {
			return err
		}
		return insertMarks(ctx, tx, t.ID, t.Epoch, []Mark{{At: now, Kind: "claimed", Note: runner}})
	})
	return t, err
}

// Heartbeat keeps the lease.
func (s *Store) Heartbeat(ctx context.Context, l Lease) (b Beat, err error) {
	err = s.write(ctx, "keeping a lease", func(tx *sql.Tx) error {
		b, err = s.hold(ctx, tx, l)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM messages m JOIN turns t ON t.conversation = m.conversation WHERE t.id = $1 AND m.turn = ''`, l.Turn).Scan(&b.Waiting)
	})
	return b, err
}

// hold begins every fenced transaction: it locks the turn's row against a claim, checks the epoch and renews the lease.
func (s *Store) hold(ctx context.Context, tx *sql.Tx, l Lease) (b Beat, err error) {
	err = tx.QueryRowContext(ctx, `UPDATE turns SET lease_until = $1 WHERE id = $2 AND epoch = $3 AND status = 'running' RETURNING cancel`,
		micros(s.now().Add(s.ttl)), l.Turn, l.Epoch).Scan(&b.Cancel)
	if errors.Is(err, sql.ErrNoRows) {
		return b, ErrFenced
	}
	return b, err
}

// Release gives a turn back in order, so that another runner goes on at once.
func (s *Store) Release(ctx context.Context, l Lease) error {
	return s.write(ctx, "releasing a turn", func(tx *sql.Tx) error {
		if _, err := s.hold(ctx, tx, l); err != nil {
			return err
		}
		// An orderly hand-over is no sign of a turn that kills its runners.
		if _, err := tx.ExecContext(ctx, `UPDATE turns SET lease_until = 0, idle_claims = idle_claims - 1 WHERE id = $1`, l.Turn); err != nil {
			return err
		}
		return insertMarks(ctx, tx, l.Turn, l.Epoch, []Mark{{At: s.now(), Kind: "released"}})
	})
}

// Orphan ends the leases of a runner that is known to be dead. It returns how many turns it freed.
func (s *Store) Orphan(ctx context.Context, runner string) (freed int64, err error) {
	err = s.write(ctx, "freeing a dead runner's turns", func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE turns SET lease_until = 0 WHERE runner = $1 AND (status = 'running' OR NOT published)`, runner)
		if err != nil {
			return err
		}
		freed, err = res.RowsAffected()
		return err
	})
	return freed, err
}

// Runners lists who holds leases that haven't run out.
func (s *Store) Runners(ctx context.Context) ([]string, error) {
	return collect(ctx, s.db, func(r scanner) (name string, err error) { return name, r.Scan(&name) },
		`SELECT DISTINCT runner FROM turns WHERE (status = 'running' OR NOT published) AND runner <> '' AND lease_until > $1`, micros(s.now()))
}

// RequestCancel asks whoever runs the turn to stop it. Asking again, or after the end, changes nothing.
func (s *Store) RequestCancel(ctx context.Context, o Owner, turn string) (t Turn, err error) {
	err = s.write(ctx, "cancelling a turn", func(tx *sql.Tx) error {
		now := s.now()
		res, err := tx.ExecContext(ctx, `UPDATE turns SET cancel = TRUE WHERE id = $1 AND org = $2 AND status IN ('queued', 'running') AND NOT cancel`, turn, o.Org)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if t, err = scanTurn(tx.QueryRowContext(ctx, `SELECT `+turnColumns+` FROM turns WHERE id = $1 AND org = $2`, turn, o.Org)); err != nil || n == 0 {
			return err
		}
		return insertMarks(ctx, tx, turn, t.Epoch, []Mark{{At: now, Kind: "cancel", Note: o.Person}})
	})
	return t, err
}

// ClaimUnpublished takes an ended turn whose runner died, or was fenced, before its last events reached the buffer.
// ErrNotFound when there is none.
func (s *Store) ClaimUnpublished(ctx context.Context, runner string) (t Turn, err error) {
	now := micros(s.now())
	var id string
	const where = `status IN ('completed', 'cut_short', 'cancelled', 'failed') AND NOT published AND lease_until <= `
	if err := s.db.QueryRowContext(ctx, `SELECT id FROM turns WHERE `+where+`$1 ORDER BY lease_until LIMIT 1`, now).Scan(&id); err != nil {
		return t, missing(err)
	}
	err = s.write(ctx, "claiming an ended turn", func(tx *sql.Tx) error {
		t, err = scanTurn(tx.QueryRowContext(ctx, `UPDATE turns SET runner = $1, epoch = epoch + 1, lease_until = $2 WHERE id = $3 AND `+where+`$4 RETURNING `+turnColumns,
			runner, now+s.ttl.Microseconds(), id, now))
		return err
	})
	return t, err
}

// Published records that the buffer has all of an ended turn's events.
func (s *Store) Published(ctx context.Context, l Lease) error {
	return s.write(ctx, "recording the end of a stream", func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE turns SET published = TRUE WHERE id = $1 AND epoch = $2 AND status NOT IN ('queued', 'running')`, l.Turn, l.Epoch)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrFenced)
		}
		return nil
	})
}

// Queue tells how many turns wait and run, and since when the oldest waits.
func (s *Store) Queue(ctx context.Context) (queued, running int64, oldest time.Time, err error) {
	var created sql.NullInt64
	err = s.db.QueryRowContext(ctx, `SELECT COUNT(CASE WHEN status = 'queued' THEN 1 END), COUNT(CASE WHEN status = 'running' THEN 1 END),
		MIN(CASE WHEN status = 'queued' THEN created END) FROM turns WHERE status IN ('queued', 'running')`).Scan(&queued, &running, &created)
	if err != nil {
		return 0, 0, time.Time{}, fmt.Errorf("counting turns: %w", err)
	}
	return queued, running, moment(created.Int64), nil
}
