package record

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// text checks a text and sets it.
func (b *builder) text(c Column, row int, s string) error {
	switch {
	case c.Type == Date:
		t, err := time.Parse(time.DateOnly, s)
		if err != nil || !plausible(t) {
			return b.problem(row, c.Name, "%s is not a date such as 2026-12-15", quoted(s))
		}
		b.values[c.at] = t
	case c.Type == Time:
		t, err := time.Parse(time.RFC3339, s)
		if err != nil || !plausible(t) {
			return b.problem(row, c.Name, "%s is not a time such as 2026-11-29T09:12:00Z", quoted(s))
		}
		b.values[c.at] = t.UTC().Truncate(time.Microsecond)
	case c.Type != Text:
		return b.problem(row, c.Name, "%s is text; want %s", quoted(s), wanted(c))
	case !utf8.ValidString(s):
		return b.problem(row, c.Name, "is not valid UTF-8")
	case strings.IndexByte(s, 0) >= 0:
		return b.problem(row, c.Name, "holds a NUL byte")
	case len(s) > c.MaxBytes:
		return b.problem(row, c.Name, "has %d bytes; at most %d are taken", len(s), c.MaxBytes)
	case s == "" && c.Required:
		return b.problem(row, c.Name, "is empty")
	case c.Enum != nil && !slices.Contains(c.Enum, s):
		return b.problem(row, c.Name, "%s is not one of %s", quoted(s), strings.Join(c.Enum, ", "))
	default:
		b.values[c.at] = s
	}
	return nil
}

// number checks a number and sets it.
func (b *builder) number(c Column, row int, f float64) error {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return b.problem(row, c.Name, "is not a finite number")
	case c.Type == Int && (f != math.Trunc(f) || f < float64(c.Least) || f > math.MaxInt32):
		return b.problem(row, c.Name, "%v is not a whole number of at least %d", f, c.Least)
	case c.Type == Int:
		b.values[c.at] = int32(f)
	case c.Type == Float && c.Unit && (f < 0 || f > 1):
		return b.problem(row, c.Name, "%v is not between 0 and 1", f)
	case c.Type == Float:
		b.values[c.at] = f
	default:
		return b.problem(row, c.Name, "%v is a number; want %s", f, wanted(c))
	}
	return nil
}

// box checks the corners of a box and sets them.
func (b *builder) box(c Column, row int, v []float64) error {
	if len(v) != 4 {
		return b.problem(row, c.Name, "has %d numbers; want x0, y0, x1, y1", len(v))
	}
	for _, f := range v {
		if !(f >= 0 && f <= 1) {
			return b.problem(row, c.Name, "%v is not between 0 and 1", f)
		}
	}
	if v[0] > v[2] || v[1] > v[3] {
		return b.problem(row, c.Name, "ends before it begins; want x0 <= x1 and y0 <= y1")
	}
	for i, f := range v {
		b.values[c.at+i] = f
	}
	return nil
}

// loose sets a column from a cell's text, as files without types hold it.
func (b *builder) loose(c Column, row int, s string) error {
	switch c.Type {
	case Int, Float:
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil {
			return b.problem(row, c.Name, "%s is not a number", quoted(s))
		}
		return b.number(c, row, f)
	case Box:
		parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s), "["), "]"), ",")
		v := make([]float64, 0, 4)
		for _, p := range parts {
			f, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
			if err != nil {
				return b.problem(row, c.Name, "%s is not a box such as [0.1,0.2,0.3,0.22]", quoted(s))
			}
			v = append(v, f)
		}
		return b.box(c, row, v)
	}
	return b.text(c, row, s)
}

func plausible(t time.Time) bool { return t.Year() >= 1800 && t.Year() <= 2200 }

func wanted(c Column) string {
	switch c.Type {
	case Int:
		return "a whole number"
	case Float:
		return "a number"
	case Date:
		return "a date such as \"2026-12-15\""
	case Time:
		return "a time such as \"2026-11-29T09:12:00Z\""
	case Box:
		return "an array of four numbers"
	}
	return "text"
}

// quoted shows the beginning of a text in a message.
func quoted(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return fmt.Sprintf("%q", s)
}
