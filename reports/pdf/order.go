package pdf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// errOrder is returned for a file that isn't laid out as configuration asks pdfcpu to.
var errOrder = errors.New("PDF: can't find its objects")

// object is one indirect object of a file.
type object struct {
	number     int
	start, end int
}

// ordered rewrites a file with its objects by number: pdfcpu writes them in an order of chance. It relies on plain objects
// and one cross-reference table, which configuration asks for.
func ordered(raw []byte) ([]byte, error) {
	start := bytes.LastIndex(raw, []byte("startxref"))
	trailer := bytes.LastIndex(raw, []byte("trailer"))
	if start < 0 || trailer < 0 || trailer > start {
		return nil, errOrder
	}
	table, err := strconv.Atoi(strings.Fields(string(raw[start+len("startxref"):]))[0])
	if err != nil || table >= trailer {
		return nil, errOrder
	}
	objects, size, err := crossReferences(string(raw[table:trailer]))
	if err != nil || len(objects) == 0 {
		return nil, errOrder
	}
	slices.SortFunc(objects, func(a, b object) int { return cmp.Compare(a.start, b.start) })
	for i := range objects {
		objects[i].end = table
		if i+1 < len(objects) {
			objects[i].end = objects[i+1].start
		}
		if objects[i].start > objects[i].end {
			return nil, errOrder
		}
	}
	var out bytes.Buffer
	out.Write(raw[:objects[0].start])
	slices.SortFunc(objects, func(a, b object) int { return cmp.Compare(a.number, b.number) })
	at := make(map[int]int, len(objects))
	for _, o := range objects {
		at[o.number] = out.Len()
		out.Write(raw[o.start:o.end])
	}
	moved := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n", size)
	for n := range size {
		if offset, used := at[n]; used {
			fmt.Fprintf(&out, "%010d 00000 n \n", offset)
		} else {
			out.WriteString("0000000000 65535 f \n")
		}
	}
	out.Write(raw[trailer:start])
	fmt.Fprintf(&out, "startxref\n%d\n%%%%EOF\n", moved)
	return out.Bytes(), nil
}

// crossReferences reads a table: the objects in use and one more than the highest number.
func crossReferences(table string) (objects []object, size int, err error) {
	lines := strings.FieldsFunc(table, func(r rune) bool { return r == '\n' || r == '\r' })
	next := 0
	for _, line := range lines[1:] {
		parts := strings.Fields(line)
		switch len(parts) {
		case 2:
			if next, err = strconv.Atoi(parts[0]); err != nil {
				return nil, 0, err
			}
		case 3:
			offset, err := strconv.Atoi(parts[0])
			if err != nil {
				return nil, 0, err
			}
			if parts[2] == "n" {
				objects = append(objects, object{number: next, start: offset})
			}
			next++
			size = max(size, next)
		}
	}
	return objects, size, nil
}
