package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"bordereau/governance/gate"
)

// rowPrinter writes an answer as a table, or as one JSON object.
type rowPrinter struct {
	w       io.Writer
	json    bool
	table   *tabwriter.Writer
	columns []gate.Column
	rows    int
}

func newRowPrinter(w io.Writer, asJSON bool) *rowPrinter {
	return &rowPrinter{w: w, json: asJSON, table: tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)}
}

// Begin writes the head.
func (p *rowPrinter) Begin(columns []gate.Column) error {
	p.columns = columns
	if p.json {
		_, err := io.WriteString(p.w, `{"rows":[`)
		return err
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = printable(c.Name)
	}
	_, err := fmt.Fprintln(p.table, strings.Join(names, "\t"))
	return err
}

// Row writes one row.
func (p *rowPrinter) Row(values []any) error {
	p.rows++
	if p.json {
		for i, v := range values {
			values[i] = finite(v)
		}
		raw, err := json.Marshal(values)
		if err != nil {
			return err
		}
		if p.rows > 1 {
			raw = append([]byte(","), raw...)
		}
		_, err = p.w.Write(append(raw, '\n'))
		return err
	}
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = cell(v)
	}
	_, err := fmt.Fprintln(p.table, strings.Join(cells, "\t"))
	return err
}

func (p *rowPrinter) finish(a gate.Answer, note io.Writer) error {
	if p.json {
		raw, err := json.Marshal(a)
		if err != nil {
			return err
		}
		// The head joins the rows, which went out before it was known.
		_, err = fmt.Fprintf(p.w, "],%s\n", strings.Replace(string(raw[1:]), `"rows":`, `"row_count":`, 1))
		return err
	}
	if err := p.table.Flush(); err != nil {
		return err
	}
	cut := ""
	if a.Truncated {
		cut = ", cut at the limit"
	}
	_, err := fmt.Fprintf(note, "%d rows%s, generation %s, audit %s, %.1f ms\n", a.Rows, cut, a.Generation, a.AuditID, a.MillisRun)
	return err
}

// cell shows a value in a table; NULL and the empty text differ.
func cell(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case string:
		return printable(x)
	case time.Time:
		if x.Hour() == 0 && x.Minute() == 0 && x.Second() == 0 && x.Nanosecond() == 0 {
			return x.Format(time.DateOnly)
		}
		return x.Format("2006-01-02 15:04:05.999999")
	case []any, map[string]any:
		raw, err := json.Marshal(finite(x))
		if err != nil {
			return "?"
		}
		return printable(string(raw))
	}
	return fmt.Sprint(v)
}

// printable leaves control characters out, so that data can't drive a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// finite makes what JSON can't hold into text.
func finite(v any) any {
	switch x := v.(type) {
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Sprint(x)
		}
	case []any:
		for i := range x {
			x[i] = finite(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = finite(x[k])
		}
	}
	return v
}
