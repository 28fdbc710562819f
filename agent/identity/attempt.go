package identity

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
)

// How many sign-ins may fail within attemptSpan. An account has two limits: the low one counts what comes from one address,
// so that a stranger can't lock its owner out; the high one bounds guessing from many addresses.
const (
	attemptSpan       = 15 * time.Minute
	mostOfOneAddress  = 10
	mostOfAnAccount   = 100
	mostOfAnAddress   = 100
	attemptRetryAfter = 5 * time.Minute
)

// Limited refuses a sign-in because too many failed.
type Limited struct {
	RetryAfter time.Duration
	first      bool // of its span: the one that is recorded
}

func (e *Limited) Error() string { return "identity: too many sign-ins failed" }

const (
	insertAttempt = `INSERT INTO sign_ins (id, subject, at) VALUES ($1, $2, $3)`
	countAttempts = `SELECT count(*) FROM sign_ins WHERE subject = $1 AND at > $2`
	dropAttempt   = `DELETE FROM sign_ins WHERE id = $1`
	dropAttempts  = `DELETE FROM sign_ins WHERE subject = $1`
	sweepAttempts = `DELETE FROM sign_ins WHERE at <= $1`
)

// attempt counts a sign-in as failed before it is looked at, so that many at once can't slip through; the function that it
// returns takes that back. It counts in the database: replicas share it. Beyond the limit nothing more is counted, so that a
// stranger who goes on doesn't prolong it.
func (d *Directory) attempt(ctx context.Context, email string, v Visit) (succeeded func(context.Context) error, err error) {
	now := d.now()
	if _, err := d.db.ExecContext(ctx, sweepAttempts, now.Add(-attemptSpan).UnixMilli()); err != nil {
		return nil, fmt.Errorf("forgetting old sign-ins: %w", err)
	}
	from := network(v.Address)
	counted := []struct {
		subject string
		most    int
	}{
		{hash("account " + email + " from " + from), mostOfOneAddress},
		{hash("account " + email), mostOfAnAccount},
		{hash("address " + from), mostOfAnAddress},
	}
	ids := make([]string, 0, len(counted))
	takeBack := func(ctx context.Context) error {
		for _, id := range ids {
			if _, err := d.db.ExecContext(ctx, dropAttempt, id); err != nil {
				return fmt.Errorf("forgetting a sign-in: %w", err)
			}
		}
		return nil
	}
	for _, c := range counted {
		id := uuid.NewString()
		if _, err := d.db.ExecContext(ctx, insertAttempt, id, c.subject, now.UnixMilli()); err != nil {
			return nil, fmt.Errorf("counting a sign-in: %w", err)
		}
		ids = append(ids, id)
		var n int
		if err := d.db.QueryRowContext(ctx, countAttempts, c.subject, now.Add(-attemptSpan).UnixMilli()).Scan(&n); err != nil {
			return nil, fmt.Errorf("counting sign-ins: %w", err)
		}
		if n > c.most {
			if err := takeBack(ctx); err != nil {
				return nil, err
			}
			return nil, d.limited(ctx, c.subject)
		}
	}
	return func(ctx context.Context) error {
		if err := takeBack(ctx); err != nil {
			return err
		}
		// Whoever knows the password mistyped it before.
		if _, err := d.db.ExecContext(ctx, dropAttempts, counted[0].subject); err != nil {
			return fmt.Errorf("forgetting sign-ins: %w", err)
		}
		return nil
	}, nil
}

// limited says whether it is the first time within the span that this subject met its limit: the record would grow without
// bound if it held each.
func (d *Directory) limited(ctx context.Context, subject string) error {
	now, mark := d.now(), "limited "+subject
	e := &Limited{RetryAfter: attemptRetryAfter}
	var n int
	if err := d.db.QueryRowContext(ctx, countAttempts, mark, now.Add(-attemptSpan).UnixMilli()).Scan(&n); err != nil {
		return fmt.Errorf("counting sign-ins: %w", err)
	}
	if e.first = n == 0; e.first {
		if _, err := d.db.ExecContext(ctx, insertAttempt, uuid.NewString(), mark, now.UnixMilli()); err != nil {
			return fmt.Errorf("counting a sign-in: %w", err)
		}
	}
	return e
}

// network is what an address counts as: of IPv6 its /64, of which one host has all addresses.
func network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil || a.Unmap().Is4() {
		return address
	}
	p, err := a.Prefix(64)
	if err != nil {
		return address
	}
	return p.String()
}
