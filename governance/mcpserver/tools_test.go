package mcpserver_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/mcpserver"
	"bordereau/governance/mcpserver/mcpservertest"
	"bordereau/governance/turntoken"
)

type sqlHead struct {
	AuditID    string        `json:"audit_id"`
	Generation string        `json:"generation"`
	Columns    []gate.Column `json:"columns"`
	Rows       [][]any       `json:"rows"`
	RowCount   int           `json:"row_count"`
	Truncated  bool          `json:"truncated"`
	Note       string        `json:"note"`
	Export     *struct {
		URI    string `json:"uri"`
		Rows   int    `json:"rows"`
		Bytes  int    `json:"bytes"`
		SHA256 string `json:"sha256"`
		Parts  int    `json:"parts"`
	} `json:"export"`
}

func numbers(n int) mcpservertest.Reply {
	r := mcpservertest.Reply{Columns: []gate.Column{{Name: "n", Type: "BIGINT"}, {Name: "text", Type: "VARCHAR"}}}
	for i := range n {
		r.Rows = append(r.Rows, []any{int64(i), fmt.Sprintf("row %d", i)})
	}
	return r
}

func scripted(t *testing.T, g *mcpservertest.Gate) *mcpservertest.Bed {
	t.Helper()
	return mcpservertest.Start(t, func(c *mcpserver.Config) { c.Gate = g })
}

func TestPreviewSaysWhatItCut(t *testing.T) {
	t.Parallel()
	g := (&mcpservertest.Gate{}).On("many", numbers(1234)).On("more", numbers(20_000)).On("long", mcpservertest.Reply{
		Columns: []gate.Column{{Name: "t", Type: "VARCHAR"}}, Rows: [][]any{{strings.Repeat("é", 3000)}},
	}).On("wide", mcpservertest.Reply{Columns: []gate.Column{{Name: "t", Type: "VARCHAR"}}, Rows: wide(100)})
	bed := scripted(t, g)
	for _, c := range []struct {
		query       string
		max         int
		shown, seen int
		truncated   bool
		note        string
	}{
		{"SELECT 1", 0, 1, 1, false, ""},
		{"SELECT many", 0, 50, 1234, true, "Showing 50 of 1234 rows. Raise max_rows, aggregate in SQL, or ask with export."},
		{"SELECT many", 500, 500, 1234, true, "Showing 500 of 1234 rows. Raise max_rows, aggregate in SQL, or ask with export."},
		{"SELECT more", 1, 1, 10_000, true, "Showing 1 of more than 10000 rows. Aggregate in SQL, or ask with export."},
		{"SELECT long", 0, 1, 1, false, "1 long values were cut."},
		{"SELECT wide", 100, 24, 100, true, "Showing 24 of 100 rows. Raise max_rows, aggregate in SQL, or ask with export."},
	} {
		arguments := map[string]any{"query": c.query}
		if c.max > 0 {
			arguments["max_rows"] = c.max
		}
		h := structured[sqlHead](t, callTool(t, bed, mcpservertest.Grant(), "sql", arguments))
		if len(h.Rows) != c.shown || h.RowCount != c.seen || h.Truncated != c.truncated || h.Note != c.note || h.AuditID == "" || h.Generation != "gen-1" {
			t.Errorf("%s: %d rows of %d, truncated %t, note %q", c.query, len(h.Rows), h.RowCount, h.Truncated, h.Note)
		}
	}
	asked := g.Questions()
	p := asked[0].Principal
	if p != (gate.Principal{Org: "acme", Subject: "mary@acme.example", Role: "underwriter", Via: "chat", Conversation: "c1", Turn: "t1", Epoch: 1, Sandbox: "s1"}) {
		t.Errorf("the gate saw %+v", p)
	}
}

func wide(n int) [][]any {
	out := make([][]any, n)
	for i := range out {
		out[i] = []any{strings.Repeat("x", 2000)}
	}
	return out
}

func TestValuesKeepTheirTypes(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	g := (&mcpservertest.Gate{}).On("types", mcpservertest.Reply{
		Columns: []gate.Column{
			{Name: "d", Type: "DECIMAL(14,2)"},
			{Name: "h", Type: "HUGEINT"},
			{Name: "day", Type: "DATE"},
			{Name: "at", Type: "TIMESTAMP"},
			{Name: "l", Type: "DATE[]"},
			{Name: "m", Type: "MAP(VARCHAR, DECIMAL(4,1))"},
			{Name: "null", Type: "VARCHAR"},
			{Name: "empty", Type: "VARCHAR"},
			{Name: "b", Type: "BOOLEAN"},
		},
		Rows: [][]any{{"12345678901.25", "170141183460469231731687303715884105727", day, day.Add(90 * time.Minute), []any{day, nil}, map[string]any{"a": "1.5"}, nil, "", true}},
	})
	bed := scripted(t, g)
	c := callTool(t, bed, mcpservertest.Grant(), "sql", map[string]any{"query": "SELECT types"})
	want := `"rows":[[12345678901.25,170141183460469231731687303715884105727,"2026-11-29","2026-11-29 01:30:00",["2026-11-29",null],{"a":1.5},null,"",true]]`
	if !strings.Contains(string(c.Structured), want) {
		t.Errorf("got %s\nwant %s", c.Structured, want)
	}
}

func TestExportIsForItsTurnOnly(t *testing.T) {
	t.Parallel()
	bed := scripted(t, (&mcpservertest.Gate{}).On("many", numbers(200_000)))
	h := structured[sqlHead](t, callTool(t, bed, mcpservertest.Grant(), "sql", map[string]any{"query": "SELECT many", "export": "csv", "max_rows": 3}))
	if len(h.Rows) != 3 || h.RowCount != 200_000 || h.Note != "Showing 3 of 200000 rows; the file has them all." || h.Export == nil || h.Export.Parts < 2 {
		t.Fatalf("head %+v", h)
	}
	var whole []byte
	for n := 1; n <= h.Export.Parts; n++ {
		part, f := readPart(t, bed, mcpservertest.Grant(), fmt.Sprintf("%s/%d", h.Export.URI, n))
		if f != nil || len(part) > 1<<20 {
			t.Fatalf("part %d: %d bytes, %+v", n, len(part), f)
		}
		whole = append(whole, part...)
	}
	sum := sha256.Sum256(whole)
	if hex.EncodeToString(sum[:]) != h.Export.SHA256 || len(whole) != h.Export.Bytes || bytes.Count(whole, []byte("\n")) != 200_001 {
		t.Errorf("%d bytes of %d, another hash", len(whole), h.Export.Bytes)
	}
	other := func(change func(*turntoken.Grant)) turntoken.Grant {
		g := mcpservertest.Grant()
		change(&g)
		return g
	}
	uri := h.Export.URI + "/1"
	for name, g := range map[string]turntoken.Grant{
		"another organisation": other(func(g *turntoken.Grant) { g.Org = "globex" }),
		"another turn":         other(func(g *turntoken.Grant) { g.Turn = "t2" }),
		"without the tool":     other(func(g *turntoken.Grant) { g.Tools = []string{"decode_vins"} }),
	} {
		if _, f := readPart(t, bed, g, uri); f == nil || f.Code != fault.NotFound {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, uri := range []string{h.Export.URI + "/0", h.Export.URI + "/99", h.Export.URI + "/-1", "bordereau://export/nope/1", "bordereau://export/../1", "bordereau://secret/x/1", "file:///etc/passwd"} {
		if _, f := readPart(t, bed, mcpservertest.Grant(), uri); f == nil || f.Code != fault.NotFound {
			t.Errorf("%s: %+v", uri, f)
		}
	}
}

func readPart(t *testing.T, bed *mcpservertest.Bed, g turntoken.Grant, uri string) ([]byte, *fault.Error) {
	t.Helper()
	token := bed.Mint(t, g)
	r := post(t, bed, token, bed.Stamper.Stamp(g.Sandbox, token), "resources/read", map[string]any{"uri": uri})
	if r.Error != nil {
		if r.Error.Data == nil && r.Error.Code == -32002 { // the library itself: no template takes such a URI
			return nil, &fault.Error{Code: fault.NotFound}
		}
		return nil, r.Error.Data
	}
	var out struct {
		Contents []struct {
			Blob string `json:"blob"`
		} `json:"contents"`
	}
	if err := json.Unmarshal(r.Result, &out); err != nil || len(out.Contents) != 1 {
		t.Fatalf("%s: %v", r.Result, err)
	}
	raw, err := base64.StdEncoding.DecodeString(out.Contents[0].Blob)
	if err != nil {
		t.Fatal(err)
	}
	return raw, nil
}

func TestRunIsForItsRole(t *testing.T) {
	t.Parallel()
	bed := scripted(t, &mcpservertest.Gate{})
	type head struct {
		RunID      string         `json:"run_id"`
		URI        string         `json:"uri"`
		Parts      int            `json:"parts"`
		Decisions  map[string]int `json:"decisions"`
		Severities map[string]int `json:"severities"`
		Rules      map[string]int `json:"rules"`
		Count      int            `json:"finding_count"`
		Findings   []any          `json:"findings"`
		Note       string         `json:"note"`
		AuditIDs   []string       `json:"audit_ids"`
	}
	h := structured[head](t, callTool(t, bed, mcpservertest.Grant(), "reconcile", map[string]any{"from": "2026-11-29", "to": "2026-11-29", "guideline": "many"}))
	if h.Count != 3000 || len(h.Findings) != 20 || h.Parts < 2 || h.Decisions["refer"] != 1 || h.Severities["major"] != 3000 || h.Rules["vin_check_digit"] != 3000 || len(h.AuditIDs) != 1 {
		t.Fatalf("head %+v", h)
	}
	g := mcpservertest.Grant()
	g.Turn = "t2" // a later turn publishes it
	var whole []byte
	for n := 1; n <= h.Parts; n++ {
		part, f := readPart(t, bed, g, fmt.Sprintf("%s/%d", h.URI, n))
		if f != nil {
			t.Fatalf("part %d: %+v", n, f)
		}
		whole = append(whole, part...)
	}
	var body struct {
		RunID string `json:"run_id"`
		Org   string `json:"org"`
	}
	if err := json.Unmarshal(whole, &body); err != nil || body.RunID != h.RunID || body.Org != "acme" {
		t.Errorf("run %+v, %v", body, err)
	}
	g.Role = "auditor" // who sees more than the run may hold, or less
	if _, f := readPart(t, bed, g, h.URI+"/1"); f == nil || f.Code != fault.NotFound {
		t.Errorf("another role: %+v", f)
	}
	g = mcpservertest.Grant()
	g.Org = "globex"
	if _, f := readPart(t, bed, g, h.URI+"/1"); f == nil || f.Code != fault.NotFound {
		t.Errorf("another organisation: %+v", f)
	}
}

func TestDocumentIsForRolesThatSeeEverything(t *testing.T) {
	t.Parallel()
	script := (&mcpservertest.Gate{}).On("'D-hidden'", mcpservertest.Reply{Columns: []gate.Column{{Name: "document_id", Type: "VARCHAR"}}})
	bed := scripted(t, script)
	g := mcpservertest.Grant()
	if _, f := readPart(t, bed, g, "bordereau://document/D-1/1"); f == nil || f.Code != fault.Denied || f.Rule != "original_documents" {
		t.Errorf("underwriter: %+v", f)
	}
	g.Role = "auditor"
	var size int
	for n := 1; n <= 3; n++ {
		part, f := readPart(t, bed, g, fmt.Sprintf("bordereau://document/D-1/%d", n))
		if f != nil {
			t.Fatalf("part %d: %+v", n, f)
		}
		size += len(part)
	}
	if size != 5<<19 {
		t.Errorf("%d bytes", size)
	}
	if _, f := readPart(t, bed, g, "bordereau://document/D-1/4"); f == nil || f.Code != fault.NotFound {
		t.Errorf("part 4: %+v", f)
	}
	if _, f := readPart(t, bed, g, "bordereau://document/D-hidden/1"); f == nil || f.Code != fault.NotFound {
		t.Errorf("a document that the role's rows don't have: %+v", f)
	}
	if n := len(script.Questions()); n != 2 {
		t.Errorf("%d questions are on record; want one for each document", n)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	t.Parallel()
	g := (&mcpservertest.Gate{}).
		On("denied", mcpservertest.Reply{Err: &fault.Error{Code: fault.Denied, Component: "policy", Message: "no", Rule: "function", Position: 8, Hint: "write it so", AuditID: "a1"}}).
		On("down", mcpservertest.Reply{Err: &fault.Error{Code: fault.Unavailable, Component: "duck", Message: "no worker", Retryable: true}}).
		On("panic", mcpservertest.Reply{Wait: func(context.Context) error { panic("secret inside") }})
	bed := scripted(t, g)
	f := faultOf(t, callTool(t, bed, mcpservertest.Grant(), "sql", map[string]any{"query": "SELECT denied"}))
	if f.Code != fault.Denied || f.Rule != "function" || f.Position != 8 || f.Hint != "write it so" || f.AuditID != "a1" {
		t.Errorf("mendable: %+v", f)
	}
	for query, code := range map[string]fault.Code{"SELECT down": fault.Unavailable, "SELECT panic": fault.Internal} {
		r := callWith(t, bed, mcpservertest.Grant(), "sql", map[string]any{"query": query}, nil)
		if r.Error == nil || r.Error.Code != -32603 || r.Error.Data == nil || r.Error.Data.Code != code || strings.Contains(r.Error.Message, "secret") {
			t.Errorf("%s: %+v", query, r.Error)
		}
	}
	for name, arguments := range map[string]any{
		"sql":              map[string]any{"query": "SELECT 1", "max_rows": 501},
		"list_submissions": map[string]any{"limit": "ten"},
		"get_extraction":   map[string]any{"submission": "S-1"},
		"decode_vins":      map[string]any{"vins": []any{}},
		"reconcile":        map[string]any{"from": "today"},
		"describe_data":    map[string]any{"relation": "secrets"},
	} {
		if f := faultOf(t, callTool(t, bed, mcpservertest.Grant(), name, arguments)); f.Code != fault.Invalid && f.Code != fault.NotFound || f.Hint == "" {
			t.Errorf("%s %v: %+v", name, arguments, f)
		}
	}
}

func TestBodyIsCapped(t *testing.T) {
	t.Parallel()
	bed := mcpservertest.Start(t, func(c *mcpserver.Config) { c.Limits.Body = 10 << 10 })
	r := callWith(t, bed, mcpservertest.Grant(), "sql", map[string]any{"query": strings.Repeat("x", 11<<10)}, nil)
	if r.status != http.StatusRequestEntityTooLarge || r.Error.Data.Code != fault.TooLarge {
		t.Errorf("status %d, %+v", r.status, r.Error)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
		r, err := http.NewRequestWithContext(t.Context(), method, bed.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := bed.Client(t, mcpservertest.Grant()).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusMethodNotAllowed || answer.Header.Get("Allow") != "POST" {
			t.Errorf("%s: status %d", method, answer.StatusCode)
		}
	}
}

func TestTurnHasSoManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	inside := make(chan struct{}, 8)
	g := (&mcpservertest.Gate{}).On("wait", mcpservertest.Reply{Wait: func(ctx context.Context) error {
		inside <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
		}
		return nil
	}})
	bed := mcpservertest.Start(t, func(c *mcpserver.Config) { c.Gate, c.Limits.Calls = g, 2 })
	done := make(chan reply)
	for i := range 2 {
		go func() {
			done <- callWith(t, bed, mcpservertest.Grant(), "sql", map[string]any{"query": fmt.Sprintf("SELECT wait, %d", i)}, nil)
		}()
	}
	<-inside
	<-inside
	if r := callWith(t, bed, mcpservertest.Grant(), "sql", map[string]any{"query": "SELECT 1"}, nil); r.status != http.StatusTooManyRequests || r.Error.Data.Code != fault.RateLimited {
		t.Errorf("status %d, %+v", r.status, r.Error)
	}
	other := mcpservertest.Grant()
	other.Turn = "t2"
	if r := callWith(t, bed, other, "sql", map[string]any{"query": "SELECT 1"}, nil); r.status != http.StatusOK {
		t.Errorf("another turn: status %d", r.status)
	}
	close(release)
	<-done
	<-done
}

func TestDescribeSaysWhatARoleSees(t *testing.T) {
	t.Parallel()
	g := (&mcpservertest.Gate{}).Described()
	bed := mcpservertest.Start(t, func(c *mcpserver.Config) {
		c.Gate = g
		role := c.Policy.Roles["underwriter"]
		role.Relations = []string{"submissions", "vehicles"}
		role.Hidden = map[string][]string{"submissions": {"broker_name"}}
		c.Policy.Roles["underwriter"] = role
	})
	type answer struct {
		Relations []struct {
			Name    string `json:"name"`
			Rows    int    `json:"row_count"`
			From    string `json:"from"`
			To      string `json:"to"`
			Columns []struct {
				Name string `json:"name"`
			} `json:"columns"`
		} `json:"relations"`
		Workflows []struct {
			Workflow string `json:"workflow"`
		} `json:"workflows"`
		Guidelines []mcpserver.Guideline `json:"guidelines"`
		AuditIDs   []string              `json:"audit_ids"`
	}
	a := structured[answer](t, callTool(t, bed, mcpservertest.Grant(), "describe_data", nil))
	if len(a.Relations) != 2 || a.Relations[0].Rows != 325 || a.Relations[0].From != "2026-04-29" || a.Relations[0].To != "2026-11-29" || a.Relations[1].From != "" {
		t.Errorf("relations %+v", a.Relations)
	}
	for _, c := range a.Relations[0].Columns {
		if c.Name == "broker_name" {
			t.Error("a hidden column is described")
		}
	}
	if len(a.Workflows) != 1 || a.Guidelines[0].ID != "northstar" || len(a.AuditIDs) != 2 {
		t.Errorf("answer %+v", a)
	}
	if f := faultOf(t, callTool(t, bed, mcpservertest.Grant(), "describe_data", map[string]any{"relation": "losses"})); f.Code != fault.NotFound {
		t.Errorf("a relation that the role doesn't see: %+v", f)
	}
}
