package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/mcpserver"
	"bordereau/governance/mcpserver/mcpservertest"
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
