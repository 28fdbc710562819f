package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// putStatement keeps the row of a statement by which it is found: made when it is asked, completed by its outcome.
const putStatement = `INSERT INTO audit_statements (org, audit_id, at_us, first_seq, last_seq, subject, via, conversation, turn, decision, rule, outcome, run_us)
 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
 ON CONFLICT (org, audit_id) DO UPDATE SET last_seq = excluded.last_seq, decision = excluded.decision, rule = excluded.rule,
 outcome = excluded.outcome, run_us = excluded.run_us RETURNING at_us, first_seq`

const putTouched = `INSERT INTO audit_touched (org, name, at_us, first_seq, audit_id) VALUES %s ON CONFLICT DO NOTHING`

// index makes an event's statement findable, in the transaction that adds the event.
func index(ctx context.Context, tx within, r *row) error {
	var at, first int64
	err := tx.query(ctx, putStatement, r.org, r.auditID, r.atUS, r.seq, r.seq, r.subject, r.via, r.conversation, r.turn, r.decision, r.rule,
		r.outcome, r.runUS).Scan(&at, &first)
	if err != nil || r.event != Outcome {
		return err
	}
	var relations, columns []string
	if err := json.Unmarshal([]byte(r.relations), &relations); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(r.columns), &columns); err != nil {
		return err
	}
	names := slices.Concat(relations, columns)
	if len(names) == 0 {
		return nil
	}
	var values []string
	args := make([]any, 0, 5*len(names))
	for _, name := range names {
		n := len(args)
		values = append(values, fmt.Sprintf("($%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5))
		args = append(args, r.org, name, at, first, r.auditID)
	}
	_, err = tx.tx.ExecContext(ctx, fmt.Sprintf(putTouched, strings.Join(values, ", ")), args...)
	return err
}
