package schedule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"bordereau/agent/identity"
	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// errOverlap is a run that may not begin beside another one.
var errOverlap = errors.New("schedule: the run before it is under way")

// fire brings a due schedule's tick to its end: a turn, or a line in the history that says why there is none.
func (s *Scheduler) fire(ctx context.Context, v Schedule) error {
	now := s.c.Now()
	clock, err := ParseClock(v.Cron, v.Zone)
	if err != nil { // it was checked when it was written: the zone is gone from this machine's data
		return s.halt(ctx, v, now, "its cron line or time zone can't be read any more: "+err.Error())
	}
	person, why, err := s.person(ctx, v)
	if err != nil {
		return err
	}
	if why != "" {
		return s.halt(ctx, v, now, why)
	}
	tick, earlier := clock.due(v.Next, now)
	next := clock.Next(now)
	r := Run{ID: s.c.NewID(), Schedule: v.ID, Org: v.Org, Tick: tick, Cause: ByClock, State: Running, Missed: earlier, Found: Unknown, Created: now}
	if late := now.Sub(tick); late > s.c.Grace && v.Missed == SkipLate {
		r.State, r.Note, r.Ended = Unrun, fmt.Sprintf("Bordereau could not run it in time: it was %s late", late.Round(time.Second)), now
		return s.recorded(ctx, v, next, r)
	}
	err = s.start(ctx, v, person, r, func(tx *sql.Tx, p journal.Posted) error {
		if err := advance(ctx, tx, v, next); err != nil {
			return err
		}
		if err := alone(ctx, tx, v.ID); err != nil {
			return err
		}
		r.Conversation, r.Turn = p.Conversation.ID, p.Turn.ID
		return insertRun(ctx, tx, r)
	})
	if !errors.Is(err, errOverlap) {
		return err
	}
	queued, err := waitingRuns(ctx, s.c.Store.db, v.ID)
	switch {
	case err != nil:
		return err
	case v.Overlap == QueueBusy && queued < maxQueued:
		r.State, r.Note = Queued, "it waits for the run before it"
	case v.Overlap == QueueBusy:
		r.State, r.Note, r.Ended = Skipped, fmt.Sprintf("%d runs waited already", queued), now
	default:
		r.State, r.Note, r.Ended = Skipped, "the run before it was still under way", now
	}
	return s.recorded(ctx, v, next, r)
}

func (s *Scheduler) recorded(ctx context.Context, v Schedule, next time.Time, r Run) error {
	err := s.c.Store.record(ctx, v, next, r)
	if err == nil {
		s.metrics.tick(r)
		s.c.Log.InfoContext(ctx, "a schedule's tick starts nothing now", about(r, slog.String("why", r.Note))...)
	}
	return err
}

// person finds on whose behalf a schedule runs, or says why nobody may.
func (s *Scheduler) person(ctx context.Context, v Schedule) (p identity.Person, why string, err error) {
	p, err = s.c.People.FindPerson(ctx, v.Org, v.Person)
	switch {
	case errors.Is(err, identity.ErrNotFound):
		return p, "the person whose schedule this is isn't in the organisation any more", nil
	case err == nil && !p.Disabled.IsZero():
		return p, fmt.Sprintf("%s, whose schedule this is, was disabled on %s", p.Name, p.Disabled.Format(time.DateOnly)), nil
	}
	return p, "", err
}

// halt pauses a schedule and says why, in its history and to whom it alerts.
func (s *Scheduler) halt(ctx context.Context, v Schedule, now time.Time, why string) error {
	r := Run{
		ID: s.c.NewID(), Schedule: v.ID, Org: v.Org, Tick: v.Next, Cause: ByClock, State: Skipped, Note: "the schedule is paused: " + why,
		Found: Unknown, Alert: "paused", Created: now, Ended: now,
	}
	r.Deliveries = s.parcels(v, identity.Person{}, Alert, now)
	if err := s.c.Store.halt(ctx, v, why, r); err != nil {
		return err
	}
	s.metrics.tick(r)
	s.c.Log.WarnContext(ctx, "a schedule is paused", about(r, slog.String("why", why))...)
	return nil
}

// start makes the conversation and the turn of a run; claim, in the same transaction, makes sure that nobody else does.
func (s *Scheduler) start(ctx context.Context, v Schedule, person identity.Person, r Run, claim func(tx *sql.Tx, p journal.Posted) error) error {
	zone, err := loadZone(v.Zone)
	if err != nil {
		return err
	}
	local := r.Tick.In(zone)
	posted, err := s.c.Journal.PostWith(ctx, journal.Post{
		Owner: journal.Owner{Org: v.Org, Person: v.Person, Role: person.Role}, Conversation: s.c.NewID(), Create: true,
		Title:   v.Name + " · " + local.Format("2006-01-02 15:04"),
		Content: model.Message{Role: model.User, Blocks: []model.Block{{Kind: model.Text, Text: v.Task}}},
		Model:   v.Model, Cause: "schedule", Today: local.Format(time.DateOnly),
	}, claim)
	if err != nil {
		return err
	}
	s.metrics.tick(r)
	s.c.Log.InfoContext(ctx, "a schedule started a turn", about(r, slog.String("turn_id", posted.Turn.ID), slog.Duration("late", s.c.Now().Sub(r.Tick)), slog.Int("missed", r.Missed))...)
	s.c.Wake()
	return nil
}

// beginAll starts queued runs whose predecessor has ended.
func (s *Scheduler) beginAll(ctx context.Context) {
	waiting, err := s.c.Store.waiting(ctx)
	if err != nil {
		s.trouble(ctx, "looking for runs that wait failed", err)
		return
	}
	for _, r := range waiting {
		if err := s.begin(ctx, r); err != nil && !errors.Is(err, ErrTaken) && !errors.Is(err, errOverlap) {
			s.trouble(ctx, "a run that waited could not begin; it is tried again", err, slog.String("schedule_id", r.Schedule), slog.String("run_id", r.ID))
		}
	}
}

func (s *Scheduler) begin(ctx context.Context, r Run) error {
	v, err := s.c.Store.schedule(ctx, r.Schedule)
	if err != nil {
		return err
	}
	person, why, err := s.person(ctx, v)
	if err != nil {
		return err
	}
	if why != "" {
		return ErrTaken // its next tick pauses the schedule, and drops what waits
	}
	return s.start(ctx, v, person, r, func(tx *sql.Tx, p journal.Posted) error {
		if err := lock(ctx, tx, v.ID); err != nil {
			return err
		}
		return begin(ctx, tx, r, p)
	})
}

// RunNow starts a run because a person asks for it. It follows the schedule's policy for overlapping runs: ErrBusy where that
// says skip.
func (s *Scheduler) RunNow(ctx context.Context, v Schedule) (Run, error) {
	now := s.c.Now()
	person, why, err := s.person(ctx, v)
	if err != nil {
		return Run{}, err
	}
	if why != "" {
		return Run{}, problem("person", why, "somebody else has to make the schedule anew")
	}
	// A microsecond that no cron line's tick has.
	r := Run{ID: s.c.NewID(), Schedule: v.ID, Org: v.Org, Tick: now.Truncate(time.Millisecond).Add(time.Microsecond), Cause: ByPerson, State: Running, Found: Unknown, Created: now}
	err = s.start(ctx, v, person, r, func(tx *sql.Tx, p journal.Posted) error {
		if err := lock(ctx, tx, v.ID); err != nil {
			return err
		}
		if err := alone(ctx, tx, v.ID); err != nil {
			return err
		}
		r.Conversation, r.Turn = p.Conversation.ID, p.Turn.ID
		return insertRun(ctx, tx, r)
	})
	if !errors.Is(err, errOverlap) {
		return r, err
	}
	if v.Overlap != QueueBusy {
		return Run{}, ErrBusy
	}
	r.State, r.Note, r.Conversation, r.Turn = Queued, "it waits for the run before it", "", ""
	err = s.c.Store.write(ctx, "queueing a run", func(tx *sql.Tx) error {
		if err := lock(ctx, tx, v.ID); err != nil {
			return err
		}
		switch queued, err := waitingRuns(ctx, tx, v.ID); {
		case err != nil:
			return err
		case queued >= maxQueued:
			return ErrBusy
		}
		return insertRun(ctx, tx, r)
	})
	return r, err
}

// about is what log lines say of a run.
func about(r Run, more ...any) []any {
	return append([]any{slog.String("schedule_id", r.Schedule), slog.String("run_id", r.ID), slog.String("org", r.Org), slog.Time("tick", r.Tick), slog.String("state", string(r.State))}, more...)
}
