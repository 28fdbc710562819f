package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bordereau/governance/fault"
)

// driverRecords are one submission with a driver and a company, each with what is masked.
const driverRecords = `{"type":"submission","id":"S-1","workflow":"W","status":"received","insured_name":"Acme","received_at":"2026-08-02T00:00:00Z"}
{"type":"document","id":"D-1","submission_id":"S-1","document_type":"driver_list","filename":"list.pdf"}
{"type":"row","id":"R-1","document_id":"D-1","table":"drivers","index":1}
{"type":"field","id":"F-1","document_id":"D-1","row_id":"R-1","field":"license_number","value":"N123-4567-8901","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-2","document_id":"D-1","row_id":"R-1","field":"date_of_birth","value":"07/04/1976","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-3","document_id":"D-1","row_id":"R-1","field":"ssn","value":"111-22-3333","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-4","document_id":"D-1","field":"driver_ssn","value":"111 22 3333","extracted_at":"2026-08-02T00:00:00Z"}
{"type":"field","id":"F-5","document_id":"D-1","field":"fein","value":"12-3456789","extracted_at":"2026-08-02T00:00:00Z"}
`

// imported is a data folder of the organisation acme.
func imported(t *testing.T, data, content string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "import.ndjson")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := runCommand(t.Context(), "import", "--data", data, "--org", "acme", file); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}

// query runs 'bordereau query' and returns what it printed and its exit status.
func query(t *testing.T, in string, args ...string) (out string, exit int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), append([]string{"query"}, args...), stdio{In: strings.NewReader(in), Out: &stdout, Err: &stderr, Env: func(string) string { return "" }})
	return stdout.String(), exitStatus(err, io.Discard)
}

// TestQueryExits holds what a program can rely on: the status, and the typed error as JSON.
func TestQueryExits(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	imported(t, data, driverRecords)
	spent := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(spent, []byte(`version: 1
profiles: {standard: {mask: {}}, full: {mask: {}}}
roles: {analyst: {profile: standard, limits: {rows: 10, bytes: 1MiB, seconds: 5, memory: 128MiB}}}
budgets: {turn: {queries: 1, seconds: 1, bytes: 1MiB}, person: {queries: 1, seconds: 100, bytes: 1MiB}, organisation: {queries: 100, seconds: 100, bytes: 1MiB}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	as := func(more ...string) []string {
		return append([]string{"--data", data, "--org", "acme", "--role", "analyst", "--as", "ann", "--json"}, more...)
	}
	if out, exit := query(t, "", as("SELECT count(*) AS n FROM submissions")...); exit != 0 || !strings.Contains(out, `"rows":[[1]`) || !strings.Contains(out, `"audit_id"`) {
		t.Errorf("answered: exit %d, %s", exit, out)
	}
	if out, exit := query(t, "SELECT submission_id FROM submissions -- from standard input", as()...); exit != 0 || !strings.Contains(out, `["S-1"]`) {
		t.Errorf("standard input: exit %d, %s", exit, out)
	}
	for name, c := range map[string]struct {
		args []string
		exit int
		code fault.Code
		rule string
	}{
		"a function off the list":  {as("SELECT * FROM read_csv('/etc/passwd')"), 3, fault.Denied, "table_function"},
		"a relation off the list":  {as("SELECT * FROM sqlite_master"), 3, fault.Denied, "relation"},
		"not a SELECT":             {as("DROP TABLE submissions"), 3, fault.Denied, "select_only"},
		"no SQL at all":            {as("SELECT FROM WHERE"), 3, fault.Invalid, "syntax"},
		"a column that isn't":      {as("SELECT nothing FROM submissions"), 3, fault.Invalid, "bind"},
		"a role that isn't":        {[]string{"--data", data, "--org", "acme", "--role", "king", "--json", "SELECT 1"}, 3, fault.Denied, "role"},
		"the time":                 {as("--timeout", "200ms", "SELECT count(*) FROM range(1000000) a, range(1000000) b"), 4, fault.Timeout, ""},
		"the budget of the person": {as("--policy", spent, "SELECT 1"), 4, fault.RateLimited, "budget_person"},
		"no data of that name":     {[]string{"--data", data, "--org", "globex", "--role", "analyst", "--json", "SELECT 1 FROM submissions"}, 5, fault.NotFound, ""},
		"no data folder":           {[]string{"--data", filepath.Join(data, "none"), "--org", "acme", "--role", "analyst", "--json", "SELECT 1"}, 5, fault.Unavailable, ""},
	} {
		out, exit := query(t, "", c.args...)
		var told struct{ Error *fault.Error }
		if err := json.Unmarshal([]byte(out), &told); err != nil || told.Error == nil {
			t.Errorf("%s: %v in %s", name, err, out)
			continue
		}
		e := told.Error
		if exit != c.exit || e.Code != c.code || c.rule != "" && e.Rule != c.rule || e.Message == "" || c.exit != 5 && e.AuditID == "" || c.exit == 3 && e.Hint == "" {
			t.Errorf("%s: exit %d, want %d; %+v", name, exit, c.exit, e)
		}
	}
	for _, args := range [][]string{{"SELECT 1"}, {"--org", "acme", "SELECT 1"}, {"--nothing"}} {
		if _, exit := query(t, "", args...); exit != 2 {
			t.Errorf("%v: exit %d, want 2", args, exit)
		}
	}
}
