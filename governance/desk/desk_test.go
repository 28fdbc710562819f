package desk_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/governance/desk"
	"bordereau/governance/gate"
	"bordereau/governance/guidelines"
	"bordereau/governance/run"
	"bordereau/migrations/storetest"
	"bordereau/tools/guideline"
)

// trier answers what the engine would.
type trier struct{}

func (trier) Try(_ context.Context, as gate.Principal, _ *guideline.Library, g *guideline.Guideline, submission string, body io.Writer) error {
	if submission == "none" {
		_, err := io.WriteString(body, `{"submissions":[],"findings":[]}`)
		return err
	}
	_, err := io.WriteString(body, `{"submissions":[{"id":"`+submission+`","decision":"refer"}],"findings":[{"id":"F-0001","rule_id":"X","message":"`+g.Key()+` for `+as.Subject+`"}]}`)
	return err
}

type names struct{}

func (names) Names(_ context.Context, _ string, all []string) (map[string]string, error) {
	out := map[string]string{}
	for _, id := range all {
		out[id] = "name of " + id
	}
	return out, nil
}

const stored = `{"submissions":[{"id":"S1","decision":"refer"}],"findings":[
	{"id":"F-0002","submission_id":"S1","rule_id":"DRV-04","severity":"minor","message":"MVR is old"},
	{"id":"F-0001","submission_id":"S1","rule_id":"VIN-01","severity":"critical","message":"VIN differs","evidence":[{"kind":"document","audit_id":"a1"}]}]}`

// TestDesk is what a desk does, over stores on each engine.
func TestDesk(t *testing.T) {
	t.Parallel()
	storetest.Each(t, map[string]func(*testing.T, storetest.Open){"guidelines": guidelinesByRole, "runs": runsAndReviews, "workbook": reviewedWorkbookIsImported})
}

// bench is a desk whose caller is named by headers.
func bench(t *testing.T, open storetest.Open) *httptest.Server {
	t.Helper()
	db := open(t)
	base, err1 := guideline.Embedded()
	rules, err2 := guidelines.NewStore(db, base)
	runs, err3 := run.NewStore(db)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for id, person := range map[string]string{"r-una": "una", "r-uwe": "uwe"} {
		if _, err := runs.Save(t.Context(), run.Run{ID: id, Org: "acme", Role: "underwriter", Person: person, Created: time.Now(), Findings: 2}, strings.NewReader(stored)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := desk.New(desk.Config{
		Authorise: func(r *http.Request) (gate.Principal, error) {
			return gate.Principal{Org: r.Header.Get("Org"), Subject: r.Header.Get("Person"), Role: r.Header.Get("Role")}, nil
		},
		Guidelines: rules, Runs: runs, Workbooks: books{}, Trier: trier{}, People: names{}, Log: slog.New(slog.DiscardHandler), Now: time.Now, NewID: uuid.NewString,
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, e := range d.Endpoints() {
		mux.Handle(e.Pattern, e.Handler)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// ask calls as "role/person" of acme and returns the answer as a map; the status must be the one wanted.
func ask(t *testing.T, s *httptest.Server, as, method, path string, body any, want int) map[string]any {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	role, person, _ := strings.Cut(as, "/")
	org := "acme"
	if o, p, ok := strings.Cut(person, "@"); ok {
		person, org = o, p
	}
	req.Header.Set("Org", org)
	req.Header.Set("Person", person)
	req.Header.Set("Role", role)
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != want {
		t.Errorf("%s %s as %s: %d, want %d: %s", method, path, as, resp.StatusCode, want, text)
	}
	out := map[string]any{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	return out
}

const text = "schema: bordereau.guideline/1\nid: alder\ncarrier: alder\nname: Alder\nversion: \"2026.9\"\neffective: 2026-01-01\nextends: alder@2026.2\nparameters:\n  max_power_units: 1\n"

func guidelinesByRole(t *testing.T, open storetest.Open) {
	t.Helper()
	s := bench(t, open)
	write := map[string]any{"text": text}
	for _, as := range []string{"underwriter/una", "auditor/ada"} {
		ask(t, s, as, "POST", "/api/guidelines/drafts", write, 403)
		ask(t, s, as, "GET", "/api/guidelines", nil, 200)
		ask(t, s, as, "POST", "/api/guidelines/check", write, 200)
	}
	draft := ask(t, s, "analyst/ana", "POST", "/api/guidelines/drafts", write, 201)
	path := "/api/guidelines/drafts/" + draft["id"].(string)
	ask(t, s, "analyst/ana", "POST", path+"/publish", map[string]any{"revision": 1}, 403)
	ask(t, s, "admin/bo@other", "GET", path, nil, 404)
	ask(t, s, "analyst/ana", "PUT", path, map[string]any{"text": text, "revision": 1}, 200)
	ask(t, s, "analyst/ana", "PUT", path, map[string]any{"text": text, "revision": 1}, 409)
	ask(t, s, "admin/bo", "POST", path+"/publish", map[string]any{"revision": 1}, 409)
	ask(t, s, "admin/bo", "POST", path+"/publish", map[string]any{"revision": 2}, 201)
	shown := ask(t, s, "underwriter/una", "GET", "/api/guidelines/versions/alder@2026.9", nil, 200)
	if shown["own"] != true || shown["text"] != text {
		t.Errorf("%v", shown)
	}
	ask(t, s, "underwriter/una@other", "GET", "/api/guidelines/versions/alder@2026.9", nil, 404)
	changes := ask(t, s, "underwriter/una", "GET", "/api/guidelines/diff?from=alder@2026.2&to=alder@2026.9", nil, 200)
	if len(changes["changes"].([]any)) == 0 {
		t.Error("no changes")
	}
	checked := ask(t, s, "analyst/ana", "POST", "/api/guidelines/check", map[string]any{"text": strings.Replace(text, "max_power_units", "max_power_unit", 1)}, 200)
	problems := checked["problems"].([]any)
	if len(problems) == 0 || problems[0].(map[string]any)["line"].(float64) < 1 {
		t.Errorf("%v", checked)
	}
	tried := ask(t, s, "analyst/ana", "POST", "/api/guidelines/try", map[string]any{"text": text, "submission": "S1"}, 200)
	if tried["decision"] != "refer" {
		t.Errorf("%v", tried)
	}
	ask(t, s, "analyst/ana", "POST", "/api/guidelines/try", map[string]any{"text": text, "submission": "none"}, 404)
	ask(t, s, "analyst/ana", "POST", "/api/guidelines/try", map[string]any{"text": "id: [", "submission": "S1"}, 422)
}

func runsAndReviews(t *testing.T, open storetest.Open) {
	t.Helper()
	s := bench(t, open)
	for as, want := range map[string]int{"underwriter/una": 1, "analyst/ana": 2, "auditor/ada": 2, "admin/bo@other": 0} {
		if got := len(ask(t, s, as, "GET", "/api/runs", nil, 200)["runs"].([]any)); got != want {
			t.Errorf("%s sees %d runs, want %d", as, got, want)
		}
	}
	ask(t, s, "underwriter/una", "GET", "/api/runs/r-uwe", nil, 404)
	ask(t, s, "underwriter/una", "GET", "/api/runs/r-uwe/findings", nil, 404)
	ask(t, s, "admin/bo@other", "GET", "/api/runs/r-una/findings/F-0001", nil, 404)
	for filter, want := range map[string]float64{"": 2, "?severity=critical": 1, "?rule=DRV-04": 1, "?q=mvr": 1, "?submission=S2": 0, "?disposition=open": 2, "?disposition=waived": 0} {
		if got := ask(t, s, "underwriter/una", "GET", "/api/runs/r-una/findings"+filter, nil, 200)["total"]; got != want {
			t.Errorf("%q: %v findings, want %v", filter, got, want)
		}
	}
	for page, want := range map[string]string{"": "F-0002 F-0001", "?order=severity": "F-0001 F-0002", "?order=severity&limit=1": "F-0001", "?offset=1&limit=5": "F-0001", "?offset=9": ""} {
		var ids []string
		for _, f := range ask(t, s, "underwriter/una", "GET", "/api/runs/r-una/findings"+page, nil, 200)["findings"].([]any) {
			ids = append(ids, f.(map[string]any)["id"].(string))
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q: %s, want %s", page, got, want)
		}
	}
	ask(t, s, "underwriter/una", "GET", "/api/runs/r-una/findings?limit=few", nil, 422)
	one := "/api/runs/r-una/findings/F-0001"
	finding := ask(t, s, "underwriter/una", "GET", one, nil, 200)["finding"].(map[string]any)
	if len(finding["evidence"].([]any)) != 1 {
		t.Errorf("%v", finding)
	}
	ask(t, s, "underwriter/una", "GET", "/api/runs/r-una/findings/F-9999", nil, 404)
	said := map[string]any{"disposition": "waived", "comment": "known", "revision": 0}
	ask(t, s, "auditor/ada", "PUT", one+"/review", said, 403)
	ask(t, s, "underwriter/uwe", "PUT", one+"/review", said, 404)
	ask(t, s, "underwriter/una", "PUT", one+"/review", map[string]any{"disposition": "maybe", "revision": 0}, 422)
	ask(t, s, "underwriter/una", "PUT", one+"/review", said, 200)
	clash := ask(t, s, "analyst/ana", "PUT", one+"/review", map[string]any{"disposition": "accepted", "revision": 0}, 409)
	if !strings.Contains(clash["error"].(map[string]any)["message"].(string), "name of una") {
		t.Errorf("%v", clash)
	}
	if got := ask(t, s, "underwriter/una", "GET", "/api/runs/r-una/findings?disposition=waived", nil, 200)["total"]; got != float64(1) {
		t.Errorf("%v waived", got)
	}
}
