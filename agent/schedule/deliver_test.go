package schedule

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// ran makes a schedule whose run has ended and whose delivery is due.
func (b *bed) ran(d Draft) Schedule {
	b.t.Helper()
	v := b.create(d)
	b.passAt("2026-11-30T11:30:00Z")
	b.end(completed, 1)
	b.s.pass(b.t.Context())
	return v
}

func (b *bed) later(d time.Duration) {
	b.hand.set(b.hand.Now().Add(d))
	b.s.deliverAll(b.t.Context())
}

func (b *bed) delivery(v Schedule) Delivery {
	b.t.Helper()
	return b.runs(v)[0].Deliveries[0]
}

func deliveryIsRetriedWithBackOff(t *testing.T, b *bed) {
	b.mail.errs = []error{&Refusal{Message: "mail: 451 try later", Hint: "it is tried again"}, errors.New("secret detail")}
	v := b.ran(daily())
	b.later(0)
	b.later(59 * time.Second)
	d := b.delivery(v)
	if d.State != Due || d.Tries != 1 || d.Attempts[0].Message != "mail: 451 try later" || d.Attempts[0].Outcome != Failing {
		t.Errorf("%+v", d)
	}
	b.later(time.Second)
	if d = b.delivery(v); d.Tries != 2 || strings.Contains(d.Attempts[1].Message, "secret") {
		t.Errorf("%+v", d)
	}
	b.later(5 * time.Minute)
	if d = b.delivery(v); d.State != Sent || d.Tries != 3 || d.Ended.IsZero() {
		t.Errorf("%+v", d)
	}
	letters := b.mail.all()
	if len(letters) != 3 || letters[0].ID != letters[2].ID || letters[2].Attempt != 3 {
		t.Errorf("%+v", letters)
	}
}

func deliveryIsGivenUpAndRetriedByAPerson(t *testing.T, b *bed) {
	b.mail.errs = []error{&Refusal{Final: true, Message: "mail: 550 no such user", Hint: "check the address"}}
	v := b.ran(daily())
	b.later(0)
	b.later(24 * time.Hour)
	d := b.delivery(v)
	if d.State != GivenUp || d.Tries != 1 || d.Attempts[0].Outcome != Refused {
		t.Errorf("%+v", d)
	}
	if err := b.desk.Retry(t.Context(), "other", v.ID, d.ID); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := b.desk.Retry(t.Context(), "acme", v.ID, d.ID); err != nil {
		t.Fatal(err)
	}
	b.later(0)
	if d = b.delivery(v); d.State != Sent {
		t.Errorf("%+v", d)
	}
	if err := b.desk.Retry(t.Context(), "acme", v.ID, d.ID); !errors.Is(err, ErrNotFound) {
		t.Error("what was sent is sent again:", err)
	}
	b.mail.errs = []error{errors.New("1"), errors.New("2"), errors.New("3"), errors.New("4")}
	if _, err := b.desk.RunNow(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	b.end(completed, 1)
	b.s.pass(t.Context())
	for range 5 {
		b.later(time.Hour)
	}
	if d = b.delivery(v); d.State != GivenUp || d.Tries != 3 || !strings.Contains(d.Attempts[2].Hint, "given up after 3 attempts") {
		t.Errorf("%+v", d)
	}
}

// A process that dies in the middle of an attempt leaves the question whether it arrived. It is asked again under the same id,
// and the history says so.
func deliveryOfADeadProcess(t *testing.T, b *bed) {
	b.mail.hold, b.mail.entered = make(chan struct{}), make(chan struct{}, 1)
	v := b.ran(daily())
	ctx, die := context.WithCancel(t.Context())
	dead := make(chan struct{})
	go func() { defer close(dead); b.s.deliverAll(ctx) }()
	<-b.mail.entered
	die()
	<-dead // after lastWords
	if d := b.delivery(v); d.State != Sending || d.Attempts[0].Outcome != Started {
		t.Fatalf("%+v", d)
	}
	b.mail.mu.Lock()
	b.mail.hold = nil
	b.mail.mu.Unlock()
	s, _, _ := b.replica()
	s.deliverAll(t.Context()) // the attempt may still be under way elsewhere
	if n := len(b.mail.all()); n != 1 {
		t.Errorf("%d attempts", n)
	}
	b.hand.set(b.hand.Now().Add(4 * time.Minute))
	s.deliverAll(t.Context())
	d := b.delivery(v)
	if d.State != Sent || len(d.Attempts) != 2 || d.Attempts[0].Outcome != Lost || d.Attempts[1].Outcome != Accepted {
		t.Errorf("%+v", d)
	}
	if l := b.mail.all(); len(l) != 2 || l[0].ID != l[1].ID {
		t.Errorf("%+v", l)
	}
}

func TestDrafts(t *testing.T) {
	t.Parallel()
	b := newBed(t, t.TempDir()+"/journal.db")
	for _, c := range []struct {
		field, says string
		change      func(*Draft)
	}{
		{"name", "1 to 120", func(d *Draft) { d.Name = " " }},
		{"task", "1 to", func(d *Draft) { d.Task = "" }},
		{"task", "can't be stored", func(d *Draft) { d.Task = "a\x00b" }},
		{"cron", `the hour "25" is wrong`, func(d *Draft) { d.Cron = "0 25 * * *" }},
		{"zone", "no time zone", func(d *Draft) { d.Zone = "Mars/Olympus" }},
		{"model", "no model", func(d *Draft) { d.Model = "gpt" }},
		{"missed", "policy", func(d *Draft) { d.Missed = "twice" }},
		{"overlap", "policy", func(d *Draft) { d.Overlap = "kill" }},
		{"deliver", "no e-mail address", func(d *Draft) { d.Deliver = []Destination{{Email, "Kim <kim@acme.example>"}} }},
		{"deliver", "nobody of the organisation", func(d *Draft) { d.Deliver = []Destination{{Email, "thief@evil.example"}} }},
		{"alert", "nobody of the organisation", func(d *Draft) { d.Alert = []Destination{{Email, "thief@evil.example"}} }},
		{"deliver", "no address for a webhook", func(d *Draft) { d.Deliver = []Destination{{Webhook, "ftp://a.example"}} }},
		{"deliver", "no address for a webhook", func(d *Draft) { d.Deliver = []Destination{{Webhook, "https://u:p@a.example"}} }},
		{"deliver", "not set up here", func(d *Draft) { d.Deliver = []Destination{{Folder, "out"}} }},
		{"deliver", "not set up here", func(d *Draft) { d.Deliver = []Destination{{"fax", "1"}} }},
		{"deliver", "more than 20", func(d *Draft) { d.Deliver = make([]Destination, 21) }},
	} {
		d := daily()
		c.change(&d)
		_, err := b.desk.Create(t.Context(), "acme", b.kim.ID, d, false)
		if p, ok := IsProblem(err); !ok || p.Field != c.field || !strings.Contains(p.Message, c.says) {
			t.Errorf("%v, want %s: %s", err, c.field, c.says)
		}
	}
	v := b.create(daily())
	if _, err := b.desk.Get(t.Context(), "other", v.ID); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	for _, to := range []string{"", "..", ".x", "a/b", `a\b`} {
		if err := (Destination{Folder, to}).check("deliver", []Kind{Folder}); err == nil {
			t.Errorf("folder %q", to)
		}
	}
	next, err := b.desk.Preview("30 6 * * mon-fri", "America/New_York", 5)
	if err != nil || len(next) != 5 {
		t.Error(next, err)
	}
}
