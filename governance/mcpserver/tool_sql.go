package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"bordereau/governance/export"
	"bordereau/governance/gate"
)

// The bounds of a preview: what a model reads, not what it may compute on.
const (
	previewRows  = 50
	previewBytes = 48 << 10
	cellBytes    = 2 << 10
	countRows    = 10_000 // up to here a preview counts what it doesn't show
)

type sqlAsk struct {
	Query   string `json:"query"`
	MaxRows int    `json:"max_rows"`
	Export  string `json:"export"`
}

type sqlAnswer struct {
	AuditID    string        `json:"audit_id"`
	Generation string        `json:"generation"`
	Columns    []gate.Column `json:"columns"`
	Rows       [][]any       `json:"rows"`
	RowCount   int           `json:"row_count"`
	Truncated  bool          `json:"truncated"`
	Note       string        `json:"note,omitempty"`
	Export     *exportAnswer `json:"export,omitempty"`
}

type exportAnswer struct {
	URI    string `json:"uri"`
	Format string `json:"format"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Parts  int    `json:"parts"`
}

// sql answers a question in SQL by a preview and, if asked, the whole in a file.
func (s *Server) sql(ctx context.Context, a asked) (any, error) {
	ask := sqlAsk{MaxRows: previewRows}
	if err := decode(a, &ask); err != nil {
		return nil, err
	}
	request := gate.Request{SQL: ask.Query, MaxRows: countRows, Timeout: s.c.Limits.SQL, Key: a.key}
	p := &preview{max: ask.MaxRows, rows: [][]any{}}
	if ask.Export == "" {
		answer, err := s.c.Gate.Query(ctx, principal(a.who, "chat"), request, p)
		if err != nil {
			return nil, err
		}
		return p.answer(answer, false), nil
	}
	w, err := s.c.Exports.Create(ctx, a.who.Org, a.who.Turn, export.Format(ask.Export))
	if err != nil {
		return nil, err
	}
	request.MaxRows = 0 // as many as the policy allows
	both := &tee{preview: p, file: w}
	answer, err := s.c.Gate.Query(ctx, principal(a.who, "chat"), request, both)
	if err == nil && both.failed != nil {
		err = both.failed
	}
	if err != nil {
		w.Abort()
		if both.failed != nil {
			return nil, both.failed
		}
		return nil, err
	}
	file, err := w.Commit(ctx)
	if err != nil {
		return nil, err
	}
	out := p.answer(answer, true)
	out.Export = &exportAnswer{
		URI: exportURI(file.ID), Format: string(file.Format), Rows: file.Rows, Bytes: file.Bytes, SHA256: file.SHA256, Parts: file.Parts,
	}
	return out, nil
}

// tee is a sink that writes the file and keeps the preview. It remembers why the file failed: the gate would call it internal.
type tee struct {
	preview *preview
	file    gate.Sink
	failed  error
}

func (t *tee) Begin(columns []gate.Column) error {
	if err := t.preview.Begin(columns); err != nil {
		return err
	}
	t.failed = t.file.Begin(columns)
	return t.failed
}

func (t *tee) Row(values []any) error {
	if t.failed = t.file.Row(values); t.failed != nil {
		return t.failed
	}
	return t.preview.Row(values)
}

// preview is a sink that keeps the first rows, within its bytes, and counts the rest.
type preview struct {
	max     int
	types   []export.Type
	rows    [][]any
	seen    int
	bytes   int
	full    bool // the bytes are used up
	clipped int  // cells that were cut
}

func (p *preview) Begin(columns []gate.Column) error {
	for _, c := range columns {
		p.types = append(p.types, export.ParseType(c.Type))
	}
	return nil
}

func (p *preview) Row(values []any) error {
	p.seen++
	if p.full || len(p.rows) >= p.max {
		return nil
	}
	row := make([]any, len(values))
	for i, v := range values {
		row[i] = p.cell(p.types[i].JSON(v))
	}
	raw, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("a row as JSON: %w", err)
	}
	if p.bytes += len(raw); p.bytes > previewBytes && len(p.rows) > 0 {
		p.full = true
		return nil
	}
	p.rows = append(p.rows, row)
	return nil
}

// cell cuts a value that is too long to read.
func (p *preview) cell(v any) any {
	text, ok := v.(string)
	if !ok {
		switch v.(type) {
		case []any, map[string]any:
			raw, err := json.Marshal(v)
			if err != nil || len(raw) <= cellBytes {
				return v
			}
			text = string(raw)
		default:
			return v
		}
	}
	if len(text) <= cellBytes {
		return v
	}
	p.clipped++
	cut := cellBytes
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:cut], len(text))
}

func (p *preview) answer(a gate.Answer, exported bool) sqlAnswer {
	out := sqlAnswer{
		AuditID: a.AuditID, Generation: a.Generation, Columns: a.Columns, Rows: p.rows, RowCount: p.seen, Truncated: a.Truncated || len(p.rows) < p.seen,
	}
	if out.Columns == nil {
		out.Columns = []gate.Column{}
	}
	var notes []string
	switch {
	case exported && a.Truncated:
		notes = append(notes, fmt.Sprintf("The file ends after %d rows, where the policy's limit is; there are more. Rows shown: %d.", p.seen, len(p.rows)))
	case exported && len(p.rows) < p.seen:
		notes = append(notes, fmt.Sprintf("Showing %d of %d rows; the file has them all.", len(p.rows), p.seen))
	case a.Truncated:
		notes = append(notes, fmt.Sprintf("Showing %d of more than %d rows. Aggregate in SQL, or ask with export.", len(p.rows), p.seen))
	case len(p.rows) < p.seen:
		notes = append(notes, fmt.Sprintf("Showing %d of %d rows. Raise max_rows, aggregate in SQL, or ask with export.", len(p.rows), p.seen))
	}
	if p.clipped > 0 {
		notes = append(notes, fmt.Sprintf("%d long values were cut.", p.clipped))
	}
	out.Note = strings.Join(notes, " ")
	return out
}
