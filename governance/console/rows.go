package console

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"

	"bordereau/governance/export"
	"bordereau/governance/gate"
)

// A stream of rows is NDJSON: {"columns": …}, then a row a line as an array, then {"answer": …} or {"error": …}. Without the last line it
// isn't whole, and nothing in it may be relied on. A cell is null or text: what a number of any size, a date or a decimal says is kept.

// cellBytes is how much of a value a page shows. An export has all of it.
const cellBytes = 4 << 10

// writeTime is how long a reader may take for one part of a stream.
const writeTime = 30 * time.Second

// streamed is a sink that writes an answer as it comes.
type streamed struct {
	w       http.ResponseWriter
	buf     *bufio.Writer
	types   []export.Type
	cells   []*string
	clipped int
	begun   bool
}

func newStreamed(w http.ResponseWriter) *streamed {
	return &streamed{w: w, buf: bufio.NewWriterSize(deadlined{w}, 64<<10)}
}

// deadlined gives each write its own time, and sends it on at once.
type deadlined struct{ w http.ResponseWriter }

func (d deadlined) Write(p []byte) (int, error) {
	rc := http.NewResponseController(d.w)
	_ = rc.SetWriteDeadline(time.Now().Add(writeTime)) // a writer without deadlines has its own ways
	n, err := d.w.Write(p)
	if err == nil {
		_ = rc.Flush() // the same
	}
	return n, err
}

// Begin implements gate.Sink.
func (s *streamed) Begin(columns []gate.Column) error {
	s.begun = true
	for _, c := range columns {
		s.types = append(s.types, export.ParseType(c.Type))
	}
	s.cells = make([]*string, len(columns))
	s.w.Header().Set("Content-Type", "application/x-ndjson")
	s.w.Header().Set("Cache-Control", "no-store")
	s.w.Header().Set("X-Content-Type-Options", "nosniff")
	return s.line(map[string]any{"columns": columns})
}

// Row implements gate.Sink.
func (s *streamed) Row(values []any) error {
	for i, v := range values {
		cell, cut, err := cellOf(s.types[i], v)
		if err != nil {
			return err
		}
		if cut {
			s.clipped++
		}
		s.cells[i] = cell
	}
	return s.line(s.cells)
}

func (s *streamed) line(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("a line as JSON: %w", err)
	}
	if _, err = s.buf.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("writing rows: %w", err)
	}
	return nil
}

// end writes the last line.
func (s *streamed) end(v any) error {
	if err := s.line(v); err != nil {
		return err
	}
	return s.buf.Flush()
}

// cellOf is a value as a page shows it.
func cellOf(t export.Type, v any) (cell *string, cut bool, err error) {
	text, err := textOf(t, v)
	if text == nil || err != nil || len(*text) <= cellBytes {
		return text, false, err
	}
	end := cellBytes
	for end > 0 && !utf8.RuneStart((*text)[end]) {
		end--
	}
	short := fmt.Sprintf("%s… (%d bytes)", (*text)[:end], len(*text))
	return &short, true, nil
}

// textOf is the whole of a value, nil for NULL.
func textOf(t export.Type, v any) (*string, error) {
	if v == nil {
		return nil, nil //nolint:nilnil // NULL
	}
	text, err := t.Text(v)
	if err != nil {
		return nil, fmt.Errorf("a value as text: %w", err)
	}
	return &text, nil
}
