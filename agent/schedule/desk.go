package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bordereau/agent/identity"
)

// DeskConfig is what a Desk is made of. All fields but Now are required.
type DeskConfig struct {
	Store     *Store
	Scheduler *Scheduler
	Models    Models
	People    Members
	// Domains are those that any schedule may send e-mail to, beside the addresses of the organisation's own people; "*" allows all.
	Domains []string
	Secrets Secrets // nil where no webhooks are set up
	NewID   func() string
	Now     func() time.Time
}

// Members knows an organisation's people by their addresses.
type Members interface {
	FindPersonByEmail(ctx context.Context, org, email string) (identity.Person, error)
}

// Secrets makes the secret that a receiver checks a webhook's signatures with.
type Secrets interface {
	Secret(schedule, to string) string
}

// Desk is where people make, change and look at their schedules.
type Desk struct {
	c     DeskConfig
	kinds []Kind
}

// NewDesk checks c and returns a Desk.
func NewDesk(c DeskConfig) (*Desk, error) {
	if c.Store == nil || c.Scheduler == nil || c.Models == nil || len(c.Models.Names()) == 0 || c.People == nil || c.NewID == nil {
		return nil, fmt.Errorf("%w: a desk needs Store, Scheduler, Models, People and NewID", ErrConfig)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	d := &Desk{c: c}
	for kind := range c.Scheduler.c.Deliverers {
		d.kinds = append(d.kinds, kind)
	}
	slices.Sort(d.kinds)
	return d, nil
}

// Kinds are the ways of delivery that are set up here.
func (d *Desk) Kinds() []Kind { return d.kinds }

// Preview returns the next n ticks of a cron line in a time zone; errors are *ProblemError.
func (d *Desk) Preview(line, zone string, n int) ([]time.Time, error) {
	c, err := ParseClock(line, zone)
	if err != nil {
		return nil, err
	}
	return c.Nexts(d.c.Now(), n), nil
}

// Create makes a schedule of a person.
func (d *Desk) Create(ctx context.Context, org, person string, draft Draft, paused bool) (Schedule, error) {
	v := Schedule{ID: d.c.NewID(), Org: org, Person: person, Paused: paused, Created: d.c.Now().UTC()}
	v, err := d.written(ctx, v, draft)
	if err != nil {
		return Schedule{}, err
	}
	return v, d.c.Store.Create(ctx, v)
}

// Change replaces what is written of a schedule, and whether it is paused. A schedule that goes on begins with the next tick
// after now: what would have come in the pause isn't missed.
func (d *Desk) Change(ctx context.Context, v Schedule, draft Draft, paused bool) (Schedule, error) {
	if paused != v.Paused {
		v.Paused, v.PausedWhy = paused, ""
	}
	v, err := d.written(ctx, v, draft)
	if err != nil {
		return Schedule{}, err
	}
	return v, d.c.Store.Change(ctx, v)
}

// written puts a draft into a schedule.
func (d *Desk) written(ctx context.Context, v Schedule, draft Draft) (Schedule, error) {
	draft, clock, err := draft.check(d.c.Models.Names(), d.kinds)
	if err != nil {
		return v, err
	}
	for field, all := range map[string][]Destination{"deliver": draft.Deliver, "alert": draft.Alert} {
		for _, to := range all {
			if err := d.mayReach(ctx, v.Org, field, to); err != nil {
				return v, err
			}
		}
	}
	v.Name, v.Task, v.Model, v.Cron, v.Zone, v.Missed, v.Overlap = draft.Name, draft.Task, draft.Model, draft.Cron, draft.Zone, draft.Missed, draft.Overlap
	v.Deliver, v.Alert = draft.Deliver, draft.Alert
	v.Updated = d.c.Now().UTC()
	v.Next = clock.Next(v.Updated)
	return v, nil
}

// mayReach refuses e-mail to strangers: a report is customer data.
func (d *Desk) mayReach(ctx context.Context, org, field string, to Destination) error {
	if to.Kind != Email {
		return nil
	}
	_, domain, _ := strings.Cut(to.To, "@")
	for _, allowed := range d.c.Domains {
		if allowed == "*" || strings.EqualFold(allowed, domain) {
			return nil
		}
	}
	person, err := d.c.People.FindPersonByEmail(ctx, org, strings.ToLower(to.To))
	switch {
	case errors.Is(err, identity.ErrNotFound), err == nil && !person.Disabled.IsZero():
		return problem(field, fmt.Sprintf("%s is nobody of the organisation, and mail to %s is not allowed", short(to.To), short(domain)),
			"an administrator allows a domain in the configuration, under mail.domains")
	}
	return err
}

// Get returns a schedule of an organisation.
func (d *Desk) Get(ctx context.Context, org, id string) (Schedule, error) {
	return d.c.Store.Get(ctx, org, id)
}

// List returns the schedules of a person, or with "" of the whole organisation.
func (d *Desk) List(ctx context.Context, org, person string) ([]Schedule, error) {
	return d.c.Store.List(ctx, org, person)
}

// Remove ends a schedule.
func (d *Desk) Remove(ctx context.Context, org, id string) error {
	return d.c.Store.Remove(ctx, org, id, d.c.Now())
}

// Last returns the newest run of each schedule of an organisation.
func (d *Desk) Last(ctx context.Context, org string) (map[string]Run, error) {
	return d.c.Store.Last(ctx, org)
}

// History returns a schedule's runs, the newest first.
func (d *Desk) History(ctx context.Context, org, id string, before time.Time, limit int) ([]Run, error) {
	return d.c.Store.Runs(ctx, org, id, before, limit)
}

// RunNow starts a run beside the clock.
func (d *Desk) RunNow(ctx context.Context, v Schedule) (Run, error) {
	return d.c.Scheduler.RunNow(ctx, v)
}

// Retry tries a delivery again that was given up.
func (d *Desk) Retry(ctx context.Context, org, schedule, delivery string) error {
	return d.c.Store.Retry(ctx, org, schedule, delivery, d.c.Now())
}

// Secret is what the receiver of a webhook checks its signatures with.
func (d *Desk) Secret(v Schedule, to Destination) string {
	if to.Kind != Webhook || d.c.Secrets == nil {
		return ""
	}
	return d.c.Secrets.Secret(v.ID, to.To)
}

// Next returns the next n ticks of a schedule, none while it is paused.
func (d *Desk) Next(v Schedule, n int) []time.Time {
	c, err := ParseClock(v.Cron, v.Zone)
	if err != nil || v.Paused {
		return nil
	}
	return c.Nexts(d.c.Now(), n)
}

// IsProblem finds what is wrong with what a person wrote.
func IsProblem(err error) (*ProblemError, bool) {
	var p *ProblemError
	ok := errors.As(err, &p)
	return p, ok
}
