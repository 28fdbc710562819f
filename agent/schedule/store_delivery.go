package schedule

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

const deliveryColumns = `id, org, run, kind, position, destination, state, attempts, next_try, created, ended`

func scanDelivery(row scanner) (d Delivery, err error) {
	var to string
	var next, created, ended int64
	if err := row.Scan(&d.ID, &d.Org, &d.Run, &d.Parcel, &d.Position, &to, &d.State, &d.Tries, &next, &created, &ended); err != nil {
		return d, missing(err)
	}
	d.NextTry, d.Created, d.Ended = moment(next), moment(created), moment(ended)
	return d, json.Unmarshal([]byte(to), &d.Destination)
}

func scanAttempt(row scanner) (a Attempt, err error) {
	var started, ended int64
	err = row.Scan(&a.N, &a.Outcome, &a.Message, &a.Hint, &started, &ended)
	a.Started, a.Ended = moment(started), moment(ended)
	return a, err
}

func (s *Store) deliveriesOf(ctx context.Context, run string) ([]Delivery, error) {
	all, err := collect(ctx, s.db, scanDelivery, `SELECT `+deliveryColumns+` FROM deliveries WHERE run = $1 ORDER BY kind DESC, position`, run)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Attempts, err = collect(ctx, s.db, scanAttempt, `SELECT n, outcome, message, hint, started, ended FROM delivery_attempts
			WHERE delivery = $1 ORDER BY n`, all[i].ID); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// takeDelivery begins the next attempt of the delivery that has been due longest, and has it alone until lease is over. An
// attempt that is found begun is one whose process ended in the middle: nobody knows whether it arrived. ErrNotFound when
// nothing is due.
func (s *Store) takeDelivery(ctx context.Context, now time.Time, lease time.Duration) (d Delivery, err error) {
	var id string
	if err := s.db.QueryRowContext(ctx, `SELECT id FROM deliveries WHERE state IN ('due', 'sending') AND next_try <= $1 ORDER BY next_try, id LIMIT 1`, micros(now)).Scan(&id); err != nil {
		return d, missing(err)
	}
	err = s.write(ctx, "beginning a delivery", func(tx *sql.Tx) error {
		// The condition is repeated: whoever comes second waits here for the first and must then see that it came too late.
		d, err = scanDelivery(tx.QueryRowContext(ctx, `UPDATE deliveries SET state = 'sending', attempts = attempts + 1, next_try = $1
			WHERE id = $2 AND state IN ('due', 'sending') AND next_try <= $3 RETURNING `+deliveryColumns, micros(now.Add(lease)), id, micros(now)))
		if errors.Is(err, ErrNotFound) {
			return ErrTaken
		}
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE delivery_attempts SET outcome = 'unknown', ended = $1,
			message = 'the process that made this attempt ended before it could tell whether it arrived' WHERE delivery = $2 AND outcome = 'started'`, micros(now), id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO delivery_attempts (delivery, n, outcome, started) VALUES ($1, $2, 'started', $3)`, id, d.Tries, micros(now))
		return err
	})
	return d, err
}

// endAttempt stores how an attempt ended: with a next try, it is tried again then. ErrTaken when another process has gone on
// with the delivery since.
func (s *Store) endAttempt(ctx context.Context, d Delivery, a Attempt, next time.Time) error {
	return s.write(ctx, "ending a delivery's attempt", func(tx *sql.Tx) error {
		state, ended := Due, int64(0)
		switch {
		case a.Outcome == Accepted:
			state, ended = Sent, micros(a.Ended)
		case next.IsZero():
			state, ended = GivenUp, micros(a.Ended)
		}
		err := one(tx.ExecContext(ctx, `UPDATE deliveries SET state = $1, next_try = $2, ended = $3 WHERE id = $4 AND state = 'sending' AND attempts = $5`,
			string(state), micros(next), ended, d.ID, d.Tries))
		if errors.Is(err, ErrNotFound) {
			return ErrTaken
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE delivery_attempts SET outcome = $1, message = $2, hint = $3, ended = $4 WHERE delivery = $5 AND n = $6`,
			string(a.Outcome), a.Message, a.Hint, micros(a.Ended), d.ID, d.Tries)
		return err
	})
}

// Retry makes a delivery that was given up due again, because a person asks for it.
func (s *Store) Retry(ctx context.Context, org, schedule, id string, now time.Time) error {
	return s.write(ctx, "trying a delivery again", func(tx *sql.Tx) error {
		return one(tx.ExecContext(ctx, `UPDATE deliveries SET state = 'due', next_try = $1, ended = 0 WHERE id = $2 AND org = $3 AND state = 'failed'
			AND run IN (SELECT id FROM schedule_runs WHERE schedule = $4)`, micros(now), id, org, schedule))
	})
}
