package excel

import (
	"fmt"

	"github.com/xuri/excelize/v2"
)

// page writes single cells of a small sheet and keeps the first error.
type page struct {
	file  *excelize.File
	sheet string
	wrap  int // the style of text over several lines
	err   error
}

// fit prints the sheet as wide as a page.
func (p *page) fit() {
	fitted, one, many := true, 1, 0
	p.do(p.file.SetSheetProps(p.sheet, &excelize.SheetPropsOptions{FitToPage: &fitted}))
	p.do(p.file.SetPageLayout(p.sheet, &excelize.PageLayoutOptions{FitToWidth: &one, FitToHeight: &many}))
}

func (p *page) do(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *page) width(column string, width float64) {
	p.do(p.file.SetColWidth(p.sheet, column, column, width))
}

func (p *page) set(cell string, value any, style int) {
	if s, ok := value.(string); ok {
		if lines := linesOf(clean(s), summaryWidth); style == p.wrap && lines > 1 {
			_, row, err := excelize.CellNameToCoordinates(cell)
			p.do(err)
			p.do(p.file.SetRowHeight(p.sheet, row, lineHeight*float64(lines)))
		}
		// SetCellStr, since SetCellValue would take the text for what it looks like.
		p.do(p.file.SetCellStr(p.sheet, cell, clean(s)))
	} else {
		p.do(p.file.SetCellValue(p.sheet, cell, value))
	}
	p.do(p.file.SetCellStyle(p.sheet, cell, cell, style))
}

func (p *page) header(row int, b *workbook, names ...string) {
	for i, name := range names {
		cell, err := excelize.CoordinatesToCellName(i+1, row)
		p.do(err)
		p.set(cell, name, b.style.header)
	}
}

// table writes a small table of counts with a header and leaves row below it.
func (p *page) table(row *int, b *workbook, of, what string, keys []string, n func(string) int) {
	p.header(*row, b, of, what)
	*row++
	for _, key := range keys {
		style, ok := b.style.severity[key]
		if !ok {
			style = b.style.text
		}
		p.set(fmt.Sprintf("A%d", *row), key, style)
		p.set(fmt.Sprintf("B%d", *row), n(key), b.style.number)
		*row++
	}
	*row++
}

// chart draws the table of keys whose header is in row headed, each key in its colour.
func (p *page) chart(at string, kind excelize.ChartType, title string, headed int, keys []string) {
	first, last := headed+1, headed+len(keys)
	whole := excelize.ChartSeries{
		Name:       fmt.Sprintf("%s!$B$%d", p.sheet, headed),
		Categories: fmt.Sprintf("%s!$A$%d:$A$%d", p.sheet, first, last),
		Values:     fmt.Sprintf("%s!$B$%d:$B$%d", p.sheet, first, last),
	}
	var bars []excelize.ChartSeries
	for i, key := range keys {
		fill := excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{marks[key]}}
		whole.DataPoint = append(whole.DataPoint, excelize.ChartDataPoint{Index: i, Fill: fill})
		bars = append(bars, excelize.ChartSeries{Name: fmt.Sprintf("%s!$A$%d", p.sheet, first+i), Values: fmt.Sprintf("%s!$B$%d", p.sheet, first+i), Fill: fill})
	}
	chart := &excelize.Chart{
		Type:      kind,
		Series:    []excelize.ChartSeries{whole},
		Title:     excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: title}}},
		Dimension: excelize.ChartDimension{Width: 480, Height: 300},
		Legend:    excelize.ChartLegend{Position: "bottom"},
	}
	if kind == excelize.Col { // excelize colours a bar only as a series of its own, which the legend names
		chart.Series, chart.XAxis.None, chart.YAxis.Font.Color = bars, true, "374151"
	}
	p.do(p.file.AddChart(p.sheet, at, chart))
}
