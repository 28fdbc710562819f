package mcpserver_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bordereau/governance/audit"
	"bordereau/governance/duck"
	"bordereau/governance/duck/ducktest"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/mcpserver"
	"bordereau/governance/mcpserver/mcpservertest"
	"bordereau/governance/policy"
	"bordereau/governance/statement"
	"bordereau/migrations"
	"bordereau/tools/vin"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == duck.WorkerCommand {
		os.Exit(duck.WorkerMain())
	}
	os.Exit(m.Run())
}

// files pins generations by organisation and profile.
type files map[string]string

func (f files) Pin(_ context.Context, org, profile, _ string) (gate.Pinned, func(), error) {
	path, ok := f[org+"/"+profile]
	if !ok {
		return gate.Pinned{}, nil, fmt.Errorf("no data of %s", org)
	}
	return gate.Pinned{Generation: filepath.Base(path), Path: path, SHA256: "00"}, func() {}, nil
}

// real is a server over the real gate, DuckDB in worker processes and all.
func real(t testing.TB) (*mcpservertest.Bed, *audit.Log) { //nolint:predeclared // the opposite of scripted
	t.Helper()
	db, _, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "audit.db"), migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.New(t.Context(), audit.Config{DB: db, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := duck.New(duck.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close(); _ = db.Close() })
	reader, err := statement.New(statement.Config{Parser: pool})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := policy.Default(policy.Relations())
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := vin.Load()
	if err != nil {
		t.Fatal(err)
	}
	g, err := gate.New(t.Context(), gate.Config{
		Reader: reader, Policy: rules, Runner: pool, Recorder: log, Log: slog.New(slog.DiscardHandler), Now: time.Now, NewID: rand.Text,
		Pinner: files{
			"acme/standard": ducktest.Generation(t, "acme", true, 300), "acme/full": ducktest.Generation(t, "acme", false, 300),
			"globex/standard": ducktest.Generation(t, "globex", true, 10),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mcpservertest.Start(t, func(c *mcpserver.Config) {
		c.Gate, c.Policy, c.VINs, c.Refusals = g, rules, decoder, mcpserver.AuditRefusals{Log: log, NewID: rand.Text}
	}), log
}

// TestTheRealGate asks each tool over data in DuckDB.
func TestTheRealGate(t *testing.T) {
	t.Parallel()
	bed, _ := real(t)
	g := mcpservertest.Grant()

	h := structured[sqlHead](t, callTool(t, bed, g, "sql", map[string]any{"query": "SELECT workflow, count(*) AS n, sum(1.5) AS s FROM submissions GROUP BY ALL ORDER BY 1"}))
	if len(h.Rows) != 3 || h.Rows[0][0] != "Claims Intake" || h.Rows[0][1] != 100.0 || h.Rows[0][2] != 150.0 {
		t.Errorf("sql: %+v", h)
	}
	f := faultOf(t, callTool(t, bed, g, "sql", map[string]any{"query": "SELECT * FROM read_csv('/etc/passwd')"}))
	if f.Code != fault.Denied || f.Hint == "" || f.AuditID == "" {
		t.Errorf("refusal: %+v", f)
	}

	type described struct {
		Relations []struct {
			Name    string `json:"name"`
			Rows    int    `json:"row_count"`
			From    string `json:"from"`
			Example string `json:"example"`
		} `json:"relations"`
		Workflows []any `json:"workflows"`
	}
	d := structured[described](t, callTool(t, bed, g, "describe_data", nil))
	if len(d.Relations) != 9 || d.Relations[0].Rows != 300 || d.Relations[0].From != "2026-06-01" || len(d.Workflows) != 3 {
		t.Errorf("describe: %+v", d)
	}
	for _, r := range d.Relations {
		if c := callTool(t, bed, g, "sql", map[string]any{"query": r.Example}); c.IsError {
			t.Errorf("the example of %s is refused: %s", r.Name, c.Content[0].Text)
		}
	}

	type list struct {
		Total       int `json:"total"`
		Submissions []struct {
			ID        string `json:"submission_id"`
			Received  string `json:"received_at"`
			Effective string `json:"effective_date"`
			Documents []struct {
				ID string `json:"document_id"`
			} `json:"documents"`
		} `json:"submissions"`
		AuditIDs []string `json:"audit_ids"`
	}
	l := structured[list](t, callTool(t, bed, g, "list_submissions", map[string]any{"from": "2026-06-02", "to": "2026-06-02", "workflow": "Claims Intake", "limit": 5}))
	if l.Total != 8 || len(l.Submissions) != 5 || len(l.Submissions[0].Documents) != 4 || !strings.HasPrefix(l.Submissions[0].Received, "2026-06-02T") || len(l.AuditIDs) != 2 {
		t.Errorf("list: %+v", l)
	}
	rest := structured[list](t, callTool(t, bed, g, "list_submissions", map[string]any{"from": "2026-06-02", "to": "2026-06-02", "workflow": "Claims Intake", "limit": 5, "offset": 5}))
	beyond := structured[list](t, callTool(t, bed, g, "list_submissions", map[string]any{"from": "2026-06-02", "to": "2026-06-02", "workflow": "Claims Intake", "offset": 50}))
	if rest.Total != 8 || len(rest.Submissions) != 3 || beyond.Total != 8 || len(beyond.Submissions) != 0 {
		t.Errorf("pages: %d of %d, then %d of %d", len(rest.Submissions), rest.Total, len(beyond.Submissions), beyond.Total)
	}
	named := structured[list](t, callTool(t, bed, g, "list_submissions", map[string]any{"insured": "insured 12 "}))
	if named.Total != 1 || named.Submissions[0].ID != "S-12" {
		t.Errorf("by name: %+v", named)
	}
	if none := structured[list](t, callTool(t, bed, g, "list_submissions", map[string]any{"insured": "x' OR '1'='1"})); none.Total != 0 {
		t.Errorf("an injection found %d", none.Total)
	}

	type extraction struct {
		Total  int `json:"total"`
		Fields []struct {
			ID    string    `json:"field_id"`
			Name  string    `json:"field_name"`
			Value *string   `json:"value"`
			Box   []float64 `json:"box"`
			Edits []struct {
				To *string `json:"to_value"`
				By string  `json:"edited_by"`
			} `json:"edits"`
			Edited bool `json:"edited"`
		} `json:"fields"`
	}
	x := structured[extraction](t, callTool(t, bed, g, "get_extraction", map[string]any{"submission_id": "S-12"}))
	if x.Total != 16 || len(x.Fields) != 16 || len(x.Fields[0].Box) != 4 {
		t.Errorf("extraction: %d of %d, %+v", len(x.Fields), x.Total, x.Fields)
	}
	edited := 0
	for i := range 30 {
		x := structured[extraction](t, callTool(t, bed, g, "get_extraction", map[string]any{"submission_id": fmt.Sprintf("S-%d", i)}))
		for _, f := range x.Fields {
			if f.Edited != (len(f.Edits) == 1) {
				t.Errorf("%s: edited %t with %d edits", f.ID, f.Edited, len(f.Edits))
			}
			edited += len(f.Edits)
		}
	}
	if edited == 0 {
		t.Error("no edit was seen")
	}
	one := structured[extraction](t, callTool(t, bed, g, "get_extraction", map[string]any{"field_id": x.Fields[3].ID}))
	if one.Total != 1 || one.Fields[0].ID != x.Fields[3].ID {
		t.Errorf("by field: %+v", one)
	}
	if f := faultOf(t, callTool(t, bed, g, "get_extraction", map[string]any{"submission_id": "S-none"})); f.Code != fault.NotFound {
		t.Errorf("no such submission: %+v", f)
	}
	whole := structured[extraction](t, callTool(t, bed, g, "get_extraction", map[string]any{"submission_id": "S-12", "limit": 1000, "offset": 14}))
	if whole.Total != 16 || len(whole.Fields) != 2 {
		t.Errorf("page: %d of %d", len(whole.Fields), whole.Total)
	}

	type vins struct {
		Results []struct {
			Ref  string `json:"ref"`
			Make string `json:"Make"`
		} `json:"results"`
	}
	v := structured[vins](t, callTool(t, bed, g, "decode_vins", map[string]any{"vins": []any{map[string]any{"vin": "1FUJGLDR0CLBP8834", "year": 2012, "make": "Freightliner", "ref": "r1"}}}))
	if len(v.Results) != 1 || v.Results[0].Ref != "r1" || v.Results[0].Make != "FREIGHTLINER" {
		t.Errorf("vins: %+v", v)
	}
}

// TestExportsOfTheRealGate holds that whole results survive the way through worker, gate and file.
func TestExportsOfTheRealGate(t *testing.T) {
	t.Parallel()
	bed, _ := real(t)
	g := mcpservertest.Grant()
	for _, format := range []string{"csv", "parquet", "arrow"} {
		h := structured[sqlHead](t, callTool(t, bed, g, "sql", map[string]any{
			"query": "SELECT *, count(*) OVER () AS n FROM extracted_fields ORDER BY field_id", "export": format, "max_rows": 2,
		}))
		var whole []byte
		for n := 1; n <= h.Export.Parts; n++ {
			part, f := readPart(t, bed, g, fmt.Sprintf("%s/%d", h.Export.URI, n))
			if f != nil {
				t.Fatalf("%s part %d: %+v", format, n, f)
			}
			whole = append(whole, part...)
		}
		if len(whole) != h.Export.Bytes || h.Export.Rows != h.RowCount || h.RowCount != 4800 || len(h.Rows) != 2 {
			t.Errorf("%s: %d bytes of %+v, %d rows", format, len(whole), h.Export, h.RowCount)
		}
	}
}

// TestNoOtherOrganisation holds that nothing of another organisation is named or shown, whatever is asked, and that a
// refusal of a token is in nobody's chain but that of the unverified.
func TestNoOtherOrganisation(t *testing.T) {
	t.Parallel()
	bed, log := real(t)
	g := mcpservertest.Grant()
	for name, arguments := range map[string]any{
		"sql":              map[string]any{"query": "SELECT * FROM submissions", "max_rows": 500},
		"get_extraction":   map[string]any{"submission_id": "S-1"},
		"list_submissions": map[string]any{"limit": 200},
		"describe_data":    nil,
	} {
		if c := callTool(t, bed, g, name, arguments); c.IsError || strings.Contains(strings.ToLower(string(c.Structured)), "globex") || strings.Contains(string(c.Structured), ducktest.Canary("acme")) {
			t.Errorf("%s: %s", name, c.Content[0].Text)
		}
	}
	stolen := bed.Mint(t, g)
	if r := post(t, bed, stolen, bed.Stamper.Stamp("s9", stolen), "tools/list", nil); r.Error == nil {
		t.Fatal("a stolen token was taken")
	}
	var kinds []string
	entries, err := log.List(t.Context(), audit.Filter{Org: mcpserver.UnverifiedOrg})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		kinds = append(kinds, e.Event+" "+e.Rule)
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{"asked ", "outcome token_sandbox"}) {
		t.Errorf("recorded %q", kinds)
	}
}
