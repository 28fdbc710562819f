package excel

import (
	"strings"

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
	fields, computed := b.fieldsOf(items)
	columns := []column{{"Submission", 16}, {"Row", 22}, {"Findings", 16}}
	for _, field := range fields {
		columns = append(columns, column{heading(field), 18})
		if computed[field] {
			columns = append(columns, column{heading(field) + " (expected)", 20})
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
			for _, field := range fields {
				c := cells[field]
				style, ok := b.style.verdict[c.Verdict]
				if !ok {
					style = b.style.text
				}
				row = append(row, excelize.Cell{StyleID: style, Value: clean(c.Value)})
				if computed[field] {
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

// fieldsOf lists the fields that items have, in the order of their first appearance, and which have computed values.
func (b *workbook) fieldsOf(items func(reports.Submission) []reports.Item) (fields []string, computed map[string]bool) {
	seen := map[string]bool{}
	computed = map[string]bool{}
	for _, submission := range b.report.Submissions {
		for _, item := range items(submission) {
			for _, c := range item.Cells {
				if !seen[c.Field] {
					seen[c.Field] = true
					fields = append(fields, c.Field)
				}
				if c.Expected != "" {
					computed[c.Field] = true
				}
			}
		}
	}
	return fields, computed
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
