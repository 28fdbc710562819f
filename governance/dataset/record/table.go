package record

import (
	"strconv"
	"strings"
	"time"
)

// Table takes the rows of a file that has columns and makes records of them.
type Table struct {
	*builder
	kind   Kind // of every row, when the columns don't say
	given  bool
	header []string
	typeAt int
	boxAt  [4]int // of x0, y0, x1, y1, or -1
}

// Cell is one cell: null, a text, or already a number or a time.
type Cell struct {
	Set   bool
	Value any // string, float64, int64 or time.Time
}

// NewTable begins a table. name is a file's or sheet's, which tells the kind of its rows ("fields") if there is no column "type".
// It returns nil if the header can't be used, which the sink was told.
func NewTable(file, name string, row int, header []string, sink Sink) (*Table, error) {
	t := &Table{builder: newBuilder(file, sink), typeAt: -1, boxAt: [4]int{-1, -1, -1, -1}}
	t.kind, t.given = KindOf(name)
	seen := map[string]bool{}
	for i, h := range header {
		h = strings.ToLower(strings.TrimSpace(h))
		t.header = append(t.header, h)
		switch {
		case seen[h]:
			return nil, t.problem(row, quotedKey(h), "the header has this column twice")
		case h == "type":
			t.typeAt = i
		case boxCorner(h) >= 0:
			t.boxAt[boxCorner(h)] = i
		default:
			known := false
			for _, s := range t.shapes {
				_, has := s.byName[h]
				known = known || has && (!t.given || s.kind == t.kind)
			}
			if !known {
				return nil, t.problem(row, quotedKey(h), "there is no such column")
			}
		}
		seen[h] = true
	}
	if !t.given && t.typeAt < 0 {
		return nil, t.problem(row, "", "which records are these? Give a column \"type\", or call it submissions, documents, rows, fields or edits")
	}
	return t, nil
}

func boxCorner(h string) int {
	switch h {
	case "x0":
		return 0
	case "y0":
		return 1
	case "x1":
		return 2
	case "y1":
		return 3
	}
	return -1
}

// Row takes one row. Missing cells at its end are null.
func (t *Table) Row(row int, cells []Cell) error {
	t.begin()
	empty := true
	for _, c := range cells {
		empty = empty && !c.Set
	}
	if empty {
		return nil
	}
	kind := t.kind
	if t.typeAt >= 0 && t.typeAt < len(cells) && cells[t.typeAt].Set {
		name, _ := cells[t.typeAt].Value.(string)
		k, ok := KindOf(name)
		if !ok || k.String() != name || t.given && k != t.kind {
			return t.problem(row, "type", "%s is not a type of record here", quoted(name))
		}
		kind = k
	} else if !t.given {
		return t.problem(row, "type", "is required")
	}
	shape := t.shapes[kind]
	corners := make([]float64, 0, 4)
	for i, c := range cells {
		if !c.Set || i == t.typeAt {
			continue
		}
		if i >= len(t.header) {
			return t.problem(row, "column "+strconv.Itoa(i+1), "has a value but no header")
		}
		if boxCorner(t.header[i]) >= 0 {
			continue
		}
		at, ok := shape.byName[t.header[i]]
		if !ok {
			if err := t.problem(row, t.header[i], "a %s has no such column", kind); err != nil {
				return err
			}
			continue
		}
		if err := t.cell(shape.cols[at], row, c); err != nil {
			return err
		}
	}
	for _, at := range t.boxAt {
		if at < 0 || at >= len(cells) || !cells[at].Set {
			continue
		}
		f, ok := asFloat(cells[at])
		if !ok {
			return t.problem(row, t.header[at], "is not a number")
		}
		corners = append(corners, f)
	}
	if len(corners) > 0 {
		at, ok := shape.byName["bbox"]
		if !ok {
			return t.problem(row, "x0", "a %s has no box", kind)
		}
		if err := t.box(shape.cols[at], row, corners); err != nil {
			return err
		}
	}
	return t.finish(shape, row)
}

func (t *Table) cell(c Column, row int, cell Cell) error {
	switch v := cell.Value.(type) {
	case string:
		return t.loose(c, row, v)
	case float64:
		if c.Type == Text {
			return t.text(c, row, strconv.FormatFloat(v, 'f', -1, 64))
		}
		return t.number(c, row, v)
	case int64:
		if c.Type == Text {
			return t.text(c, row, strconv.FormatInt(v, 10))
		}
		return t.number(c, row, float64(v))
	case time.Time:
		switch c.Type {
		case Date:
			return t.text(c, row, v.UTC().Format(time.DateOnly))
		case Time, Text:
			return t.text(c, row, v.UTC().Format(time.RFC3339Nano))
		}
	}
	return t.problem(row, c.Name, "holds a value of a kind that isn't read; want %s", wanted(c))
}

func asFloat(c Cell) (float64, bool) {
	switch v := c.Value.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return f, err == nil
	}
	return 0, false
}
