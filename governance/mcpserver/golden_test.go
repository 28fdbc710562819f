package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/mcpserver"
	"bordereau/governance/mcpserver/mcpservertest"
	"bordereau/governance/policy"
)

var update = flag.Bool("update", false, "write the golden files") //nolint:gochecknoglobals // a flag

// golden compares with a golden file, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; -update writes it anew\n%s", path, diff)
	}
}

func pretty(t *testing.T, raw []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", " "); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	return out.Bytes()
}

// tokens estimates how many tokens a model reads a text as: four bytes each, which is a little more than JSON takes.
func tokens(raw []byte) int { return (len(raw) + 3) / 4 }

// The budgets of what a model reads in every turn, and of what it reads when it asks.
const (
	listBudget     = 1700
	describeBudget = 4500
)

func TestToolsAreAsWritten(t *testing.T) {
	t.Parallel()
	bed := mcpservertest.Start(t, nil)
	token := bed.Mint(t, mcpservertest.Grant())
	r := post(t, bed, token, bed.Stamper.Stamp("s1", token), "tools/list", nil)
	golden(t, "tools.golden.json", pretty(t, r.Result))
	var list struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Result, &list); err != nil {
		t.Fatal(err)
	}
	seen, err := json.Marshal(list.Tools) // what a client shows to its model
	if err != nil {
		t.Fatal(err)
	}
	if n := tokens(seen); n > listBudget {
		t.Errorf("the tools cost %d tokens of %d", n, listBudget)
	} else {
		t.Logf("the tools cost %d tokens", n)
	}
	r = post(t, bed, token, bed.Stamper.Stamp("s1", token), "resources/templates/list", nil)
	golden(t, "templates.golden.json", pretty(t, r.Result))
}

func TestDescriptionIsAsWritten(t *testing.T) {
	t.Parallel()
	bed := scripted(t, (&mcpservertest.Gate{}).Described())
	c := callTool(t, bed, mcpservertest.Grant(), "describe_data", nil)
	golden(t, "describe.golden.json", pretty(t, c.Structured))
	if n := tokens(c.Structured); n > describeBudget {
		t.Errorf("the description costs %d tokens of %d", n, describeBudget)
	} else {
		t.Logf("the description costs %d tokens", n)
	}
}

// TestTextsAreAsWritten holds what callers read when something is refused.
func TestTextsAreAsWritten(t *testing.T) {
	t.Parallel()
	bed := mcpservertest.Start(t, func(c *mcpserver.Config) { c.Limits.Body = 4 << 10 })
	var out bytes.Buffer
	say := func(what string, r reply) {
		text := string(r.Result)
		if r.Error != nil {
			raw, err := json.Marshal(r.Error.Data)
			if err != nil {
				t.Fatal(err)
			}
			text = r.Error.Message + " " + string(raw)
		} else if c := toolAnswer(t, r); c.IsError {
			text = c.Content[0].Text
		}
		out.WriteString(what + "\n  " + text + "\n")
	}
	g := mcpservertest.Grant()
	token := bed.Mint(t, g)
	stamp := bed.Stamper.Stamp("s1", token)
	call := func(name string, arguments any) reply { return callWith(t, bed, g, name, arguments, nil) }
	say("no token", post(t, bed, "", "", "tools/list", nil))
	say("outside its sandbox", post(t, bed, token, "", "tools/list", nil))
	say("bad token", post(t, bed, "x.y.z", bed.Stamper.Stamp("s1", "x.y.z"), "tools/list", nil))
	say("unknown tool", call("frobnicate", nil))
	say("too large", call("sql", map[string]any{"query": strings.Repeat("x", 5<<10)}))
	say("no query", call("sql", map[string]any{}))
	say("unknown argument", call("sql", map[string]any{"query": "SELECT 1", "limit": 5}))
	say("too many rows", call("sql", map[string]any{"query": "SELECT 1", "max_rows": 5000}))
	say("unknown export", call("sql", map[string]any{"query": "SELECT 1", "export": "xlsx"}))
	say("bad day", call("list_submissions", map[string]any{"from": "2026-13-45"}))
	say("two ids", call("get_extraction", map[string]any{"submission_id": "a", "field_id": "b"}))
	say("unknown relation", call("describe_data", map[string]any{"relation": "claims"}))
	say("no such export", post(t, bed, token, stamp, "resources/read", map[string]any{"uri": "bordereau://export/x/1"}))
	say("no such run", post(t, bed, token, stamp, "resources/read", map[string]any{"uri": "bordereau://run/x/1"}))
	say("original document", post(t, bed, token, stamp, "resources/read", map[string]any{"uri": "bordereau://document/D-1/1"}))
	bed.Live.End("t1")
	say("after the turn", post(t, bed, token, stamp, "tools/list", nil))
	golden(t, "texts.golden.txt", out.Bytes())
}

// TestDescriptionIsTheDocumentation keeps what describe_data says equal with docs/DATA.md and with what the policy governs.
func TestDescriptionIsTheDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "DATA.md"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("relations.json")
	if err != nil {
		t.Fatal(err)
	}
	type column struct{ Name, Type, Meaning, Example string }
	var described []struct {
		Name, Meaning, Time, Example string
		Columns                      []column
	}
	if err := json.Unmarshal(raw, &described); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	catalogue := policy.Relations()
	for _, r := range described {
		names := []string{}
		for _, c := range r.Columns {
			got[r.Name] = append(got[r.Name], strings.TrimSpace(c.Name+" "+c.Type+" "+c.Meaning))
			names = append(names, c.Name)
		}
		if diff := cmp.Diff(catalogue[r.Name], names); diff != "" {
			t.Errorf("%s: the policy governs other columns than are described\n%s", r.Name, diff)
		}
	}
	if diff := cmp.Diff(documented(string(page)), got); diff != "" {
		t.Errorf("docs/DATA.md and relations.json differ (- is the page)\n%s", diff)
	}
}

// documented reads the relations from the page: a table each, and the rows of one table for the typed relations.
func documented(page string) map[string][]string {
	out := map[string][]string{}
	section := regexp.MustCompile("(?s)`(\\w+)` — [^\n]*\n\n\\| column[^\n]*\n\\|[^\n]*\n((?:\\|[^\n]*\n)+)")
	plain := strings.NewReplacer("`", "")
	for _, m := range section.FindAllStringSubmatch(page, -1) {
		for line := range strings.SplitSeq(strings.TrimSpace(m[2]), "\n") {
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for name := range strings.SplitSeq(cells[0], ",") {
				text := strings.TrimSpace(name) + " " + strings.TrimSpace(cells[1]) + " " + strings.TrimSpace(cells[2])
				out[m[1]] = append(out[m[1]], strings.TrimSpace(plain.Replace(text)))
			}
		}
	}
	types := map[string]string{"row_index": "INTEGER", "page": "INTEGER", "confidence": "DOUBLE the weakest field's"}
	further := regexp.MustCompile(`(?m)^\| (vehicles|drivers|losses|coverages) \| (.*) \|$`)
	column := regexp.MustCompile(`(\w+)(?: ([A-Z]+(?:\(\d+,\d+\))?))?(?: \((\w+)\))?(?:, |$)`)
	for _, m := range further.FindAllStringSubmatch(page, -1) {
		for name := range strings.FieldsSeq("row_id document_id submission_id document_type workflow row_index page confidence") {
			typ := types[name]
			if typ == "" {
				typ = "VARCHAR"
			}
			out[m[1]] = append(out[m[1]], name+" "+typ)
		}
		text := strings.Replace(m[2], "paid, reserve, recovered, incurred (DECIMAL(14,2))",
			"paid DECIMAL(14,2), reserve DECIMAL(14,2), recovered DECIMAL(14,2), incurred DECIMAL(14,2)", 1)
		for _, c := range column.FindAllStringSubmatch(text, -1) {
			if c[2] == "" {
				c[2] = "VARCHAR"
			}
			out[m[1]] = append(out[m[1]], strings.TrimSpace(c[1]+" "+c[2]+" "+c[3]))
		}
	}
	return out
}
