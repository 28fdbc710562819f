package playbook

import (
	"strings"
	"testing"
	"time"
)

func TestPeriods(t *testing.T) {
	t.Parallel()
	sunday := date(2026, time.November, 29)
	for _, c := range []struct {
		ask  string
		now  time.Time
		want string
	}{
		{"Reconcile all submissions from today against carrier guidelines", sunday, "2026-11-29"},
		{"today's submissions", sunday, "2026-11-29"},
		{"yesterday", sunday, "2026-11-28"},
		{"this week", sunday, "2026-11-23 to 2026-11-29"},
		{"this week", date(2026, 11, 30), "2026-11-30"},
		{"last week", sunday, "2026-11-16 to 2026-11-22"},
		{"this month", sunday, "2026-11-01 to 2026-11-29"},
		{"last month", sunday, "2026-10-01 to 2026-10-31"},
		{"last month", date(2026, 1, 5), "2025-12-01 to 2025-12-31"},
		{"this quarter", sunday, "2026-10-01 to 2026-11-29"},
		{"last quarter", date(2026, 2, 1), "2025-10-01 to 2025-12-31"},
		{"last year", sunday, "2025-01-01 to 2025-12-31"},
		{"the last 30 days", sunday, "2026-10-31 to 2026-11-29"},
		{"past two weeks", sunday, "2026-11-16 to 2026-11-29"},
		{"per field per day, for June and July, for the Claims Intake workflow", sunday, "2026-06-01 to 2026-07-31"},
		{"for June and July", date(2026, 6, 15), "2025-06-01 to 2025-07-31"}, // July 2026 hasn't begun
		{"for June and July", date(2026, 7, 1), "2026-06-01 to 2026-07-31"},
		{"June and July 2024", sunday, "2024-06-01 to 2024-07-31"},
		{"in december", sunday, "2025-12-01 to 2025-12-31"},
		{"March and July", sunday, "2026-03-01 to 2026-03-31, 2026-07-01 to 2026-07-31"},
		{"from june to august", sunday, "2026-06-01 to 2026-08-31"},
		{"November to February", sunday, "2025-11-01 to 2026-02-28"},
		{"November 2024 to February", sunday, "2024-11-01 to 2025-02-28"},
		{"and for May?", sunday, "2026-05-01 to 2026-05-31"},
		{"I may ask for something", sunday, ""},
		{"the dec page", sunday, ""},
		{"Q2 2026", sunday, "2026-04-01 to 2026-06-30"},
		{"q4", date(2026, 3, 1), "2025-10-01 to 2025-12-31"},
		{"12 June", sunday, "2026-06-12"},
		{"December 24", sunday, "2025-12-24"},
		{"June 1, 2026 to June 5, 2026", sunday, "2026-06-01 to 2026-06-05"},
		{"2026-06-01 to 2026-06-30", sunday, "2026-06-01 to 2026-06-30"},
		{"on 2026-06-01", sunday, "2026-06-01"},
		{"since 2026-11-01", sunday, "2026-11-01 to 2026-11-29"},
		{"since 2027-01-01", sunday, "error: 2027-01-01 is after today"},
		{"2026-02-30", sunday, "error: 2026-02-30 is no date"},
		{"31 June", sunday, "error: 31 June is no date"},
		{"all submissions", sunday, ""},
		{"today", time.Time{}, ""},
		{"2026-06-01", time.Time{}, "2026-06-01"},
	} {
		spans, err := periods(c.ask, c.now)
		var words []string
		for _, s := range spans {
			words = append(words, s.words())
		}
		got := strings.Join(words, ", ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want {
			t.Errorf("%q on %s: %q, want %q", c.ask, c.now.Format(iso), got, c.want)
		}
	}
}
