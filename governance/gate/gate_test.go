package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bordereau/governance/audit"
	"bordereau/governance/duck/ducktest"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/policy"
)

func TestQueryAnswers(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"acme/standard": ducktest.Generation(t, "acme", true, 30)}, options{})
	p := asker("acme", "underwriter")
	p.Turn, p.Epoch, p.Sandbox, p.Conversation = "t-1", 3, "sb-1", "c-1"
	var out table
	a, err := h.Query(t.Context(), p, gate.Request{SQL: "SELECT workflow, count(*) AS n FROM submissions GROUP BY ALL ORDER BY 1", Key: "k"}, &out)
	if err != nil {
		t.Fatal(err, errors.Unwrap(err))
	}
	if len(out.rows) != 3 || out.rows[0][0] != "Claims Intake" || out.rows[0][1] != int64(10) || a.Rows != 3 || a.Truncated || a.AuditID == "" ||
		a.Columns[1] != (gate.Column{Name: "n", Type: "BIGINT"}) {
		t.Errorf("%+v %v", a, out.rows)
	}
	list, err := h.log.List(t.Context(), audit.Filter{Org: "acme", AuditID: a.AuditID})
	if err != nil || len(list) != 2 {
		t.Fatalf("%v %v", list, err)
	}
	o := list[0]
	if o.Event != audit.Outcome || o.Decision != audit.Allowed || o.Outcome != audit.Answered || o.Rows != 3 || o.Bytes == 0 || o.Run == 0 ||
		o.Turn != "t-1" || o.Epoch != 3 || o.Sandbox != "sb-1" || o.RequestKey != "k" || o.Generation != a.Generation || o.Profile != "standard" ||
		o.Relations[0] != "submissions" || o.Columns[0] != "submissions.workflow" || !strings.Contains(o.SQLRun, "LIMIT 200001") || o.SHA256 == "" {
		t.Errorf("%+v", o)
	}
	if list[1].Event != audit.Asked || list[1].Decision != "" {
		t.Errorf("%+v", list[1])
	}
}

func TestRefusalsNameRulePlaceAndRewrite(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"acme/standard": ducktest.Generation(t, "acme", true, 5)}, options{})
	for sql, want := range map[string]fault.Error{
		"SELECT * FROM main.submissions":                    {Code: fault.Denied, Rule: "qualified_relation", Position: 15},
		"SELECT * FROM subs":                                {Code: fault.Denied, Rule: "relation", Position: 15},
		"SELECT 1, read_text('x')":                          {Code: fault.Denied, Rule: "function", Position: 11},
		"SELECT * FROM read_csv('x')":                       {Code: fault.Denied, Rule: "table_function", Position: 15},
		"SELECT insured_name.upper() FROM submissions":      {Code: fault.Denied, Rule: "qualified_function"},
		"DROP TABLE submissions":                            {Code: fault.Denied, Rule: "select_only"},
		"SELECT 1; SELECT 2":                                {Code: fault.Denied, Rule: "one_statement"},
		"SELECT FROM WHERE":                                 {Code: fault.Invalid, Rule: "syntax", Position: 13},
		"SELECT nothing FROM submissions":                   {Code: fault.Invalid, Rule: "bind"},
		"SELECT CAST(insured_name AS INT) FROM submissions": {Code: fault.Invalid, Rule: "value"},
		"PIVOT submissions ON status USING count(*)":        {Code: fault.Denied, Rule: "select_only"},
		"WITH RECURSIVE a(x) USING KEY (x) AS (SELECT 1 UNION SELECT x FROM a) SELECT * FROM a": {Code: fault.Denied, Rule: "recursive_cte"},
	} {
		_, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: sql}, &table{})
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != want.Code || f.Rule != want.Rule || want.Position != 0 && f.Position != want.Position || f.Hint == "" || f.AuditID == "" {
			t.Errorf("%s: got %+v", sql, f)
			continue
		}
		list, err := h.log.List(t.Context(), audit.Filter{Org: "acme", AuditID: f.AuditID, Event: audit.Outcome})
		if err != nil || len(list) != 1 || list[0].Rule != want.Rule || list[0].Outcome != string(want.Code) ||
			list[0].Message == "" || list[0].Hint != f.Hint || want.Position > 0 && list[0].Position == 0 {
			t.Errorf("%s: recorded %+v %v", sql, list, err)
		}
	}
	if _, err := h.Query(t.Context(), gate.Principal{Org: "acme", Role: "analyst"}, gate.Request{SQL: "SELECT 1"}, &table{}); !fault.Is(err, fault.Auth) {
		t.Errorf("nobody: %v", err)
	}
	if _, err := h.Query(t.Context(), asker("acme", "king"), gate.Request{SQL: "SELECT 1"}, &table{}); !fault.Is(err, fault.Denied) {
		t.Errorf("king: %v", err)
	}
	if _, err := h.Query(t.Context(), asker("nobody", "analyst"), gate.Request{SQL: "SELECT 1"}, &table{}); err == nil {
		t.Error("an organisation without data was answered")
	}
}

func TestExplainAndGenerations(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"acme/standard": ducktest.Generation(t, "acme", true, 30)}, options{})
	const sql = "SELECT workflow, count(*) AS n FROM submissions WHERE status = 'bound' GROUP BY 1"
	var plan table
	a, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: sql, Explain: true}, &plan)
	if err != nil || len(plan.rows) != 1 || !strings.Contains(fmt.Sprint(plan.rows[0][1]), "HASH_GROUP_BY") {
		t.Fatalf("%v %v %v", plan.rows, err, errors.Unwrap(err))
	}
	list, err := h.log.List(t.Context(), audit.Filter{Org: "acme", AuditID: a.AuditID})
	if err != nil || len(list) != 2 || list[0].SQLAsked != "EXPLAIN "+sql || !strings.HasPrefix(list[1].SQLAsked, "EXPLAIN SELECT") || list[0].Outcome != audit.Answered {
		t.Errorf("%+v %v", list, err)
	}
	for _, refused := range []string{"SELECT 1; SELECT 2", "ANALYZE SELECT 1", "SELECT * FROM main.submissions"} {
		_, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: refused, Explain: true}, &table{})
		if f := fault.Of(err, ""); err == nil || f.Rule == "" {
			t.Errorf("%s: %v", refused, err)
		}
	}
	if _, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: sql, Generation: a.Generation}, &table{}); err != nil {
		t.Error(err)
	}
	if _, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: sql, Generation: "gone"}, &table{}); err == nil {
		t.Error("a generation that isn't there answered")
	}
}

const narrow = `
version: 1
profiles:
  standard: {mask: {ssn: last4, fein: last4, license_number: token, date_of_birth: year}}
  full: {mask: {}}
roles:
  underwriter:
    profile: standard
    limits: {rows: 7, bytes: 1MiB, seconds: 5, memory: 256MiB}
    relations: [submissions, drivers, documents]
    hidden:
      drivers: [license_number, date_of_birth]
      submissions: [carrier]
    rows:
      submissions: workflow = 'Claims Intake'
      documents: submission_id IN (SELECT submission_id FROM submissions WHERE workflow = 'Claims Intake')
budgets:
  turn: {queries: 3, seconds: 100, bytes: 1GiB}
  person: {queries: 30, seconds: 100, bytes: 1GiB}
  organisation: {queries: 1000, seconds: 1000, bytes: 1GiB}
`

func TestRowsColumnsAndBudgets(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"acme/standard": ducktest.Generation(t, "acme", true, 30)}, options{policy: narrow})
	n := 0
	query := func(sql string) ([][]any, gate.Answer, error) {
		n++
		p := asker("acme", "underwriter")
		p.Subject = "person" + string(rune('a'+n%20))
		var out table
		a, err := h.Query(t.Context(), p, gate.Request{SQL: sql}, &out)
		return out.rows, a, err
	}
	for sql, want := range map[string]any{
		"SELECT count(*) FROM submissions":                                                                                   int64(10),
		"SELECT count(*) FROM submissions s JOIN submissions t USING (submission_id)":                                        int64(10),
		"SELECT count(*) FROM \"SUBMISSIONS\" AS x(a, b)":                                                                    int64(10),
		"WITH w AS (SELECT * FROM submissions) SELECT count(*) FROM w":                                                       int64(10),
		"SELECT count(*) FROM (FROM submissions UNION ALL FROM submissions)":                                                 int64(20),
		"SELECT (SELECT count(*) FROM submissions)":                                                                          int64(10),
		"SELECT count(*) FROM documents":                                                                                     int64(40),
		"SELECT sum(n) FROM (FROM submissions PIVOT (count(*) AS n FOR status IN ('bound' AS b) GROUP BY workflow)) t(w, n)": int64(0),
		"SELECT count(COLUMNS('carrier|status')) FROM submissions":                                                           int64(10),
		"SELECT count(*) FROM submissions WHERE workflow <> 'Claims Intake' OR true":                                         int64(10),
		"SELECT max(len(list_value(d))) FROM drivers d WHERE d::VARCHAR LIKE '%****%'":                                       nil,
	} {
		rows, a, err := query(sql)
		if err != nil || len(rows) != 1 || len(rows[0]) != 1 || rows[0][0] != want {
			if !strings.Contains(sql, "PIVOT") || err != nil {
				t.Errorf("%s: %v %v\n  ran %s", sql, rows, err, a.SQLAsRun)
			}
		}
	}
	if rows, a, err := query("SELECT * FROM drivers"); err != nil || len(rows) != 7 || !a.Truncated || len(a.Columns) != 18 {
		t.Errorf("%d rows, %+v, %v", len(rows), a, err)
	}
	for _, sql := range []string{
		"SELECT license_number FROM drivers", "SELECT d.license_number FROM drivers d", "SELECT drivers['license_number'] FROM drivers",
		"SELECT main.drivers.license_number FROM drivers", "SELECT count(*) FROM drivers WHERE date_of_birth > DATE '1970-01-01'", "SELECT carrier FROM submissions",
		"SELECT * FROM vehicles", "SELECT struct_extract(d, 'license_number') FROM drivers d",
	} {
		if rows, a, err := query(sql); err == nil {
			t.Errorf("%s: %v, ran %s", sql, rows, a.SQLAsRun)
		}
	}
	p := asker("acme", "underwriter")
	p.Turn = "greedy"
	var last error
	for range 4 {
		_, last = h.Query(t.Context(), p, gate.Request{SQL: "SELECT 1"}, &table{})
	}
	var f *fault.Error
	if !errors.As(last, &f) || f.Code != fault.RateLimited || f.Rule != "budget_turn" {
		t.Errorf("fourth query of a turn: %v", last)
	}
	p.Turn = "modest"
	if _, err := h.Query(t.Context(), p, gate.Request{SQL: "SELECT 1"}, &table{}); err != nil {
		t.Errorf("another turn: %v", err)
	}
}

// Each of the three budgets refuses by itself, in queries, seconds or bytes, names itself and what to do, and is on record.
func TestBudgetsRefuse(t *testing.T) {
	t.Parallel()
	files := map[string]string{"acme/standard": ducktest.Generation(t, "acme", true, 30), "globex/standard": ducktest.Generation(t, "globex", true, 5)}
	const ample = "{queries: 1000, seconds: 1000, bytes: 1GiB}"
	for name, c := range map[string]struct{ turn, person, organisation string }{
		"turn": {"{queries: 2, seconds: 1000, bytes: 1GiB}", ample, ample}, "turn in bytes": {"{queries: 1000, seconds: 1000, bytes: 10}", ample, ample},
		"person": {ample, "{queries: 2, seconds: 1000, bytes: 1GiB}", ample}, "person in bytes": {ample, "{queries: 1000, seconds: 1000, bytes: 10}", ample},
		"organisation": {ample, ample, "{queries: 2, seconds: 1000, bytes: 1GiB}"}, "organisation in bytes": {ample, ample, "{queries: 1000, seconds: 1000, bytes: 10}"},
	} {
		text, _, _ := strings.Cut(unbudgeted, "budgets:")
		h := newHouse(t, files, options{policy: fmt.Sprintf("%sbudgets: {turn: %s, person: %s, organisation: %s}\n", text, c.turn, c.person, c.organisation)})
		ask := func(org, person, turn string) error {
			p := asker(org, "underwriter")
			p.Subject, p.Turn = person, turn
			_, err := h.Query(t.Context(), p, gate.Request{SQL: "SELECT workflow, status FROM submissions"}, &table{})
			return err
		}
		for range 2 {
			if err := ask("acme", "ann", "t1"); err != nil && !strings.HasSuffix(name, "bytes") {
				t.Errorf("%s: %v", name, err)
			}
		}
		scope, _, _ := strings.Cut(name, " ")
		var f *fault.Error
		if err := ask("acme", "ann", "t1"); !errors.As(err, &f) || f.Code != fault.RateLimited || f.Rule != "budget_"+scope || f.Hint == "" || f.AuditID == "" {
			t.Errorf("%s: %+v", name, f)
			continue
		}
		list, err := h.log.List(t.Context(), audit.Filter{Org: "acme", AuditID: f.AuditID, Event: audit.Outcome})
		if err != nil || len(list) != 1 || list[0].Decision != audit.Refused || list[0].Rule != f.Rule {
			t.Errorf("%s: recorded %+v %v", name, list, err)
		}
		// It binds whoever shares it, and nobody else.
		for other, binds := range map[[3]string]bool{
			{"acme", "ann", "t2"}: scope != "turn", {"acme", "bob", "t3"}: scope == "organisation", {"globex", "ann", "t2"}: false,
		} {
			if err := ask(other[0], other[1], other[2]); (err != nil) != binds {
				t.Errorf("%s, for %v: %v", name, other, err)
			}
		}
	}
}

func TestBadRowFilters(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil, options{})
	for _, filter := range []string{"true) OR (1 = 1", "true; DROP TABLE x", "workflow = read_text('x')", "EXISTS (FROM globex)", "1 = ", "true LIMIT 5", "true) ORDER BY (1", "true) UNION (SELECT 1"} {
		p, err := policy.Parse("p", []byte(strings.Replace(narrow, "workflow = 'Claims Intake'\n", `"`+filter+"\"\n", 1)), policy.Relations())
		if err != nil {
			t.Fatal(err)
		}
		_, err = gate.Sources(t.Context(), h.reader, p)
		var invalid *policy.InvalidError
		if !errors.As(err, &invalid) && filter != "true) OR (1 = 1" {
			t.Errorf("%s: %v", filter, err)
		}
	}
}

// deaf is a record that can't be written.
type deaf struct {
	gate.Recorder
	asked, outcome error
}

func (d deaf) Asked(context.Context, audit.Entry) error   { return d.asked }
func (d deaf) Outcome(context.Context, audit.Entry) error { return d.outcome }
func (deaf) Spent(context.Context, audit.Scope) (audit.Spent, error) {
	return audit.Spent{}, nil
}

func TestNoRecordNoAnswer(t *testing.T) {
	t.Parallel()
	files := map[string]string{"acme/standard": ducktest.Generation(t, "acme", true, 5)}
	full := errors.New("disk full")
	for name, r := range map[string]deaf{"asked": {asked: full}, "outcome": {outcome: full}} {
		h := newHouse(t, files, options{recorder: r})
		var out table
		a, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: "SELECT 1"}, &out)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.Unavailable || f.Component != "audit" || a.AuditID != "" || name == "asked" && out.rows != nil {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
}

func TestMaskedValuesNeverReachTheRecord(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"acme/full": ducktest.Generation(t, "acme", false, 5)}, options{policy: unbudgeted})
	for _, sql := range []string{
		"SELECT * FROM drivers WHERE license_number = 'SECRET42'",
		"SELECT * FROM drivers WHERE 'SECRET42' = license_number AND license_state = 'TX'",
		"SELECT * FROM drivers WHERE license_number IN ('x', 'SECRET42')",
		"SELECT * FROM drivers WHERE license_number BETWEEN 'SECRET42' AND 'z'",
		"SELECT * FROM drivers WHERE lower(license_number) LIKE lower('%SECRET42%')",
		"SELECT * FROM drivers WHERE starts_with(license_number, 'SECRET42')",
		"SELECT * FROM drivers WHERE (license_state, license_number) = ('TX', 'SECRET42')",
		"SELECT CASE license_number WHEN 'SECRET42' THEN 1 END FROM drivers",
		"SELECT CASE WHEN license_state = 'TX' THEN license_number = 'SECRET42' END FROM drivers",
		"SELECT license_number = 'SECRET42' AS hit FROM drivers",
		"SELECT count(*) FILTER (WHERE license_number = 'SECRET42') FROM drivers",
		"WITH d AS (SELECT license_number AS n FROM drivers) SELECT * FROM d WHERE n = 'SECRET42'",
		"SELECT * FROM (SELECT upper(license_number) AS n FROM drivers) WHERE n = 'SECRET42'",
		"SELECT * FROM drivers d(a, b, c, e, f, g, h, i, j, k) WHERE k = 'SECRET42' OR c = license_state",
		"SELECT * FROM drivers d JOIN (VALUES ('SECRET42')) v(x) ON v.x = d.license_number",
		"SELECT * FROM drivers WHERE license_number IN (SELECT 'SECRET42')",
		"SELECT * FROM drivers WHERE license_number = (WITH w AS (SELECT 'SECRET42' AS y) SELECT y FROM w)",
		"SELECT * FROM drivers d WHERE to_json(d)->>'license_number' = 'SECRET42'",
		"SELECT * FROM drivers d WHERE d::VARCHAR LIKE '%SECRET42%'",
		"SELECT * FROM extracted_fields WHERE field_name = 'ssn' AND value = 'SECRET42'",
		"SELECT * FROM extracted_fields WHERE 'SECRET42' IN (value, original_value)",
		"SELECT * FROM extracted_rows WHERE cells['license_number'] = 'SECRET42'",
		"SELECT * FROM extracted_rows WHERE map_contains_value(cells, 'SECRET42')",
		"SELECT * FROM extracted_rows WHERE list_contains(map_values(cells), 'SECRET42')",
		"SELECT * FROM field_edits WHERE to_value = 'SECRET42' -- SECRET42",
		"SELECT * FROM drivers /* SECRET42 */ WHERE license_number IS NULL",
		"SELECT * FROM submissions WHERE insured_name = '123-45-6789 SECRET'",
		"SELECT * FROM submissions WHERE insured_name = 'x' || 123456789",
		"FROM drivers PIVOT (count(*) FOR license_number IN ('SECRET42') GROUP BY workflow)",
		"SELECT license_number FROM drivers WHERE license_number = 'SECRET42",
		"SELECT license_number, nosuch FROM drivers WHERE license_number = 'SECRET42'",
		"SELECT license_number::INT FROM drivers WHERE license_number <> 'SECRET42'",
		"SELECT * FROM drivers WHERE license_number = $$SECRET42$$ OR license_number = e'SECRET42' OR license_number = $x$SECRET42$x$",
		"SELECT list_filter(list(license_number), x -> x = 'SECRET42') FROM drivers",
		"SELECT * FROM (UNPIVOT (SELECT license_number, name FROM drivers) ON license_number, name INTO NAME k VALUE v) WHERE v = 'SECRET42'",
	} {
		_, err := h.Query(t.Context(), asker("acme", "auditor"), gate.Request{SQL: sql}, &table{})
		list, lerr := h.log.List(t.Context(), audit.Filter{Org: "acme", Limit: 2})
		if lerr != nil || len(list) != 2 {
			t.Fatal(lerr)
		}
		for _, e := range list {
			for _, text := range []string{e.SQLAsked, e.SQLRun, strings.Join(e.Columns, " "), e.Rule} {
				if strings.Contains(text, "SECRET42") || strings.Contains(text, "123-45-6789") || strings.Contains(text, "123456789") || strings.Contains(text, "CANARY") {
					t.Errorf("%s (%v)\n  recorded as %s: %s", sql, err, e.Event, text)
				}
			}
		}
	}
	// What is not masked stays readable.
	if _, err := h.Query(t.Context(), asker("acme", "auditor"), gate.Request{SQL: "SELECT count(*) FROM extracted_fields WHERE field_name = 'vin' AND value = 'X' AND page = 7"}, &table{}); err != nil {
		t.Fatal(err)
	}
	list, err := h.log.List(t.Context(), audit.Filter{Org: "acme", Limit: 1})
	if err != nil || !strings.Contains(list[0].SQLAsked, "field_name = 'vin'") || !strings.Contains(list[0].SQLAsked, "page = 7") || strings.Contains(list[0].SQLAsked, "'X'") {
		t.Errorf("%v %+v", err, list)
	}
}

func TestDeadlineAndCancel(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"acme/standard": ducktest.Generation(t, "acme", true, 100)}, options{policy: unbudgeted})
	const slow = "SELECT count(*) FROM range(1000000) a, range(1000000) b"
	begun := time.Now()
	_, err := h.Query(t.Context(), asker("acme", "underwriter"), gate.Request{SQL: slow, Timeout: 300 * time.Millisecond}, &table{})
	if took := time.Since(begun); !fault.Is(err, fault.Timeout) || took > 800*time.Millisecond {
		t.Errorf("deadline: %v after %v", err, took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	begun = time.Now()
	_, err = h.Query(ctx, asker("acme", "underwriter"), gate.Request{SQL: slow}, &table{})
	if took := time.Since(begun); !fault.Is(err, fault.Interrupted) || took > 800*time.Millisecond {
		t.Errorf("cancelled: %v after %v", err, took)
	}
	list, err := h.log.List(t.Context(), audit.Filter{Org: "acme", Event: audit.Outcome})
	if err != nil || len(list) != 2 || list[0].Outcome != "interrupted" || list[1].Outcome != "timeout" {
		t.Errorf("recorded %+v %v", list, err)
	}
}
