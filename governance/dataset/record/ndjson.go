package record

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// maxLine bounds one record of a text file.
const maxLine = 4 << 20

// ReadNDJSON reads one JSON object a line. Blank lines are passed over.
func ReadNDJSON(file string, r io.Reader, sink Sink) error {
	p := &ndjson{builder: newBuilder(file, sink)}
	in := bufio.NewReaderSize(r, 1<<18)
	in2 := lines{in: in}
	for row := 1; ; row++ {
		line, err := in2.next()
		if errors.Is(err, errLong) {
			return p.problem(row, "", "the line is longer than %d bytes", maxLine)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if row == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := p.line(row, line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil //nolint:nilerr // it is io.EOF: all is read
		}
	}
}

var errLong = errors.New("line too long")

// lines cuts a stream into lines, reusing one buffer.
type lines struct {
	in  *bufio.Reader
	buf []byte
}

// next returns a line without its end. With io.EOF it returns what was left.
func (l *lines) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.in.ReadSlice('\n')
		if len(l.buf) == 0 && err == nil {
			return bytes.TrimSuffix(part, []byte("\n")), nil
		}
		l.buf = append(l.buf, part...)
		if len(l.buf) > maxLine {
			return nil, errLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSuffix(l.buf, []byte("\n")), err
		}
	}
}

// ndjson reads lines that each hold one flat object.
type ndjson struct {
	*builder
	members []member
	scratch []byte
}

// member is one key and its value, still as bytes of the line.
type member struct {
	key  string
	raw  []byte // the text of a string without quotes, a number, an array with brackets, or a literal
	form byte   // '"' plain string, '\\' string with escapes, '0' number, '[' array, 'n' null, 't' true or false
	at   int
}

func (p *ndjson) line(row int, line []byte) error {
	p.begin()
	s := scanner{data: line, members: p.members[:0]}
	if why := s.object(); why != "" {
		return p.problem(row, "byte "+strconv.Itoa(s.at+1), "not a JSON object of flat values: %s", why)
	}
	p.members = s.members
	kind := ""
	for _, m := range s.members {
		if m.key == "type" && m.form == '"' {
			kind = string(m.raw)
		}
	}
	k, ok := KindOf(kind)
	if !ok || k.String() != kind {
		return p.problem(row, "type", "%s is not one of submission, document, row, field, edit", quoted(kind))
	}
	shape := p.shapes[k]
	var seen uint64
	for _, m := range s.members {
		i, known := shape.byName[m.key]
		switch {
		case m.key == "type" && seen>>63 == 0:
			seen |= 1 << 63
			continue
		case m.key != "type" && !known:
			if err := p.problem(row, quotedKey(m.key), "a %s has no such key", kind); err != nil {
				return err
			}
			continue
		case m.key == "type" || seen&(1<<i) != 0:
			if err := p.problem(row, m.key, "is given twice"); err != nil {
				return err
			}
			continue
		}
		seen |= 1 << i
		if err := p.member(shape.cols[i], row, m); err != nil {
			return err
		}
	}
	return p.finish(shape, row)
}

func quotedKey(key string) string {
	q := quoted(key)
	return q[1 : len(q)-1]
}

func (p *ndjson) member(c Column, row int, m member) error {
	switch m.form {
	case 'n':
		return nil
	case '"':
		return p.text(c, row, string(m.raw))
	case '\\':
		var why string
		if p.scratch, why = unescape(p.scratch[:0], m.raw); why != "" {
			return p.problem(row, c.Name, "%s", why)
		}
		return p.text(c, row, string(p.scratch))
	case '0':
		f, err := strconv.ParseFloat(string(m.raw), 64)
		if err != nil {
			return p.problem(row, c.Name, "is not a finite number")
		}
		return p.number(c, row, f)
	case '[':
		if c.Type != Box {
			return p.problem(row, c.Name, "is an array; want %s", wanted(c))
		}
		var v []float64
		for part := range bytes.SplitSeq(m.raw[1:len(m.raw)-1], []byte(",")) {
			part = bytes.TrimSpace(part)
			if len(part) == 0 {
				break
			}
			f, err := strconv.ParseFloat(string(part), 64)
			if err != nil {
				return p.problem(row, c.Name, "holds something else than numbers")
			}
			v = append(v, f)
		}
		return p.box(c, row, v)
	}
	return p.problem(row, c.Name, "is %s; want %s", m.raw, wanted(c))
}
