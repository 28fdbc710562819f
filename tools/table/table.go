// Package table is the answer to a governed query, as the domain tools read it.
package table

import (
	"fmt"
	"strconv"
	"time"
)

// Table is a whole answer, held in memory: the statements of the domain tools bound their rows.
type Table struct {
	AuditID   string // the record of the query
	Rows      []Row
	Truncated bool // the rows are not all
}

// Row is the values of one row, in the order of the statement's columns: nil, bool, int64, float64, string, time.Time,
// []byte, []any or map[string]any.
type Row []any

// Text returns column i as text, "" for NULL.
func (r Row) Text(i int) string {
	switch v := r[i].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// TextOrNil returns column i as text, nil for NULL.
func (r Row) TextOrNil(i int) *string {
	if r[i] == nil {
		return nil
	}
	s := r.Text(i)
	return &s
}

// Int returns column i as an integer, 0 for NULL.
func (r Row) Int(i int) int {
	switch v := r[i].(type) {
	case int64:
		return int(v)
	case int32:
		return int(v)
	case int:
		return v
	case float64:
		return int(v)
	default:
		n, err := strconv.Atoi(r.Text(i))
		if err != nil {
			return 0
		}
		return n
	}
}

// Float returns column i as a float, 0 for NULL.
func (r Row) Float(i int) float64 {
	switch v := r[i].(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	default:
		f, err := strconv.ParseFloat(r.Text(i), 64)
		if err != nil {
			return 0
		}
		return f
	}
}

// Bool returns column i, false for NULL.
func (r Row) Bool(i int) bool {
	b, ok := r[i].(bool)
	return ok && b
}

// Time returns column i in RFC 3339, UTC, "" for NULL.
func (r Row) Time(i int) string {
	if t, ok := r[i].(time.Time); ok {
		return t.UTC().Format(time.RFC3339Nano)
	}
	return r.Text(i)
}

// Day returns column i as a date, "" for NULL.
func (r Row) Day(i int) string {
	if t, ok := r[i].(time.Time); ok {
		return t.UTC().Format(time.DateOnly)
	}
	return r.Text(i)
}
