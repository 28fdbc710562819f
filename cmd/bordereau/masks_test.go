package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asked is what the console says of a statement, with its status.
func (p *process) asked(t *testing.T, key, sql, generation string) (status int, text string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"sql": sql, "generation": generation})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/api/console/query", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// served asks until the data is masked as the server's policy says, and returns the answer. Whatever came before was no answer.
func (p *process) served(t *testing.T, key, sql string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; <-time.After(20 * time.Millisecond) {
		status, text := p.asked(t, key, sql, "")
		if status == http.StatusOK && strings.Contains(text, `"answer"`) {
			return text
		}
		if status != http.StatusServiceUnavailable || !strings.Contains(text, `"rule":"masks"`) || time.Now().After(end) {
			t.Fatalf("%d %s", status, text)
		}
	}
}

// TestMasksFollowThePolicyFile changes the masks in the policy file of a running Bordereau and starts it again: people see the new masks,
// and nothing that shows the old ones.
func TestMasksFollowThePolicyFile(t *testing.T) {
	t.Parallel()
	m := &many{dir: t.TempDir()}
	t.Cleanup(func() { unmountBelow(t, m.dir) })
	file := filepath.Join(m.dir, "policy.yaml")
	policy := func(ssn, fein, licence, birth string) {
		text := fmt.Sprintf(`version: 1
profiles: {standard: {mask: {ssn: %s, fein: %s, license_number: %s, date_of_birth: %s}}, full: {mask: {}}}
roles:
  underwriter: {profile: standard, limits: {rows: 100, bytes: 1MiB, seconds: 20, memory: 128MiB}}
  analyst: {profile: standard, limits: {rows: 100, bytes: 1MiB, seconds: 20, memory: 128MiB}}
  auditor: {profile: full, limits: {rows: 100, bytes: 1MiB, seconds: 20, memory: 128MiB}}
  reconciler: {profile: full, limits: {rows: 100, bytes: 1MiB, seconds: 20, memory: 128MiB}}
budgets:
  turn: {queries: 1000, seconds: 1000, bytes: 1GiB}
  person: {queries: 100000, seconds: 1000, bytes: 1GiB}
  organisation: {queries: 100000, seconds: 1000, bytes: 1GiB}
`, ssn, fein, licence, birth)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := fmt.Sprintf("listen: 127.0.0.1:0\ngovernance: {listen: '127.0.0.1:0', policy: %s}\n", file)
	imported(t, m.data("a"), driverRecords)
	const values = "SELECT field_name, value FROM extracted_fields ORDER BY field_id"

	policy("last4+token", "last4+token", "last4+token", "year+token") // as it is built in
	p := m.serve(t, "a", settings)
	key, err := runCommand(t.Context(), "key", "--config", filepath.Join(m.dir, "a.yaml"), "--org", "acme", "--email", "una@acme.example", "--role", "underwriter")
	if err != nil {
		t.Fatal(err)
	}
	key = strings.TrimSpace(key)
	before := p.served(t, key, values)
	for _, want := range []string{`["license_number","***8901~`, `["date_of_birth","1976-**-**~`, `["ssn","***3333~`, `["fein","***6789~`} {
		if !strings.Contains(before, want) {
			t.Errorf("%s is missing in %s", want, before)
		}
	}
	var head struct{ Answer struct{ Generation string } }
	lines := strings.Split(strings.TrimSpace(before), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &head); err != nil || head.Answer.Generation == "" {
		t.Fatalf("%v in %s", err, before)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // its status is of no interest

	policy("token", "last4", "null", "year")
	p = m.serve(t, "a", settings)
	after := p.served(t, key, values)
	for _, want := range []string{`["license_number",null]`, `["date_of_birth","1976-**-**"]`, `["ssn","***~`, `["fein","***6789"]`} {
		if !strings.Contains(after, want) {
			t.Errorf("%s is missing in %s", want, after)
		}
	}
	for _, gone := range []string{"8901", "3333", "6789~"} {
		if strings.Contains(after, gone) {
			t.Errorf("%q is shown still in %s", gone, after)
		}
	}
	// A token still joins what was written in different ways, and masked columns have their types.
	join := "SELECT count(*) AS n FROM extracted_fields a JOIN extracted_fields b ON a.value = b.value WHERE a.field_name = 'ssn' AND b.field_name = 'driver_ssn'"
	if got := p.served(t, key, join); !strings.Contains(got, `["1"]`) {
		t.Errorf("the join over tokens: %s", got)
	}
	if got := p.served(t, key, "SELECT license_number, date_of_birth FROM drivers"); !strings.Contains(got, `[null,"1976-01-01"]`) {
		t.Errorf("the typed view: %s", got)
	}
	// What was cited before is masked as before, and isn't shown again.
	if status, text := p.asked(t, key, values, head.Answer.Generation); status != http.StatusUnprocessableEntity || !strings.Contains(text, `"rule":"masks"`) {
		t.Errorf("the generation of before: %d %s", status, text)
	}
	// The command line goes by the policy that is in force, or not at all.
	as := []string{"--data", m.data("a"), "--org", "acme", "--role", "underwriter", "--json"}
	if out, exit := query(t, "", append(as, "--policy", file, values)...); exit != 0 || !strings.Contains(out, `["license_number",null]`) {
		t.Errorf("with the server's policy: exit %d, %s", exit, out)
	}
	if out, exit := query(t, "", append(as, values)...); exit != 3 || !strings.Contains(out, `"rule":"masks"`) {
		t.Errorf("with another policy: exit %d, %s", exit, out)
	}
	// What is imported by command is masked as the server's policy says.
	imported(t, m.data("a"), strings.NewReplacer(`"S-`, `"T-`, `"D-`, `"E-`, `"R-`, `"Q-`, `"F-`, `"G-`).Replace(driverRecords))
	if got := p.served(t, key, "SELECT DISTINCT value FROM extracted_fields WHERE field_name = 'license_number'"); strings.Count(got, "[null]") != 1 || strings.Contains(got, "8901") {
		t.Errorf("after an import: %s", got)
	}
}
