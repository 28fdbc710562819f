package schedule

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"bordereau/tools/vin"
)

// Summary counts what a check came to.
type Summary struct {
	Rows       int                            `json:"rows"`
	Verdicts   map[vin.Verdict]int            `json:"verdicts"` // rows by their worst verdict
	Fields     map[string]map[vin.Verdict]int `json:"fields"`
	Duplicates int                            `json:"duplicates"` // rows whose VIN stands in another row too
	Near       int                            `json:"near"`
	Suspicious int                            `json:"suspicious"`
}

// Summarise counts.
func Summarise(checked []vin.Checked) Summary {
	s := Summary{Rows: len(checked), Verdicts: map[vin.Verdict]int{}, Fields: map[string]map[vin.Verdict]int{}}
	for i := range checked {
		c := &checked[i]
		s.Verdicts[c.Worst]++
		for _, f := range c.Checks {
			if s.Fields[f.Field] == nil {
				s.Fields[f.Field] = map[vin.Verdict]int{}
			}
			s.Fields[f.Field][f.Verdict]++
		}
		s.Duplicates += yes(len(c.Duplicates) > 0)
		s.Near += yes(len(c.Near) > 0)
		s.Suspicious += yes(c.Suspicious)
	}
	return s
}

func yes(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Meta is what the summary says about the check itself.
type Meta struct {
	DataDate string
	At       time.Time
}

// colours are the fills of cells by verdict.
func colours() map[vin.Verdict]string {
	return map[vin.Verdict]string{vin.Agrees: "C6EFCE", vin.Variant: "DDEBF7", vin.Unresolved: "FFEB9C", vin.Conflict: "FFC7CE"}
}

// writer holds the workbook while it is written.
type writer struct {
	f      *excelize.File
	fills  map[vin.Verdict]int
	bold   int
	wrap   int
	s      *Schedule
	checks []vin.Checked
}

// Write makes the checked workbook: the schedule with coloured cells and what the VIN says beside it, and a summary. Every cell is written as a
// text or a number, never as a formula, whatever the file holds.
func Write(out io.Writer, s *Schedule, checked []vin.Checked, meta Meta) error {
	w := &writer{f: excelize.NewFile(), fills: map[vin.Verdict]int{}, s: s, checks: checked}
	defer w.f.Close()
	if err := w.styles(); err != nil {
		return fmt.Errorf("writing the checked schedule: %w", err)
	}
	if err := w.f.SetSheetName("Sheet1", "Summary"); err != nil {
		return err
	}
	if _, err := w.f.NewSheet("Schedule"); err != nil {
		return err
	}
	if err := w.summary(meta); err != nil {
		return fmt.Errorf("writing the summary: %w", err)
	}
	if err := w.schedule(); err != nil {
		return fmt.Errorf("writing the schedule: %w", err)
	}
	if err := w.f.Write(out); err != nil {
		return fmt.Errorf("writing the checked schedule: %w", err)
	}
	return nil
}

func (w *writer) styles() error {
	var err error
	for v, colour := range colours() {
		if w.fills[v], err = w.f.NewStyle(&excelize.Style{Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{colour}}}); err != nil {
			return err
		}
	}
	if w.bold, err = w.f.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}, Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}}); err != nil {
		return err
	}
	w.wrap, err = w.f.NewStyle(&excelize.Style{Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}})
	return err
}

func (w *writer) summary(meta Meta) error {
	sum := Summarise(w.checks)
	out, err := w.f.NewStreamWriter("Summary")
	if err != nil {
		return err
	}
	if err := out.SetColWidth(1, 1, 44); err != nil {
		return err
	}
	if err := out.SetColWidth(2, 5, 14); err != nil {
		return err
	}
	rows := [][]any{
		{excelize.Cell{StyleID: w.bold, Value: "Vehicle schedule against its VINs"}},
		{"File", w.s.File},
		{"Sheet", w.s.Sheet},
		{"Rows", sum.Rows},
		{"Checked", meta.At.UTC().Format("2006-01-02 15:04 UTC")},
		{"NHTSA data of", meta.DataDate},
		{},
		{excelize.Cell{StyleID: w.bold, Value: "Rows by their gravest finding"}},
	}
	for _, v := range []vin.Verdict{vin.Conflict, vin.Unresolved, vin.Variant, vin.Agrees} {
		rows = append(rows, []any{excelize.Cell{StyleID: w.fills[v], Value: meaning(v)}, sum.Verdicts[v]})
	}
	rows = append(rows, []any{}, []any{"Rows whose VIN stands in another row too", sum.Duplicates}, []any{"Rows with a VIN almost like another's", sum.Near},
		[]any{"Rows with a suspicious VIN", sum.Suspicious}, []any{},
		[]any{excelize.Cell{StyleID: w.bold, Value: "By field"}, "conflict", "unresolved", "variant", "agrees"})
	for _, field := range []string{vin.FieldVIN, vin.FieldYear, vin.FieldMake, vin.FieldModel, vin.FieldBodyType, vin.FieldGVW} {
		if n := sum.Fields[field]; n != nil {
			rows = append(rows, []any{strings.ReplaceAll(field, "_", " "), n[vin.Conflict], n[vin.Unresolved], n[vin.Variant], n[vin.Agrees]})
		}
	}
	rows = append(rows, []any{}, []any{"Data: NHTSA vPIC. NHTSA endorses neither this check nor this program."})
	for i, r := range rows {
		if err := out.SetRow(fmt.Sprintf("A%d", i+1), r); err != nil {
			return err
		}
	}
	return out.Flush()
}

func meaning(v vin.Verdict) string {
	switch v {
	case vin.Conflict:
		return "conflict: the document and the VIN can't both be right"
	case vin.Unresolved:
		return "unresolved: it can't be told"
	case vin.Variant:
		return "variant: another spelling of the same"
	}
	return "agrees"
}

// added are the columns that the check puts after the schedule's own.
func added() []string {
	return []string{"Result", "What was found", "Year by VIN", "Other year", "Make by VIN", "Model by VIN", "Body by VIN", "Weight class by VIN", "NHTSA code", "Suggested VIN"}
}

func (w *writer) schedule() error {
	out, err := w.f.NewStreamWriter("Schedule")
	if err != nil {
		return err
	}
	width := w.s.Width + 1
	if err := out.SetColWidth(1, max(1, width), 16); err != nil {
		return err
	}
	if err := out.SetColWidth(width+2, width+2, 70); err != nil {
		return err
	}
	if err := out.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	head := []any{excelize.Cell{StyleID: w.bold, Value: "Row"}}
	for i := range w.s.Width {
		name := ""
		if i < len(w.s.Header) {
			name = w.s.Header[i]
		}
		head = append(head, excelize.Cell{StyleID: w.bold, Value: clip(name)})
	}
	for _, name := range added() {
		head = append(head, excelize.Cell{StyleID: w.bold, Value: name})
	}
	if err := out.SetRow("A1", head); err != nil {
		return err
	}
	for i := range w.checks {
		if err := out.SetRow(fmt.Sprintf("A%d", i+2), w.line(i)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// line is one row of the checked schedule.
func (w *writer) line(i int) []any {
	l, c := w.s.Rows[i], &w.checks[i]
	verdictAt := map[int]vin.Verdict{}
	for _, f := range c.Checks {
		if at, ok := w.s.Columns[Column(f.Field)]; ok {
			verdictAt[at] = f.Verdict
		}
	}
	row := []any{l.Number}
	for k := range w.s.Width {
		text := ""
		if k < len(l.Cells) {
			text = clip(l.Cells[k])
		}
		if v, ok := verdictAt[k]; ok {
			row = append(row, excelize.Cell{StyleID: w.fills[v], Value: text})
			continue
		}
		row = append(row, text)
	}
	r := &c.Result
	row = append(row, excelize.Cell{StyleID: w.fills[c.Worst], Value: string(c.Worst)}, excelize.Cell{StyleID: w.wrap, Value: clip(Findings(c))}, yearCell(r.Year()), otherYear(r),
		r.Make(), r.Model(), r.BodyClass(), r.Value("GVWR"), r.ErrorCode(), r.SuggestedVIN)
	return row
}

// Findings words what was found about a row, without what agrees.
func Findings(c *vin.Checked) string {
	var parts []string
	for _, f := range c.Checks {
		if f.Verdict == vin.Agrees {
			continue
		}
		s := strings.ReplaceAll(f.Field, "_", " ") + " " + string(f.Verdict)
		if f.Field != vin.FieldVIN {
			s += fmt.Sprintf(": stated %q", f.Stated)
			if f.Decoded != "" {
				s += fmt.Sprintf(", VIN says %q", f.Decoded)
			}
		}
		if f.Note != "" {
			s += ": " + f.Note
		}
		parts = append(parts, s)
	}
	if len(c.Duplicates) > 0 {
		parts = append(parts, "the same VIN stands in row "+strings.Join(c.Duplicates[:min(5, len(c.Duplicates))], ", "))
	}
	for _, n := range c.Near[:min(3, len(c.Near))] {
		if f, ok := c.Check(vin.FieldVIN); ok && strings.Contains(f.Note, "row "+n.Ref+" (") {
			continue // said with the VIN
		}
		parts = append(parts, fmt.Sprintf("row %s has almost the same VIN, %s", n.Ref, n.VIN))
	}
	if c.Suspicious {
		parts = append(parts, "suspicious: "+c.Why)
	}
	return strings.Join(parts, "\n")
}

func yearCell(year int) any {
	if year == 0 {
		return ""
	}
	return year
}

func otherYear(r *vin.Result) any {
	for _, c := range r.Candidates {
		if !c.Chosen && c.Year != 0 {
			return c.Year
		}
	}
	return ""
}

// clip keeps a text within what a cell can hold.
func clip(s string) string {
	const most = 32_000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
