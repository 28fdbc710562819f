// Package record reads the records of an import, whatever file they come in, and refuses what isn't in the import format.
package record

import "strings"

// Kind is what a record describes.
type Kind int

// The kinds of record.
const (
	Submission Kind = iota
	Document
	Row
	Field
	Edit
)

// Kinds lists the kinds, what is referred to before what refers.
func Kinds() []Kind { return []Kind{Submission, Document, Row, Field, Edit} }

func (k Kind) String() string {
	switch k {
	case Submission:
		return "submission"
	case Document:
		return "document"
	case Row:
		return "row"
	case Field:
		return "field"
	case Edit:
		return "edit"
	}
	return "unknown"
}

// KindOf finds a kind by its name, or by its plural as files and sheets are called.
func KindOf(name string) (Kind, bool) {
	name = strings.TrimSuffix(strings.ToLower(name), "s")
	for _, k := range Kinds() {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// Type is how a column's text is read.
type Type int

// The types. A box takes four values, all others one.
const (
	Text  Type = iota // string
	Int               // int32
	Float             // float64
	Date              // time.Time at midnight UTC
	Time              // time.Time in UTC, whole microseconds
	Box               // four float64: x0, y0, x1, y1
)

func (t Type) width() int {
	if t == Box {
		return 4
	}
	return 1
}

// Column is one key of a kind's records.
type Column struct {
	Name     string
	Type     Type
	Required bool
	Enum     []string // the allowed texts, nil for any
	Least    int32    // of an Int
	Unit     bool     // a Float from 0 to 1
	MaxBytes int      // of a Text; 0: maxText
	at       int      // where its first value is in Record.Values
}

// The longest texts. An id is short, since it is repeated in every row that refers to it.
const (
	maxID   = 256
	maxText = 1 << 20
)

func columnsOf(cols ...Column) []Column {
	at := 0
	for i := range cols {
		cols[i].at = at
		at += cols[i].Type.width()
		if cols[i].Type == Text && cols[i].MaxBytes == 0 {
			cols[i].MaxBytes = maxText
		}
	}
	return cols
}

func id(name string, required bool) Column {
	return Column{Name: name, Required: required, MaxBytes: maxID}
}

// Columns returns the keys of the kind's records, in the order of Record.Values.
func (k Kind) Columns() []Column {
	switch k {
	case Submission:
		return columnsOf(id("id", true),
			Column{Name: "workflow", Required: true, MaxBytes: maxID},
			Column{Name: "status", Required: true, Enum: []string{"received", "in_review", "completed", "declined", "bound"}},
			Column{Name: "insured_name"}, Column{Name: "broker_name"}, Column{Name: "carrier", MaxBytes: maxID},
			Column{Name: "line_of_business", MaxBytes: maxID},
			Column{Name: "effective_date", Type: Date}, Column{Name: "expiry_date", Type: Date},
			Column{Name: "received_at", Type: Time, Required: true}, Column{Name: "completed_at", Type: Time})
	case Document:
		return columnsOf(id("id", true), id("submission_id", true),
			Column{Name: "document_type", Required: true, Enum: []string{
				"application", "vehicle_schedule", "driver_list", "mvr", "loss_run",
				"ifta", "fmcsa_snapshot", "broker_email", "registration", "other",
			}},
			Column{Name: "filename", MaxBytes: 4096}, Column{Name: "media_type", MaxBytes: maxID},
			Column{Name: "pages", Type: Int},
			Column{Name: "received_at", Type: Time}, Column{Name: "path", MaxBytes: 4096})
	case Row:
		return columnsOf(id("id", true), id("document_id", true),
			Column{Name: "table", Required: true, Enum: []string{"vehicles", "drivers", "losses", "coverages", "terms", "ifta"}},
			Column{Name: "index", Type: Int, Required: true, Least: 1}, Column{Name: "page", Type: Int, Least: 1},
			Column{Name: "bbox", Type: Box}, Column{Name: "confidence", Type: Float, Unit: true})
	case Field:
		return columnsOf(id("id", true), id("document_id", true), id("row_id", false),
			Column{Name: "field", Required: true, MaxBytes: maxID}, Column{Name: "value"}, Column{Name: "unit", MaxBytes: maxID},
			Column{Name: "confidence", Type: Float, Unit: true}, Column{Name: "page", Type: Int, Least: 1},
			Column{Name: "bbox", Type: Box}, Column{Name: "extracted_at", Type: Time, Required: true})
	case Edit:
		return columnsOf(id("id", true), id("field_id", true),
			Column{Name: "from"}, Column{Name: "to"}, Column{Name: "by", Required: true, MaxBytes: maxID},
			Column{Name: "source", Required: true, Enum: []string{"human", "rule"}},
			Column{Name: "at", Type: Time, Required: true}, Column{Name: "reason"})
	}
	return nil
}

// shape is a kind's columns with a look-up by name.
type shape struct {
	kind   Kind
	cols   []Column
	byName map[string]int
	width  int
}

func shapes() []shape {
	var all []shape
	for _, k := range Kinds() {
		s := shape{kind: k, cols: k.Columns(), byName: map[string]int{}}
		for i, c := range s.cols {
			s.byName[c.Name] = i
			s.width += c.Type.width()
		}
		all = append(all, s)
	}
	return all
}
