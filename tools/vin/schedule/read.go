package schedule

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// Limits of what is read. A schedule has hundreds of rows, rarely thousands.
const (
	maxFile   = 64 << 20
	maxUnzip  = 512 << 20
	maxRows   = 200_000
	maxWidth  = 512
	formsHint = "a schedule is an .xlsx or .csv file with one vehicle a row and a column of VINs"
)

// Open reads a schedule. isMake tells a make from other words, for files whose columns have no headings.
func Open(file string, isMake func(string) bool) (*Schedule, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("opening the schedule: %w", err)
	}
	if info.Size() > maxFile {
		return nil, &Error{File: file, Reason: fmt.Sprintf("%d bytes are more than a schedule has", info.Size()), Hint: formsHint}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the schedule: %w", err)
	}
	return Read(filepath.Base(file), b, isMake)
}

// Read is Open for a file's bytes.
func Read(name string, b []byte, isMake func(string) bool) (*Schedule, error) {
	if bytes.HasPrefix(b, []byte("PK\x03\x04")) {
		return readWorkbook(name, b, isMake)
	}
	if bytes.HasPrefix(b, []byte("\xd0\xcf\x11\xe0")) {
		return nil, &Error{File: name, Reason: "an old .xls workbook, or one with a password", Hint: "save it as .xlsx without a password"}
	}
	if bytes.HasPrefix(b, []byte("%PDF-")) {
		return nil, &Error{File: name, Reason: "a PDF", Hint: formsHint}
	}
	rows, err := readCSV(name, b)
	if err != nil {
		return nil, err
	}
	return find(name, "", rows, isMake)
}

// readWorkbook takes the first sheet that has a column of VINs.
func readWorkbook(name string, b []byte, isMake func(string) bool) (*Schedule, error) {
	f, err := excelize.OpenReader(bytes.NewReader(b), excelize.Options{UnzipSizeLimit: maxUnzip, UnzipXMLSizeLimit: 64 << 20})
	if err != nil {
		return nil, &Error{File: name, Reason: "it can't be read as a workbook: " + err.Error(), Hint: formsHint}
	}
	defer f.Close()
	var last error
	for _, sheet := range f.GetSheetList() {
		rows, err := sheetRows(f, sheet)
		if err != nil {
			return nil, &Error{File: name, Reason: fmt.Sprintf("sheet %q can't be read: %v", sheet, err), Hint: formsHint}
		}
		s, err := find(name, sheet, rows, isMake)
		if err == nil {
			return s, nil
		}
		last = err
	}
	if last == nil {
		last = &Error{File: name, Reason: "the workbook has no sheet", Hint: formsHint}
	}
	return nil, last
}

func sheetRows(f *excelize.File, sheet string) ([][]string, error) {
	in, err := f.Rows(sheet)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var out [][]string
	for in.Next() {
		cells, err := in.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return nil, err
		}
		if len(out) >= maxRows {
			return nil, fmt.Errorf("more than %d rows", maxRows)
		}
		out = append(out, cells[:min(len(cells), maxWidth)])
	}
	if err := in.Error(); err != nil {
		return nil, err
	}
	return out, unmerge(f, sheet, out)
}

// unmerge writes the value of merged cells into each of them: one make for ten tractors, one heading over two rows.
func unmerge(f *excelize.File, sheet string, rows [][]string) error {
	merged, err := f.GetMergeCells(sheet, true)
	if err != nil {
		return err
	}
	for _, m := range merged {
		x0, y0, err := excelize.CellNameToCoordinates(m.GetStartAxis())
		if err != nil {
			return err
		}
		x1, y1, err := excelize.CellNameToCoordinates(m.GetEndAxis())
		if err != nil {
			return err
		}
		if y0 > len(rows) || x0 > len(rows[y0-1]) || x1 > maxWidth {
			continue // nothing is written there
		}
		value := rows[y0-1][x0-1]
		for y := y0; y <= min(y1, len(rows)); y++ {
			for len(rows[y-1]) < x1 {
				rows[y-1] = append(rows[y-1], "")
			}
			for x := x0; x <= x1; x++ {
				rows[y-1][x-1] = value
			}
		}
	}
	return nil
}

// readCSV guesses the delimiter and the encoding.
func readCSV(name string, b []byte) ([][]string, error) {
	text, err := decodeText(b)
	if err != nil {
		return nil, &Error{File: name, Reason: err.Error(), Hint: formsHint}
	}
	in := csv.NewReader(strings.NewReader(text))
	in.FieldsPerRecord, in.LazyQuotes, in.Comma = -1, true, delimiter(text)
	var out [][]string
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, &Error{File: name, Reason: "it can't be read as CSV: " + err.Error(), Hint: formsHint}
		}
		if len(out) >= maxRows {
			return nil, &Error{File: name, Reason: fmt.Sprintf("more than %d rows", maxRows), Hint: formsHint}
		}
		// csv.Reader leaves out empty lines; the line's number keeps the rows' numbers those of the file.
		line, _ := in.FieldPos(0)
		for len(out) < line-1 && len(out) < maxRows {
			out = append(out, nil)
		}
		out = append(out, row[:min(len(row), maxWidth)])
	}
}

// decodeText reads UTF-8, UTF-16 with a mark, and otherwise Latin 1, as Excel saves CSV.
func decodeText(b []byte) (string, error) {
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		b = b[3:]
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		big := b[0] == 0xfe
		units := make([]uint16, 0, len(b)/2)
		for i := 2; i+1 < len(b); i += 2 {
			u := uint16(b[i]) | uint16(b[i+1])<<8
			if big {
				u = u>>8 | u<<8
			}
			units = append(units, u)
		}
		return string(utf16.Decode(units)), nil
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return "", errors.New("it is neither a workbook nor text")
	}
	if utf8.Valid(b) {
		return string(b), nil
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes), nil
}

// delimiter is the one that the first lines have most of.
func delimiter(text string) rune {
	best, most := ',', 0
	head := text[:min(len(text), 16<<10)]
	for _, d := range ",;\t|" {
		if n := strings.Count(head, string(d)); n > most {
			best, most = d, n
		}
	}
	return best
}

// find looks for the table in the rows.
func find(name, sheet string, rows [][]string, isMake func(string) bool) (*Schedule, error) {
	s := &Schedule{File: name, Sheet: sheet}
	body := rows
	first := 0
	if h := findHeader(rows); h >= 0 {
		s.Header, s.HeaderRow = rows[h], h+1
		first = h + 1
		switch {
		case h+1 < len(rows) && continues(rows[h], rows[h+1]):
			s.Header = joined(rows[h], rows[h+1])
			first++
		case h > 0 && len(headingsIn(rows[h-1])) > 1: // the second row says more than the first
			s.Header = joined(rows[h-1], rows[h])
		}
		body = rows[first:]
	}
	for _, r := range rows {
		s.Width = max(s.Width, len(r))
	}
	s.Columns = findColumns(s.Header, body, s.Width, isMake)
	at, ok := s.Columns[ColumnVIN]
	if !ok {
		return nil, &Error{File: name, Reason: "no column of VINs was found", Hint: formsHint}
	}
	for i, r := range body {
		if !blankRow(r) && !totals(r) && (at < len(r) && strings.TrimSpace(r[at]) != "" || describesVehicle(s, r)) {
			s.Rows = append(s.Rows, Line{Number: first + i + 1, Cells: r})
		}
	}
	if len(s.Rows) == 0 {
		return nil, &Error{File: name, Reason: "there are no rows below the headings", Hint: formsHint}
	}
	return s, nil
}

// describesVehicle is true for a row without a VIN that still has a year and a make: a vehicle whose VIN is missing.
func describesVehicle(s *Schedule, row []string) bool {
	l := Line{Cells: row}
	return yearIn(s.Cell(l, ColumnYear)) != 0 && s.Cell(l, ColumnMake) != ""
}

// totals is true for a row that sums up others: its first word says so, and no VIN stands in it.
func totals(row []string) bool {
	if slices.ContainsFunc(row, looksLikeVIN) {
		return false
	}
	for _, c := range row {
		if c = strings.ToLower(strings.TrimSpace(c)); c != "" {
			word, _, _ := strings.Cut(c, " ")
			switch strings.Trim(word, ":.,") {
			case "total", "totals", "subtotal", "sub-total", "sum", "count", "grand":
				return true
			}
			return false
		}
	}
	return false
}

func blankRow(row []string) bool {
	for _, c := range row {
		if strings.TrimSpace(c) != "" {
			return false
		}
	}
	return true
}
