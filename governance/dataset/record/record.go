package record

import (
	"fmt"
)

// Record is one record. Values holds nil, string, int32, float64 or time.Time for each of the kind's columns, four for a box;
// it is the sink's only until the next record.
type Record struct {
	Kind   Kind
	Row    int // its line or sheet row, from 1
	Values []any
}

// Text returns the text of a column, "" when it is null.
func (r Record) Text(column string) string {
	for _, c := range r.Kind.Columns() {
		if c.Name == column {
			s, _ := r.Values[c.at].(string)
			return s
		}
	}
	return ""
}

// Problem is one thing wrong with an import.
type Problem struct {
	File    string `json:"file"`
	Row     int    `json:"row,omitempty"`    // line of a text file, row of a sheet; 0: the file as a whole
	Column  string `json:"column,omitempty"` // the key or column, or "byte 17" where there is none yet
	Message string `json:"message"`
}

func (p Problem) String() string {
	s := p.File
	if p.Row > 0 {
		s += fmt.Sprintf(", row %d", p.Row)
	}
	if p.Column != "" {
		s += ", " + p.Column
	}
	return s + ": " + p.Message
}

// Sink takes what a reader finds. An error from it ends the reading.
type Sink interface {
	Record(Record) error
	Problem(Problem) error
}

// builder fills one record at a time.
type builder struct {
	file   string
	sink   Sink
	shapes []shape
	values []any
	bad    bool
}

func newBuilder(file string, sink Sink) *builder {
	b := &builder{file: file, sink: sink, shapes: shapes()}
	widest := 0
	for _, s := range b.shapes {
		widest = max(widest, s.width)
	}
	b.values = make([]any, widest)
	return b
}

func (b *builder) problem(row int, column, format string, args ...any) error {
	b.bad = true
	return b.sink.Problem(Problem{File: b.file, Row: row, Column: column, Message: fmt.Sprintf(format, args...)})
}

func (b *builder) begin() {
	b.bad = false
	clear(b.values)
}

// finish checks that nothing required is missing and hands the record on, unless something was wrong with it.
func (b *builder) finish(s shape, row int) error {
	for _, c := range s.cols {
		if c.Required && b.values[c.at] == nil && !b.bad {
			if err := b.problem(row, c.Name, "is required"); err != nil {
				return err
			}
		}
	}
	if b.bad {
		return nil
	}
	return b.sink.Record(Record{Kind: s.kind, Row: row, Values: b.values[:s.width]})
}
