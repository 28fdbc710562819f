// Package schedule checks a file with a vehicle schedule: it finds the columns, decodes the VINs and writes a workbook with the differences.
package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"bordereau/tools/vin"
)

// An Error says why a file can't be checked.
type Error struct {
	File   string
	Reason string
	Hint   string
}

// Error names the file and the reason.
func (e *Error) Error() string {
	s := e.File + ": " + e.Reason
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Column is a kind of column that the check reads.
type Column string

// The columns.
const (
	ColumnVIN   Column = "vin"
	ColumnYear  Column = "year"
	ColumnMake  Column = "make"
	ColumnModel Column = "model"
	ColumnBody  Column = "body_type"
	ColumnGVW   Column = "gvw"
	ColumnUnit  Column = "unit"
)

// Schedule is a table that was found in a file.
type Schedule struct {
	File  string
	Sheet string // "" for CSV
	// Header is the row of headings, nil if the table has none.
	Header []string
	// HeaderRow is its number in the file, from 1; 0 if there is none.
	HeaderRow int
	Rows      []Line
	// Columns tells where each kind of column stands, from 0.
	Columns map[Column]int
	// Width is the number of columns.
	Width int
}

// Line is a row of the table.
type Line struct {
	// Number is the row's number in the file, from 1.
	Number int
	Cells  []string
}

// Cell returns a cell, "" if the row ends before it or the table lacks the column.
func (s *Schedule) Cell(l Line, c Column) string {
	i, ok := s.Columns[c]
	if !ok || i >= len(l.Cells) {
		return ""
	}
	return strings.TrimSpace(l.Cells[i])
}

// VINRows turns the lines into rows to check; each row's Ref is the line's number in the file.
func (s *Schedule) VINRows() []vin.Row {
	out := make([]vin.Row, len(s.Rows))
	for i, l := range s.Rows {
		out[i] = vin.Row{
			Ref: strconv.Itoa(l.Number), VIN: s.Cell(l, ColumnVIN), Year: yearIn(s.Cell(l, ColumnYear)), Make: s.Cell(l, ColumnMake),
			Model: s.Cell(l, ColumnModel), BodyType: s.Cell(l, ColumnBody), GVW: pounds(s.Cell(l, ColumnGVW)),
		}
	}
	return out
}

// yearIn reads a model year: 2019, 2019.0, '19 or 19, or a date in that year written as text.
func yearIn(s string) int {
	for _, form := range []string{time.DateOnly, "2006-01-02 15:04:05", "1/2/2006", "1/2/06", "1-2-2006", "January 2, 2006", "2-Jan-2006"} {
		if t, err := time.Parse(form, strings.TrimSpace(s)); err == nil {
			return t.Year()
		}
	}
	s = strings.TrimSuffix(strings.TrimLeft(strings.TrimSpace(s), "'’`"), ".0")
	n, err := strconv.Atoi(s)
	switch {
	case err != nil || n < 0:
		return 0
	case len(s) == 2 && n >= 80:
		return 1900 + n
	case len(s) == 2:
		return 2000 + n
	case n < 1900 || n > 2200:
		return 0
	}
	return n
}

// pounds reads a weight such as "80,000 lbs" or "33000".
func pounds(s string) int {
	s = strings.ToLower(strings.TrimSpace(s))
	for _, unit := range []string{"lbs.", "lbs", "lb.", "lb", "#", "pounds"} {
		s = strings.TrimSpace(strings.TrimSuffix(s, unit))
	}
	thousands := false
	if rest, ok := strings.CutSuffix(s, "k"); ok {
		s, thousands = rest, true
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if err != nil || f <= 0 || f > 1_000_000 {
		return 0
	}
	if thousands {
		f *= 1000
	}
	return int(f)
}

// Describe says in a line which columns were found.
func (s *Schedule) Describe() string {
	var parts []string
	for _, c := range allColumns() {
		if i, ok := s.Columns[c]; ok {
			name := fmt.Sprintf("column %d", i+1)
			if i < len(s.Header) && strings.TrimSpace(s.Header[i]) != "" {
				name = fmt.Sprintf("%q", strings.TrimSpace(s.Header[i]))
			}
			parts = append(parts, string(c)+" in "+name)
		}
	}
	return fmt.Sprintf("%d rows; %s", len(s.Rows), strings.Join(parts, ", "))
}

func allColumns() []Column {
	return []Column{ColumnVIN, ColumnYear, ColumnMake, ColumnModel, ColumnBody, ColumnGVW, ColumnUnit}
}
