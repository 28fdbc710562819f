// Package reconcile compares the documents of submissions with each other, with their VINs and with a carrier's guideline, and proves what it finds.
package reconcile

import (
	"context"
	"time"

	"bordereau/tools/guideline"
	"bordereau/tools/vin"
)

// Querier runs one governed query and hands over its rows as they come.
// Values are nil, bool, int64, float64, string or time.Time.
type Querier interface {
	Query(ctx context.Context, sql string, row func(values []any) error) (Answer, error)
}

// Answer heads a query that ran.
type Answer struct {
	AuditID    string
	Generation string
	Rows       int
	Truncated  bool // a limit cut the rest
}

// Decoder checks the rows of a vehicle schedule against their VINs. It is safe for concurrent use.
type Decoder interface {
	Check(rows []vin.Row) []vin.Checked
}

// Guidelines finds the rules to apply.
type Guidelines interface {
	Named(name string, on time.Time) (*guideline.Guideline, error)
	For(carrier string, on time.Time) (*guideline.Guideline, error)
}

var _ Guidelines = (*guideline.Library)(nil)

// Clock says what time it is.
type Clock func() time.Time
