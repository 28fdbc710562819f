package audit_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bordereau/governance/audit"
	"bordereau/migrations"
	"bordereau/migrations/storetest"
)

// ask records one statement of the sample below.
func ask(t testing.TB, log *audit.Log, e audit.Entry, asked time.Time) {
	t.Helper()
	e.At = asked
	if err := log.Asked(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if e.Outcome == "" {
		return
	}
	e.At = asked.Add(time.Second)
	if err := log.Outcome(t.Context(), e); err != nil {
		t.Fatal(err)
	}
}

func sample(t testing.TB, log *audit.Log, org string) time.Time {
	t.Helper()
	day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i, e := range []audit.Entry{
		{
			AuditID: "a", Subject: "ann", Turn: "t1", Conversation: "c1", SQLAsked: "SELECT insured_name FROM submissions", Decision: audit.Allowed,
			Relations: []string{"submissions"}, Columns: []string{"submissions.insured_name"}, Run: time.Millisecond, Outcome: audit.Answered,
		},
		{
			AuditID: "b", Subject: "ann", Turn: "t1", Conversation: "c1", SQLAsked: "SELECT * FROM drivers", Decision: audit.Allowed,
			Relations: []string{"drivers"}, Columns: []string{"drivers.*"}, Run: time.Second, Outcome: "timeout",
		},
		{
			AuditID: "c", Subject: "bob", SQLAsked: "COPY drivers TO '50%_off'", Decision: audit.Refused, Rule: "select_only", Outcome: "denied",
			Message: "only SELECT statements are allowed", Hint: "Write a SELECT.", Position: 1,
		},
		{AuditID: "d", Subject: "bob", Via: "console", SQLAsked: "SELECT 1"},
		{
			AuditID: "e", Subject: "bob", Via: "console", SQLAsked: "SELECT name FROM drivers JOIN submissions USING (submission_id)", Decision: audit.Allowed,
			Relations: []string{"drivers", "submissions"}, Columns: []string{"drivers.name"}, Outcome: audit.Answered,
		},
	} {
		e.Org = org
		ask(t, log, e, day.Add(time.Duration(i)*time.Hour))
	}
	ask(t, log, audit.Entry{Org: "globex", AuditID: "x", Subject: "ann", SQLAsked: "SELECT insured_name FROM submissions", Relations: []string{"submissions"}, Outcome: audit.Answered}, day)
	return day
}

func ids(page audit.Page) string {
	var b strings.Builder
	for _, s := range page.Statements {
		b.WriteString(s.AuditID)
	}
	return b.String()
}

func searches(t *testing.T, log *audit.Log, org string) {
	t.Helper()
	day := sample(t, log, org)
	for name, c := range map[string]struct {
		search audit.Search
		want   string
	}{
		"all":                {audit.Search{}, "edcba"},
		"person":             {audit.Search{Subject: "ann"}, "ba"},
		"turn":               {audit.Search{Turn: "t1"}, "ba"},
		"conversation":       {audit.Search{Conversation: "c1", Outcome: "timeout"}, "b"},
		"relation":           {audit.Search{Relation: "drivers"}, "eb"},
		"two relations":      {audit.Search{Relation: "submissions", Subject: "bob"}, "e"},
		"column":             {audit.Search{Column: "drivers.name"}, "eb"},
		"column and turn":    {audit.Search{Column: "drivers.name", Turn: "t1"}, "b"},
		"refused":            {audit.Search{Decision: audit.Refused}, "c"},
		"rule":               {audit.Search{Rule: "select_only"}, "c"},
		"running":            {audit.Search{Outcome: audit.Running}, "d"},
		"running of bob":     {audit.Search{Outcome: audit.Running, Subject: "bob"}, "d"},
		"answered":           {audit.Search{Outcome: audit.Answered}, "ea"},
		"via":                {audit.Search{Via: "console"}, "ed"},
		"text":               {audit.Search{Text: "INSURED"}, "a"},
		"text as it stands":  {audit.Search{Text: "50%_"}, "c"},
		"text with wildcard": {audit.Search{Text: "_ELECT"}, ""},
		"slow":               {audit.Search{MinRun: 500 * time.Millisecond}, "b"},
		"quick of ann":       {audit.Search{Subject: "ann", MaxRun: 500 * time.Millisecond}, "a"},
		"time":               {audit.Search{From: day.Add(time.Hour), To: day.Add(3 * time.Hour)}, "cb"},
		"hostile":            {audit.Search{Subject: "' OR 1=1 --"}, ""},
	} {
		c.search.Org = org
		page, err := log.Search(t.Context(), c.search)
		if err != nil || ids(page) != c.want || page.Next != nil {
			t.Errorf("%s: %q next %v, %v; want %q", name, ids(page), page.Next, err, c.want)
		}
	}
	var all []string
	s := audit.Search{Org: org, Limit: 2}
	for {
		page, err := log.Search(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ids(page))
		if page.Next == nil {
			break
		}
		s.After = *page.Next
	}
	if !slices.Equal(all, []string{"ed", "cb", "a"}) {
		t.Errorf("pages %v", all)
	}
	st, err := log.Statement(t.Context(), org, "c")
	if err != nil || st.Message != "only SELECT statements are allowed" || st.Position != 1 || !st.Asked.Equal(day.Add(2*time.Hour)) || st.Event != audit.Outcome {
		t.Errorf("%+v %v", st, err)
	}
	if _, err := log.Statement(t.Context(), "globex", "c"); !errors.Is(err, audit.ErrNotFound) {
		t.Errorf("another organisation's: %v", err)
	}
	if who, err := log.Subjects(t.Context(), org); err != nil || !slices.Equal(who, []string{"ann", "bob"}) {
		t.Errorf("%v %v", who, err)
	}
}

func searchAndVerify(t *testing.T, fresh storetest.Open) {
	t.Helper()
	db, log := open(t, fresh)
	searches(t, log, "acme")
	if v, err := audit.Verify(t.Context(), db, "acme", ""); err != nil || v.Entries != 9 {
		t.Errorf("%+v %v", v, err)
	}
	for _, attack := range []string{"UPDATE audit_events SET message = '' WHERE rule <> ''", "UPDATE audit_events SET hint = 'All is well.' WHERE seq = 1"} {
		if _, err := db.ExecContext(t.Context(), attack); err != nil {
			t.Fatal(err)
		}
		var broken *audit.BrokenError
		if _, err := audit.Verify(t.Context(), db, "acme", ""); !errors.As(err, &broken) {
			t.Errorf("%s: %v", attack, err)
		}
	}
}

// flood writes many statements without their hashes, which a search doesn't read.
func flood(ctx context.Context, db *sql.DB, n int) error {
	for _, text := range []string{
		`INSERT INTO audit_events (org, seq, audit_id, event, at_us, subject, role, via, conversation, turn, epoch, sandbox, request_key, sql_asked, sql_run,
 decision, rule, relations, columns, profile, generation, sha256, row_count, byte_count, truncated, queue_us, run_us, outcome, prev_hash, hash)
 WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < $1)
 SELECT 'acme', i, 'q' || i, 'outcome', 1000000 * i, 'person' || (i % 40), 'underwriter', 'chat', 'c' || (i / 50), 't' || (i / 10), 1, '', '',
 'SELECT workflow, count(*) AS n FROM submissions WHERE received_at >= DATE ''2026-11-01'' AND insured_name LIKE ''%number ' || i || '%'' GROUP BY workflow ORDER BY n DESC',
 'SELECT workflow, count(*) AS n FROM submissions GROUP BY workflow LIMIT 1000', CASE WHEN i % 20 = 0 THEN 'refused' ELSE 'allowed' END,
 CASE WHEN i % 20 = 0 THEN 'hidden_column' ELSE '' END, '["submissions"]', '["submissions.workflow"]', 'standard', 'g1', '', 12, 400, 0, 10,
 (i * 7919) % 2000000, CASE WHEN i % 20 = 0 THEN 'denied' ELSE 'answered' END, '', '' FROM n`,
		`INSERT INTO audit_statements SELECT org, audit_id, at_us, seq, seq, subject, via, conversation, turn, decision, rule, outcome, run_us FROM audit_events WHERE seq <= $1`,
		`INSERT INTO audit_touched SELECT org, CASE WHEN seq % 1000 = 0 THEN 'drivers' ELSE 'submissions' END, at_us, seq, audit_id FROM audit_events WHERE seq <= $1`,
	} {
		if _, err := db.ExecContext(ctx, text, n); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkSearch measures one request over a million statements: -bench Search -benchtime 20x.
func BenchmarkSearch(b *testing.B) {
	const n = 1_000_000
	db, _, err := migrations.Open(b.Context(), filepath.Join(b.TempDir(), "g.db"), migrations.Governance)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := flood(b.Context(), db, n); err != nil {
		b.Fatal(err)
	}
	log, err := audit.New(b.Context(), audit.Config{DB: db, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	middle := audit.Place{AtUS: n / 2 * 1_000_000, Seq: n / 2}
	for name, s := range map[string]audit.Search{
		"newest": {}, "in the middle": {After: middle}, "person": {Subject: "person7"}, "turn": {Turn: "t5000"}, "refused": {Decision: audit.Refused},
		"rule and person": {Rule: "hidden_column", Subject: "person7"}, "rare relation": {Relation: "drivers"}, "relation of a person": {Relation: "submissions", Subject: "person3"},
		"column": {Column: "submissions.workflow"}, "text found": {Text: "insured"}, "text rare": {Text: "number 999999"}, "text missing": {Text: "no such words"},
		"slow": {MinRun: 1900 * time.Millisecond}, "slower than any": {MinRun: time.Hour}, "time": {From: time.UnixMicro(1e11), To: time.UnixMicro(2e11)},
		"time and text": {From: time.UnixMicro(1e11), To: time.UnixMicro(2e11), Text: "nothing"},
	} {
		b.Run(name, func(b *testing.B) {
			s.Org = "acme"
			for b.Loop() {
				if _, err := log.Search(b.Context(), s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A search that finds nothing goes through its windows to the end and no further.
func searchInWindows(t *testing.T, fresh storetest.Open) {
	t.Helper()
	db, log := open(t, fresh)
	if err := flood(t.Context(), db, 25_000); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		search audit.Search
		want   string
		pages  int
	}{
		{audit.Search{Text: "number 7%"}, "", 3},
		{audit.Search{Text: "%number 12345%"}, "q12345", 3},
		{audit.Search{Text: "number 12345", Subject: "person25"}, "q12345", 1},
		{audit.Search{Relation: "drivers", Text: "number 24000"}, "q24000", 1},
	} {
		c.search.Org = "acme"
		var found string
		pages := 0
		for pages < 10 {
			page, err := log.Search(t.Context(), c.search)
			if err != nil {
				t.Fatal(err)
			}
			pages++
			found += ids(page)
			if page.Next == nil {
				break
			}
			c.search.After = *page.Next
		}
		if pages != c.pages || c.want != "" && found != c.want {
			t.Errorf("%s: %.80q in %d pages; want %q in %d", fmt.Sprint(c.search), found, pages, c.want, c.pages)
		}
	}
}
