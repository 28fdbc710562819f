package schedule

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// StoreConfig is what a Store is made of. Both fields are required.
type StoreConfig struct {
	DB    *sql.DB       // has the journal's schema
	NewID func() string // ids that are unique over all replicas
}

// Store keeps schedules, their runs and deliveries in the journal's database. Any number of processes may share it.
type Store struct {
	db    *sql.DB
	newID func() string
}

// NewStore returns a Store.
func NewStore(c StoreConfig) (*Store, error) {
	if c.DB == nil || c.NewID == nil {
		return nil, fmt.Errorf("%w: a store needs DB and NewID", ErrConfig)
	}
	return &Store{db: c.DB, newID: c.NewID}, nil
}

const scheduleColumns = `id, org, person, name, task, model, cron, zone, missed, overlap, deliver, alert, paused, paused_why, next, created, updated`

func scanSchedule(r scanner) (s Schedule, err error) {
	var deliver, alert string
	var next, created, updated int64
	err = r.Scan(&s.ID, &s.Org, &s.Person, &s.Name, &s.Task, &s.Model, &s.Cron, &s.Zone, &s.Missed, &s.Overlap, &deliver, &alert,
		&s.Paused, &s.PausedWhy, &next, &created, &updated)
	if err != nil {
		return s, missing(err)
	}
	s.Next, s.Created, s.Updated = moment(next), moment(created), moment(updated)
	return s, errors.Join(json.Unmarshal([]byte(deliver), &s.Deliver), json.Unmarshal([]byte(alert), &s.Alert))
}

// Create stores a new schedule; an organisation has at most MaxPerOrg.
func (s *Store) Create(ctx context.Context, v Schedule) error {
	deliver, alert, err := packed(v)
	if err != nil {
		return err
	}
	return s.write(ctx, "storing a schedule", func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM schedules WHERE org = $1 AND removed = 0`, v.Org).Scan(&n); err != nil {
			return err
		}
		if n >= MaxPerOrg {
			return problem("name", fmt.Sprintf("the organisation has %d schedules already", n), "remove one that nobody needs")
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO schedules (`+scheduleColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
			v.ID, v.Org, v.Person, v.Name, v.Task, v.Model, v.Cron, v.Zone, string(v.Missed), string(v.Overlap), deliver, alert,
			v.Paused, v.PausedWhy, micros(v.Next), micros(v.Created), micros(v.Updated))
		return err
	})
}

// Get returns a schedule of an organisation.
func (s *Store) Get(ctx context.Context, org, id string) (Schedule, error) {
	return scanSchedule(s.db.QueryRowContext(ctx, `SELECT `+scheduleColumns+` FROM schedules WHERE org = $1 AND id = $2 AND removed = 0`, org, id))
}

// List returns the schedules of a person, or with "" of the whole organisation, by name.
func (s *Store) List(ctx context.Context, org, person string) ([]Schedule, error) {
	return collect(ctx, s.db, scanSchedule, `SELECT `+scheduleColumns+` FROM schedules
		WHERE org = $1 AND ($2 = '' OR person = $3) AND removed = 0 ORDER BY name, id`, org, person, person)
}

// Change stores what a person wrote of a schedule, whether it is paused, and its next tick.
func (s *Store) Change(ctx context.Context, v Schedule) error {
	deliver, alert, err := packed(v)
	if err != nil {
		return err
	}
	return s.write(ctx, "changing a schedule", func(tx *sql.Tx) error {
		err := one(tx.ExecContext(ctx, `UPDATE schedules SET name = $1, task = $2, model = $3, cron = $4, zone = $5, missed = $6, overlap = $7,
			deliver = $8, alert = $9, paused = $10, paused_why = $11, next = $12, updated = $13 WHERE org = $14 AND id = $15 AND removed = 0`,
			v.Name, v.Task, v.Model, v.Cron, v.Zone, string(v.Missed), string(v.Overlap), deliver, alert, v.Paused, v.PausedWhy, micros(v.Next), micros(v.Updated), v.Org, v.ID))
		if err != nil || !v.Paused {
			return err
		}
		return dropQueued(ctx, tx, v.ID, v.Updated)
	})
}

// Remove ends a schedule; its history stays with the conversations that it made.
func (s *Store) Remove(ctx context.Context, org, id string, now time.Time) error {
	return s.write(ctx, "removing a schedule", func(tx *sql.Tx) error {
		if err := one(tx.ExecContext(ctx, `UPDATE schedules SET removed = $1 WHERE org = $2 AND id = $3 AND removed = 0`, micros(now), org, id)); err != nil {
			return err
		}
		return dropQueued(ctx, tx, id, now)
	})
}

// dropQueued ends the ticks that wait, of a schedule that stands still.
func dropQueued(ctx context.Context, tx *sql.Tx, id string, now time.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE schedule_runs SET state = 'skipped', note = 'the schedule was paused or removed while this run waited', ended = $1
		WHERE schedule = $2 AND state = 'queued'`, micros(now), id)
	return err
}

// Due returns schedules whose next tick has come, the longest overdue first.
func (s *Store) Due(ctx context.Context, now time.Time) ([]Schedule, error) {
	return collect(ctx, s.db, scanSchedule, `SELECT `+scheduleColumns+` FROM schedules
		WHERE NOT paused AND removed = 0 AND next <= $1 ORDER BY next, id LIMIT 100`, micros(now))
}

func packed(v Schedule) (deliver, alert string, err error) {
	if v.Deliver == nil {
		v.Deliver = []Destination{}
	}
	if v.Alert == nil {
		v.Alert = []Destination{}
	}
	d, err1 := json.Marshal(v.Deliver)
	a, err2 := json.Marshal(v.Alert)
	return string(d), string(a), errors.Join(err1, err2)
}

// write runs f in one transaction that may write.
func (s *Store) write(ctx context.Context, doing string, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := f(tx); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

type scanner interface{ Scan(dest ...any) error }

func collect[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) (all []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

func missing(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// one turns a statement that changed no row into ErrNotFound.
func one(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, ErrNotFound)
	}
	return nil
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
