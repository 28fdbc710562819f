package vpic

import (
	"encoding/binary"
	"fmt"
)

// magic opens every data set file; the digit is the version of the layout.
const magic = "BORDEREAU-VPIC-1\n"

// writer builds one section.
type writer struct{ b []byte }

func (w *writer) uint(n int)    { w.b = binary.AppendUvarint(w.b, uint64(n)) }
func (w *writer) int(n int)     { w.b = binary.AppendVarint(w.b, int64(n)) }
func (w *writer) byte(n byte)   { w.b = append(w.b, n) }
func (w *writer) text(s string) { w.uint(len(s)); w.b = append(w.b, s...) }
func (w *writer) bool(v bool) {
	if v {
		w.byte(1)
		return
	}
	w.byte(0)
}

// front writes sorted texts, each as what it shares with the one before and the rest.
func (w *writer) front(texts []string) {
	w.uint(len(texts))
	before := ""
	for _, s := range texts {
		n := 0
		for n < len(before) && n < len(s) && before[n] == s[n] {
			n++
		}
		w.uint(n)
		w.text(s[n:])
		before = s
	}
}

// names writes numbered texts in the order of their ids: the ids first, then the lengths, then the text in one piece.
func (w *writer) names(list []Name) {
	w.uint(len(list))
	before := int32(0)
	for _, n := range list {
		w.int(int(n.ID - before))
		before = n.ID
	}
	for _, n := range list {
		w.text(n.Text)
	}
}

// A FormatError says that a data set file can't be read.
type FormatError struct {
	Section string
	Problem string
}

// Error names the section and what is wrong with it.
func (e *FormatError) Error() string {
	return fmt.Sprintf("vpic: the data set is damaged: section %q: %s", e.Section, e.Problem)
}

// reader reads one section. After the first error it returns zeros, and err tells.
type reader struct {
	name string
	b    []byte
	s    string // the same bytes, for texts without a copy
	p    int
	err  error
}

func newReader(name string, b []byte) *reader { return &reader{name: name, b: b} }

func (r *reader) fail(problem string) {
	if r.err == nil {
		r.err = &FormatError{Section: r.name, Problem: problem}
	}
	r.p = len(r.b)
}

func (r *reader) uint() int {
	// Most numbers fit one byte.
	if r.p < len(r.b) && r.b[r.p] < 0x80 {
		r.p++
		return int(r.b[r.p-1])
	}
	n, k := binary.Uvarint(r.b[r.p:])
	if k <= 0 || n > 1<<62 {
		r.fail("a number is cut off")
		return 0
	}
	r.p += k
	return int(n)
}

func (r *reader) int() int {
	u := r.uint()
	return int(uint64(u)>>1) ^ -(u & 1)
}

// count reads how many things follow; each takes at least one byte, so that a damaged count can't ask for all memory.
func (r *reader) count() int {
	n := r.uint()
	if n > len(r.b)-r.p {
		r.fail("a count is larger than the section")
		return 0
	}
	return n
}

func (r *reader) byte() byte {
	if r.p >= len(r.b) {
		r.fail("it ends early")
		return 0
	}
	r.p++
	return r.b[r.p-1]
}

func (r *reader) bool() bool { return r.byte() != 0 }

// text reads a text. All texts of a section share one copy of it.
func (r *reader) text() string {
	n := r.uint()
	if n > len(r.b)-r.p {
		r.fail("a text is cut off")
		return ""
	}
	if n == 0 {
		return ""
	}
	if r.s == "" {
		r.s = string(r.b)
	}
	r.p += n
	return r.s[r.p-n : r.p]
}

// own reads a text into memory of its own.
func (r *reader) own() string {
	n := r.uint()
	if n > len(r.b)-r.p {
		r.fail("a text is cut off")
		return ""
	}
	r.p += n
	return string(r.b[r.p-n : r.p])
}

// front reads what writer.front wrote. The texts share one piece of memory.
func (r *reader) front() []string {
	n := r.count()
	ends := make([]int, n)
	all := make([]byte, 0, 8*n+len(r.b))
	from := 0
	for i := range ends {
		keep, size := r.uint(), r.uint()
		if keep > len(all)-from || size > len(r.b)-r.p {
			r.fail("a shared beginning is too long")
			return nil
		}
		start := len(all)
		all = append(all, all[from:from+keep]...)
		all = append(all, r.b[r.p:r.p+size]...)
		r.p += size
		from, ends[i] = start, len(all)
	}
	text := string(all)
	out := make([]string, n)
	from = 0
	for i, end := range ends {
		out[i] = text[from:end]
		from = end
	}
	return out
}

func (r *reader) names() []Name {
	n := r.count()
	list := make([]Name, n)
	id := 0
	for i := range list {
		id += r.int()
		list[i].ID = int32(id)
	}
	for i := range list {
		list[i].Text = r.text()
	}
	return list
}
