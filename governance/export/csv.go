package export

import (
	"bufio"
	"io"
	"strings"

	"bordereau/governance/gate"
)

// csvEncoder writes RFC 4180 with one rule more: NULL is an empty cell, the empty string is "". That is why it isn't
// encoding/csv, which writes both alike.
type csvEncoder struct {
	w     *bufio.Writer
	types []Type
}

// NewCSV starts a CSV with its header.
func NewCSV(w io.Writer, columns []gate.Column) (Encoder, error) {
	e := &csvEncoder{w: bufio.NewWriterSize(w, 64<<10)}
	header := make([]any, len(columns))
	for i, name := range Names(columns) {
		header[i] = name
		e.types = append(e.types, Type{})
	}
	if err := e.Row(header); err != nil {
		return nil, err
	}
	for i, c := range columns {
		e.types[i] = ParseType(c.Type)
	}
	return e, nil
}

func (e *csvEncoder) Row(values []any) error {
	for i, v := range values {
		if i > 0 {
			_ = e.w.WriteByte(',') // bufio keeps the first error and Flush returns it
		}
		if v == nil {
			continue
		}
		cell, err := e.types[i].Text(v)
		if err != nil {
			return err
		}
		if cell == "" || strings.ContainsAny(cell, "\",\r\n") || cell[0] == ' ' || cell[len(cell)-1] == ' ' {
			cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		_, _ = e.w.WriteString(cell)
	}
	_, err := e.w.WriteString("\n")
	return err
}

func (e *csvEncoder) Close() error { return e.w.Flush() }
