package identity

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// Verified is an admin log that holds: no line was changed, dropped or put elsewhere.
type Verified struct {
	Lines int64
	Hash  string // of the last line: kept elsewhere, it also proves that the log was not written anew as a whole
}

// BrokenError says where an admin log does not hold.
type BrokenError struct {
	Org   string
	Line  int64
	Lines int64 // that hold before it
	Why   string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("admin log of %q: line %d %s", e.Org, e.Line, e.Why)
}

// line is an Entry in its place in the chain.
type line struct {
	Entry
	seq            int64
	previous, hash string
}

const (
	lineColumns = `id, at, org, actor, actor_name, action, subject, detail, address, seq, prev_hash, hash`
	insertLine  = `INSERT INTO admin_log (` + lineColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	linkLine    = `UPDATE admin_log SET seq = $1, prev_hash = $2, hash = $3 WHERE id = $4`
	looseLines  = `SELECT ` + lineColumns + ` FROM admin_log WHERE org = $1 AND seq = 0 ORDER BY id`
	readLines   = `SELECT ` + lineColumns + ` FROM admin_log WHERE org = $1 AND seq > $2 ORDER BY seq LIMIT 1000`
	countLoose  = `SELECT count(*) FROM admin_log WHERE org = $1 AND seq <= 0`
	insertHead  = `INSERT INTO admin_log_heads (org, seq, hash) VALUES ($1, 0, '') ON CONFLICT (org) DO NOTHING`
	// takeHead locks the organisation's chain until the transaction ends, in both engines.
	takeHead = `UPDATE admin_log_heads SET seq = seq + 1 WHERE org = $1 RETURNING seq, hash`
	setHead  = `UPDATE admin_log_heads SET hash = $1 WHERE org = $2`
	readHead = `SELECT seq, hash FROM admin_log_heads WHERE org = $1`
)

// sum is the hash of a line: each field with its length before it, so that nothing can move from one to the next.
func (l *line) sum() string {
	h := sha256.New()
	for _, f := range []string{
		l.Org, strconv.FormatInt(l.seq, 10), l.ID, strconv.FormatInt(millis(l.At), 10), l.Actor, l.ActorName, l.Action, l.Subject, l.Detail, l.Address, l.previous,
	} {
		fmt.Fprintf(h, "%d:%s", len(f), f)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// chain writes a line at the end of its organisation's log.
func (d *Directory) chain(ctx context.Context, e Entry) (err error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	l := line{Entry: e}
	if err = link(ctx, tx, &l); errors.Is(err, sql.ErrNoRows) {
		if err = beginChain(ctx, tx, e.Org); err == nil {
			err = link(ctx, tx, &l)
		}
	}
	if err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, insertLine, l.ID, millis(l.At), l.Org, l.Actor, l.ActorName, l.Action, l.Subject, l.Detail, l.Address, l.seq, l.previous, l.hash); err != nil {
		return err
	}
	return tx.Commit()
}

// link gives a line the next place in its chain.
func link(ctx context.Context, tx *sql.Tx, l *line) error {
	if err := tx.QueryRowContext(ctx, takeHead, l.Org).Scan(&l.seq, &l.previous); err != nil {
		return err
	}
	l.hash = l.sum()
	_, err := tx.ExecContext(ctx, setHead, l.hash, l.Org)
	return err
}

// beginChain makes an organisation's chain, of the lines that are older than chains.
func beginChain(ctx context.Context, tx *sql.Tx, org string) error {
	if _, err := tx.ExecContext(ctx, insertHead, org); err != nil {
		return err
	}
	loose, err := collect(ctx, tx, scanLine, looseLines, org)
	if err != nil {
		return err
	}
	for _, l := range loose {
		if err := link(ctx, tx, &l); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, linkLine, l.seq, l.previous, l.hash, l.ID); err != nil {
			return err
		}
	}
	return nil
}

func scanLine(rows *sql.Rows) (l line, err error) {
	var at int64
	err = rows.Scan(&l.ID, &at, &l.Org, &l.Actor, &l.ActorName, &l.Action, &l.Subject, &l.Detail, &l.Address, &l.seq, &l.previous, &l.hash)
	l.At = moment(at)
	return l, err
}

// VerifyLog reads an organisation's whole admin log and recomputes its chain, which must hold the hash that was kept from an earlier
// time ("": none was). A log that doesn't hold is a *BrokenError.
func (d *Directory) VerifyLog(ctx context.Context, org, kept string) (Verified, error) {
	// The head is read first: lines added meanwhile lie beyond it.
	var seq int64
	var head string
	if err := d.db.QueryRowContext(ctx, readHead, org).Scan(&seq, &head); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Verified{}, fmt.Errorf("reading the admin log: %w", err)
	}
	var v Verified
	broken := func(at int64, why string) (Verified, error) { return v, &BrokenError{org, at, v.Lines, why} }
	found := kept == ""
	for {
		page, err := collect(ctx, d.db, scanLine, readLines, org, v.Lines)
		if err != nil {
			return v, fmt.Errorf("reading the admin log: %w", err)
		}
		for _, l := range page {
			switch {
			case l.seq != v.Lines+1:
				return broken(v.Lines+1, "is missing")
			case l.previous != v.Hash:
				return broken(l.seq, "does not follow the one before it")
			case l.sum() != l.hash:
				return broken(l.seq, "was changed")
			case l.seq == seq && l.hash != head:
				return broken(l.seq, "is not the one that was written last")
			}
			v.Lines, v.Hash = l.seq, l.hash
			found = found || l.hash == kept
		}
		if len(page) == 0 {
			break
		}
	}
	var loose int64
	if err := d.db.QueryRowContext(ctx, countLoose, org).Scan(&loose); err != nil {
		return v, fmt.Errorf("reading the admin log: %w", err)
	}
	switch {
	case v.Lines < seq:
		return broken(v.Lines+1, "is missing")
	case seq == 0 && v.Lines > 0:
		return broken(v.Lines, "is the last, but the end of the chain is not on record")
	case seq > 0 && loose > 0:
		return broken(v.Lines+1, "stands outside the chain")
	case !found:
		return broken(v.Lines, "ends a chain that does not hold the hash that was kept")
	}
	return v, nil
}
