package audit

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Filter chooses entries. Org is required; an empty field chooses all.
type Filter struct {
	Org          string
	AuditID      string
	Event        string
	Subject      string
	Turn         string
	Conversation string
	Decision     string
	Outcome      string
	From, To     time.Time // To is exclusive
	Before       int64     // entries with a smaller seq, for the next page; 0 for the newest
	Limit        int       // 100 at most 1,000
}

// List returns entries, newest first.
func (l *Log) List(ctx context.Context, f Filter) ([]Entry, error) {
	where := []string{"org = $1"}
	args := []any{f.Org}
	add := func(condition string, v any) {
		args = append(args, v)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	for _, c := range []struct{ column, value string }{
		{"audit_id", f.AuditID},
		{"event", f.Event},
		{"subject", f.Subject},
		{"turn", f.Turn},
		{"conversation", f.Conversation},
		{"decision", f.Decision},
		{"outcome", f.Outcome},
	} {
		if c.value != "" {
			add(c.column+" = $%d", c.value)
		}
	}
	if !f.From.IsZero() {
		add("at_us >= $%d", f.From.UnixMicro())
	}
	if !f.To.IsZero() {
		add("at_us < $%d", f.To.UnixMicro())
	}
	if f.Before > 0 {
		add("seq < $%d", f.Before)
	}
	limit := 100
	if f.Limit > 0 {
		limit = min(f.Limit, 1000)
	}
	query := fmt.Sprintf("SELECT %s FROM audit_events WHERE %s ORDER BY seq DESC LIMIT %d", columnList, strings.Join(where, " AND "), limit)
	rows, err := l.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("audit: listing: %w", err)
	}
	defer rows.Close()
	var out []Entry
	for rows.Next() {
		var r row
		if err := rows.Scan(r.all()...); err != nil {
			return nil, fmt.Errorf("audit: listing: %w", err)
		}
		e, err := r.entry()
		if err != nil {
			return nil, fmt.Errorf("audit: entry %d of %s: %w", r.seq, r.org, err)
		}
		out = append(out, e)
	}
	return out, rows.Err()
}
