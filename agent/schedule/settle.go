package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"bordereau/agent/identity"
	"bordereau/agent/journal"
)

// usual is how many earlier runs must all have found something for a run that finds nothing to be news.
const usual = 3

// settleAll ends the runs whose turns have ended.
func (s *Scheduler) settleAll(ctx context.Context) {
	over, err := s.c.Store.over(ctx)
	if err != nil {
		s.trouble(ctx, "looking for runs that have ended failed", err)
		return
	}
	for _, r := range over {
		if err := s.settle(ctx, r); err != nil && !errors.Is(err, ErrTaken) {
			s.trouble(ctx, "a run's end could not be stored; it is tried again", err, slog.String("schedule_id", r.Schedule), slog.String("run_id", r.ID))
		}
	}
}

func (s *Scheduler) settle(ctx context.Context, r Run) error {
	t, err := s.c.Journal.Find(ctx, r.Turn)
	if err != nil {
		return err
	}
	v, err := s.c.Store.schedule(ctx, r.Schedule)
	if err != nil {
		return err
	}
	r.State, r.Note, r.Ended = State(t.Outcome.Status), sentence(t.Outcome), t.Ended
	if r.Found, err = s.count(ctx, r.Turn); err != nil {
		return err
	}
	if r.Alert, err = s.alarm(ctx, r); err != nil {
		return err
	}
	now := s.c.Now()
	if r.State == Completed || r.State == CutShort {
		r.Deliveries = s.parcels(v, identity.Person{}, Report, now)
	}
	if r.Alert != "" {
		person, err := s.c.People.FindPerson(ctx, v.Org, v.Person)
		if err != nil && !errors.Is(err, identity.ErrNotFound) {
			return err
		}
		r.Deliveries = append(r.Deliveries, s.parcels(v, person, Alert, now)...)
	}
	if err := s.c.Store.settle(ctx, r); err != nil {
		return err
	}
	s.metrics.ended.WithLabelValues(string(r.State), r.Alert).Inc()
	s.c.Log.InfoContext(ctx, "a schedule's run ended", about(r, slog.String("turn_id", r.Turn), slog.String("alert", r.Alert), slog.Int("found", r.Found), slog.Int("deliveries", len(r.Deliveries)))...)
	return nil
}

// parcels are the deliveries of a kind that a run of v makes. An alert that v sends nowhere goes to the person herself.
func (s *Scheduler) parcels(v Schedule, person identity.Person, kind Parcel, now time.Time) (all []Delivery) {
	to := v.Deliver
	if kind == Alert {
		to = v.Alert
		if len(to) == 0 && person.Email != "" && s.c.Deliverers[Email] != nil {
			to = []Destination{{Kind: Email, To: person.Email}}
		}
	}
	for i, d := range to {
		all = append(all, Delivery{Parcel: kind, Position: i, Destination: d, NextTry: now})
	}
	return all
}

func sentence(o journal.Outcome) string {
	parts := []string{}
	for _, p := range []string{o.Message, o.Hint} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "; ")
}

// alarm says why somebody must know of a run's end, "" for no reason.
func (s *Scheduler) alarm(ctx context.Context, r Run) (string, error) {
	switch {
	case r.State == Failed:
		return "failed", nil
	case r.State == CutShort:
		return "cut_short", nil
	case r.State != Completed || r.Found != 0:
		return "", nil
	}
	before, err := s.c.Store.found(ctx, r.Schedule, r.Tick, 10)
	if err != nil || len(before) < usual {
		return "", err
	}
	if slices.Contains(before, 0) {
		return "", nil
	}
	return "empty", nil
}

// findings is the count in reconcile's answer, which may be cut behind it.
var findings = regexp.MustCompile(`"finding_count":\s*(\d{1,9})\b`)

// count tells how much a turn found: the findings of its last reconciliation, or else the files that it delivered.
func (s *Scheduler) count(ctx context.Context, turn string) (int, error) {
	steps, err := s.c.Journal.StepsOf(ctx, turn)
	if err != nil {
		return Unknown, err
	}
	n := Unknown
	for _, st := range steps {
		if st.Kind != journal.ToolStep || st.Name != "reconcile" || st.State != journal.Finished {
			continue
		}
		var answer struct {
			Text  string `json:"text"`
			Error bool   `json:"error"`
		}
		if json.Unmarshal(st.Result, &answer) != nil || answer.Error {
			continue
		}
		if m := findings.FindStringSubmatch(answer.Text); m != nil {
			n, _ = strconv.Atoi(m[1]) // nine digits
		}
	}
	if n != Unknown {
		return n, nil
	}
	files, err := s.c.Journal.ArtifactsOf(ctx, turn)
	return len(files), err
}
