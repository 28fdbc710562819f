package export

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"bordereau/governance/gate"
)

// Excel is a workbook of one sheet, for people.
const Excel Format = "xlsx"

// What a sheet holds at most, the header's row included.
const (
	sheetRows    = 1 << 20
	sheetColumns = 1 << 14
	sheetCell    = 32_767
)

// exactDigits is how many digits a cell's number keeps; numbers with more are written as text.
const exactDigits = 15

// workbookEncoder writes an .xlsx. Text is written as text, which no reader takes for a formula, whatever it begins with.
type workbookEncoder struct {
	w         io.Writer
	file      *excelize.File
	stream    *excelize.StreamWriter
	types     []Type
	day, time int // styles
	row       int
	cells     []any
}

// NewExcel starts a workbook with its header.
func NewExcel(w io.Writer, columns []gate.Column) (Encoder, error) {
	if len(columns) > sheetColumns {
		return nil, fmt.Errorf("%w: a sheet has at most %d columns", ErrTooLarge, sheetColumns)
	}
	e := &workbookEncoder{w: w, file: excelize.NewFile(), cells: make([]any, len(columns))}
	const sheet = "Rows"
	if err := e.file.SetSheetName("Sheet1", sheet); err != nil {
		return nil, e.failed(err)
	}
	head, err := e.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return nil, e.failed(err)
	}
	day, moment := "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"
	if e.day, err = e.file.NewStyle(&excelize.Style{CustomNumFmt: &day}); err != nil {
		return nil, e.failed(err)
	}
	if e.time, err = e.file.NewStyle(&excelize.Style{CustomNumFmt: &moment}); err != nil {
		return nil, e.failed(err)
	}
	if e.stream, err = e.file.NewStreamWriter(sheet); err != nil {
		return nil, e.failed(err)
	}
	if err := e.stream.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return nil, e.failed(err)
	}
	for i, name := range Names(columns) {
		e.types = append(e.types, ParseType(columns[i].Type))
		e.cells[i] = excelize.Cell{StyleID: head, Value: cellText(name)}
	}
	return e, e.write()
}

func (e *workbookEncoder) failed(err error) error { return fmt.Errorf("writing a workbook: %w", err) }

func (e *workbookEncoder) write() error {
	if e.row++; e.row > sheetRows {
		return fmt.Errorf("%w: a sheet has at most %d rows", ErrTooLarge, sheetRows)
	}
	if err := e.stream.SetRow("A"+strconv.Itoa(e.row), e.cells); err != nil {
		return e.failed(err)
	}
	return nil
}

func (e *workbookEncoder) Row(values []any) error {
	for i, v := range values {
		cell, err := e.cell(e.types[i], v)
		if err != nil {
			return err
		}
		e.cells[i] = cell
	}
	return e.write()
}

// firstDay is where Excel's calendar agrees with everybody else's.
var firstDay = time.Date(1900, 3, 1, 0, 0, 0, 0, time.UTC)

func (e *workbookEncoder) cell(t Type, v any) (any, error) {
	if v == nil {
		return nil, nil //nolint:nilnil // NULL is an empty cell
	}
	if at, ok := v.(time.Time); ok && !at.Before(firstDay) && at.Year() < 9999 {
		style := e.time
		if t.kind == day {
			style = e.day
		}
		return excelize.Cell{StyleID: style, Value: at.UTC()}, nil
	}
	if b, ok := v.(bool); ok {
		return b, nil
	}
	text, err := t.Text(v)
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case integer, huge, decimal, float, double:
		if n, err := strconv.ParseFloat(text, 64); err == nil && n == n && n-n == 0 && len(strings.Trim(text, "-0.")) <= exactDigits {
			return n, nil
		}
	}
	return cellText(text), nil
}

// cellText is text as a cell can hold it: XML has no control characters, Excel no more than so many.
func cellText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, s)
	if n := len(s); n > sheetCell {
		s = strings.ToValidUTF8(s[:sheetCell-32], "") + fmt.Sprintf("… (%d bytes)", n)
	}
	return s
}

func (e *workbookEncoder) Close() error {
	if err := e.stream.Flush(); err != nil {
		return e.failed(err)
	}
	if _, err := e.file.WriteTo(e.w); err != nil {
		return e.failed(err)
	}
	return e.file.Close()
}

// discard removes the file that holds the rows of a large sheet until they are zipped.
func (e *workbookEncoder) discard() { _ = e.file.Close() } // what it holds is given up anyway
