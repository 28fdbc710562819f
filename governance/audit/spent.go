package audit

import (
	"context"
	"fmt"
	"time"
)

// Scope says whose spending is asked for.
type Scope struct {
	Org     string
	Turn    string        // "" for none
	Subject string        // "" for none
	Window  time.Duration // of the person and the organisation, in whole hours that end now
}

// Use is what was spent.
type Use struct {
	Queries int64
	Run     time.Duration
	Bytes   int64
}

// Spent is what the turn, the person and the organisation have spent.
type Spent struct{ Turn, Person, Org Use }

const readSpent = `SELECT scope, COALESCE(SUM(queries), 0), COALESCE(SUM(run_us), 0), COALESCE(SUM(bytes), 0) FROM audit_spent
 WHERE org = $1 AND ((scope = 'turn' AND id = $2) OR (scope = 'person' AND id = $3 AND hour > $4) OR (scope = 'org' AND id = '' AND hour > $5))
 GROUP BY scope`

func spend(ctx context.Context, tx within, r *row) error {
	hour := r.atUS / time.Hour.Microseconds()
	for _, s := range []struct {
		scope, id string
		hour      int64
	}{{"turn", r.turn, 0}, {"person", r.subject, hour}, {"org", "", hour}} {
		if s.id == "" && s.scope != "org" {
			continue
		}
		if err := tx.exec(ctx, addSpent, r.org, s.scope, s.id, s.hour, 1, r.runUS, r.bytes); err != nil {
			return err
		}
	}
	return nil
}

// Spent reads what has been spent in a scope.
func (l *Log) Spent(ctx context.Context, s Scope) (Spent, error) {
	var out Spent
	since := l.now().Add(-s.Window).UnixMicro() / time.Hour.Microseconds()
	rows, err := l.statements[readSpent].QueryContext(ctx, s.Org, s.Turn, s.Subject, since, since)
	if err != nil {
		return out, fmt.Errorf("audit: reading budgets: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var scope string
		var us int64
		var u Use
		if err := rows.Scan(&scope, &u.Queries, &us, &u.Bytes); err != nil {
			return out, fmt.Errorf("audit: reading budgets: %w", err)
		}
		u.Run = time.Duration(us) * time.Microsecond
		switch scope {
		case "turn":
			out.Turn = u
		case "person":
			out.Person = u
		case "org":
			out.Org = u
		}
	}
	return out, rows.Err()
}
