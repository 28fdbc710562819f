package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

// lastWords is how long an attempt under way may go on after Stop.
const lastWords = 5 * time.Second

// deliverAll makes attempts until nothing is due.
func (s *Scheduler) deliverAll(ctx context.Context) {
	for ctx.Err() == nil {
		d, err := s.c.Store.takeDelivery(ctx, s.c.Now(), s.c.Attempt+time.Minute)
		switch {
		case errors.Is(err, ErrNotFound):
			return
		case errors.Is(err, ErrTaken):
			continue
		case err != nil:
			s.trouble(ctx, "looking for deliveries that are due failed", err)
			return
		}
		s.deliver(ctx, d)
	}
}

// deliver makes one attempt. Its begin is stored already and its end is stored here. What has been accepted is never sent
// again; an attempt whose end nobody could store may have arrived, and is repeated under the same id: at least once.
func (s *Scheduler) deliver(ctx context.Context, d Delivery) {
	// Stop lets it end: cutting it would leave the question whether it arrived.
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.c.Attempt)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cancel) })()
	a, final := Attempt{N: d.Tries, Outcome: Accepted}, false
	receipt, err := s.attempt(sending, d)
	if err != nil {
		if ctx.Err() != nil && sending.Err() != nil {
			return // cut by Stop: the next process finds an attempt without an end
		}
		a, final = s.judge(d, err)
	} else {
		a.Message = short(receipt)
	}
	a.Ended = s.c.Now()
	var next time.Time
	if a.Outcome != Accepted && !final {
		next = a.Ended.Add(s.pause(d.Tries))
	}
	storing, done := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer done()
	if err := s.c.Store.endAttempt(storing, d, a, next); err != nil {
		s.trouble(ctx, "an attempt's end could not be stored: the delivery may be made twice", err, slog.String("delivery_id", d.ID), slog.String("org", d.Org))
		return
	}
	s.metrics.attempts.WithLabelValues(string(d.Destination.Kind), string(d.Parcel), string(a.Outcome)).Inc()
	level := slog.LevelInfo
	if a.Outcome != Accepted {
		level = slog.LevelWarn
	}
	s.c.Log.Log(ctx, level, "a delivery was attempted", slog.String("delivery_id", d.ID), slog.String("run_id", d.Run), slog.String("org", d.Org), slog.String("kind", string(d.Destination.Kind)),
		slog.String("parcel", string(d.Parcel)), slog.Int("attempt", d.Tries), slog.String("outcome", string(a.Outcome)), slog.Any("error", err))
}

// judge makes an attempt's end of an error: whether it is for good, and what to say.
func (s *Scheduler) judge(d Delivery, err error) (a Attempt, final bool) {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		refusal = &Refusal{Message: "it could not be sent", Hint: "the log has the rest under the delivery's id"}
	}
	a = Attempt{N: d.Tries, Outcome: Failing, Message: clip(refusal.Message, 500), Hint: clip(refusal.Hint, 300)}
	if refusal.Final {
		a.Outcome, final = Refused, true
	}
	if d.Tries > len(s.c.BackOffs) {
		final = true
		a.Hint = strings.TrimPrefix(a.Hint+"; ", "; ") + fmt.Sprintf("given up after %d attempts", d.Tries)
	}
	return a, final
}

// pause is the wait after the n-th attempt.
func (s *Scheduler) pause(n int) time.Duration {
	d := s.c.BackOffs[min(n, len(s.c.BackOffs))-1]
	return d - time.Duration(float64(d)*0.2*s.c.Jitter())
}

func (s *Scheduler) attempt(ctx context.Context, d Delivery) (string, error) {
	to := s.c.Deliverers[d.Destination.Kind]
	if to == nil {
		return "", &Refusal{Final: true, Message: fmt.Sprintf("deliveries by %s are not set up here", d.Destination.Kind), Hint: "an administrator sets it up in the configuration"}
	}
	l, err := s.letter(ctx, d)
	if err != nil {
		return "", err
	}
	return to.Deliver(ctx, d.Destination, l)
}

// letter puts together what is delivered of a run.
func (s *Scheduler) letter(ctx context.Context, d Delivery) (l Letter, err error) {
	r, err := s.c.Store.run(ctx, d.Run)
	if err != nil {
		return l, err
	}
	v, err := s.c.Store.schedule(ctx, r.Schedule)
	if err != nil {
		return l, err
	}
	l = Letter{ID: d.ID, Parcel: d.Parcel, Org: d.Org, Attempt: d.Tries, At: r.Ended, Subject: subject(v, r, d.Parcel), Event: Event{
		Schedule: v.ID, Name: v.Name, Run: r.ID, Tick: r.Tick, Status: string(r.State), Alert: r.Alert, Conversation: r.Conversation, Turn: r.Turn,
	}}
	if r.Found != Unknown {
		l.Event.Found = &r.Found
	}
	if r.Conversation != "" {
		l.Link = s.c.Link("/chat/" + r.Conversation)
		l.Event.URL = l.Link
	} else {
		l.Link = s.c.Link("/schedules/" + v.ID)
	}
	if d.Parcel == Alert {
		l.Text = alertText(v, r)
	} else {
		if l.Text, err = s.answer(ctx, v, r); err != nil {
			return l, err
		}
		if l.Files, err = s.files(ctx, r); err != nil {
			return l, err
		}
	}
	l.Event.Text = l.Text
	return l, nil
}

// subject says what came of which tick, the worst first.
func subject(v Schedule, r Run, p Parcel) string {
	when := r.Tick.Format("2006-01-02 15:04 MST")
	if zone, err := loadZone(v.Zone); err == nil {
		when = r.Tick.In(zone).Format("2006-01-02 15:04 MST")
	}
	switch {
	case p == Alert:
		return "ALERT: " + v.Name + ", " + when + ": " + alerts[r.Alert]
	case r.State == CutShort:
		return "CUT SHORT: " + v.Name + ", " + when
	}
	return v.Name + ", " + when
}

// alerts are the reasons for an alert in a few words.
var alerts = map[string]string{
	"failed":    "the run failed",
	"cut_short": "the run was cut short",
	"empty":     "the run found nothing, for the first time",
	"paused":    "the schedule is paused",
}

func alertText(v Schedule, r Run) string {
	text := fmt.Sprintf("The schedule %q: %s.", v.Name, alerts[r.Alert])
	if r.Alert == "empty" {
		text += "\n\nEarlier runs all found something. That nothing was found may be right; it may also mean that the data did not arrive, or that the filter is wrong."
	}
	if r.Note != "" {
		text += "\n\nWhat happened: " + r.Note + "."
	}
	if r.State == CutShort {
		text += "\n\nWhat was made before that is in the report and in the conversation."
	}
	return text
}

// answer is what the run's turn said.
func (s *Scheduler) answer(ctx context.Context, v Schedule, r Run) (string, error) {
	all, err := s.c.Journal.Messages(ctx, journal.Owner{Org: v.Org, Person: v.Person}, r.Conversation, 0, 500)
	if err != nil {
		return "", err
	}
	var text []string
	for _, m := range all {
		if m.Turn != r.Turn || m.Content.Role != model.Assistant {
			continue
		}
		for _, b := range m.Content.Blocks {
			if b.Kind == model.Text {
				text = append(text, b.Text)
			}
		}
	}
	if len(text) == 0 {
		return "The run ended without an answer.", nil
	}
	return strings.Join(text, "\n\n"), nil
}

func (s *Scheduler) files(ctx context.Context, r Run) ([]File, error) {
	all, err := s.c.Journal.ArtifactsOf(ctx, r.Turn)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, a := range all {
		files = append(files, File{
			Name: a.Name, MediaType: a.MediaType, Size: a.Size, SHA256: a.SHA256, Link: s.c.Link("/api/artifacts/" + a.ID),
			Open: func(ctx context.Context) (io.ReadSeekCloser, error) {
				f, _, err := s.c.Files.Open(ctx, a.Org, a.SHA256)
				return f, err
			},
		})
	}
	return files, nil
}

func clip(s string, n int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
