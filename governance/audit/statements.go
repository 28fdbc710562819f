package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Statement is one statement as its newest event tells it: its outcome, or that it was asked.
type Statement struct {
	Entry
	Asked time.Time `json:"asked_at"`
	First int64     `json:"first_seq"` // of its first event in the chain; Seq is of its newest
}

// Search chooses statements. Org is required; an empty field chooses all.
type Search struct {
	Org          string
	Subject      string
	Via          string
	Turn         string
	Conversation string
	Decision     string
	Rule         string
	Outcome      string        // Running for those without one yet
	Relation     string        // that it reads
	Column       string        // relation.column that it reads
	Text         string        // in the SQL as asked, whatever the case
	From, To     time.Time     // when it was asked; To is exclusive
	MinRun       time.Duration // it ran at least so long
	MaxRun       time.Duration // and at most so long
	After        Place         // the next page: those older than this place
	Limit        int           // 100, at most 500
}

// Running is the outcome to search for when there is none yet.
const Running = "running"

// Place is where a page ends: the time and the sequence number of the last statement that was looked at.
type Place struct {
	AtUS int64 `json:"at_us"`
	Seq  int64 `json:"seq"`
}

// Page is some of the statements that a search chooses, newest first. With Next there may be more: a page is short, even empty, when the
// search has looked at as many statements as one request may.
type Page struct {
	Statements []Statement
	Next       *Place
	Looked     time.Time // with Next: everything asked since has been looked at
}

// ErrNotFound is returned where the organisation has no such statement.
var ErrNotFound = errors.New("audit: no such statement")

// Search returns a page of statements.
//
// One index gives the candidates in order, newest first; everything else is checked on a window of them. So a request costs the same
// however many statements there are and however few it finds.
func (l *Log) Search(ctx context.Context, s Search) (Page, error) {
	limit := 100
	if s.Limit > 0 {
		limit = min(s.Limit, 500)
	}
	p := plan(s, limit)
	rows, err := l.db.QueryContext(ctx, p.found, p.args...)
	if err != nil {
		return Page{}, fmt.Errorf("audit: searching: %w", err)
	}
	defer rows.Close()
	var page Page
	for rows.Next() {
		st, err := scanStatement(rows)
		if err != nil {
			return Page{}, fmt.Errorf("audit: searching: %w", err)
		}
		page.Statements = append(page.Statements, st)
	}
	if err := rows.Err(); err != nil {
		return Page{}, fmt.Errorf("audit: searching: %w", err)
	}
	if len(page.Statements) > limit {
		page.Statements = page.Statements[:limit]
		last := page.Statements[limit-1]
		page.Next, page.Looked = &Place{last.Asked.UnixMicro(), last.First}, last.Asked
		return page, nil
	}
	var end Place
	err = l.db.QueryRowContext(ctx, p.end, p.args[:p.windowArgs]...).Scan(&end.AtUS, &end.Seq)
	if errors.Is(err, sql.ErrNoRows) { // the window reached the first statement
		return page, nil
	}
	if err != nil {
		return Page{}, fmt.Errorf("audit: searching: %w", err)
	}
	page.Next, page.Looked = &end, time.UnixMicro(end.AtUS).UTC()
	return page, nil
}

// Statement returns one statement of an organisation; ErrNotFound if there is none.
func (l *Log) Statement(ctx context.Context, org, auditID string) (Statement, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT `+eventColumns+`, w.at_us, w.first_seq FROM audit_statements w
 JOIN audit_events e ON e.org = w.org AND e.seq = w.last_seq WHERE w.org = $1 AND w.audit_id = $2`, org, auditID)
	if err != nil {
		return Statement{}, fmt.Errorf("audit: reading a statement: %w", err)
	}
	defer rows.Close()
	if !rows.Next() {
		return Statement{}, errors.Join(ErrNotFound, rows.Err())
	}
	return scanStatement(rows)
}

// Subjects lists who has asked in an organisation.
func (l *Log) Subjects(ctx context.Context, org string) ([]string, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT DISTINCT id FROM audit_spent WHERE org = $1 AND scope = 'person' ORDER BY id`, org)
	if err != nil {
		return nil, fmt.Errorf("audit: listing who asked: %w", err)
	}
	defer rows.Close()
	all := []string{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("audit: listing who asked: %w", err)
		}
		all = append(all, id)
	}
	return all, rows.Err()
}

func scanStatement(rows *sql.Rows) (Statement, error) {
	var r row
	var asked int64
	var st Statement
	if err := rows.Scan(append(r.all(), &asked, &st.First)...); err != nil {
		return st, err
	}
	e, err := r.entry()
	st.Entry, st.Asked = e, time.UnixMicro(asked).UTC()
	return st, err
}
