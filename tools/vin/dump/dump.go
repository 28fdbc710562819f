// Package dump reads NHTSA's monthly vPIC list, a PostgreSQL dump in a zip file, into tables for a data set.
package dump

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"bordereau/tools/vin/vpic"
)

// An Error says which part of the dump can't be used.
type Error struct {
	Table  string
	Row    int // from 1; 0 if the problem isn't in a row
	Column string
	Reason string
	// Hint says what to do.
	Hint string
}

// Error names the place and the reason.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("vPIC list")
	if e.Table != "" {
		b.WriteString(": table " + e.Table)
	}
	if e.Row > 0 {
		fmt.Fprintf(&b, ", row %d", e.Row)
	}
	if e.Column != "" {
		b.WriteString(", column " + e.Column)
	}
	b.WriteString(": " + e.Reason)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

const downloadHint = "take vPICList_lite_YYYY_MM.plain.zip from https://vpic.nhtsa.dot.gov/api/ and try again"

// maxUnpacked bounds what the zip may unpack to; the list of 2026 has 336 MB.
const maxUnpacked = 4 << 30

// ReadZip reads the one SQL file in a zip.
func ReadZip(ctx context.Context, file string) (*vpic.Tables, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, fmt.Errorf("opening the vPIC list %s: %w", file, err)
	}
	defer z.Close()
	var sql *zip.File
	for _, f := range z.File {
		if f.FileInfo().IsDir() || !strings.EqualFold(path.Ext(f.Name), ".sql") && !strings.Contains(path.Base(f.Name), "vPICList") {
			continue
		}
		if sql != nil {
			return nil, &Error{Reason: "the zip holds several dumps", Hint: downloadHint}
		}
		sql = f
	}
	if sql == nil {
		return nil, &Error{Reason: "the zip holds no .sql file", Hint: downloadHint}
	}
	if sql.UncompressedSize64 > maxUnpacked {
		return nil, &Error{Reason: fmt.Sprintf("it unpacks to %d bytes", sql.UncompressedSize64), Hint: downloadHint}
	}
	in, err := sql.Open()
	if err != nil {
		return nil, fmt.Errorf("opening %s in the vPIC list: %w", sql.Name, err)
	}
	defer in.Close()
	return read(ctx, in, int(sql.UncompressedSize64))
}

// Read reads a plain dump: its COPY blocks, row by row, keeping only what a decoder needs.
func Read(ctx context.Context, in io.Reader) (*vpic.Tables, error) { return read(ctx, in, 0) }

// bytesAPattern is how many bytes of a dump there are for each pattern, about; it serves to make room at once instead of by doubling.
const bytesAPattern = 180

func read(ctx context.Context, in io.Reader, size int) (*vpic.Tables, error) {
	r := newReader()
	r.t.Patterns = make([]vpic.PatternRow, 0, min(size/bytesAPattern, 3_000_000))
	lines := bufio.NewReaderSize(io.LimitReader(in, maxUnpacked), 1<<20)
	complete := false
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading the vPIC list: %w", err)
		}
		if r.block != nil || r.skipping {
			if err := r.row(line); err != nil {
				return nil, err
			}
			continue
		}
		if bytes.HasPrefix(line, []byte("COPY ")) {
			if err := r.begin(string(line)); err != nil {
				return nil, err
			}
		} else if bytes.Contains(line, []byte("PostgreSQL database dump complete")) {
			complete = true
		}
	}
	if r.block != nil || r.skipping {
		return nil, &Error{Table: r.table, Reason: "the dump ends in the middle of the table", Hint: downloadHint}
	}
	if !complete {
		return nil, &Error{Reason: "the dump has no end", Hint: downloadHint}
	}
	return r.finish()
}

// readLine returns a line without its end. The bytes are valid until the next call.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, errors.New("a line is longer than 1 MiB")
	}
	if err != nil && len(line) == 0 {
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// newReader returns a reader that knows the tables.
func newReader() *reader {
	r := &reader{t: &vpic.Tables{Origin: "NHTSA vPIC", Complete: true, Lookups: map[string][]vpic.Name{}}, seen: map[string]int{}}
	r.blocks = r.known()
	return r
}

// reader collects the rows of the dump.
type reader struct {
	t        *vpic.Tables
	blocks   map[string]block
	seen     map[string]int // rows by table
	table    string
	block    *block
	columns  []string
	at       []int // for each column of block: its place in the row, -1 if the dump lacks it
	cells    []cell
	fields   [][]byte
	scratch  []byte
	skipping bool
	rows     int
	newest   int64
}

// block is a table that is read.
type block struct {
	need []string // columns that must be there
	may  []string // columns that may be
	row  func(c []cell) error
}

// begin starts the rows after "COPY vpic.pattern (id, keys) FROM stdin;".
func (r *reader) begin(line string) error {
	name, rest, ok := strings.Cut(strings.TrimPrefix(line, "COPY "), " (")
	list, tail, ok2 := strings.Cut(rest, ")")
	if !ok || !ok2 || !strings.Contains(strings.ToLower(tail), "from stdin") {
		return &Error{Reason: fmt.Sprintf("a COPY line has an unknown form: %.60q", line)}
	}
	_, table, hasSchema := strings.Cut(name, ".")
	if !hasSchema {
		table = name
	}
	r.table, r.rows = strings.ToLower(strings.Trim(table, `"`)), 0
	r.columns = r.columns[:0]
	for c := range strings.SplitSeq(list, ",") {
		r.columns = append(r.columns, strings.ToLower(strings.Trim(strings.TrimSpace(c), `"`)))
	}
	b, known := r.blocks[r.table]
	if !known {
		b, known = r.lookup()
	}
	if !known {
		r.skipping = true
		return nil
	}
	r.block = &b
	r.at = r.at[:0]
	for i, c := range append(append([]string{}, b.need...), b.may...) {
		at := indexOf(r.columns, c)
		if at < 0 && i < len(b.need) {
			return &Error{Table: r.table, Column: c, Reason: "the column is missing", Hint: "NHTSA changed the layout of its list"}
		}
		r.at = append(r.at, at)
	}
	r.cells = make([]cell, len(r.at))
	return nil
}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s {
			return i
		}
	}
	return -1
}

// row takes one row, or the end of the block.
func (r *reader) row(line []byte) error {
	if len(line) == 2 && line[0] == '\\' && line[1] == '.' {
		if r.block != nil {
			r.seen[r.table] += r.rows
		}
		r.block, r.skipping = nil, false
		return nil
	}
	if r.skipping {
		return nil
	}
	r.rows++
	r.fields = r.fields[:0]
	for rest := line; ; {
		i := bytes.IndexByte(rest, '\t')
		if i < 0 {
			r.fields = append(r.fields, rest)
			break
		}
		r.fields = append(r.fields, rest[:i])
		rest = rest[i+1:]
	}
	if len(r.fields) != len(r.columns) {
		return &Error{Table: r.table, Row: r.rows, Reason: fmt.Sprintf("%d columns instead of %d", len(r.fields), len(r.columns))}
	}
	r.scratch = r.scratch[:0]
	for i, at := range r.at {
		if at < 0 {
			r.cells[i] = cell{null: true}
			continue
		}
		r.cells[i], r.scratch = unescape(r.fields[at], r.scratch)
	}
	if err := r.block.row(r.cells); err != nil {
		if bad, ok := errors.AsType[*badCell](err); ok {
			names := append(append([]string{}, r.block.need...), r.block.may...)
			return &Error{Table: r.table, Row: r.rows, Column: names[bad.column], Reason: bad.reason}
		}
		return &Error{Table: r.table, Row: r.rows, Reason: err.Error()}
	}
	return nil
}

// finish checks that everything a decoder needs was there.
func (r *reader) finish() (*vpic.Tables, error) {
	for _, table := range []string{"element", "wmi", "wmi_make", "wmi_vinschema", "vinschema", "pattern", "make", "model", "make_model", "manufacturer", "vehicletype"} {
		if r.seen[table] == 0 {
			return nil, &Error{Table: table, Reason: "the dump has no rows of it", Hint: downloadHint}
		}
	}
	r.t.Date = time.UnixMicro(r.newest).UTC().Format(time.DateOnly)
	return r.t, nil
}
