// Package submission lists the submissions of one organisation for whoever asks what came in.
package submission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"bordereau/tools/literal"
	"bordereau/tools/table"
)

// The bounds of one list.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// ErrAsk is returned for a question that can't be answered as it is put.
var ErrAsk = errors.New("list_submissions")

// Ask says which submissions to list. Zero fields don't narrow.
type Ask struct {
	From     string `json:"from"` // UTC days of receipt, inclusive, 2006-01-02
	To       string `json:"to"`
	Workflow string `json:"workflow"`
	Status   string `json:"status"`
	Insured  string `json:"insured"` // part of the name, whatever its case
	Limit    int    `json:"limit"`
	Offset   int    `json:"offset"`
}

// List is one page of submissions, the newest first.
type List struct {
	Total       int          `json:"total"` // that match, on all pages
	Submissions []Submission `json:"submissions"`
	AuditID     string       `json:"audit_id"`
	AuditIDs    []string     `json:"audit_ids"`
}

// Submission is one of a List.
type Submission struct {
	ID             string     `json:"submission_id"`
	Workflow       string     `json:"workflow"`
	Status         string     `json:"status"`
	Insured        string     `json:"insured_name"`
	Broker         string     `json:"broker_name"`
	Carrier        string     `json:"carrier"`
	LineOfBusiness string     `json:"line_of_business"`
	Effective      string     `json:"effective_date,omitempty"`
	Expiry         string     `json:"expiry_date,omitempty"`
	Received       string     `json:"received_at"`
	Completed      string     `json:"completed_at,omitempty"`
	Documents      []Document `json:"documents"`
}

// Document is one file of a Submission.
type Document struct {
	ID       string `json:"document_id"`
	Type     string `json:"document_type"`
	Filename string `json:"filename"`
	Pages    int    `json:"pages"`
}

// Lister answers Asks.
type Lister struct {
	SQL Querier
}

// List returns a page of the submissions that ask describes.
func (l Lister) List(ctx context.Context, ask Ask) (List, error) {
	bounds, err := ask.bounds()
	if err != nil {
		return List{}, err
	}
	paged := append(slices.Clone(bounds), ask.Limit, ask.Offset)
	out := List{Submissions: []Submission{}, AuditIDs: []string{}}
	page, err := l.query(ctx, &out, listSQL, paged...)
	if err != nil {
		return List{}, err
	}
	at := make(map[string]int, len(page.Rows))
	for i, r := range page.Rows {
		out.Total = r.Int(11)
		at[r.Text(0)] = i
		out.Submissions = append(out.Submissions, Submission{
			ID: r.Text(0), Workflow: r.Text(1), Status: r.Text(2), Insured: r.Text(3), Broker: r.Text(4), Carrier: r.Text(5),
			LineOfBusiness: r.Text(6), Effective: r.Day(7), Expiry: r.Day(8), Received: r.Time(9), Completed: r.Time(10), Documents: []Document{},
		})
	}
	if len(page.Rows) == 0 { // beyond the last page the window has no row to stand in
		if ask.Offset == 0 {
			return out, nil
		}
		count, err := l.query(ctx, &out, countSQL, bounds...)
		if err != nil {
			return List{}, err
		}
		out.Total = count.Rows[0].Int(0)
		return out, nil
	}
	documents, err := l.query(ctx, &out, documentsSQL, paged...)
	if err != nil {
		return List{}, err
	}
	for _, r := range documents.Rows {
		if i, ok := at[r.Text(0)]; ok {
			s := &out.Submissions[i]
			s.Documents = append(s.Documents, Document{ID: r.Text(1), Type: r.Text(2), Filename: r.Text(3), Pages: r.Int(4)})
		}
	}
	return out, nil
}

// query binds, asks and notes the audit record.
func (l Lister) query(ctx context.Context, out *List, statement string, values ...any) (table.Table, error) {
	bound, err := literal.Bind(statement, values...)
	if err != nil {
		return table.Table{}, fmt.Errorf("%w: %w", ErrAsk, err)
	}
	t, err := l.SQL.Query(ctx, bound)
	if err != nil {
		return table.Table{}, err
	}
	if out.AuditID == "" {
		out.AuditID = t.AuditID
	}
	out.AuditIDs = append(out.AuditIDs, t.AuditID)
	return t, nil
}

// bounds checks ask, fills its defaults and returns what narrows the list.
func (a *Ask) bounds() ([]any, error) {
	if a.Limit == 0 {
		a.Limit = DefaultLimit
	}
	if a.Limit < 0 || a.Limit > MaxLimit || a.Offset < 0 {
		return nil, fmt.Errorf("%w: limit is 1 to %d, offset not negative", ErrAsk, MaxLimit)
	}
	from, err := day("from", a.From)
	if err != nil {
		return nil, err
	}
	to, err := day("to", a.To)
	if err != nil {
		return nil, err
	}
	return []any{from, to, orNil(a.Workflow), orNil(a.Status), orNil(a.Insured)}, nil
}

// day parses a date; none is nil.
func day(field, s string) (any, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // NULL is a value here
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is a day such as 2026-11-29, not %q", ErrAsk, field, s)
	}
	return t, nil
}

func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
