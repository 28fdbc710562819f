package excel

import (
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"bordereau/reports"
)

func (b *workbook) vehicles() error {
	return b.schedule(sheetVehicles, func(s reports.Submission) []reports.Item { return s.Vehicles })
}

func (b *workbook) drivers() error {
	return b.schedule(sheetDrivers, func(s reports.Submission) []reports.Item { return s.Drivers })
}

func (b *workbook) losses() error {
	return b.schedule(sheetLosses, func(s reports.Submission) []reports.Item { return s.Losses })
}

func (b *workbook) coverages() error {
	return b.schedule(sheetCoverages, func(s reports.Submission) []reports.Item { return s.Coverages })
}

// schedule writes the rows of one kind over all submissions. A cell with a computed value beside it gets a second column.
func (b *workbook) schedule(name string, items func(reports.Submission) []reports.Item) error {
	fields := b.fieldsOf(items)
	columns := []column{{"Submission", 16}, {"Row", 22}, {"Findings", 16}}
	for _, f := range fields {
		columns = append(columns, wide(heading(f.name), f.longest))
		if f.computed > 0 {
			columns = append(columns, wide(heading(f.name)+" (expected)", f.computed))
		}
	}
	s, err := b.sheet(name, columns...)
	if err != nil {
		return err
	}
	for _, submission := range b.report.Submissions {
		for _, item := range items(submission) {
			cells := make(map[string]reports.Cell, len(item.Cells))
			for _, c := range item.Cells {
				cells[c.Field] = c
			}
			row := []any{b.text(submission.ID), b.text(item.Label), b.wrapped(strings.Join(item.Findings, ", "))}
			for _, f := range fields {
				c := cells[f.name]
				style, ok := b.style.verdict[c.Verdict]
				if !ok {
					style = b.style.text
				}
				row = append(row, excelize.Cell{StyleID: style, Value: clean(c.Value)})
				if f.computed > 0 {
					row = append(row, b.text(c.Expected))
				}
			}
			if err := s.append(row); err != nil {
				return err
			}
		}
	}
	return s.flush()
}

// field is one that items of a kind have, with the letters of its longest value and of its longest computed one: 0 where none was computed.
type field struct {
	name              string
	longest, computed int
}

// fieldsOf lists the fields that items have, in the order of their first appearance.
func (b *workbook) fieldsOf(items func(reports.Submission) []reports.Item) []*field {
	var fields []*field
	known := map[string]*field{}
	for _, submission := range b.report.Submissions {
		for _, item := range items(submission) {
			for _, c := range item.Cells {
				f := known[c.Field]
				if f == nil {
					f = &field{name: c.Field}
					known[c.Field], fields = f, append(fields, f)
				}
				f.longest, f.computed = max(f.longest, utf8.RuneCountInString(c.Value)), max(f.computed, utf8.RuneCountInString(c.Expected))
			}
		}
	}
	return fields
}

// wide is a column with room for its name and, within bounds, for texts of so many letters.
func wide(name string, letters int) column {
	return column{name, min(1.15*float64(max(letters, utf8.RuneCountInString(name)))+2, 48)}
}

// heading makes a column's header of a field's name: "garaging_state" becomes "Garaging state".
func heading(field string) string {
	words := strings.ReplaceAll(field, "_", " ")
	switch words {
	case "vin", "gvw":
		return strings.ToUpper(words)
	case "":
		return "(unnamed)"
	}
	return strings.ToUpper(words[:1]) + clean(words[1:])
}
