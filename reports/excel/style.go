package excel

import (
	"fmt"

	"github.com/xuri/excelize/v2"
)

// Number formats that Excel knows by number.
const (
	formatText    = 49
	formatPercent = 9
	formatDate    = 14
)

// styles holds the ids of the workbook's cell styles.
type styles struct {
	title, label, header, text, wrap, number, percent, date, link, input, alarm int
	severity                                                                    map[string]int
	verdict                                                                     map[string]int
}

// fills are the colours of severities and verdicts, light enough for black text.
var fills = map[string]string{
	"critical": "F8B4B4", "major": "FBD5A5", "minor": "FDF3B3", "note": "E5E7EB",
	"conflict": "F8B4B4", "unresolved": "E9D5FF", "variant": "FDF3B3", "agrees": "D1FAE5",
}

// marks are the colours of severities and decisions in charts, dark enough for a bar.
var marks = map[string]string{
	"critical": "DC2626", "major": "F97316", "minor": "EAB308", "note": "9CA3AF",
	"decline": "DC2626", "refer": "EAB308", "clear": "10B981",
}

func (b *workbook) styles() error {
	var failed error
	add := func(s excelize.Style) int {
		id, err := b.file.NewStyle(&s)
		if err != nil && failed == nil {
			failed = fmt.Errorf("making a cell style: %w", err)
		}
		return id
	}
	fill := func(colour string) excelize.Fill {
		return excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{colour}}
	}
	// A font without a family is what each program likes, beside the cells that have the workbook's own.
	font := func(f excelize.Font) *excelize.Font {
		f.Family = "Calibri"
		if f.Size == 0 {
			f.Size = 11
		}
		return &f
	}
	line := []excelize.Border{{Type: "bottom", Color: "D1D5DB", Style: 1}}
	top := &excelize.Alignment{Vertical: "top"}
	wrap := &excelize.Alignment{Vertical: "top", WrapText: true}
	right := &excelize.Alignment{Vertical: "top", Horizontal: "right", Indent: 1} // apart from text in the next column
	b.style = styles{
		title:   add(excelize.Style{Font: font(excelize.Font{Bold: true, Size: 16, Color: "1F2937"})}),
		label:   add(excelize.Style{Font: font(excelize.Font{Color: "6B7280"}), Alignment: top}),
		header:  add(excelize.Style{Font: font(excelize.Font{Bold: true, Color: "FFFFFF"}), Fill: fill("1F3A5F"), Alignment: &excelize.Alignment{Vertical: "center", WrapText: true}}),
		text:    add(excelize.Style{NumFmt: formatText, Alignment: top, Border: line}),
		wrap:    add(excelize.Style{NumFmt: formatText, Alignment: wrap, Border: line}),
		number:  add(excelize.Style{NumFmt: 3, Alignment: right, Border: line}),
		percent: add(excelize.Style{NumFmt: formatPercent, Alignment: right, Border: line}),
		date:    add(excelize.Style{NumFmt: formatDate, Alignment: top, Border: line}),
		link:    add(excelize.Style{Font: font(excelize.Font{Color: "1D4ED8", Underline: "single"}), Alignment: top, Border: line}),
		input:   add(excelize.Style{NumFmt: formatText, Fill: fill("F0F9FF"), Alignment: wrap, Border: line}),
		alarm:   add(excelize.Style{Font: font(excelize.Font{Bold: true, Color: "FFFFFF"}), Fill: fill("B91C1C")}),
	}
	b.style.severity = map[string]int{}
	for _, severity := range severities {
		b.style.severity[severity] = add(excelize.Style{NumFmt: formatText, Fill: fill(fills[severity]), Alignment: top, Border: line, Font: font(excelize.Font{Bold: severity == "critical"})})
	}
	b.style.verdict = map[string]int{}
	for _, verdict := range []string{"agrees", "variant", "conflict", "unresolved"} {
		b.style.verdict[verdict] = add(excelize.Style{NumFmt: formatText, Fill: fill(fills[verdict]), Alignment: top, Border: line})
	}
	return failed
}

// severities, the worst first.
var severities = []string{"critical", "major", "minor", "note"}
