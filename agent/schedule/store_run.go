package schedule

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"bordereau/agent/journal"
)

const runColumns = `r.id, r.schedule, r.org, r.tick, r.cause, r.state, r.note, r.missed, r.conversation, r.turn, r.found, r.alert, r.created, r.ended`

func scanRun(row scanner) (r Run, err error) {
	var tick, created, ended int64
	err = row.Scan(&r.ID, &r.Schedule, &r.Org, &tick, &r.Cause, &r.State, &r.Note, &r.Missed, &r.Conversation, &r.Turn, &r.Found, &r.Alert, &created, &ended)
	r.Tick, r.Created, r.Ended = moment(tick), moment(created), moment(ended)
	return r, missing(err)
}

// advance claims the tick that s.Next is: of all replicas that try, one succeeds. From here the schedule's row is locked until
// the transaction ends.
func advance(ctx context.Context, tx *sql.Tx, s Schedule, next time.Time) error {
	err := one(tx.ExecContext(ctx, `UPDATE schedules SET next = $1 WHERE id = $2 AND next = $3 AND NOT paused AND removed = 0`, micros(next), s.ID, micros(s.Next)))
	if errors.Is(err, ErrNotFound) {
		return ErrTaken
	}
	return err
}

// lock keeps other runs of the schedule from beginning until the transaction ends.
func lock(ctx context.Context, tx *sql.Tx, id string) error {
	return one(tx.ExecContext(ctx, `UPDATE schedules SET updated = updated WHERE id = $1 AND removed = 0`, id))
}

// alone is errOverlap while another run of the schedule waits or runs.
func alone(ctx context.Context, tx *sql.Tx, id string) error {
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM schedule_runs WHERE schedule = $1 AND state IN ('queued', 'running')`, id).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return errOverlap
	}
	return nil
}

// waitingRuns counts a schedule's queued runs.
func waitingRuns(ctx context.Context, q querier, id string) (n int, err error) {
	err = q.QueryRowContext(ctx, `SELECT COUNT(*) FROM schedule_runs WHERE schedule = $1 AND state = 'queued'`, id).Scan(&n)
	return n, err
}

func insertRun(ctx context.Context, tx *sql.Tx, r Run) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO schedule_runs (id, schedule, org, tick, cause, state, note, missed, conversation, turn, found, alert, created, ended)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		r.ID, r.Schedule, r.Org, micros(r.Tick), string(r.Cause), string(r.State), r.Note, r.Missed, r.Conversation, r.Turn, r.Found, r.Alert, micros(r.Created), micros(r.Ended))
	return err
}

// Runs returns the history of a schedule, the newest tick first, with deliveries and their attempts.
func (s *Store) Runs(ctx context.Context, org, id string, before time.Time, limit int) ([]Run, error) {
	until := int64(1) << 62
	if !before.IsZero() {
		until = micros(before)
	}
	runs, err := collect(ctx, s.db, scanRun, `SELECT `+runColumns+` FROM schedule_runs r
		WHERE r.org = $1 AND r.schedule = $2 AND r.tick < $3 ORDER BY r.tick DESC LIMIT $4`, org, id, until, limit)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if runs[i].Deliveries, err = s.deliveriesOf(ctx, runs[i].ID); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// Last returns the newest run of each of an organisation's schedules, by schedule.
func (s *Store) Last(ctx context.Context, org string) (map[string]Run, error) {
	runs, err := collect(ctx, s.db, scanRun, `SELECT `+runColumns+` FROM schedule_runs r
		JOIN (SELECT schedule, MAX(tick) AS tick FROM schedule_runs WHERE org = $1 GROUP BY schedule) n ON n.schedule = r.schedule AND n.tick = r.tick`, org)
	if err != nil {
		return nil, err
	}
	last := make(map[string]Run, len(runs))
	for _, r := range runs {
		last[r.Schedule] = r
	}
	return last, nil
}

// run returns one run.
func (s *Store) run(ctx context.Context, id string) (Run, error) {
	return scanRun(s.db.QueryRowContext(ctx, `SELECT `+runColumns+` FROM schedule_runs r WHERE r.id = $1`, id))
}

// schedule returns a schedule whoever owns it, removed or not.
func (s *Store) schedule(ctx context.Context, id string) (Schedule, error) {
	return scanSchedule(s.db.QueryRowContext(ctx, `SELECT `+scheduleColumns+` FROM schedules WHERE id = $1`, id))
}

// over returns runs whose turn has ended without their knowing.
func (s *Store) over(ctx context.Context) ([]Run, error) {
	return collect(ctx, s.db, scanRun, `SELECT `+runColumns+` FROM schedule_runs r JOIN turns t ON t.id = r.turn
		WHERE r.state = 'running' AND t.status NOT IN ('queued', 'running') ORDER BY t.ended LIMIT 100`)
}

// waiting returns the oldest queued run of each schedule that runs nothing now.
func (s *Store) waiting(ctx context.Context) ([]Run, error) {
	return collect(ctx, s.db, scanRun, `SELECT `+runColumns+` FROM schedule_runs r WHERE r.state = 'queued'
		AND NOT EXISTS (SELECT 1 FROM schedule_runs o WHERE o.schedule = r.schedule AND (o.state = 'running' OR o.state = 'queued' AND o.tick < r.tick))
		ORDER BY r.created LIMIT 100`)
}

// begin makes a queued run a running one, unless another one runs.
func begin(ctx context.Context, tx *sql.Tx, r Run, p journal.Posted) error {
	var running int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM schedule_runs WHERE schedule = $1 AND state = 'running'`, r.Schedule).Scan(&running); err != nil {
		return err
	}
	if running > 0 {
		return errOverlap
	}
	err := one(tx.ExecContext(ctx, `UPDATE schedule_runs SET state = 'running', conversation = $1, turn = $2 WHERE id = $3 AND state = 'queued'`, p.Conversation.ID, p.Turn.ID, r.ID))
	if errors.Is(err, ErrNotFound) {
		return ErrTaken
	}
	return err
}

// found returns what the last runs before a tick found, the newest first; runs of which that isn't known don't count.
func (s *Store) found(ctx context.Context, id string, before time.Time, limit int) ([]int, error) {
	return collect(ctx, s.db, func(r scanner) (n int, err error) { return n, r.Scan(&n) }, `SELECT found FROM schedule_runs
		WHERE schedule = $1 AND tick < $2 AND state = 'completed' AND found >= 0 ORDER BY tick DESC LIMIT $3`, id, micros(before), limit)
}

// settle stores how a run ended, with the deliveries that follow; ErrTaken when another replica did.
func (s *Store) settle(ctx context.Context, r Run) error {
	return s.write(ctx, "ending a run", func(tx *sql.Tx) error {
		err := one(tx.ExecContext(ctx, `UPDATE schedule_runs SET state = $1, note = $2, found = $3, alert = $4, ended = $5 WHERE id = $6 AND state = 'running'`,
			string(r.State), r.Note, r.Found, r.Alert, micros(r.Ended), r.ID))
		if errors.Is(err, ErrNotFound) {
			return ErrTaken
		}
		if err != nil {
			return err
		}
		return s.insertDeliveries(ctx, tx, r)
	})
}

// record stores a tick that starts no turn.
func (s *Store) record(ctx context.Context, v Schedule, next time.Time, r Run) error {
	return s.write(ctx, "recording a tick", func(tx *sql.Tx) error {
		if err := advance(ctx, tx, v, next); err != nil {
			return err
		}
		if err := insertRun(ctx, tx, r); err != nil {
			return err
		}
		return s.insertDeliveries(ctx, tx, r)
	})
}

// halt pauses a schedule that can't run, and records the tick at which that showed.
func (s *Store) halt(ctx context.Context, v Schedule, why string, r Run) error {
	return s.write(ctx, "pausing a schedule", func(tx *sql.Tx) error {
		if err := advance(ctx, tx, v, v.Next.Add(time.Microsecond)); err != nil { // moved on, so that the row isn't made again
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE schedules SET paused = TRUE, paused_why = $1 WHERE id = $2`, why, v.ID); err != nil {
			return err
		}
		if err := dropQueued(ctx, tx, v.ID, r.Created); err != nil {
			return err
		}
		if err := insertRun(ctx, tx, r); err != nil {
			return err
		}
		return s.insertDeliveries(ctx, tx, r)
	})
}

func (s *Store) insertDeliveries(ctx context.Context, tx *sql.Tx, r Run) error {
	for _, d := range r.Deliveries {
		to, err := json.Marshal(d.Destination)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO deliveries (id, org, run, kind, position, destination, state, next_try, created)
			VALUES ($1, $2, $3, $4, $5, $6, 'due', $7, $8)`, s.newID(), r.Org, r.ID, string(d.Parcel), d.Position, string(to), micros(d.NextTry), micros(d.NextTry)); err != nil {
			return err
		}
	}
	return nil
}
