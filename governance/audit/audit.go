// Package audit keeps the append-only, hash-chained record of each governed query: that it was asked, and what became of it.
package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// The events of a query.
const (
	Asked   = "asked"
	Outcome = "outcome"
)

// The decisions on a query.
const (
	Allowed = "allowed"
	Refused = "refused"
)

// Answered is the outcome of a query whose rows went out. Any other outcome is the code of the failure.
const Answered = "answered"

// Entry is one event. It holds no value of a masked column: whoever writes it has redacted the SQL.
type Entry struct {
	Org          string        `json:"org"`
	Seq          int64         `json:"seq"` // given when it is written
	AuditID      string        `json:"audit_id"`
	Event        string        `json:"event"`
	At           time.Time     `json:"at"`
	Subject      string        `json:"subject"`
	Role         string        `json:"role"`
	Via          string        `json:"via"`
	Conversation string        `json:"conversation,omitempty"`
	Turn         string        `json:"turn,omitempty"`
	Epoch        int64         `json:"epoch,omitempty"`
	Sandbox      string        `json:"sandbox,omitempty"`
	RequestKey   string        `json:"request_key,omitempty"`
	SQLAsked     string        `json:"sql_asked"`
	SQLRun       string        `json:"sql_run,omitempty"`
	Decision     string        `json:"decision,omitempty"`
	Rule         string        `json:"rule,omitempty"`
	Relations    []string      `json:"relations,omitempty"`
	Columns      []string      `json:"columns,omitempty"`
	Profile      string        `json:"profile,omitempty"`
	Generation   string        `json:"generation,omitempty"`
	SHA256       string        `json:"sha256,omitempty"`
	Rows         int64         `json:"rows"`
	Bytes        int64         `json:"bytes"`
	Truncated    bool          `json:"truncated"`
	Queue        time.Duration `json:"queue_ns"`
	Run          time.Duration `json:"run_ns"`
	Outcome      string        `json:"outcome,omitempty"`
	Message      string        `json:"message,omitempty"`  // of a refusal or a failure, without values
	Hint         string        `json:"hint,omitempty"`     // how to go on
	Position     int64         `json:"position,omitempty"` // 1-based byte offset into SQLAsked, 0 when not known
	PrevHash     string        `json:"prev_hash"`          // given when it is written
	Hash         string        `json:"hash"`               // given when it is written
}

// Config is what a Log needs. All of it is required.
type Config struct {
	DB  *sql.DB // the governance database, migrated
	Now func() time.Time
}

// Log writes and reads the record.
type Log struct {
	db         *sql.DB
	now        func() time.Time
	statements map[string]*sql.Stmt // prepared; they close with the database
}

// New returns a Log. The context is for the preparing of its statements.
func New(ctx context.Context, c Config) (*Log, error) {
	if c.DB == nil || c.Now == nil {
		return nil, errors.New("audit: DB and Now are required")
	}
	l := &Log{db: c.DB, now: c.Now, statements: map[string]*sql.Stmt{}}
	for _, text := range []string{insertHead, takeHead, setHead, insertRow, putStatement, addSpent, readSpent} {
		stmt, err := c.DB.PrepareContext(ctx, text) //nolint:sqlclosecheck // it lives as long as the Log and closes with the database
		if err != nil {
			return nil, fmt.Errorf("audit: preparing: %w", err)
		}
		l.statements[text] = stmt
	}
	return l, nil
}

// Asked records that a query was asked. When it fails the query must not go on.
func (l *Log) Asked(ctx context.Context, e Entry) error {
	e.Event = Asked
	return l.append(ctx, e)
}

// Outcome records what became of a query, and spends its budgets. When it fails the answer must not go out.
func (l *Log) Outcome(ctx context.Context, e Entry) error {
	e.Event = Outcome
	return l.append(ctx, e)
}
