package playbook

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// span is a run of whole UTC days, both ends included.
type span struct{ from, to time.Time }

const day = 24 * time.Hour

const iso = "2006-01-02"

func (s span) words() string {
	if s.from.Equal(s.to) {
		return s.from.Format(iso)
	}
	return s.from.Format(iso) + " to " + s.to.Format(iso)
}

var (
	todayRE = regexp.MustCompile(`(?i)\btoday\b[^0-9\n]{0,60}(\d{4}-\d{2}-\d{2})`)
	dateRE  = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)
)

// today reads the day from the system prompt. Zero: it doesn't say.
func today(system string) time.Time {
	var text string
	if m := todayRE.FindStringSubmatch(system); m != nil {
		text = m[1]
	} else {
		text = dateRE.FindString(system)
	}
	t, err := time.Parse(iso, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

var (
	lastN     = regexp.MustCompile(`\b(?:last|past|previous)\s+(\d{1,3}|two|three|four|five|six|seven|ten|twelve|thirty)\s+(day|week|month)s?\b`)
	relative  = regexp.MustCompile(`\b(this|last|previous|current)\s+(week|month|quarter|year)\b`)
	sinceRE   = regexp.MustCompile(`\bsince\s+(\d{4}-\d{2}-\d{2})\b`)
	quarterRE = regexp.MustCompile(`\bq([1-4])(?:\s*(?:of\s+)?(\d{4}))?\b`)
	monthDay  = regexp.MustCompile(`\b(` + monthNames + `)\.?\s+(\d{1,2})(?:st|nd|rd|th)?\b(?:,?\s+(\d{4})\b)?`)
	dayMonth  = regexp.MustCompile(`\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(` + monthNames + `)\b\.?(?:,?\s+(\d{4})\b)?`)
	monthRE   = regexp.MustCompile(`\b(` + monthNames + `)\b\.?(?:,?\s+(\d{4})\b)?`)
	monthSpan = regexp.MustCompile(`\b(` + monthNames + `)\b\.?(?:\s+(\d{4}))?\s*(?:to|through|until|till|[-–—])\s*(` + monthNames + `)\b\.?(?:,?\s+(\d{4})\b)?`)
	mayRE     = regexp.MustCompile(`\bmay\b`)
	mayMonth  = regexp.MustCompile(`\b(?:in|for|of|during|from|since|to|through|until|and|or|,|last|this)\s*may\b|\bmay\s+(?:\d|and\s+(?:june|april)|to\s|through\s|[-–])`)
	yearRE    = regexp.MustCompile(`\b(?:in|for|during|of)\s+(20\d{2})\b`)
)

const monthNames = `january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec`

func month(name string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if strings.HasPrefix(strings.ToLower(m.String()), name[:3]) {
			return m
		}
	}
	return 0
}

// periods reads the days that a text names: ISO dates, days relative to now, weeks, months, quarters. Months without a year
// mean the latest year in which all of them have begun. More than one span comes out only for months that don't touch.
// A text that names a date that doesn't exist is an error; one that names none gives no span.
func periods(ask string, now time.Time) ([]span, error) {
	low := strings.ToLower(ask)
	if spans, err := explicit(low, now); err != nil || spans != nil {
		return spans, err
	}
	if now.IsZero() {
		return nil, nil
	}
	if spans := relatives(low, now); spans != nil {
		return spans, nil
	}
	return months(low, ask, now)
}

// explicit reads ISO dates: one is a day, two are a span.
func explicit(low string, now time.Time) ([]span, error) {
	var dates []time.Time
	for _, text := range dateRE.FindAllString(low, -1) {
		t, err := time.Parse(iso, text)
		if err != nil {
			return nil, fmt.Errorf("%s is no date", text)
		}
		dates = append(dates, t)
	}
	switch {
	case len(dates) == 0:
		return nil, nil
	case len(dates) == 1 && sinceRE.MatchString(low) && !now.IsZero():
		if dates[0].After(now) {
			return nil, fmt.Errorf("%s is after today", dates[0].Format(iso))
		}
		return []span{{dates[0], now}}, nil
	}
	s := span{slices.MinFunc(dates, time.Time.Compare), slices.MaxFunc(dates, time.Time.Compare)}
	return []span{s}, nil
}

func relatives(low string, now time.Time) []span {
	if m := lastN.FindStringSubmatch(low); m != nil {
		n := number(m[1])
		switch {
		case n < 1:
			return nil
		case m[2] == "day":
			return []span{{now.AddDate(0, 0, 1-n), now}}
		case m[2] == "week":
			return []span{{now.AddDate(0, 0, 1-7*n), now}}
		default:
			return []span{{now.AddDate(0, -n, 1), now}}
		}
	}
	if m := relative.FindStringSubmatch(low); m != nil {
		back := 0
		if m[1] == "last" || m[1] == "previous" {
			back = 1
		}
		return []span{calendar(m[2], back, now)}
	}
	yesterday, thisDay := strings.Contains(low, "yesterday"), regexp.MustCompile(`\btoday(?:'s|’s)?\b`).MatchString(low)
	switch {
	case yesterday && thisDay:
		return []span{{now.Add(-day), now}}
	case yesterday:
		return []span{{now.Add(-day), now.Add(-day)}}
	case thisDay:
		return []span{{now, now}}
	}
	return nil
}

// calendar returns a calendar week (from Monday), month, quarter or year, so many back, up to today at most.
func calendar(unit string, back int, now time.Time) span {
	var from, next time.Time
	y, m, _ := now.Date()
	switch unit {
	case "week":
		from = now.AddDate(0, 0, -(int(now.Weekday())+6)%7-7*back)
		next = from.AddDate(0, 0, 7)
	case "month":
		from = date(y, m-time.Month(back), 1)
		next = from.AddDate(0, 1, 0)
	case "quarter":
		from = date(y, (m-1)/3*3+1-time.Month(3*back), 1)
		next = from.AddDate(0, 3, 0)
	default:
		from = date(y-back, 1, 1)
		next = date(y-back+1, 1, 1)
	}
	to := next.Add(-day)
	if to.After(now) {
		to = now
	}
	return span{from, to}
}

// months reads named months, days of months and quarters.
func months(low, ask string, now time.Time) ([]span, error) {
	if m := monthSpan.FindStringSubmatch(low); m != nil {
		return []span{monthRange(m, now)}, nil
	}
	if spans, err := monthDays(low, now); err != nil || spans != nil {
		return spans, err
	}
	if m := quarterRE.FindStringSubmatch(low); m != nil {
		first := time.Month(number(m[1])*3 - 2)
		year := number(m[2])
		if year == 0 {
			year = latest(now, first)
		}
		from := date(year, first, 1)
		return []span{{from, from.AddDate(0, 3, -1)}}, nil
	}
	return namedMonths(low, ask, now), nil
}

func monthRange(m []string, now time.Time) span {
	first, last := month(m[1]), month(m[3])
	toYear, fromYear := number(m[4]), number(m[2])
	switch {
	case toYear == 0 && fromYear == 0:
		toYear = latest(now, last)
	case toYear == 0:
		toYear = fromYear
		if last < first {
			toYear++
		}
	}
	if fromYear == 0 {
		fromYear = toYear
		if first > last {
			fromYear--
		}
	}
	return span{date(fromYear, first, 1), date(toYear, last, 1).AddDate(0, 1, -1)}
}

// monthDays reads "12 June 2026" and "June 12".
func monthDays(low string, now time.Time) ([]span, error) {
	var dates []time.Time
	add := func(name, d, year string) error {
		m, dd, y := month(name), number(d), number(year)
		if y == 0 {
			y = now.Year()
			if date(y, m, dd).After(now) {
				y--
			}
		}
		t := date(y, m, dd)
		if dd < 1 || t.Month() != m {
			return fmt.Errorf("%s %s is no date", d, m)
		}
		dates = append(dates, t)
		return nil
	}
	for _, m := range dayMonth.FindAllStringSubmatch(low, -1) {
		if err := add(m[2], m[1], m[3]); err != nil {
			return nil, err
		}
	}
	if dates == nil {
		for _, m := range monthDay.FindAllStringSubmatch(low, -1) {
			if err := add(m[1], m[2], m[3]); err != nil {
				return nil, err
			}
		}
	}
	if dates == nil {
		return nil, nil
	}
	return []span{{slices.MinFunc(dates, time.Time.Compare), slices.MaxFunc(dates, time.Time.Compare)}}, nil
}

func namedMonths(low, ask string, now time.Time) []span {
	type named struct {
		month time.Month
		year  int
	}
	var found []named
	for _, m := range monthRE.FindAllStringSubmatch(low, -1) {
		year := number(m[2])
		// Short names are words too ("dec page", "mar"): they need a year. So is "may".
		if len(m[1]) <= 4 && m[1] != "may" && m[1] != "june" && m[1] != "july" && year == 0 {
			continue
		}
		if m[1] == "may" && year == 0 && !mayIsMonth(low, ask) {
			continue
		}
		n := named{month(m[1]), year}
		if !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
	if found == nil {
		return nil
	}
	year := 0
	for _, n := range found {
		if n.year != 0 {
			year = n.year // "June and July 2026": the year stands for both
		}
	}
	if year == 0 {
		if m := yearRE.FindStringSubmatch(low); m != nil {
			year = number(m[1])
		}
	}
	if year == 0 {
		all := make([]time.Month, len(found))
		for i, n := range found {
			all[i] = n.month
		}
		year = latest(now, all...)
	}
	var spans []span
	for _, n := range found {
		if n.year == 0 {
			n.year = year
		}
		from := date(n.year, n.month, 1)
		spans = append(spans, span{from, from.AddDate(0, 1, -1)})
	}
	return join(spans)
}

func mayIsMonth(low, ask string) bool {
	if mayMonth.MatchString(low) {
		return true
	}
	at := mayRE.FindStringIndex(low)
	return at != nil && at[0] > 0 && len(low) == len(ask) && ask[at[0]] == 'M'
}

// join puts spans in order and makes one of those that touch.
func join(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
	out := spans[:1]
	for _, s := range spans[1:] {
		if prev := &out[len(out)-1]; !s.from.After(prev.to.Add(day)) {
			if s.to.After(prev.to) {
				prev.to = s.to
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// latest is the latest year in which all the months have begun.
func latest(now time.Time, months ...time.Month) int {
	year := now.Year()
	for _, m := range months {
		if date(year, m, 1).After(now) {
			return year - 1
		}
	}
	return year
}

func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func number(s string) int {
	words := map[string]int{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10, "twelve": 12, "thirty": 30}
	if n, ok := words[s]; ok {
		return n
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
