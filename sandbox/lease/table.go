package lease

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// lockLife is how long a lock lasts when its holder died. A living holder renews it three times in that.
const lockLife = 5 * time.Second

// errLockLost ends what was done under a lock that another has taken.
var errLockLost = errors.New("lease: the lock was lost")

// Table is a Store in the journal's database, shared by all replicas. Their clocks may differ by a second or two, no more.
type Table struct {
	db   *sql.DB
	life time.Duration
	now  func() time.Time
}

var _ Store = (*Table)(nil)

// NewTable wants a database that has the journal's schema.
func NewTable(db *sql.DB, now func() time.Time) (*Table, error) {
	if db == nil || now == nil {
		return nil, errors.New("lease: a database and a clock are required")
	}
	return &Table{db: db, life: lockLife, now: now}, nil
}

// Load reads a record; false when there is none.
func (t *Table) Load(ctx context.Context, conversation string) (Record, bool, error) {
	var text string
	err := t.db.QueryRowContext(ctx, `SELECT record FROM sandbox_leases WHERE conversation = $1`, conversation).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("lease: reading a record: %w", err)
	}
	var r Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Record{}, false, fmt.Errorf("lease: reading a record: %w", err)
	}
	return r, true, nil
}

// Save writes a record.
func (t *Table) Save(ctx context.Context, r Record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = t.db.ExecContext(ctx, `INSERT INTO sandbox_leases (conversation, record) VALUES ($1, $2)
		ON CONFLICT (conversation) DO UPDATE SET record = excluded.record`, r.Conversation, string(text))
	if err != nil {
		return fmt.Errorf("lease: writing a record: %w", err)
	}
	return nil
}

// Remove forgets a record.
func (t *Table) Remove(ctx context.Context, conversation string) error {
	_, err := t.db.ExecContext(ctx, `DELETE FROM sandbox_leases WHERE conversation = $1`, conversation)
	return err
}

// All reads every record.
func (t *Table) All(ctx context.Context) (records []Record, err error) {
	rows, err := t.db.QueryContext(ctx, `SELECT record FROM sandbox_leases`)
	if err != nil {
		return nil, fmt.Errorf("lease: reading all records: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		var r Record
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return nil, fmt.Errorf("lease: reading all records: %w", err)
		}
		records = append(records, r)
	}
	return records, rows.Err()
}

// TryLock takes the conversation's lock and renews it until unlock.
func (t *Table) TryLock(ctx context.Context, conversation string) (context.Context, func(), error) {
	holder := random()
	mine, err := t.take(ctx, conversation, holder)
	if err != nil {
		return nil, nil, err
	}
	if !mine {
		return nil, nil, ErrLocked
	}
	held, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.renew(held, conversation, holder, cancel)
	}()
	return held, func() {
		cancel(nil)
		<-done
		tidy, end := context.WithTimeout(context.WithoutCancel(ctx), t.life)
		defer end()
		// What can't be given back runs out.
		_, _ = t.db.ExecContext(tidy, `DELETE FROM sandbox_locks WHERE conversation = $1 AND holder = $2`, conversation, holder)
	}, nil
}

// take takes a lock that nobody has, that is ours, or whose holder died.
func (t *Table) take(ctx context.Context, conversation, holder string) (bool, error) {
	now := t.now()
	r, err := t.db.ExecContext(ctx, `INSERT INTO sandbox_locks (conversation, holder, until) VALUES ($1, $2, $3)
		ON CONFLICT (conversation) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE sandbox_locks.holder = excluded.holder OR sandbox_locks.until < $4`,
		conversation, holder, now.Add(t.life).UnixMilli(), now.UnixMilli())
	if err != nil {
		return false, fmt.Errorf("lease: taking a lock: %w", err)
	}
	n, err := r.RowsAffected()
	return n == 1, err
}

// renew keeps a lock until held ends. A database that does not answer costs the lock only when its time is over.
func (t *Table) renew(held context.Context, conversation, holder string, lost context.CancelCauseFunc) {
	tick := time.NewTicker(t.life / 3)
	defer tick.Stop()
	good := t.now()
	for {
		select {
		case <-held.Done():
			return
		case <-tick.C:
		}
		mine, err := t.take(held, conversation, holder)
		switch {
		case err == nil && mine:
			good = t.now()
		case err == nil, t.now().Sub(good) > t.life*2/3:
			lost(errLockLost)
			return
		}
	}
}
