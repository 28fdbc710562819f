package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Verified is a chain that holds: no entry was changed, dropped or put elsewhere.
type Verified struct {
	Org     string `json:"org"`
	Entries int64  `json:"entries"`
	Hash    string `json:"hash"` // of the last entry: kept elsewhere, it also proves that the whole chain was not written anew
}

// BrokenError says where a chain does not hold.
type BrokenError struct {
	Org string
	Seq int64
	Why string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("audit of %s: entry %d: %s", e.Org, e.Seq, e.Why)
}

const (
	readHead = `SELECT seq, hash FROM audit_heads WHERE org = $1`
	readRows = `SELECT ` + columnList + ` FROM audit_events WHERE org = $1 AND seq > $2 ORDER BY seq LIMIT 1000`
	readOrgs = `SELECT org FROM audit_heads ORDER BY org`
)

// Orgs lists the organisations that have a chain.
func Orgs(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, readOrgs)
	if err != nil {
		return nil, fmt.Errorf("audit: listing organisations: %w", err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var org string
		if err := rows.Scan(&org); err != nil {
			return nil, fmt.Errorf("audit: listing organisations: %w", err)
		}
		out = append(out, org)
	}
	return out, rows.Err()
}

// Check is what a verification is of.
type Check struct {
	Org    string
	Anchor string // the hash of an entry that was kept elsewhere, "" for none; a chain that was written anew as a whole doesn't hold it
	// Progress is told now and then how many entries were checked of how many that there were at the start; it may be nil.
	Progress func(checked, of int64)
}

// Verify reads an organisation's whole chain and recomputes it. A chain that doesn't hold is a *BrokenError.
func Verify(ctx context.Context, db *sql.DB, org, anchor string) (Verified, error) {
	return Check{Org: org, Anchor: anchor}.Verify(ctx, db)
}

// progressEvery is how many entries are checked between two words of it.
const progressEvery = 5000

// Verify is Verify with all that can be said about it.
func (c Check) Verify(ctx context.Context, db *sql.DB) (Verified, error) {
	org, anchor := c.Org, c.Anchor
	v := Verified{Org: org}
	anchored := anchor == ""
	// The head is read first: entries added meanwhile lie beyond it.
	var seq int64
	var head string
	err := db.QueryRowContext(ctx, readHead, org).Scan(&seq, &head)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return v, fmt.Errorf("audit: reading the head of %s: %w", org, err)
	}
	for r, err := range chain(ctx, db, org) {
		if err != nil {
			return v, err
		}
		v.Entries++
		switch {
		case r.seq != v.Entries:
			return v, &BrokenError{org, v.Entries, "is missing"}
		case r.prevHash != v.Hash:
			return v, &BrokenError{org, r.seq, "does not follow the one before it"}
		case r.sum() != r.hash:
			return v, &BrokenError{org, r.seq, "was changed"}
		}
		v.Hash = r.hash
		if c.Progress != nil && v.Entries%progressEvery == 0 {
			c.Progress(v.Entries, max(seq, v.Entries))
		}
		anchored = anchored || r.hash == anchor
		if r.seq == seq && r.hash != head {
			return v, &BrokenError{org, r.seq, "is not the one that was written last"}
		}
	}
	if v.Entries < seq {
		return v, &BrokenError{org, v.Entries + 1, "is missing"}
	}
	if seq == 0 && v.Entries > 0 {
		return v, &BrokenError{org, v.Entries, "the end of the chain is not on record"}
	}
	if !anchored {
		return v, &BrokenError{org, v.Entries, "the chain does not hold the hash that was kept"}
	}
	return v, nil
}

// chain reads an organisation's rows in order, a page at a time.
func chain(ctx context.Context, db *sql.DB, org string) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		for last, more := int64(-1<<62), true; more; {
			page, err := page(ctx, db, org, last)
			if err != nil {
				yield(nil, fmt.Errorf("audit: reading %s: %w", org, err))
				return
			}
			for i := range page {
				last = page[i].seq
				if !yield(&page[i], nil) {
					return
				}
			}
			more = len(page) > 0
		}
	}
}

func page(ctx context.Context, db *sql.DB, org string, after int64) ([]row, error) {
	rows, err := db.QueryContext(ctx, readRows, org, after)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []row
	for rows.Next() {
		var r row
		if err := rows.Scan(r.all()...); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

// Export writes an organisation's entries as NDJSON, oldest first, and returns how many there were.
func Export(ctx context.Context, db *sql.DB, org string, w io.Writer) (int64, error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var n int64
	for r, err := range chain(ctx, db, org) {
		if err != nil {
			return n, err
		}
		e, err := r.entry()
		if err != nil {
			return n, fmt.Errorf("audit: entry %d of %s: %w", r.seq, org, err)
		}
		if err := enc.Encode(e); err != nil {
			return n, fmt.Errorf("audit: writing: %w", err)
		}
		n++
	}
	return n, nil
}
