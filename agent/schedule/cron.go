package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Clock says when a schedule's ticks are: a cron line read on the wall clock of a time zone.
//
// The line is matched against wall-clock time. A time that a change of the clocks leaves out happens once, at the first instant
// after the gap; a time that happens twice happens the first time only.
type Clock struct {
	spec *cron.SpecSchedule
	zone *time.Location
}

// cronFields are the five fields of a cron line, in order, and what each may hold.
var cronFields = [5]struct{ name, takes, example string }{
	{"minute", "0 to 59", "0,30 or */15"},
	{"hour", "0 to 23", "6,18 or 9-17"},
	{"day of the month", "1 to 31", "1,15 or *"},
	{"month", "1 to 12 or jan to dec", "1-6 or *"},
	{"day of the week", "0 to 6 or sun to sat, where 0 is Sunday", "mon-fri or *"},
}

// ParseClock reads a cron line of five fields, or @hourly, @daily, @weekly, @monthly, @yearly, and the name of an IANA time zone.
// Its errors are *ProblemError: a sentence for the person who wrote the line.
func ParseClock(line, zone string) (Clock, error) {
	loc, err := loadZone(zone)
	if err != nil {
		return Clock{}, err
	}
	spec, err := parseCron(strings.TrimSpace(line))
	if err != nil {
		return Clock{}, err
	}
	c := Clock{spec: spec, zone: loc}
	if spec.Next(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Clock{}, problem("cron", "the day that this line names never comes", "no month that it allows has such a day")
	}
	return c, nil
}

func loadZone(zone string) (*time.Location, error) {
	// "" and Local would mean the machine's own, which differs between replicas.
	if zone == "" || zone == "Local" {
		return nil, problem("zone", "the time zone is missing", "name one, such as America/New_York or UTC")
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, problem("zone", fmt.Sprintf("there is no time zone %q", short(zone)), "use a name such as America/New_York, Europe/London or UTC")
	}
	return loc, nil
}

func parseCron(line string) (*cron.SpecSchedule, error) {
	switch {
	case line == "":
		return nil, problem("cron", "the cron line is empty", `write five fields: "30 6 * * mon-fri" is every weekday at 06:30`)
	case strings.Contains(line, "TZ="):
		return nil, problem("cron", "a cron line names no time zone here", "leave TZ= out and choose the time zone beside the line")
	case strings.HasPrefix(line, "@"):
		switch line {
		case "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually":
		default:
			return nil, problem("cron", fmt.Sprintf("%q is not known", short(line)), "use @hourly, @daily, @weekly, @monthly, @yearly or five fields")
		}
	default:
		if err := checkFields(strings.Fields(line)); err != nil {
			return nil, err
		}
	}
	parsed, err := cron.ParseStandard(line)
	if err != nil {
		return nil, problem("cron", "the cron line can't be read", short(err.Error()))
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, problem("cron", "the cron line can't be read", "write five fields")
	}
	spec.Location = time.UTC // wall-clock time is worked out as if it were UTC, which has no changes
	return spec, nil
}

// checkFields says which field of a line is wrong: the parser's own message names none.
func checkFields(fields []string) error {
	if len(fields) != len(cronFields) {
		return problem("cron", fmt.Sprintf("a cron line has five fields and this one has %d", len(fields)),
			"they are minute, hour, day of the month, month and day of the week")
	}
	for i, f := range fields {
		alone := [5]string{"*", "*", "*", "*", "*"}
		alone[i] = f
		_, err := cron.ParseStandard(strings.Join(alone[:], " "))
		hollow := strings.HasPrefix(f, ",") || strings.HasSuffix(f, ",") || strings.Contains(f, ",,") // the parser takes it for nothing at all
		if err != nil || hollow {
			field := cronFields[i]
			return problem("cron", fmt.Sprintf("the %s %q is wrong", field.name, short(f)),
				fmt.Sprintf("it takes %s, such as %s", field.takes, field.example))
		}
	}
	return nil
}

// Zone is the clock's time zone.
func (c Clock) Zone() *time.Location { return c.zone }

// Next returns the first tick after t, in UTC.
func (c Clock) Next(t time.Time) time.Time {
	local := t.In(c.zone)
	wall := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), local.Nanosecond(), time.UTC)
	for {
		wall = c.spec.Next(wall)
		if wall.IsZero() {
			return time.Time{} // further away than the parser looks; ParseClock refused what never comes
		}
		// In the hour that happens twice, and in a gap, several walls map to instants that are over already.
		if at := c.instant(wall); at.After(t) {
			return at.UTC()
		}
	}
}

// Nexts returns the first n ticks after t.
func (c Clock) Nexts(t time.Time, n int) []time.Time {
	var all []time.Time
	for range n {
		if t = c.Next(t); t.IsZero() {
			break
		}
		all = append(all, t)
	}
	return all
}

// instant is when the zone's wall clock first shows wall, or the end of the gap that wall is in.
func (c Clock) instant(wall time.Time) time.Time {
	// The zone's offsets a day before and a day after bracket any change at wall.
	_, before := wall.Add(-24 * time.Hour).In(c.zone).Zone()
	_, after := wall.Add(24 * time.Hour).In(c.zone).Zone()
	first := wall.Add(-time.Duration(max(before, after)) * time.Second)
	second := wall.Add(-time.Duration(min(before, after)) * time.Second)
	for _, at := range []time.Time{first, second} {
		if shows(at.In(c.zone), wall) {
			return at
		}
	}
	start, _ := second.In(c.zone).ZoneBounds()
	return start
}

func shows(local, wall time.Time) bool {
	return local.Hour() == wall.Hour() && local.Minute() == wall.Minute() && local.Day() == wall.Day()
}

// maxMissed bounds how many missed ticks are counted one by one.
const maxMissed = 10_000

// due returns the latest tick from first on that is not after now, and how many came before it.
func (c Clock) due(first, now time.Time) (tick time.Time, earlier int) {
	for tick = first; earlier < maxMissed; earlier++ {
		next := c.Next(tick)
		if next.IsZero() || next.After(now) {
			return tick, earlier
		}
		tick = next
	}
	// A line of every minute after a week of standstill: the latest tick is found from now backwards.
	for back := time.Minute; ; back *= 2 {
		next := c.Next(now.Add(-back))
		if next.IsZero() || next.After(now) {
			continue
		}
		for !next.After(now) {
			tick, next = next, c.Next(next)
		}
		return tick, earlier
	}
}
