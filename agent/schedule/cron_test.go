package schedule

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func clock(t *testing.T, line, zone string) Clock {
	t.Helper()
	c, err := ParseClock(line, zone)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// New York changes its clocks on 8 March and 1 November 2026, and on 14 March and 7 November 2027.
func TestTicksOverChangesOfTheClocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, zone, after, want string }{
		{"a weekday's 06:30 moves with the clocks, spring 2026", "30 6 * * mon-fri", "America/New_York", "2026-03-06T12:00:00Z", "2026-03-09T10:30:00Z 2026-03-10T10:30:00Z"},
		{"before it", "30 6 * * mon-fri", "America/New_York", "2026-03-05T12:00:00Z", "2026-03-06T11:30:00Z"},
		{"autumn 2026", "30 6 * * mon-fri", "America/New_York", "2026-10-30T00:00:00Z", "2026-10-30T10:30:00Z 2026-11-02T11:30:00Z"},
		{"spring 2027", "30 6 * * *", "America/New_York", "2027-03-13T00:00:00Z", "2027-03-13T11:30:00Z 2027-03-14T10:30:00Z"},
		{"autumn 2027", "30 6 * * *", "America/New_York", "2027-11-06T00:00:00Z", "2027-11-06T10:30:00Z 2027-11-07T11:30:00Z"},
		{"02:30 doesn't exist, 2026: once, when the gap ends", "30 2 * * *", "America/New_York", "2026-03-07T00:00:00Z", "2026-03-07T07:30:00Z 2026-03-08T07:00:00Z 2026-03-09T06:30:00Z"},
		{"02:30 doesn't exist, 2027", "30 2 * * *", "America/New_York", "2027-03-13T08:00:00Z", "2027-03-14T07:00:00Z 2027-03-15T06:30:00Z"},
		{"01:30 happens twice, 2026: once, the first", "30 1 * * *", "America/New_York", "2026-10-31T06:00:00Z", "2026-11-01T05:30:00Z 2026-11-02T06:30:00Z"},
		{"01:30 happens twice, 2027", "30 1 * * *", "America/New_York", "2027-11-06T06:00:00Z", "2027-11-07T05:30:00Z 2027-11-08T06:30:00Z"},
		{"asked between the two", "30 1 * * *", "America/New_York", "2026-11-01T05:45:00Z", "2026-11-02T06:30:00Z"},
		{"asked in the second", "30 1 * * *", "America/New_York", "2026-11-01T06:15:00Z", "2026-11-02T06:30:00Z"},
		{"several times of the gap are one tick", "*/20 2,3 * * *", "America/New_York", "2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z 2026-03-08T07:20:00Z"},
		{"midnight doesn't exist in Beirut", "0 0 * * *", "Asia/Beirut", "2026-03-27T22:30:00Z", "2026-03-28T22:00:00Z 2026-03-29T21:00:00Z"},
		{"half an hour in Lord Howe", "15 2 * * *", "Australia/Lord_Howe", "2026-10-02T16:00:00Z", "2026-10-03T15:30:00Z 2026-10-04T15:15:00Z"},
		{"a leap day", "0 12 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T12:00:00Z"},
		{"@daily", "@daily", "America/New_York", "2026-11-29T12:00:00Z", "2026-11-30T05:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := strings.Fields(c.want)
			var got []string
			for _, tick := range clock(t, c.line, c.zone).Nexts(at(t, c.after), len(want)) {
				got = append(got, tick.Format(time.RFC3339))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got  %v\nwant %s", got, c.want)
			}
		})
	}
}

// Over two years of both kinds of change, a daily time comes once each day, whatever the time.
func TestOnceADay(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"0 0 * * *", "30 1 * * *", "59 1 * * *", "0 2 * * *", "30 2 * * *", "0 3 * * *"} {
		c := clock(t, line, "America/New_York")
		days := map[string]int{}
		from, to := at(t, "2026-01-01T05:00:00Z"), at(t, "2028-01-01T04:59:59Z")
		for tick := c.Next(from.Add(-time.Second)); tick.Before(to); tick = c.Next(tick) {
			days[tick.In(c.Zone()).Format(time.DateOnly)]++
		}
		for day, n := range days {
			if n != 1 {
				t.Errorf("%s: %d ticks on %s", line, n, day)
			}
		}
		if len(days) != 730 {
			t.Errorf("%s: ticks on %d days", line, len(days))
		}
	}
}

func TestProblemsOfALine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, zone, field, says string }{
		{"30 25 * * *", "UTC", "cron", `the hour "25" is wrong: it takes 0 to 23`},
		{"61 6 * * *", "UTC", "cron", `the minute "61" is wrong`},
		{"0 6 32 * *", "UTC", "cron", `the day of the month "32" is wrong`},
		{"0 6 * 13 *", "UTC", "cron", `the month "13" is wrong`},
		{"0 6 * * mon-fry", "UTC", "cron", `the day of the week "mon-fry" is wrong`},
		{"0 6 * * 7", "UTC", "cron", "where 0 is Sunday"},
		{"0 6,,7 * * *", "UTC", "cron", `the hour "6,,7" is wrong`},
		{"0 , * * *", "UTC", "cron", `the hour "," is wrong`},
		{"0 6 * *", "UTC", "cron", "five fields and this one has 4"},
		{"0 0 6 * * *", "UTC", "cron", "this one has 6"},
		{"every weekday", "UTC", "cron", "this one has 2"},
		{"", "UTC", "cron", "is empty"},
		{"@every 5m", "UTC", "cron", "is not known"},
		{"TZ=UTC", "UTC", "cron", "names no time zone"},
		{"0 0 31 2 *", "UTC", "cron", "never comes"},
		{"0 0 * * *", "New York", "zone", `no time zone "New York"`},
		{"0 0 * * *", "", "zone", "is missing"},
		{"0 0 * * *", "Local", "zone", "is missing"},
		{"0 0 * * *", "../../etc/passwd", "zone", "no time zone"},
	} {
		_, err := ParseClock(c.line, c.zone)
		var p *ProblemError
		if !errors.As(err, &p) || p.Field != c.field || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q in %q: %v; want %s: %s", c.line, c.zone, err, c.field, c.says)
		}
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	c := clock(t, "0 6 * * *", "UTC")
	tick, earlier := c.due(at(t, "2026-11-01T06:00:00Z"), at(t, "2026-11-01T06:00:01Z"))
	if earlier != 0 || !tick.Equal(at(t, "2026-11-01T06:00:00Z")) {
		t.Error(tick, earlier)
	}
	if tick, earlier = c.due(at(t, "2026-11-01T06:00:00Z"), at(t, "2026-11-04T05:00:00Z")); earlier != 2 || !tick.Equal(at(t, "2026-11-03T06:00:00Z")) {
		t.Error(tick, earlier)
	}
	c = clock(t, "* * * * *", "UTC")
	if tick, earlier = c.due(at(t, "2020-01-01T00:00:00Z"), at(t, "2026-11-04T05:00:30Z")); earlier != maxMissed || !tick.Equal(at(t, "2026-11-04T05:00:00Z")) {
		t.Error(tick, earlier)
	}
}

func FuzzClock(f *testing.F) {
	for _, line := range []string{"30 6 * * mon-fri", "*/20 2,3 * * *", "0 0 29 2 *", "@daily", "TZ=UTC", ",", "0-59/7 * * * ?"} {
		f.Add(line, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, line string, sec int64) {
		c, err := ParseClock(line, "America/New_York")
		if err != nil {
			return
		}
		from := time.Unix(sec%4_000_000_000, 0)
		last := from
		for _, tick := range c.Nexts(from, 5) {
			if !tick.After(last) {
				t.Fatalf("%q: %v after %v", line, tick, last)
			}
			last = tick
		}
	})
}
