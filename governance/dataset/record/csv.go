package record

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path"
	"strings"
)

// ReadCSV reads comma-separated values with a header (RFC 4180). A cell that is empty is null; "" in quotes is an empty text.
func ReadCSV(file string, r io.Reader, sink Sink) error {
	in := &csvReader{lines: lines{in: bufio.NewReaderSize(r, 1<<18)}}
	p := newBuilder(file, sink)
	var table *Table
	for {
		cells, row, why, err := in.next()
		if errors.Is(err, io.EOF) {
			if table == nil {
				return p.problem(1, "", "the file has no header")
			}
			return nil
		}
		if err != nil {
			return err
		}
		if why != "" {
			return p.problem(row, "", "%s", why)
		}
		if table == nil {
			header := make([]string, len(cells))
			for i, c := range cells {
				header[i], _ = c.Value.(string)
			}
			if table, err = NewTable(file, strings.TrimSuffix(path.Base(file), path.Ext(file)), row, header, sink); table == nil {
				return err
			}
			continue
		}
		if err := table.Row(row, cells); err != nil {
			return err
		}
	}
}

// csvReader cuts CSV into cells and, unlike encoding/csv, tells an empty cell from an empty text.
type csvReader struct {
	lines lines
	row   int // lines read so far
	ended bool
	cells []Cell
}

// next returns the cells of a record and the line it began at; why says what is wrong with it.
func (c *csvReader) next() (cells []Cell, row int, why string, err error) {
	c.cells = c.cells[:0]
	line, err := c.line()
	for err == nil && len(line) == 0 {
		line, err = c.line()
	}
	row = c.row
	if err != nil {
		if errors.Is(err, errLong) {
			return nil, row, "the line is too long", nil
		}
		return nil, row, "", err
	}
	for {
		if len(line) == 0 || line[0] != '"' {
			cell, rest, more := bytes.Cut(line, []byte(","))
			if bytes.IndexByte(cell, '"') >= 0 {
				return nil, row, "a quote inside a cell that isn't quoted", nil
			}
			c.cells = append(c.cells, Cell{Set: len(cell) > 0, Value: string(cell)})
			if !more {
				return c.cells, row, "", nil
			}
			line = rest
			continue
		}
		text, rest, why, err := c.quoted(line[1:])
		if why != "" || err != nil {
			return nil, row, why, err
		}
		c.cells = append(c.cells, Cell{Set: true, Value: text})
		if len(rest) == 0 {
			return c.cells, row, "", nil
		}
		if rest[0] != ',' {
			return nil, row, "text after the closing quote of a cell", nil
		}
		line = rest[1:]
	}
}

// quoted reads on to the closing quote, over as many lines as it takes.
func (c *csvReader) quoted(line []byte) (text string, rest []byte, why string, err error) {
	var b []byte
	for {
		i := bytes.IndexByte(line, '"')
		if i < 0 {
			b = append(append(b, line...), '\n')
			if len(b) > maxLine {
				return "", nil, "a cell is too long", nil
			}
			line, err = c.line()
			if errors.Is(err, io.EOF) {
				return "", nil, "a quoted cell has no end", nil
			}
			if errors.Is(err, errLong) {
				return "", nil, "the line is too long", nil
			}
			if err != nil {
				return "", nil, "", err
			}
			continue
		}
		b = append(b, line[:i]...)
		line = line[i+1:]
		if len(line) == 0 || line[0] != '"' {
			return string(b), line, "", nil
		}
		b = append(b, '"')
		line = line[1:]
	}
}

func (c *csvReader) line() ([]byte, error) {
	if c.ended {
		return nil, io.EOF
	}
	line, err := c.lines.next()
	c.row++
	if errors.Is(err, io.EOF) {
		c.ended = true
		if len(line) == 0 {
			return nil, io.EOF
		}
		err = nil
	}
	if c.row == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return bytes.TrimSuffix(line, []byte("\r")), err
}
