package call

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"bordereau/governance/fault"
)

// The states of a stored call.
const (
	started  = "started"
	answered = "answered"
	failed   = "failed"
)

// maxKept bounds an answer that is kept. A larger one is made again when it is asked for again.
const maxKept = 4 << 20

// claim makes the call this process's, or returns its stored answer, or errElsewhere.
func (d *Desk) claim(ctx context.Context, id ID) (answer []byte, done bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second) // others may wait for what it finds
	defer cancel()
	now := d.c.Now()
	var holder string
	err = d.c.DB.QueryRowContext(ctx, claimCall, id.Org, id.Turn, id.Key, id.Digest, d.holder, now.Add(lease).UnixMicro(),
		now.Add(d.c.TTL).UnixMicro(), now.UnixMicro()).Scan(&holder)
	if err == nil {
		return nil, false, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, false, unavailable(err)
	}
	var state string
	err = d.c.DB.QueryRowContext(ctx, selectCall, id.Org, id.Turn, id.Key, id.Digest).Scan(&state, &answer)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && state == started:
		return nil, false, errElsewhere
	case err != nil:
		return nil, false, unavailable(err)
	case state == failed:
		var f fault.Error
		if err := json.Unmarshal(answer, &f); err != nil {
			return nil, false, unavailable(err)
		}
		return nil, true, &f
	}
	return answer, true, nil
}

// elsewhere waits a moment for the process that has the call.
func (d *Desk) elsewhere(ctx context.Context, a Ask) error {
	live, err := d.c.Live.TurnLive(ctx, a.ID.Turn, a.Epoch)
	if err == nil && !live {
		return &fault.Error{Code: fault.Interrupted, Component: "turn", Message: "the turn has ended or moved on"}
	}
	timer := time.NewTimer(glance)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return (&fault.Error{Code: fault.Interrupted, Component: component, Message: "the request ended before the call did", Retryable: true}).Because(ctx.Err())
	case <-timer.C:
		return nil
	}
}

// renew keeps the call this process's.
func (d *Desk) renew(ctx context.Context, id ID, now, deadline time.Time) {
	until := now.Add(lease)
	if deadline.Before(until) {
		until = deadline.Add(beat)
	}
	if _, err := d.c.DB.ExecContext(ctx, renewCall, id.Org, id.Turn, id.Key, id.Digest, d.holder, until.UnixMicro()); err != nil && ctx.Err() == nil {
		d.c.Log.WarnContext(ctx, "call lease not renewed", "org", id.Org, "turn_id", id.Turn, "error", err)
	}
}

// finish keeps an answer, or a refusal that would be the same the next time; what failed in passing may be tried again.
func (d *Desk) finish(ctx context.Context, id ID, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	state := answered
	if err != nil {
		f := fault.Of(err, component)
		switch f.Code {
		case fault.Denied, fault.Invalid, fault.NotFound, fault.TooLarge:
			raw, failure := json.Marshal(f)
			if failure != nil {
				raw = nil
			}
			state, answer = failed, raw
		default:
			answer = nil
		}
	}
	var failure error
	if answer == nil || len(answer) > maxKept {
		_, failure = d.c.DB.ExecContext(ctx, deleteCall, id.Org, id.Turn, id.Key, id.Digest, d.holder)
	} else {
		_, failure = d.c.DB.ExecContext(ctx, finishCall, id.Org, id.Turn, id.Key, id.Digest, d.holder, state, answer)
	}
	if failure != nil { // the lease runs out, and the call can be made again
		d.c.Log.WarnContext(ctx, "call not kept", "org", id.Org, "turn_id", id.Turn, "error", failure)
	}
}

// Reap removes what has expired.
func (d *Desk) Reap(ctx context.Context) error {
	if _, err := d.c.DB.ExecContext(ctx, deleteExpired, d.c.Now().UnixMicro()); err != nil {
		return fmt.Errorf("removing expired calls: %w", err)
	}
	return nil
}

func unavailable(err error) error {
	return (&fault.Error{Code: fault.Unavailable, Component: component, Message: "the record of calls can't be reached", Retryable: true}).Because(err)
}
