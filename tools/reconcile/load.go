package reconcile

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Scope is what to look at. Empty fields don't narrow.
type Scope struct {
	Org         string
	Title       string
	From, To    string // UTC days of receipt, inclusive, as 2026-11-29
	Workflow    string
	Submissions []string
	Guideline   string // id or id@version; "": each submission's carrier's
	RunID       string // "": derived from the rest
}

// The queries. Each reads a bounded part, so that no limit of the gate cuts an answer.
const (
	submissionsSQL = `SELECT submission_id, workflow, status, insured_name, broker_name, carrier, line_of_business, effective_date, expiry_date, received_at
FROM submissions WHERE %s ORDER BY submission_id LIMIT %d`
	documentsSQL = `SELECT submission_id, document_id, document_type, filename, pages, sha256, received_at
FROM documents WHERE submission_id IN (%s) ORDER BY submission_id, document_id`
	fieldsSQL = `SELECT submission_id, document_id, row_id, table_name, row_index, field_id, field_name, original_value, value, confidence, page, x0, y0, x1, y1, edited_by_human, edited_by
FROM extracted_fields WHERE submission_id IN (%s) AND document_type <> 'other'
ORDER BY submission_id, document_id, table_name NULLS FIRST, row_index NULLS FIRST, row_id, field_name, field_id`
)

// quote writes a string literal.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func quoteAll(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = quote(s)
	}
	return strings.Join(out, ", ")
}

func (s Scope) where() (string, error) {
	conds := []string{"TRUE"}
	for _, d := range []struct{ day, op, add string }{{s.From, ">=", ""}, {s.To, "<", " + INTERVAL 1 DAY"}} {
		if d.day == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, d.day); err != nil {
			return "", fmt.Errorf("reconcile: %q is not a day; write it as 2026-11-29", d.day)
		}
		conds = append(conds, fmt.Sprintf("received_at %s DATE %s%s", d.op, quote(d.day), d.add))
	}
	if s.Workflow != "" {
		conds = append(conds, "workflow = "+quote(s.Workflow))
	}
	if len(s.Submissions) > 0 {
		conds = append(conds, "submission_id IN ("+quoteAll(s.Submissions)+")")
	}
	return strings.Join(conds, " AND "), nil
}

// reader reads packets and remembers which queries it asked.
type reader struct {
	q          Querier
	queries    []Query
	generation string
}

func (r *reader) query(ctx context.Context, purpose, sql string, row func(values []any) error) (Answer, error) {
	a, err := r.q.Query(ctx, sql, row)
	if err != nil {
		return a, fmt.Errorf("reconcile: %s: %w", purpose, err)
	}
	if r.generation == "" {
		r.generation = a.Generation
	}
	if a.Generation != r.generation && a.Generation != "" {
		return a, fmt.Errorf("reconcile: %s: %w: it began with %s and went on with %s", purpose, ErrChanged, r.generation, a.Generation)
	}
	r.queries = append(r.queries, Query{AuditID: a.AuditID, Purpose: purpose, SQL: sql, Rows: a.Rows})
	return a, nil
}

const page = 500

// submissions reads the heads of all submissions in scope, in pages.
func (r *reader) submissions(ctx context.Context, s Scope) ([]*Packet, error) {
	where, err := s.where()
	if err != nil {
		return nil, err
	}
	var all []*Packet
	for last := ""; ; {
		cond := where
		if last != "" {
			cond += " AND submission_id > " + quote(last)
		}
		n := 0
		a, err := r.query(ctx, "the submissions in scope", fmt.Sprintf(submissionsSQL, cond, page), func(v []any) error {
			p := &Packet{
				ID: text(v[0]), Workflow: text(v[1]), Status: text(v[2]), Insured: text(v[3]), Broker: text(v[4]), Carrier: text(v[5]), Line: text(v[6]),
				Effective: when(v[7]), Expiry: when(v[8]), Received: when(v[9]),
			}
			all = append(all, p)
			last = p.ID
			n++
			return nil
		})
		if err != nil {
			return nil, err
		}
		if n < page && !a.Truncated {
			return all, nil
		}
		if n == 0 {
			return nil, fmt.Errorf("reconcile: the submissions in scope: %w", ErrCut)
		}
	}
}

// fill reads documents and fields of a batch of packets. A cut answer is read again in halves.
func (r *reader) fill(ctx context.Context, batch []*Packet) error {
	if len(batch) == 0 {
		return nil
	}
	ids := make([]string, len(batch))
	at := make(map[string]*Packet, len(batch))
	for i, p := range batch {
		p.Documents = nil
		ids[i], at[p.ID] = p.ID, p
	}
	docs := map[string][2]int{} // document id -> batch index, index in packet
	pos := map[string]int{}
	for i, p := range batch {
		pos[p.ID] = i
	}
	da, err := r.query(ctx, "their documents", fmt.Sprintf(documentsSQL, quoteAll(ids)), func(v []any) error {
		p := at[text(v[0])]
		if p == nil {
			return nil
		}
		docs[text(v[1])] = [2]int{pos[p.ID], len(p.Documents)}
		p.Documents = append(p.Documents, Document{ID: text(v[1]), Type: text(v[2]), Filename: text(v[3]), Pages: integer(v[4]), SHA256: text(v[5]), Received: when(v[6])})
		return nil
	})
	if err != nil {
		return err
	}
	names := map[string]string{}
	intern := func(v any) string {
		s := text(v)
		if known, ok := names[s]; ok {
			return known
		}
		names[s] = s
		return s
	}
	fa, err := r.query(ctx, "their extracted fields", fmt.Sprintf(fieldsSQL, quoteAll(ids)), func(v []any) error {
		d, ok := docs[text(v[1])]
		if !ok {
			return nil
		}
		f := Field{
			DocumentID: intern(v[1]), RowID: intern(v[2]), Table: intern(v[3]), RowIndex: integer(v[4]), ID: text(v[5]), Name: intern(v[6]),
			Original: text(v[7]), Value: text(v[8]), Null: v[8] == nil, Confidence: float(v[9]), Page: integer(v[10]),
			Box: [4]float64{float(v[11]), float(v[12]), float(v[13]), float(v[14])}, EditedBy: intern(v[16]),
		}
		f.ByHuman, _ = v[15].(bool)
		doc := &batch[d[0]].Documents[d[1]]
		doc.Fields = append(doc.Fields, f)
		return nil
	})
	if err != nil {
		return err
	}
	if da.Truncated || fa.Truncated {
		if len(batch) == 1 {
			return fmt.Errorf("reconcile: the fields of submission %s: %w", batch[0].ID, ErrCut)
		}
		half := len(batch) / 2
		if err := r.fill(ctx, batch[:half]); err != nil {
			return err
		}
		return r.fill(ctx, batch[half:])
	}
	for _, p := range batch {
		p.AuditID = fa.AuditID
	}
	return nil
}

func text(v any) string {
	switch t := v.(type) {
	case nil:
		return ""
	case string:
		return t
	case time.Time:
		return t.Format(time.RFC3339)
	default:
		return fmt.Sprint(t)
	}
}

func integer(v any) int {
	switch t := v.(type) {
	case int64:
		return int(t)
	case int32:
		return int(t)
	case int:
		return t
	case float64:
		return int(t)
	}
	return 0
}

func float(v any) float64 {
	switch t := v.(type) {
	case float64:
		return t
	case float32:
		return float64(t)
	case int64:
		return float64(t)
	}
	return 0
}

func when(v any) time.Time {
	switch t := v.(type) {
	case time.Time:
		return t.UTC()
	case string:
		for _, form := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999", "2006-01-02T15:04:05", time.DateOnly} {
			if at, err := time.Parse(form, t); err == nil {
				return at.UTC()
			}
		}
	}
	return time.Time{}
}
