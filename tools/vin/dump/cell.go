package dump

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// cell is a value of a row. Its bytes are valid until the next row.
type cell struct {
	b    []byte
	null bool
}

// badCell says which cell of a row can't be read.
type badCell struct {
	column int
	reason string
}

// Error says what is wrong.
func (e *badCell) Error() string { return e.reason }

// unescape undoes COPY's escapes. A value without a backslash is not copied.
func unescape(b, scratch []byte) (cell, []byte) {
	if bytes.IndexByte(b, '\\') < 0 {
		return cell{b: b}, scratch
	}
	if len(b) == 2 && b[0] == '\\' && b[1] == 'N' {
		return cell{null: true}, scratch
	}
	from := len(scratch)
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c != '\\' || i+1 == len(b) {
			scratch = append(scratch, c)
			continue
		}
		i++
		switch b[i] {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'v':
			c = '\v'
		default:
			c = b[i]
		}
		scratch = append(scratch, c)
	}
	return cell{b: scratch[from:len(scratch):len(scratch)]}, scratch
}

func (c cell) text() string { return string(c.b) }

func (c cell) yes() bool { return len(c.b) > 0 && (c.b[0] == 't' || c.b[0] == '1') }

// number reads cell i as a number; NULL is 0.
func number(cells []cell, i int) (int32, error) {
	c := cells[i]
	if c.null {
		return 0, nil
	}
	n, negative := int64(0), false
	for k, ch := range c.b {
		if k == 0 && ch == '-' {
			negative = true
			continue
		}
		if ch < '0' || ch > '9' || n > 1<<31 {
			return 0, &badCell{i, fmt.Sprintf("%.30q is no number", c.b)}
		}
		n = n*10 + int64(ch-'0')
	}
	if len(c.b) == 0 || n > 1<<31-1 {
		return 0, &badCell{i, fmt.Sprintf("%.30q is no number", c.b)}
	}
	if negative {
		n = -n
	}
	return int32(n), nil
}

// numbersIn reads several cells.
func numbersIn(cells []cell, columns ...int) ([6]int32, error) {
	var out [6]int32
	for k, i := range columns {
		n, err := number(cells, i)
		if err != nil {
			return out, err
		}
		out[k] = n
	}
	return out, nil
}

// moment reads a timestamp in microseconds since 1970; NULL is 0.
func moment(cells []cell, i int) (int64, error) {
	c := cells[i]
	if c.null || len(c.b) == 0 {
		return 0, nil
	}
	at, err := time.Parse("2006-01-02 15:04:05.999999", string(c.b))
	if err != nil {
		if at, err = time.Parse(time.DateOnly, strings.TrimSpace(string(c.b))); err != nil {
			return 0, &badCell{i, fmt.Sprintf("%.30q is no time", c.b)}
		}
	}
	return at.UnixMicro(), nil
}

// changed is the last of two times.
func changed(cells []cell, created, updated int) (int64, error) {
	at, err := moment(cells, updated)
	if err != nil || at != 0 {
		return at, err
	}
	return moment(cells, created)
}
