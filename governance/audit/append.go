package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

const (
	insertHead = `INSERT INTO audit_heads (org, seq, hash) VALUES ($1, 0, '') ON CONFLICT (org) DO NOTHING`
	// takeHead locks the organisation's chain until the transaction ends, in both engines.
	takeHead  = `UPDATE audit_heads SET seq = seq + 1 WHERE org = $1 RETURNING seq, hash`
	setHead   = `UPDATE audit_heads SET hash = $1 WHERE org = $2`
	insertRow = `INSERT INTO audit_events (` + columnList + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
 $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33)`
	addSpent = `INSERT INTO audit_spent (org, scope, id, hour, queries, run_us, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7)
 ON CONFLICT (org, scope, id, hour) DO UPDATE SET queries = audit_spent.queries + excluded.queries,
 run_us = audit_spent.run_us + excluded.run_us, bytes = audit_spent.bytes + excluded.bytes`
)

// clean makes text that both engines store: Postgres takes neither NUL bytes nor bad UTF-8.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// append writes one event at the end of its organisation's chain. It is not undone by a caller that goes away meanwhile.
func (l *Log) append(ctx context.Context, e Entry) error {
	if e.Org == "" || e.AuditID == "" {
		return errors.New("audit: an entry needs Org and AuditID")
	}
	if e.At.IsZero() {
		e.At = l.now()
	}
	r, err := rowOf(e)
	if err != nil {
		return fmt.Errorf("audit: encoding an entry: %w", err)
	}
	ctx = context.WithoutCancel(ctx)
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("audit: beginning: %w", err)
	}
	if err := l.write(ctx, within{tx, l.statements}, &r); err != nil {
		return errors.Join(fmt.Errorf("audit: writing: %w", err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("audit: committing: %w", err)
	}
	return nil
}

func (l *Log) write(ctx context.Context, tx within, r *row) error {
	err := tx.query(ctx, takeHead, r.org).Scan(&r.seq, &r.prevHash)
	if errors.Is(err, sql.ErrNoRows) { // the organisation's first
		if err := tx.exec(ctx, insertHead, r.org); err != nil {
			return err
		}
		err = tx.query(ctx, takeHead, r.org).Scan(&r.seq, &r.prevHash)
	}
	if err != nil {
		return err
	}
	r.hash = r.sum()
	if err := tx.exec(ctx, insertRow, values(r.all())...); err != nil {
		return err
	}
	if err := tx.exec(ctx, setHead, r.hash, r.org); err != nil {
		return err
	}
	if err := index(ctx, tx, r); err != nil {
		return err
	}
	if r.event != Outcome {
		return nil
	}
	return spend(ctx, tx, r)
}

func values(pointers []any) []any {
	out := make([]any, len(pointers))
	for i, p := range pointers {
		switch x := p.(type) {
		case *string:
			out[i] = *x
		case *int64:
			out[i] = *x
		}
	}
	return out
}

// within runs the log's prepared statements in one transaction.
type within struct {
	tx         *sql.Tx
	statements map[string]*sql.Stmt
}

func (w within) query(ctx context.Context, text string, args ...any) *sql.Row {
	return w.tx.StmtContext(ctx, w.statements[text]).QueryRowContext(ctx, args...) //nolint:sqlclosecheck // it closes with the transaction
}

func (w within) exec(ctx context.Context, text string, args ...any) error {
	_, err := w.tx.StmtContext(ctx, w.statements[text]).ExecContext(ctx, args...) //nolint:sqlclosecheck // it closes with the transaction
	return err
}
