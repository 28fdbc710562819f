package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bordereau/governance/audit"
	"bordereau/migrations"
)

func auditCommand(t *testing.T, data string, args ...string) (string, error) {
	t.Helper()
	var out, notes bytes.Buffer
	env := func(name string) string {
		if name == "BORDEREAU_DATA" {
			return data
		}
		return ""
	}
	err := run(t.Context(), append([]string{"audit"}, args...), stdio{In: strings.NewReader(""), Out: &out, Err: &notes, Env: env})
	return out.String(), err
}

func TestAuditListAndShow(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	db, _, err := migrations.Open(t.Context(), filepath.Join(data, "governance.db"), migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	log, err := audit.New(t.Context(), audit.Config{DB: db, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []audit.Entry{
		{AuditID: "a", Subject: "ann", SQLAsked: "SELECT name\nFROM main.drivers", Decision: audit.Refused, Rule: "qualified_relation", Outcome: "denied", Message: "no schema", Position: 18},
		{AuditID: "b", Subject: "bob\x1b[31m", SQLAsked: "SELECT 1", Decision: audit.Allowed, Outcome: audit.Answered, Rows: 1, Relations: []string{"submissions"}},
	} {
		e.Org = "acme"
		if err := errors.Join(log.Asked(t.Context(), e), log.Outcome(t.Context(), e)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := auditCommand(t, data, "list", "--org", "acme")
	if err != nil || strings.Count(out, "\n") != 3 || strings.Index(out, "answered") > strings.Index(out, "denied") || strings.Contains(out, "\x1b") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = auditCommand(t, data, "list", "--org", "acme", "--relation", "submissions", "--json")
	var one audit.Statement
	if err != nil || json.Unmarshal([]byte(out), &one) != nil || one.AuditID != "b" || one.First != 3 {
		t.Errorf("%v %s", err, out)
	}
	out, err = auditCommand(t, data, "show", "a", "--org", "acme")
	if err != nil || !strings.Contains(out, "qualified_relation") || !strings.Contains(out, "FROM main.drivers\n     ^") {
		t.Errorf("%v\n%s", err, out)
	}
	for _, wrong := range [][]string{
		{"list"}, {"list", "--org", "acme", "--from", "soon"}, {"list", "--org", "acme", "b"}, {"show", "--org", "acme"}, {"verify", "--relation", "x"}, {"colour"},
	} {
		var usage usageError
		if _, err := auditCommand(t, data, wrong...); !errors.As(err, &usage) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	if _, err := auditCommand(t, data, "show", "a", "--org", "globex"); !errors.Is(err, audit.ErrNotFound) {
		t.Errorf("another organisation's: %v", err)
	}
	if _, err := auditCommand(t, data, "verify"); err != nil {
		t.Error(err)
	}
}
