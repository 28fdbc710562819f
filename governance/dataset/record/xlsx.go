package record

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

// What a workbook may unpack to, so that a small file can't fill the machine.
const (
	maxWorkbook = 512 << 20
	maxSheet    = 64 << 20
)

// ReadXLSX reads a workbook whose sheets are called submissions, documents, rows, fields and edits, or have a column "type".
func ReadXLSX(file string, r io.Reader, sink Sink) (err error) {
	defer func() {
		// The reader of workbooks has panicked on broken ones before; that is the file's fault, not ours.
		if p := recover(); p != nil {
			err = sink.Problem(Problem{File: file, Message: fmt.Sprintf("the workbook can't be read: %v", p)})
		}
	}()
	book, err := excelize.OpenReader(r, excelize.Options{RawCellValue: true, UnzipSizeLimit: maxWorkbook, UnzipXMLSizeLimit: maxSheet})
	if err != nil {
		return sink.Problem(Problem{File: file, Message: "not a workbook that can be read: " + err.Error()})
	}
	defer func() { _ = book.Close() }() // removes its temporary files; what was read is read
	for _, sheet := range book.GetSheetList() {
		if err := readSheet(book, file, sheet, sink); err != nil {
			return err
		}
	}
	return nil
}

func readSheet(book *excelize.File, file, sheet string, sink Sink) error {
	name := file + "!" + sheet
	rows, err := book.Rows(sheet)
	if err != nil {
		return sink.Problem(Problem{File: name, Message: "the sheet can't be read: " + err.Error()})
	}
	defer func() { _ = rows.Close() }()
	var table *Table
	var cells []Cell
	for n := 1; rows.Next(); n++ {
		texts, err := rows.Columns()
		if err != nil {
			return sink.Problem(Problem{File: name, Row: n, Message: "the row can't be read: " + err.Error()})
		}
		if table == nil {
			if len(texts) == 0 {
				continue
			}
			if table, err = NewTable(name, sheet, n, texts, sink); table == nil {
				return err
			}
			continue
		}
		cells = cells[:0]
		for i, s := range texts {
			cells = append(cells, table.sheetCell(i, s))
		}
		if err := table.Row(n, cells); err != nil {
			return err
		}
	}
	if err := rows.Error(); err != nil {
		return sink.Problem(Problem{File: name, Message: "the sheet can't be read: " + err.Error()})
	}
	return nil
}

// sheetCell turns the number that a sheet keeps for a date into one, in the columns that want dates.
func (t *Table) sheetCell(i int, s string) Cell {
	if s == "" {
		return Cell{}
	}
	if i < len(t.header) && (strings.HasSuffix(t.header[i], "_at") || strings.HasSuffix(t.header[i], "_date") || t.header[i] == "at") {
		if serial, err := strconv.ParseFloat(s, 64); err == nil && serial > 0 && serial < 200_000 {
			const day = 24 * time.Hour
			whole, part := math.Modf(serial)
			at := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Add(time.Duration(whole) * day)
			// Serials are binary fractions of a day; the millisecond is as much as they hold.
			return Cell{Set: true, Value: at.Add(time.Duration(math.Round(part*86_400_000)) * time.Millisecond)}
		}
	}
	return Cell{Set: true, Value: s}
}
