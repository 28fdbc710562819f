package excel

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
)

// maxCell is the longest text of a cell, in UTF-16 units.
const maxCell = 32767

// column heads one column of a sheet.
type column struct {
	name  string
	width float64
}

// sheet streams rows to one sheet. What must be set before the rows (widths, panes) and before the flush (validation,
// filters, headers) is set by its methods in that order: excelize loses it silently otherwise.
type sheet struct {
	book    *workbook
	name    string
	columns []column
	stream  *excelize.StreamWriter
	row     int
}

// sheet starts a sheet with a frozen header row.
func (b *workbook) sheet(name string, columns ...column) (*sheet, error) {
	if _, err := b.file.NewSheet(name); err != nil {
		return nil, fmt.Errorf("adding sheet %s: %w", name, err)
	}
	fitted := true // before the stream begins: it writes the properties first
	if err := b.file.SetSheetProps(name, &excelize.SheetPropsOptions{FitToPage: &fitted}); err != nil {
		return nil, fmt.Errorf("sheet %s: %w", name, err)
	}
	stream, err := b.file.NewStreamWriter(name)
	if err != nil {
		return nil, fmt.Errorf("streaming sheet %s: %w", name, err)
	}
	s := &sheet{book: b, name: name, columns: columns, stream: stream}
	header := make([]any, len(columns))
	for i, c := range columns {
		if err := stream.SetColWidth(i+1, i+1, c.width); err != nil {
			return nil, fmt.Errorf("sheet %s: %w", name, err)
		}
		header[i] = excelize.Cell{StyleID: b.style.header, Value: c.name}
	}
	if err := stream.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return nil, fmt.Errorf("sheet %s: %w", name, err)
	}
	return s, s.append(header)
}

// append writes the next row.
func (s *sheet) append(cells []any) error {
	s.row++
	at, err := excelize.CoordinatesToCellName(1, s.row)
	if err != nil {
		return fmt.Errorf("sheet %s: %w", s.name, err)
	}
	if err := s.stream.SetRow(at, cells, excelize.RowOpts{Height: s.height(cells)}); err != nil {
		return fmt.Errorf("sheet %s, row %d: %w", s.name, s.row, err)
	}
	return nil
}

// Heights of rows, in points.
const (
	lineHeight = 14.0
	maxHeight  = 409.0 // the most that Excel takes
)

// height makes room for the wrapped text of a row; not every program does so when it opens the workbook.
func (s *sheet) height(cells []any) float64 {
	lines := 1
	for i, c := range cells {
		if cell, ok := c.(excelize.Cell); ok && (cell.StyleID == s.book.style.wrap || cell.StyleID == s.book.style.input) {
			if text, ok := cell.Value.(string); ok {
				lines = max(lines, linesOf(text, s.columns[i].width))
			}
		}
	}
	return min(lineHeight*float64(lines), maxHeight)
}

// linesOf estimates how many lines text takes in a column that is so many digits wide.
func linesOf(text string, width float64) int {
	lines := 0
	for part := range strings.SplitSeq(text, "\n") {
		lines += 1 + int(float64(utf8.RuneCountInString(part))/(width*0.95))
	}
	return lines
}

// flush ends the sheet: a filter over all columns, print settings, then the stream.
func (s *sheet) flush() error {
	last, err := excelize.CoordinatesToCellName(len(s.columns), max(s.row, 2))
	if err != nil {
		return fmt.Errorf("sheet %s: %w", s.name, err)
	}
	landscape, fit := "landscape", 1
	height := 0
	if err := s.book.file.SetPageLayout(s.name, &excelize.PageLayoutOptions{Orientation: &landscape, FitToWidth: &fit, FitToHeight: &height}); err != nil {
		return fmt.Errorf("sheet %s: %w", s.name, err)
	}
	if err := s.book.file.SetHeaderFooter(s.name, &excelize.HeaderFooterOptions{OddFooter: "&L" + strings.ReplaceAll(s.book.report.RunID, "&", "&&") + "&C&A&RPage &P of &N"}); err != nil {
		return fmt.Errorf("sheet %s: %w", s.name, err)
	}
	if err := s.book.file.AutoFilter(s.name, "A1:"+last, nil); err != nil {
		return fmt.Errorf("sheet %s: %w", s.name, err)
	}
	if err := s.stream.Flush(); err != nil {
		return fmt.Errorf("ending sheet %s: %w", s.name, err)
	}
	return nil
}

// text is a cell for text of any origin. It is a string to Excel whatever it begins with, and its format keeps it one
// when somebody edits it.
func (b *workbook) text(s string) excelize.Cell {
	return excelize.Cell{StyleID: b.style.text, Value: clean(s)}
}

// wrapped is text over several lines.
func (b *workbook) wrapped(s string) excelize.Cell {
	return excelize.Cell{StyleID: b.style.wrap, Value: clean(s)}
}

func (b *workbook) number(n int) excelize.Cell {
	return excelize.Cell{StyleID: b.style.number, Value: n}
}

func (b *workbook) percent(share float64) excelize.Cell {
	return excelize.Cell{StyleID: b.style.percent, Value: share}
}

// link is a cell that jumps to another place of the workbook.
func (b *workbook) link(sheet string, row int, shown string) excelize.Cell {
	return b.jump(fmt.Sprintf("#'%s'!A%d", sheet, row), shown)
}

// jump is a cell that opens target, which is of our making. What is shown may be the name of a document: it stands in the formula as a
// literal of at most maxLiteral characters, its quotes doubled, and can't end it.
func (b *workbook) jump(target, shown string) excelize.Cell {
	shown = strings.ReplaceAll(clean(shown), "\n", " ")
	if letters := []rune(shown); len(letters) > maxLiteral {
		shown = string(letters[:maxLiteral-1]) + "…"
	}
	literal := strings.ReplaceAll(shown, `"`, `""`)
	return excelize.Cell{StyleID: b.style.link, Formula: fmt.Sprintf(`HYPERLINK("%s","%s")`, strings.ReplaceAll(target, `"`, "%22"), literal), Value: shown}
}

// maxLiteral bounds a literal of a formula, below Excel's 255.
const maxLiteral = 120

// clean makes text fit for XML and a cell: no control characters, valid UTF-8, at most maxCell units.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case r < 0x20, r >= 0x7F && r < 0xA0, r == 0xFFFE, r == 0xFFFF:
			return -1
		}
		return r
	}, s)
	if len(s) <= maxCell {
		return s
	}
	units := 0
	for i, r := range s {
		units++
		if r >= 0x10000 {
			units++
		}
		if units > maxCell-1 {
			return s[:i] + "…"
		}
	}
	return s
}
