package console_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"bordereau/governance/gate"
	"bordereau/governance/run"
)

const (
	ann   = "ann underwriter acme"
	bob   = "bob underwriter acme"
	cleo  = "cleo analyst acme"
	dave  = "dave auditor acme"
	gus   = "gus auditor globex"
	count = "SELECT workflow, count(*) AS n FROM submissions GROUP BY workflow ORDER BY workflow"
)

func TestQueryStreamsTypedCells(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	code, raw, head := h.call(ann, http.MethodPost, "/api/console/query", object{
		"sql": `SELECT 9007199254740993 AS big, 1.10::DECIMAL(9,2) AS money, DATE '2026-11-29' AS day, '' AS empty, NULL AS nothing, '<img src=x onerror=alert(1)>' AS html, [1, NULL] AS list, 'x' || chr(10) AS line`,
	})
	if code != http.StatusOK || head.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("%d %s", code, raw)
	}
	if strings.Contains(string(raw), "<img") {
		t.Error("a value left as HTML")
	}
	all := lines(t, raw)
	if d := cmp.Diff([]any{"9007199254740993", "1.10", "2026-11-29", "", nil, "<img src=x onerror=alert(1)>", "[1,null]", "x\n"}, all[1]); d != "" {
		t.Error(d)
	}
	answer, _ := all[2].(object)["answer"].(object)
	if answer["generation"] != "g2" || answer["rows"] != 1.0 || answer["audit_id"] == "" || answer["sql_run"] == "" {
		t.Errorf("%v", answer)
	}
	code, raw, _ = h.call(ann, http.MethodPost, "/api/console/query", object{"sql": "SELECT i FROM range(100) r(i)", "max_rows": 10})
	all = lines(t, raw)
	if code != http.StatusOK || len(all) != 12 || all[11].(object)["answer"].(object)["truncated"] != true {
		t.Errorf("%d %v", code, all)
	}
	// One that fails after rows went out ends with its error.
	code, raw, _ = h.call(cleo, http.MethodPost, "/api/console/query", object{"sql": "SELECT CASE WHEN i = 99999 THEN CAST('x' AS INT) ELSE i END FROM range(100000) r(i)"})
	all = lines(t, raw)
	if last, _ := all[len(all)-1].(object); code == http.StatusOK && last["error"] == nil {
		t.Errorf("%d %v", code, last)
	}
}

func TestRefusalIsTypedAndOnRecord(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const sql = "SELECT 'a secret' AS s, mvr_run_date FROM main.drivers"
	code, raw, _ := h.call(ann, http.MethodPost, "/api/console/query", object{"sql": sql})
	if code != http.StatusUnprocessableEntity {
		t.Fatalf("%d %s", code, raw)
	}
	refusal := lines(t, raw)[0].(object)["error"].(object)
	if refusal["rule"] != "qualified_relation" || refusal["position"] != float64(strings.Index(sql, "main")+1) || refusal["hint"] == "" {
		t.Errorf("%v", refusal)
	}
	id, _ := refusal["audit_id"].(string)
	record := want[object](h, ann, http.MethodGet, "/api/console/statements/"+id, nil, http.StatusOK)
	asked, _ := record["sql_asked"].(string)
	if record["decision"] != "refused" || record["rule"] != "qualified_relation" || record["message"] != refusal["message"] || record["hint"] != refusal["hint"] ||
		strings.Contains(asked, "secret") || record["position"] != float64(strings.Index(asked, "main")+1) || record["person_name"] != "Name of ann" || record["hash"] == "" {
		t.Errorf("%v", record)
	}
	for _, other := range []string{bob, gus} {
		want[object](h, other, http.MethodGet, "/api/console/statements/"+id, nil, http.StatusNotFound)
	}
	want[object](h, cleo, http.MethodGet, "/api/console/statements/"+id, nil, http.StatusOK)
	plan := want[object](h, cleo, http.MethodPost, "/api/console/statements/"+id+"/plan", object{}, http.StatusBadRequest)
	if message := fmt.Sprint(plan); !strings.Contains(message, "refused") {
		t.Error(message)
	}
}

func TestListsAreFilteredAndOnesOwn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.query(ann, "SELECT name FROM drivers")
	h.query(bob, count)
	h.query(cleo, "SELECT 1")
	list := func(who, filter string) []string {
		t.Helper()
		out := want[struct {
			Statements []struct {
				Person string `json:"person"`
				Via    string `json:"via"`
			} `json:"statements"`
		}](h, who, http.MethodGet, "/api/console/statements?"+filter, nil, http.StatusOK)
		var people []string
		for _, s := range out.Statements {
			people = append(people, s.Person)
		}
		return people
	}
	for _, c := range []struct {
		who, filter string
		want        []string
	}{
		{cleo, "", []string{"cleo", "bob", "ann"}},
		{cleo, "relation=drivers", []string{"ann"}},
		{cleo, "column=drivers.name&person=ann", []string{"ann"}},
		{cleo, "text=COUNT(", []string{"bob"}},
		{cleo, "from=2020-01-01&to=2020-01-02", nil},
		{cleo, "min_ms=0.001&outcome=answered&decision=allowed&via=console&limit=2", []string{"cleo", "bob"}},
		{ann, "", []string{"ann"}},
		{ann, "person=bob", nil},
		{bob, "person=bob", []string{"bob"}},
		{gus, "", nil},
	} {
		if got := list(c.who, c.filter); !slices.Equal(got, c.want) {
			t.Errorf("%s as %s: %v", c.filter, c.who, got)
		}
	}
	for _, wrong := range []string{"colour=red", "limit=0", "from=yesterday", "min_ms=x", "after=1", "column=name"} {
		want[object](h, cleo, http.MethodGet, "/api/console/statements?"+wrong, nil, http.StatusBadRequest)
	}
	people := want[object](h, cleo, http.MethodGet, "/api/console/people", nil, http.StatusOK)
	if d := cmp.Diff(object{"people": []any{
		object{"id": "ann", "name": "Name of ann"}, object{"id": "bob", "name": "Name of bob"}, object{"id": "cleo", "name": "Name of cleo"},
	}}, people); d != "" {
		t.Error(d)
	}
	want[object](h, ann, http.MethodGet, "/api/console/people", nil, http.StatusForbidden)
	want[object](h, "", http.MethodGet, "/api/console/statements", nil, http.StatusUnauthorized)
}

func TestPlanSchemaAndPolicy(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.query(ann, count)
	plan := want[object](h, cleo, http.MethodPost, "/api/console/statements/"+id+"/plan", object{}, http.StatusOK)
	if text := fmt.Sprint(plan["plan"]); !strings.Contains(text, "submissions") || plan["generation"] != "g2" || plan["role"] != "analyst" {
		t.Errorf("%v", plan)
	}
	want[object](h, ann, http.MethodPost, "/api/console/explain", object{"sql": "SELECT * FROM nothing"}, http.StatusUnprocessableEntity)
	want[object](h, ann, http.MethodPost, "/api/console/explain", object{"sql": ""}, http.StatusBadRequest)
	want[object](h, ann, http.MethodPost, "/api/console/explain", object{"sql": count, "generation": "g9"}, http.StatusNotFound)

	schema := fmt.Sprint(want[object](h, ann, http.MethodGet, "/api/console/schema", nil, http.StatusOK))
	if strings.Contains(schema, "mvr_run_date") || !strings.Contains(schema, "mask:token") || !strings.Contains(schema, "filtered:true") || !strings.Contains(schema, "date_trunc") {
		t.Error(schema)
	}
	if schema := fmt.Sprint(want[object](h, dave, http.MethodGet, "/api/console/schema", nil, http.StatusOK)); !strings.Contains(schema, "mvr_run_date") || strings.Contains(schema, "mask:") {
		t.Error(schema)
	}
	policy := want[object](h, ann, http.MethodGet, "/api/console/policy", nil, http.StatusOK)
	if d := cmp.Diff([]any{object{"documents": "document_type <> 'other'"}, object{"drivers": []any{"mvr_run_date"}}, "standard", 1000.0}, []any{
		policy["rows"], policy["hidden"], policy["profile"], policy["limits"].(object)["rows"],
	}); d != "" {
		t.Error(d)
	}
	used := policy["budgets"].([]any)[0].(object)["used"].(object)["queries"]
	if used.(float64) < 1 {
		t.Errorf("%v", policy["budgets"])
	}
}

func TestExportsAreWholeAndGuarded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	const sql = `SELECT * FROM (VALUES ('=HYPERLINK("http://x")', -5, 1.50::DECIMAL(9,2), NULL), ('', 7, -2.25, '  @SUM(A1)')) v("=name", n, d, t)`
	fetch := func(format string) ([]byte, http.Header) {
		made := want[object](h, ann, http.MethodPost, "/api/console/exports", object{"sql": sql, "format": format}, http.StatusCreated)
		url, _ := made["url"].(string)
		if made["rows"] != 2.0 || made["truncated"] != false {
			t.Errorf("%v", made)
		}
		want[object](h, bob, http.MethodGet, url, nil, http.StatusNotFound)
		code, raw, head := h.call(ann, http.MethodGet, url, nil)
		if code != http.StatusOK || !strings.HasPrefix(head.Get("Content-Disposition"), "attachment;") || head.Get("Content-Length") != fmt.Sprint(len(raw)) {
			t.Errorf("%s: %d %v", format, code, head)
		}
		return raw, head
	}
	raw, _ := fetch("csv")
	rows, err := csv.NewReader(strings.NewReader(string(raw))).ReadAll()
	if d := cmp.Diff([][]string{{"'=name", "n", "d", "t"}, {`'=HYPERLINK("http://x")`, "-5", "1.50", ""}, {"", "7", "-2.25", "'  @SUM(A1)"}}, rows); d != "" || err != nil {
		t.Error(d, err)
	}
	raw, _ = fetch("xlsx")
	book, err := excelize.OpenReader(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	rows, err = book.GetRows("Rows")
	formula, _ := book.GetCellFormula("Rows", "A2")
	if d := cmp.Diff([][]string{{"=name", "n", "d", "t"}, {`=HYPERLINK("http://x")`, "-5", "1.5"}, {"", "7", "-2.25", "  @SUM(A1)"}}, rows); d != "" || err != nil || formula != "" {
		t.Error(d, err, formula)
	}
	if raw, _ = fetch("parquet"); string(raw[:4]) != "PAR1" {
		t.Errorf("%q", raw[:4])
	}
	if raw, _ = fetch("arrow"); string(raw[:4]) != "\xff\xff\xff\xff" {
		t.Errorf("%q", raw[:4])
	}
	want[object](h, ann, http.MethodPost, "/api/console/exports", object{"sql": sql, "format": "exe"}, http.StatusBadRequest)
	want[object](h, ann, http.MethodPost, "/api/console/exports", object{"sql": "DROP TABLE x", "format": "csv"}, http.StatusUnprocessableEntity)
}

func TestCompare(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.query(ann, "SELECT submission_id, workflow, status FROM submissions")
	side := func(generation string) object { return object{"audit_id": id, "generation": generation} }
	got := want[object](h, cleo, http.MethodPost, "/api/console/compare", object{"left": side("g1"), "right": side("newest"), "key": []string{"submission_id"}}, http.StatusOK)
	if got["left"].(object)["generation"] != "g1" || got["right"].(object)["generation"] != "g2" || got["added"] != 3.0 || got["removed"] != 0.0 || got["same"].(float64)+got["changed"].(float64) != 30 {
		t.Errorf("%v", got)
	}
	got = want[object](h, cleo, http.MethodPost, "/api/console/compare", object{
		"left":  object{"sql": "SELECT * FROM (VALUES (1, 'a', 'x'), (2, 'b', NULL), (3, 'c', '')) v(k, v, w)"},
		"right": object{"sql": "SELECT * FROM (VALUES (1, 'a', 'x'), (2, 'b', ''), (4, 'd', NULL)) v(k, v, w)"}, "key": []string{"k"},
	}, http.StatusOK)
	if d := cmp.Diff([]any{
		object{"kind": "changed", "left": []any{"2", "b", nil}, "right": []any{"2", "b", ""}},
		object{"kind": "added", "right": []any{"4", "d", nil}},
		object{"kind": "removed", "left": []any{"3", "c", ""}},
	}, got["changes"]); d != "" || got["same"] != 1.0 {
		t.Error(d, got["same"])
	}
	got = want[object](h, cleo, http.MethodPost, "/api/console/compare", object{
		"left": object{"sql": "SELECT unnest([1, 1, 2]) AS n, 1 AS gone"}, "right": object{"sql": "SELECT unnest([1, 2, 2]) AS n, 'x' AS come"},
	}, http.StatusOK)
	if got["same"] != 2.0 || got["added"] != 1.0 || got["removed"] != 1.0 || len(got["columns"].([]any)) != 2 {
		t.Errorf("%v", got)
	}
	for _, wrong := range []object{
		{"left": object{"sql": "SELECT 1 AS a"}, "right": object{"sql": "SELECT 1 AS b"}},
		{"left": object{"sql": "SELECT 1 AS a"}, "right": object{"sql": "SELECT 1 AS a"}, "key": []string{"b"}},
		{"left": object{"sql": "SELECT unnest([1, 1]) AS a"}, "right": object{"sql": "SELECT 1 AS a"}, "key": []string{"a"}},
		{"left": object{}, "right": object{"sql": "SELECT 1 AS a"}},
	} {
		want[object](h, cleo, http.MethodPost, "/api/console/compare", wrong, http.StatusBadRequest)
	}
	want[object](h, bob, http.MethodPost, "/api/console/compare", object{"left": side(""), "right": side("g1")}, http.StatusNotFound)
	masked := h.query(ann, "SELECT * FROM drivers WHERE license_number = 'D1234567'")
	refused := want[object](h, cleo, http.MethodPost, "/api/console/compare", object{"left": object{"audit_id": masked}, "right": object{"audit_id": masked, "generation": "g1"}}, http.StatusBadRequest)
	if !strings.Contains(fmt.Sprint(refused), "left out of the record") {
		t.Errorf("%v", refused)
	}
}

func TestVerifyFindsTheFirstFault(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.query(ann, count)
	h.query(cleo, count)
	verdict := func(body object) object {
		t.Helper()
		code, raw, _ := h.call(dave, http.MethodPost, "/api/console/verify", body)
		all := lines(t, raw)
		v, _ := all[len(all)-1].(object)["verdict"].(object)
		if code != http.StatusOK || v == nil {
			t.Fatalf("%d %s", code, raw)
		}
		return v
	}
	good := verdict(object{})
	if good["holds"] != true || good["entries"] != 4.0 || good["hash"] == "" {
		t.Errorf("%v", good)
	}
	if v := verdict(object{"anchor": good["hash"]}); v["holds"] != true {
		t.Errorf("%v", v)
	}
	if v := verdict(object{"anchor": "00"}); v["holds"] != false {
		t.Errorf("%v", v)
	}
	if _, err := h.db.ExecContext(t.Context(), "UPDATE audit_events SET sql_asked = 'SELECT 2' WHERE seq = 3"); err != nil {
		t.Fatal(err)
	}
	if v := verdict(object{}); v["holds"] != false || v["seq"] != 3.0 || v["why"] != "was changed" || v["entries"] != 2.0 {
		t.Errorf("%v", v)
	}
	want[object](h, ann, http.MethodPost, "/api/console/verify", object{}, http.StatusForbidden)
}

func TestSavedStatements(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	made := want[object](h, ann, http.MethodPost, "/api/console/saved", object{"name": "  Edit   rate ", "sql": count, "shared": false}, http.StatusCreated)
	path := "/api/console/saved/" + made["id"].(string)
	if made["name"] != "Edit rate" || made["own"] != true {
		t.Errorf("%v", made)
	}
	names := func(who string) (out []string) {
		for _, s := range want[struct{ Saved []struct{ Name, SQL string } }](h, who, http.MethodGet, "/api/console/saved", nil, http.StatusOK).Saved {
			out = append(out, s.Name)
		}
		return out
	}
	if got := names(bob); got != nil {
		t.Errorf("another person's: %v", got)
	}
	want[object](h, bob, http.MethodPut, path, object{"name": "mine", "sql": "SELECT 1", "shared": true}, http.StatusNotFound)
	want[object](h, bob, http.MethodDelete, path, nil, http.StatusNotFound)
	want[object](h, ann, http.MethodPost, "/api/console/saved", object{"name": "Edit rate", "sql": "SELECT 1"}, http.StatusBadRequest)
	want[object](h, ann, http.MethodPut, path, object{"name": "Rate of edits", "sql": "SELECT 2", "shared": true}, http.StatusOK)
	if got := names(bob); !slices.Equal(got, []string{"Rate of edits"}) {
		t.Errorf("shared: %v", got)
	}
	if got := names(gus); got != nil {
		t.Errorf("another organisation's: %v", got)
	}
	for _, wrong := range []object{{"name": "", "sql": "x"}, {"name": "x", "sql": " "}, {"name": strings.Repeat("x", 121), "sql": "x"}, {"name": "x", "sql": strings.Repeat("x", 20_001)}, {"nome": "x"}} {
		want[object](h, ann, http.MethodPost, "/api/console/saved", wrong, http.StatusBadRequest)
	}
	want[object](h, ann, http.MethodDelete, path, nil, http.StatusNoContent)
	if got := names(ann); got != nil {
		t.Errorf("deleted: %v", got)
	}
}

func TestStatementNamesTheRunsThatUsedIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := gate.Principal{Org: "acme", Subject: "ann", Role: "underwriter", Via: "reconcile", Turn: "t1", Conversation: "c1"}
	answer, err := h.gate.Query(t.Context(), p, gate.Request{SQL: count}, discard{})
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"queries": [{"audit_id": %[1]q, "purpose": "submissions of the day"}], "findings": [
		{"id": "F-0001", "submission_id": "s1", "rule_id": "R1", "severity": "major", "message": "a conflict", "evidence": [{"audit_id": %[1]q}]},
		{"id": "F-0002", "evidence": [{"audit_id": "other"}]}]}`, answer.AuditID)
	if _, err := h.runs.Save(t.Context(), run.Run{ID: "r1", Org: "acme", Role: "underwriter", Turn: "t1", Conversation: "c1", Guideline: "g", Created: time.Now()}, strings.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	record := want[object](h, ann, http.MethodGet, "/api/console/statements/"+answer.AuditID, nil, http.StatusOK)
	uses := record["uses"].([]any)
	if len(uses) != 1 || uses[0].(object)["run_id"] != "r1" || uses[0].(object)["finding_count"] != 1.0 || uses[0].(object)["purpose"] != "submissions of the day" ||
		record["turn"] != "t1" || !strings.Contains(fmt.Sprint(uses), "F-0001") || strings.Contains(fmt.Sprint(uses), "F-0002") {
		t.Errorf("%v", record)
	}
}

type discard struct{}

func (discard) Begin([]gate.Column) error { return nil }
func (discard) Row([]any) error           { return nil }

// A caller that goes away stops the statement, and the record says so.
func TestCancelIsOnRecord(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/console/query", strings.NewReader(`{"sql": "SELECT count(*) FROM range(100000000000) a(i) WHERE hash(i) % 7 = 3"}`))
	r.Header.Set("Who", cleo)
	begun := time.Now()
	h.mux.ServeHTTP(httptest.NewRecorder(), r)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	list := want[object](h, cleo, http.MethodGet, "/api/console/statements", nil, http.StatusOK)["statements"].([]any)
	if outcome := list[0].(object)["outcome"]; outcome != "interrupted" && outcome != "timeout" {
		t.Errorf("%v", list)
	}
}
