package schedule

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/agent/identity"
	"bordereau/agent/journal"
)

var completed = journal.Outcome{Status: journal.Completed}

func tickMakesOneTurnAndDelivers(t *testing.T, b *bed) {
	v := b.create(daily())
	b.passAt("2026-11-30T11:29:59Z")
	b.expect(v, "")
	b.passAt("2026-11-30T11:30:01Z")
	b.s.pass(t.Context())
	b.expect(v, "running")
	turn := b.end(completed, 3)
	if turn.Cause != "schedule" || turn.Person != b.kim.ID || turn.Role != identity.Underwriter || turn.Today != "2026-11-30" || turn.Model != "playbook" {
		t.Errorf("%+v", turn)
	}
	b.s.pass(t.Context())
	b.expect(v, "completed")
	b.s.deliverAll(t.Context())
	b.s.deliverAll(t.Context())
	letters := b.mail.all()
	if len(letters) != 1 || letters[0].Subject != "Daily, 2026-11-30 06:30 EST" || letters[0].Text != "There are findings." || letters[0].Parcel != Report {
		t.Fatalf("%+v", letters)
	}
	r := b.runs(v)[0]
	if r.Found != 3 || r.Alert != "" || len(r.Deliveries) != 1 || r.Deliveries[0].State != Sent || len(r.Deliveries[0].Attempts) != 1 || r.Deliveries[0].Attempts[0].Outcome != Accepted {
		t.Errorf("%+v", r)
	}
	conv, err := b.journal.Conversation(t.Context(), journal.Owner{Org: "acme"}, r.Conversation)
	if err != nil || conv.Title != "Daily · 2026-11-30 06:30" {
		t.Errorf("%+v, %v", conv, err)
	}
}

// An evening's tick in New York is the next day in UTC; "today" means New York's.
func TestTodayIsTheTicksDay(t *testing.T) {
	t.Parallel()
	b := newBed(t, t.TempDir()+"/journal.db")
	d := daily()
	d.Cron = "0 21 * * *"
	b.create(d)
	b.passAt("2026-12-01T02:00:00Z")
	if turn := b.end(completed, 1); turn.Today != "2026-11-30" {
		t.Error(turn.Today)
	}
}

func missedTicks(t *testing.T, b *bed) {
	once, skip := daily(), daily()
	skip.Missed, skip.Name = SkipLate, "Skip"
	v, w := b.create(once), b.create(skip)
	b.passAt("2026-12-03T15:00:00Z") // four ticks late
	b.s.pass(t.Context())
	b.expect(v, "running")
	b.expect(w, "missed")
	r := b.runs(v)[0]
	if !r.Tick.Equal(at(t, "2026-12-03T11:30:00Z")) || r.Missed != 3 {
		t.Errorf("%+v", r)
	}
	if m := b.runs(w)[0]; m.Missed != 3 || !strings.Contains(m.Note, "3h30m0s late") || m.Turn != "" {
		t.Errorf("%+v", m)
	}
	b.end(completed, 1)
	b.passAt("2026-12-04T11:30:30Z") // in time again
	b.expect(v, "running completed")
	b.expect(w, "running missed")
}

func overlappingRuns(t *testing.T, b *bed) {
	d := daily()
	d.Cron = "*/10 * * * *"
	v := b.create(d)
	b.passAt("2026-11-30T11:10:00Z")
	b.passAt("2026-11-30T11:20:00Z")
	b.expect(v, "skipped running")
	if _, err := b.desk.RunNow(t.Context(), v); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
	b.end(completed, 1)
	b.passAt("2026-11-30T11:25:00Z")
	if err := b.desk.Remove(t.Context(), "acme", v.ID); err != nil {
		t.Fatal(err)
	}
	d.Overlap = QueueBusy
	q := b.create(d)
	b.passAt("2026-11-30T11:30:00Z")
	b.passAt("2026-11-30T11:40:00Z")
	b.passAt("2026-11-30T11:50:00Z")
	b.expect(q, "queued queued running")
	b.end(completed, 1)
	b.passAt("2026-11-30T11:51:00Z")
	b.expect(q, "queued running completed")
	b.end(completed, 1)
	b.passAt("2026-11-30T11:52:00Z")
	b.expect(q, "running completed completed")
	r, err := b.desk.RunNow(t.Context(), q)
	if err != nil || r.State != Queued {
		t.Errorf("%+v, %v", r, err)
	}
	for range maxQueued {
		b.passAt(b.hand.Now().Add(10 * time.Minute).Format(time.RFC3339))
	}
	if got := b.states(q); !strings.HasPrefix(got, "skipped queued") || strings.Count(got, "queued") != maxQueued {
		t.Error(got)
	}
	// What waits isn't run by a schedule that stands still.
	if _, err := b.desk.Change(t.Context(), q, d, true); err != nil {
		t.Fatal(err)
	}
	if got := b.states(q); strings.Contains(got, "queued") {
		t.Error(got)
	}
}

func pauseAndResume(t *testing.T, b *bed) {
	v := b.create(daily())
	v, err := b.desk.Change(t.Context(), v, daily(), true)
	if err != nil || !v.Paused || b.desk.Next(v, 5) != nil {
		t.Fatalf("%+v, %v", v, err)
	}
	b.passAt("2026-12-02T12:00:00Z")
	b.expect(v, "")
	if v, err = b.desk.Change(t.Context(), v, daily(), false); err != nil || !v.Next.Equal(at(t, "2026-12-03T11:30:00Z")) {
		t.Fatalf("%+v, %v", v, err)
	}
	b.passAt("2026-12-03T11:30:00Z")
	b.expect(v, "running")
}

func disabledPersonsSchedulePausesAndSaysSo(t *testing.T, b *bed) {
	d := daily()
	d.Alert = []Destination{{Webhook, "https://ops.example/hook"}}
	v := b.create(d)
	kim := b.kim
	kim.Disabled = b.hand.Now()
	if _, err := b.people.PutPerson(t.Context(), kim); err != nil {
		t.Fatal(err)
	}
	b.passAt("2026-11-30T11:30:00Z")
	b.passAt("2026-12-01T11:30:00Z")
	b.expect(v, "skipped")
	v, err := b.desk.Get(t.Context(), "acme", v.ID)
	if err != nil || !v.Paused || !strings.Contains(v.PausedWhy, "Kim, whose schedule this is, was disabled on 2026-11-30") {
		t.Errorf("%+v, %v", v, err)
	}
	b.s.deliverAll(t.Context())
	if l := b.mail.all(); len(l) != 1 || l[0].Parcel != Alert || !strings.Contains(l[0].Text, "the schedule is paused") || !strings.Contains(l[0].Text, "was disabled") {
		t.Errorf("%+v", l)
	}
	if _, err := b.desk.RunNow(t.Context(), v); err == nil {
		t.Error("it ran")
	}
}

func TestAlerts(t *testing.T) {
	t.Parallel()
	b := newBed(t, t.TempDir()+"/journal.db")
	v := b.create(daily())
	day := at(t, "2026-11-30T11:30:00Z")
	next := func(o journal.Outcome, found int) Run {
		b.hand.set(day)
		b.s.pass(t.Context())
		b.end(o, found)
		b.s.pass(t.Context())
		b.s.deliverAll(t.Context())
		day = day.Add(24 * time.Hour)
		return b.runs(v)[0]
	}
	if r := next(completed, 0); r.Alert != "" { // nothing is usual yet
		t.Errorf("%+v", r)
	}
	for range 10 {
		if r := next(completed, 2); r.Alert != "" {
			t.Errorf("%+v", r)
		}
	}
	if r := next(completed, 0); r.Alert != "empty" || len(r.Deliveries) != 2 { // and the report comes too
		t.Errorf("%+v", r)
	}
	if r := next(completed, 0); r.Alert != "" { // it is known now
		t.Errorf("%+v", r)
	}
	r := next(journal.Outcome{Status: journal.CutShort, Reason: "deadline", Message: "cut short by the time that a turn may take", Hint: "ask again"}, 1)
	if r.Alert != "cut_short" || len(r.Deliveries) != 2 {
		t.Errorf("%+v", r)
	}
	r = next(journal.Outcome{Status: journal.Failed, Fault: "infrastructure", Component: "governance", Message: "governance does not answer", Hint: "try later"}, -1)
	if r.Alert != "failed" || len(r.Deliveries) != 1 || r.Deliveries[0].Parcel != Alert || r.Deliveries[0].Destination.To != "kim@acme.example" {
		t.Errorf("%+v", r)
	}
	last := b.mail.all()[len(b.mail.all())-1]
	if !strings.HasPrefix(last.Subject, "ALERT: Daily, ") || !strings.Contains(last.Text, "governance does not answer; try later") {
		t.Errorf("%+v", last)
	}
	if r := next(journal.Outcome{Status: journal.Cancelled, Message: "stopped on request"}, -1); r.Alert != "" || len(r.Deliveries) != 0 {
		t.Errorf("%+v", r)
	}
}

// Several replicas look at the same moment, again and again: each tick has one run and one turn.
func replicasRace(t *testing.T, b *bed) {
	var all []Schedule
	d := daily()
	d.Cron = "* * * * *"
	for range 5 {
		all = append(all, b.create(d))
	}
	replicas := []*Scheduler{b.s}
	for range 3 {
		s, _, _ := b.replica()
		replicas = append(replicas, s)
	}
	const minutes = 10
	for range minutes {
		b.hand.set(b.hand.Now().Add(time.Minute))
		var wg sync.WaitGroup
		for _, s := range replicas {
			wg.Go(func() { s.pass(t.Context()) })
		}
		wg.Wait()
		for range all {
			b.end(completed, 1)
		}
		for _, s := range replicas {
			wg.Go(func() { s.pass(t.Context()); s.deliverAll(t.Context()) })
		}
		wg.Wait()
	}
	for _, v := range all {
		b.expect(v, strings.TrimSpace(strings.Repeat("completed ", minutes)))
	}
	if _, err := b.journal.Claim(t.Context(), "test"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a turn too many: %v", err)
	}
	seen := map[string]int{}
	for _, l := range b.mail.all() {
		seen[l.ID]++
	}
	if len(seen) != len(all)*minutes {
		t.Errorf("%d letters", len(seen))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("letter %s was sent %d times", id, n)
		}
	}
}
