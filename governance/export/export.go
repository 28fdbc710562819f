// Package export writes whole results of SQL to files that their turn can fetch, part by part, until they expire.
package export

import (
	"errors"
	"io"

	"bordereau/governance/gate"
)

// PartBytes is the size of every part of an export but the last.
const PartBytes = 1 << 20

// The kinds of failure.
var (
	ErrNotFound = errors.New("no such export")
	ErrTooLarge = errors.New("the export is larger than allowed")
	ErrValue    = errors.New("a value has no place in this format")
)

// Format is how an export's rows are written.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
	Arrow   Format = "arrow" // the IPC stream
)

// encoders start a file of each format.
func encoders() map[Format]func(io.Writer, []gate.Column) (Encoder, error) {
	return map[Format]func(io.Writer, []gate.Column) (Encoder, error){CSV: NewCSV, Parquet: NewParquet, Arrow: NewArrow, Excel: NewExcel, Guarded: NewGuarded}
}

// Encoder writes rows in one format.
type Encoder interface {
	Row(values []any) error
	Close() error
}

// Names returns the columns' names, each once: a second "n" becomes "n_1".
func Names(columns []gate.Column) []string {
	names, seen := make([]string, len(columns)), map[string]bool{}
	for i, c := range columns {
		name := c.Name
		for n := 1; seen[name]; n++ {
			name = c.Name + "_" + itoa(n)
		}
		seen[name], names[i] = true, name
	}
	return names
}
