// Package extraction shows what was read from documents, where, how surely, and what people made of it.
package extraction

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"bordereau/tools/literal"
	"bordereau/tools/table"
)

// The bounds of one answer.
const (
	DefaultLimit = 200
	MaxLimit     = 1000
)

// ErrAsk is returned for a question that can't be answered as it is put.
var ErrAsk = errors.New("get_extraction")

// ErrNotFound is returned where the submission, document or field doesn't exist in this organisation.
var ErrNotFound = errors.New("no such submission, document or field")

// Ask names one submission, document or field.
type Ask struct {
	SubmissionID string `json:"submission_id"`
	DocumentID   string `json:"document_id"`
	FieldID      string `json:"field_id"`
	Limit        int    `json:"limit"`
	Offset       int    `json:"offset"`
}

// Extraction is one page of fields, in reading order.
type Extraction struct {
	Total    int      `json:"total"`
	Fields   []Field  `json:"fields"`
	AuditIDs []string `json:"audit_ids"`
}

// Field is one extracted field with its provenance and its edits.
type Field struct {
	ID            string      `json:"field_id"`
	DocumentID    string      `json:"document_id"`
	SubmissionID  string      `json:"submission_id"`
	DocumentType  string      `json:"document_type"`
	Workflow      string      `json:"workflow"`
	RowID         string      `json:"row_id,omitempty"`
	Table         string      `json:"table_name,omitempty"`
	RowIndex      int         `json:"row_index,omitempty"`
	Name          string      `json:"field_name"`
	Original      *string     `json:"original_value"` // null: nothing was read, or masked
	Value         *string     `json:"value"`
	Unit          string      `json:"unit,omitempty"`
	Confidence    *float64    `json:"confidence"`
	Page          int         `json:"page,omitempty"`
	Box           *[4]float64 `json:"box"` // x0, y0, x1, y1
	Extracted     string      `json:"extracted_at"`
	Edited        bool        `json:"edited"`
	EditedByHuman bool        `json:"edited_by_human"`
	Edits         []Edit      `json:"edits"`
}

// Edit is one change of a Field.
type Edit struct {
	ID     string  `json:"edit_id"`
	From   *string `json:"from_value"`
	To     *string `json:"to_value"`
	By     string  `json:"edited_by"`
	Source string  `json:"edit_source"`
	At     string  `json:"edited_at"`
	Reason string  `json:"reason,omitempty"`
}

// Reader answers Asks.
type Reader struct {
	SQL Querier
}

// Read returns a page of the fields that ask names.
func (x Reader) Read(ctx context.Context, ask Ask) (Extraction, error) {
	scope, err := ask.scope()
	if err != nil {
		return Extraction{}, err
	}
	paged := append(slices.Clone(scope), ask.Limit, ask.Offset)
	out := Extraction{Fields: []Field{}, AuditIDs: []string{}}
	page, err := x.query(ctx, &out, fieldsSQL, paged...)
	if err != nil {
		return Extraction{}, err
	}
	if len(page.Rows) == 0 {
		return x.empty(ctx, out, ask, scope)
	}
	at := make(map[string]int, len(page.Rows))
	edited := false
	for i, r := range page.Rows {
		f := readField(r)
		out.Total = r.Int(22)
		out.Fields = append(out.Fields, f)
		at[f.ID] = i
		edited = edited || r.Int(21) > 0
	}
	if !edited {
		return out, nil
	}
	edits, err := x.query(ctx, &out, editsSQL, paged...)
	if err != nil {
		return Extraction{}, err
	}
	for _, r := range edits.Rows {
		if i, ok := at[r.Text(0)]; ok {
			f := &out.Fields[i]
			f.Edits = append(f.Edits, Edit{
				ID: r.Text(1), From: r.TextOrNil(2), To: r.TextOrNil(3), By: r.Text(4), Source: r.Text(5), At: r.Time(6), Reason: r.Text(7),
			})
		}
	}
	return out, nil
}

// empty tells a thing without fields, or a page beyond the last, from a thing that doesn't exist.
func (x Reader) empty(ctx context.Context, out Extraction, ask Ask, scope []any) (Extraction, error) {
	if ask.Offset > 0 {
		count, err := x.query(ctx, &out, countSQL, scope...)
		if err != nil {
			return Extraction{}, err
		}
		if out.Total = count.Rows[0].Int(0); out.Total > 0 {
			return out, nil
		}
	}
	statement, id := submissionSQL, ask.SubmissionID
	switch {
	case ask.FieldID != "":
		return Extraction{}, fmt.Errorf("%w: field %q", ErrNotFound, ask.FieldID)
	case ask.DocumentID != "":
		statement, id = documentSQL, ask.DocumentID
	}
	exists, err := x.query(ctx, &out, statement, id)
	if err != nil {
		return Extraction{}, err
	}
	if exists.Rows[0].Int(0) == 0 {
		return Extraction{}, fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	return out, nil
}

// query binds, asks and notes the audit record.
func (x Reader) query(ctx context.Context, out *Extraction, statement string, values ...any) (table.Table, error) {
	bound, err := literal.Bind(statement, values...)
	if err != nil {
		return table.Table{}, fmt.Errorf("%w: %w", ErrAsk, err)
	}
	t, err := x.SQL.Query(ctx, bound)
	if err != nil {
		return table.Table{}, err
	}
	out.AuditIDs = append(out.AuditIDs, t.AuditID)
	return t, nil
}

// scope checks ask, fills its defaults and returns what narrows the fields.
func (a *Ask) scope() ([]any, error) {
	if a.Limit == 0 {
		a.Limit = DefaultLimit
	}
	if a.Limit < 0 || a.Limit > MaxLimit || a.Offset < 0 {
		return nil, fmt.Errorf("%w: limit is 1 to %d, offset not negative", ErrAsk, MaxLimit)
	}
	named, values := 0, []any{nil, nil, nil}
	for i, id := range []string{a.SubmissionID, a.DocumentID, a.FieldID} {
		if id != "" {
			named, values[i] = named+1, id
		}
	}
	if named != 1 {
		return nil, fmt.Errorf("%w: name exactly one of submission_id, document_id and field_id", ErrAsk)
	}
	return values, nil
}

func readField(r table.Row) Field {
	f := Field{
		ID: r.Text(0), DocumentID: r.Text(1), SubmissionID: r.Text(2), DocumentType: r.Text(3), Workflow: r.Text(4), RowID: r.Text(5),
		Table: r.Text(6), RowIndex: r.Int(7), Name: r.Text(8), Original: r.TextOrNil(9), Value: r.TextOrNil(10), Unit: r.Text(11),
		Page: r.Int(13), Extracted: r.Time(18), Edited: r.Bool(19), EditedByHuman: r.Bool(20), Edits: []Edit{},
	}
	if r[12] != nil {
		c := r.Float(12)
		f.Confidence = &c
	}
	if r[14] != nil && r[15] != nil && r[16] != nil && r[17] != nil {
		f.Box = &[4]float64{r.Float(14), r.Float(15), r.Float(16), r.Float(17)}
	}
	return f
}
