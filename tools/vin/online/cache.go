package online

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The cache's statements run on SQLite and Postgres alike.
const (
	selectAnswer = `SELECT answer FROM vin_answers WHERE vin = $1 AND year = $2 AND fetched_at > $3`
	upsertAnswer = `INSERT INTO vin_answers (vin, year, answer, fetched_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (vin, year) DO UPDATE SET answer = excluded.answer, fetched_at = excluded.fetched_at`
	deleteAnswers = `DELETE FROM vin_answers WHERE fetched_at <= $1`
)

// SQLCache keeps answers in the table vin_answers.
type SQLCache struct{ db *sql.DB }

var _ Cache = (*SQLCache)(nil)

// NewSQLCache returns a cache in a database that has governance's schema.
func NewSQLCache(db *sql.DB) (*SQLCache, error) {
	if db == nil {
		return nil, errors.New("online: the cache needs a database")
	}
	return &SQLCache{db: db}, nil
}

// Get returns an answer that was fetched after since.
func (c *SQLCache) Get(ctx context.Context, q Query, since time.Time) (map[string]string, bool, error) {
	var text string
	err := c.db.QueryRowContext(ctx, selectAnswer, q.VIN, q.Year, since.Unix()).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("looking up an answer: %w", err)
	}
	var values map[string]string
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return nil, false, fmt.Errorf("reading a kept answer: %w", err)
	}
	return values, true, nil
}

// Put keeps answers.
func (c *SQLCache) Put(ctx context.Context, queries []Query, answers []map[string]string, at time.Time) error {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("keeping answers: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing; before, the error at hand is the one to tell
	for i, q := range queries {
		kept := map[string]string{}
		for name, v := range answers[i] {
			if v != "" {
				kept[name] = v
			}
		}
		text, err := json.Marshal(kept)
		if err != nil {
			return fmt.Errorf("keeping answers: %w", err)
		}
		if _, err := tx.ExecContext(ctx, upsertAnswer, q.VIN, q.Year, string(text), at.Unix()); err != nil {
			return fmt.Errorf("keeping answers: %w", err)
		}
	}
	return tx.Commit()
}

// Forget deletes answers that were fetched before a time.
func (c *SQLCache) Forget(ctx context.Context, before time.Time) error {
	_, err := c.db.ExecContext(ctx, deleteAnswers, before.Unix())
	if err != nil {
		return fmt.Errorf("forgetting old answers: %w", err)
	}
	return nil
}
