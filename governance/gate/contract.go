package gate

import (
	"context"
	"time"
)

// Principal is who asks. It comes from a verified token or an analyst's session, never from the request.
type Principal struct {
	Org          string
	Subject      string // the person on whose behalf
	Role         string // "underwriter", "analyst", "auditor", "admin"
	Via          string // "chat", "schedule", "console", "cli", "reconcile"
	Conversation string
	Turn         string
	Epoch        int64
	Sandbox      string
}

// Request is one SQL question.
type Request struct {
	SQL     string
	MaxRows int           // 0: the policy's; never above the policy's
	Timeout time.Duration // 0: the policy's; never above the policy's
	Key     string        // idempotency key, "" for none

	Generation string // "": the newest; else one that an earlier answer cites, unless it was retired
	Explain    bool   // the answer is the plan as JSON, one row of a kind and a text; nothing is run
}

// Column is one column of an answer.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // DuckDB's name of the type, such as "DECIMAL(12,2)"
}

// Answer heads the rows of a query that ran.
type Answer struct {
	AuditID    string   `json:"audit_id"`
	Generation string   `json:"generation"`
	Columns    []Column `json:"columns"`
	Rows       int      `json:"rows"`
	Truncated  bool     `json:"truncated"` // the row or byte limit cut the rest
	MillisRun  float64  `json:"ms"`
	SQLAsRun   string   `json:"-"`
}

// Sink takes an answer's rows as they come: Begin once, then Row for each, values in Go types
// (nil, bool, int64, float64, string, time.Time, []byte, duckdb's Decimal as *big.Rat-free string, []any, map[string]any).
// An error from the sink stops the query.
type Sink interface {
	Begin(columns []Column) error
	Row(values []any) error
}

// Querier is what every face of governance asks through.
type Querier interface {
	Query(ctx context.Context, p Principal, r Request, sink Sink) (Answer, error)
}
