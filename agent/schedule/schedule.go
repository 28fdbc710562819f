// Package schedule starts turns by the clock on behalf of people, each tick once, and delivers what they made.
package schedule

import (
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of what a person may write.
const (
	maxName         = 120
	maxTask         = 16 << 10
	maxLine         = 120
	maxDestinations = 20
)

// MaxPerOrg bounds how many schedules an organisation has.
const MaxPerOrg = 500

// Missed says what becomes of ticks that nobody ran in time: Bordereau was down, or overloaded.
type Missed string

// The policies for missed ticks.
const (
	RunOnce  Missed = "run_once" // the latest one runs late and stands for the others
	SkipLate Missed = "skip"     // none runs; the history says so
)

// Overlap says what becomes of a tick whose predecessor still runs.
type Overlap string

// The policies for overlapping runs.
const (
	SkipBusy  Overlap = "skip"  // it doesn't run; the history says so
	QueueBusy Overlap = "queue" // it runs when the other has ended
)

// maxQueued bounds how many ticks wait for a run to end.
const maxQueued = 10

// Kind is a way of delivery.
type Kind string

// The kinds of delivery.
const (
	Email   Kind = "email"
	Webhook Kind = "webhook"
	Folder  Kind = "folder"
)

// Destination is where a report or an alert goes: To is an e-mail address, an address on the web, or the name of a folder.
type Destination struct {
	Kind Kind   `json:"kind"`
	To   string `json:"to"`
}

// Schedule is a task that the clock starts.
type Schedule struct {
	ID        string
	Org       string
	Person    string // on whose behalf it runs
	Name      string
	Task      string // what a turn is asked
	Model     string // always named, so that another default changes nothing
	Cron      string
	Zone      string
	Missed    Missed
	Overlap   Overlap
	Deliver   []Destination
	Alert     []Destination // none: the person's own e-mail address
	Paused    bool
	PausedWhy string // "" when a person paused it
	Next      time.Time
	Created   time.Time
	Updated   time.Time
}

// Draft is what a person writes of a schedule.
type Draft struct {
	Name    string
	Task    string
	Model   string
	Cron    string
	Zone    string
	Missed  Missed
	Overlap Overlap
	Deliver []Destination
	Alert   []Destination
}

// check returns the draft with its defaults, and its clock; errors are *ProblemError.
func (d Draft) check(models []string, kinds []Kind) (Draft, Clock, error) {
	d.Name, d.Task, d.Cron = strings.Join(strings.Fields(d.Name), " "), strings.TrimSpace(d.Task), strings.Join(strings.Fields(d.Cron), " ")
	if d.Missed == "" {
		d.Missed = RunOnce
	}
	if d.Overlap == "" {
		d.Overlap = SkipBusy
	}
	if d.Model == "" {
		d.Model = models[0]
	}
	switch {
	case !plain(d.Name) || !plain(strings.Join(strings.Fields(d.Task), " ")):
		return d, Clock{}, problem("task", "the name or the task holds characters that can't be stored", "write plain text")
	case d.Name == "" || utf8.RuneCountInString(d.Name) > maxName:
		return d, Clock{}, problem("name", fmt.Sprintf("the name has 1 to %d characters", maxName), "it heads each e-mail")
	case d.Task == "" || len(d.Task) > maxTask:
		return d, Clock{}, problem("task", fmt.Sprintf("the task has 1 to %d bytes", maxTask), "say what to do, as you would in a chat")
	case !slices.Contains(models, d.Model):
		return d, Clock{}, problem("model", fmt.Sprintf("there is no model %q", short(d.Model)), "there are "+strings.Join(models, ", "))
	case d.Missed != RunOnce && d.Missed != SkipLate:
		return d, Clock{}, problem("missed", "the policy for missed ticks is run_once or skip", "")
	case d.Overlap != SkipBusy && d.Overlap != QueueBusy:
		return d, Clock{}, problem("overlap", "the policy for overlapping runs is skip or queue", "")
	case len(d.Cron) > maxLine || len(d.Zone) > maxLine:
		return d, Clock{}, problem("cron", fmt.Sprintf("the cron line or the time zone has more than %d bytes", maxLine), "")
	}
	c, err := ParseClock(d.Cron, d.Zone)
	if err != nil {
		return d, c, err
	}
	if d.Deliver, err = checkDestinations("deliver", d.Deliver, kinds); err != nil {
		return d, c, err
	}
	d.Alert, err = checkDestinations("alert", d.Alert, kinds)
	return d, c, err
}

func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f })
}

func checkDestinations(field string, all []Destination, kinds []Kind) ([]Destination, error) {
	if len(all) > maxDestinations {
		return nil, problem(field, fmt.Sprintf("there are more than %d destinations", maxDestinations), "use a list address, or a webhook")
	}
	out := []Destination{}
	for _, d := range all {
		d.To = strings.TrimSpace(d.To)
		if err := d.check(field, kinds); err != nil {
			return nil, err
		}
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out, nil
}

func (d Destination) check(field string, kinds []Kind) error {
	if !slices.Contains(kinds, d.Kind) {
		hint := "an administrator sets it up in the configuration"
		if d.Kind != Email && d.Kind != Webhook && d.Kind != Folder {
			hint = "the kinds are email, webhook and folder"
		}
		return problem(field, fmt.Sprintf("deliveries by %q are not set up here", short(string(d.Kind))), hint)
	}
	if len(d.To) > 500 || !plain(d.To) {
		return problem(field, "a destination is too long or holds characters that can't be used", "")
	}
	switch d.Kind {
	case Email:
		if a, err := mail.ParseAddress(d.To); err != nil || a.Address != d.To {
			return problem(field, fmt.Sprintf("%q is no e-mail address", short(d.To)), "write it as name@example.com, one address each")
		}
	case Webhook:
		u, err := url.Parse(d.To)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
			return problem(field, fmt.Sprintf("%q is no address for a webhook", short(d.To)), "write https://host/path, without a password in it")
		}
	case Folder:
		// A name, not a path: where it lies is the administrator's business.
		if d.To == "" || len(d.To) > 100 || strings.ContainsAny(d.To, `/\:*?"<>|`) || strings.HasPrefix(d.To, ".") {
			return problem(field, fmt.Sprintf("%q is no folder's name", short(d.To)), "write a name without / or \\ that doesn't begin with a dot")
		}
	}
	return nil
}
