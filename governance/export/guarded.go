package export

import (
	"io"
	"strings"

	"bordereau/governance/gate"
)

// Guarded is CSV for people, whose spreadsheets take some texts for formulas: those get an apostrophe before them. Programs read
// CSV, which changes nothing.
const Guarded Format = "csv-guarded"

// NewGuarded starts such a CSV.
func NewGuarded(w io.Writer, columns []gate.Column) (Encoder, error) {
	safe := make([]gate.Column, len(columns))
	e := &guardedEncoder{}
	for i, c := range columns {
		safe[i] = gate.Column{Name: guard(c.Name), Type: c.Type}
		e.types = append(e.types, ParseType(c.Type))
	}
	var err error
	e.Encoder, err = NewCSV(w, safe)
	return e, err
}

type guardedEncoder struct {
	Encoder
	types []Type
}

// Row writes a row; what isn't text by its type, such as a negative number, can't be a formula.
func (e *guardedEncoder) Row(values []any) error {
	out := make([]any, len(values))
	for i, v := range values {
		if s, ok := v.(string); ok && e.types[i].kind == text {
			v = guard(s)
		}
		out[i] = v
	}
	return e.Encoder.Row(out)
}

// guard puts an apostrophe before what a spreadsheet would compute: it looks past blanks and at the full-width forms too.
func guard(s string) string {
	trimmed := strings.TrimLeft(s, " \u00a0\ufeff")
	if trimmed == "" || !strings.ContainsRune("=+-@\t\r\n|＝＋－＠", []rune(trimmed)[0]) {
		return s
	}
	return "'" + s
}
