package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	typed "bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/mcpserver"
	"bordereau/governance/mcpserver/mcpservertest"
)

// door starts a server behind the door of a sandbox and returns what gov needs to reach it.
func door(t *testing.T, g *mcpservertest.Gate, change ...func(*mcpserver.Config)) (*mcpservertest.Bed, func(args ...string) (out, errs string, status int)) {
	t.Helper()
	bed := mcpservertest.Start(t, func(c *mcpserver.Config) {
		c.Gate = g
		for _, f := range change {
			f(c)
		}
	})
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(bed.Mint(t, mcpservertest.Grant())+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := bed.Socket(t, "s1")
	env := map[string]string{"BORDEREAU_SOCKET": socket, "BORDEREAU_TOKEN_FILE": token}
	return bed, func(args ...string) (string, string, int) {
		t.Helper()
		var out, errs bytes.Buffer
		std := stdio{In: strings.NewReader("SELECT 'from standard input'"), Out: &out, Err: &errs, Env: func(k string) string { return env[k] }}
		status := exit(run(t.Context(), args, std), &errs)
		return out.String(), errs.String(), status
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	_, gov := door(t, &mcpservertest.Gate{})
	out, errs, status := gov("sql", "SELECT 42 AS n")
	var got struct {
		AuditID string  `json:"audit_id"`
		Rows    [][]int `json:"rows"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 || got.AuditID != "audit-1" || got.Rows[0][0] != 42 {
		t.Fatalf("status %d, out %q, errors %q", status, out, errs)
	}
	table, _, _ := gov("sql", "--table", "SELECT 42 AS n")
	if !strings.HasPrefix(table, "n\n42\n") || !strings.Contains(table, "audit_id: audit-2") {
		t.Errorf("table:\n%s", table)
	}
}

func TestWholeResultArrivesWhole(t *testing.T) {
	t.Parallel()
	rows := [][]any{}
	for i := range 60_000 {
		rows = append(rows, []any{int64(i), "value, with \"quotes\"", nil})
	}
	columns := []gate.Column{{Name: "id", Type: "BIGINT"}, {Name: "v", Type: "VARCHAR"}, {Name: "nothing", Type: "VARCHAR"}}
	_, gov := door(t, (&mcpservertest.Gate{}).On("everything", mcpservertest.Reply{Columns: columns, Rows: rows}))
	file := filepath.Join(t.TempDir(), "rows.csv")
	out, errs, status := gov("sql", "SELECT everything", "-o", file)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if len(lines) != 60_001 || lines[0] != "id,v,nothing" || lines[60_000] != `59999,"value, with ""quotes""",` {
		t.Fatalf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	if len(raw) <= 1<<20 {
		t.Fatalf("%d bytes are one part only", len(raw))
	}
	head, err := os.ReadFile(file + ".json")
	if err != nil || string(head) != out {
		t.Fatalf("head %q, %v; printed %q", head, err, out)
	}
	if !strings.Contains(out, `"rows":60000`) || !strings.Contains(out, `"truncated":false`) {
		t.Errorf("head %s", out)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".gov-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestExitStatus(t *testing.T) {
	t.Parallel()
	g := (&mcpservertest.Gate{}).Described()
	g.On("refused", mcpservertest.Reply{Err: &typed.Error{Code: typed.Denied, Component: "policy", Message: "no such relation", Hint: "name submissions", Rule: "relation", Position: 15, AuditID: "a9"}})
	g.On("slow", mcpservertest.Reply{Err: &typed.Error{Code: typed.Timeout, Component: "duck", Message: "took too long"}})
	g.On("broken", mcpservertest.Reply{Err: &typed.Error{Code: typed.Internal, Component: "duck", Message: "internal error"}})
	bed, gov := door(t, g)
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"sql", "SELECT 1"}, 0, ""},
		{[]string{"sql"}, 0, ""}, // from standard input
		{[]string{"sql", "SELECT refused"}, 3, "gov: denied: no such relation (at byte 15 of the query)\n  hint: name submissions\n  rule: relation\n  component: policy\n  audit: a9\n"},
		{[]string{"sql", "SELECT slow"}, 4, "gov: timeout: took too long\n  component: duck\n"},
		{[]string{"sql", "SELECT broken"}, 5, "gov: internal: internal error\n  component: duck\n"},
		{[]string{"extraction"}, 3, "gov: invalid: name exactly one of submission_id, document_id and field_id\n  hint: the tool's input schema says what it takes\n  component: get_extraction\n"},
		{[]string{"submissions", "--from", "yesterday"}, 3, "gov: invalid: the arguments of list_submissions are wrong"},
		{[]string{"sql", "-o", "rows.xlsx", "SELECT 1"}, 2, "gov: -o takes a name that ends in .csv, .parquet or .arrow\n"},
		{[]string{"frobnicate"}, 2, "gov: no command \"frobnicate\"\n"},
		{[]string{"describe"}, 0, ""},
		{[]string{"vin", "1FUJGLDR0CLBP8834"}, 0, ""},
		{[]string{"document", "D-1", "-o", filepath.Join(t.TempDir(), "d")}, 3, "gov: denied: the role may not read documents as they came"},
	} {
		_, errs, status := gov(c.args...)
		if status != c.status || !strings.HasPrefix(errs, c.says) {
			t.Errorf("gov %q: status %d, %q; want %d, %q", c.args, status, errs, c.status, c.says)
		}
	}
	bed.Live.End("t1")
	if _, errs, status := gov("sql", "SELECT 1"); status != 3 || !strings.HasPrefix(errs, "gov: auth: the token's turn has ended or moved on\n") {
		t.Errorf("after the turn: status %d, %q", status, errs)
	}
}

func TestNoDoor(t *testing.T) {
	t.Parallel()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"BORDEREAU_SOCKET": filepath.Join(t.TempDir(), "none.sock"), "BORDEREAU_TOKEN_FILE": token}
	var errs bytes.Buffer
	std := stdio{In: strings.NewReader(""), Out: &errs, Err: &errs, Env: func(k string) string { return env[k] }}
	c := &command{std: std, client: dial(std)}
	c.client.pause = 0
	_, err := c.client.call(t.Context(), "sql", map[string]any{"query": "SELECT 1"})
	if status := exit(err, &errs); status != exitBroken || !strings.HasPrefix(errs.String(), "gov: unavailable: governance can't be reached") {
		t.Errorf("status %d: %s", status, errs.String())
	}
	env["BORDEREAU_TOKEN_FILE"] = filepath.Join(t.TempDir(), "none")
	errs.Reset()
	if status := exit(run(t.Context(), []string{"sql", "SELECT 1"}, std), &errs); status != exitRefused {
		t.Errorf("without a token: status %d: %s", status, errs.String())
	}
}

func TestRunAndPages(t *testing.T) {
	t.Parallel()
	_, gov := door(t, &mcpservertest.Gate{})
	file := filepath.Join(t.TempDir(), "run.json")
	out, errs, status := gov("reconcile", "--from", "2026-11-29", "--to", "2026-11-29", "--guideline", "many", "-o", file)
	if status != 0 || !strings.Contains(out, `"finding_count":3000`) || !strings.Contains(out, `"critical":0`) {
		t.Fatalf("status %d, %s%s", status, errs, out)
	}
	raw, err := os.ReadFile(file)
	if err != nil || len(raw) <= 1<<20 || !json.Valid(raw) {
		t.Fatalf("run of %d bytes, %v", len(raw), err)
	}
}
