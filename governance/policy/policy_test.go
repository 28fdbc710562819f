package policy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/fault"
	"bordereau/governance/policy"
	"bordereau/governance/statement"
)

func TestDefaultIsGood(t *testing.T) {
	t.Parallel()
	p, err := policy.Default(policy.Relations())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Roles) != 5 || p.Roles["underwriter"].Profile != policy.Standard || p.Roles["auditor"].Profile != policy.Full {
		t.Errorf("%+v", p.Roles)
	}
	if !json.Valid(policy.Schema()) {
		t.Error("the schema is no JSON")
	}
}

func TestParseTellsAllThatIsWrong(t *testing.T) {
	t.Parallel()
	const text = `version: 2
profiles:
  standard:
    mask: {SSN: last4, fein: rot13}
  full: {mask: {}}
  other: {mask: {}}
roles:
  underwriter:
    profile: some
    limits: {rows: 0, bytes: 1TB, seconds: 30, memory: 1KiB}
    relations: [submissions, nothing]
    hidden:
      drivers: [licence]
      nowhere: [x]
    rows:
      submissions: ""
    colour: red
  king: {}
budgets:
  turn: {queries: 1, seconds: 1}
  person: {queries: 1, seconds: 1, bytes: 1}
`
	_, err := policy.Parse("p.yaml", []byte(text), policy.Relations())
	var invalid *policy.InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{
		"p.yaml:1: version: want 1", `p.yaml:4: profiles.standard.mask.fein: want one of last4+token, last4, token, null`, "p.yaml:4: profiles.standard.mask.SSN: masks are for ssn,",
		`p.yaml:6: profiles: unknown field "other"`, "p.yaml:9: roles.underwriter.profile: want", "p.yaml:10: roles.underwriter.limits.rows: want",
		"p.yaml:10: roles.underwriter.limits.bytes: want", "p.yaml:10: roles.underwriter.limits.memory: want", `p.yaml:11: roles.underwriter.relations: there is no "nothing"`,
		`p.yaml:13: roles.underwriter.hidden.drivers: there is no "licence"`, `p.yaml:14: roles.underwriter.hidden: there is no relation "nowhere"`,
		"p.yaml:16: roles.underwriter.rows.submissions: want a condition", `p.yaml:17: roles.underwriter: unknown field "colour"`, `p.yaml:18: roles: unknown field "king"`,
		`p.yaml:20: budgets.turn: field "bytes" is missing`, `budgets: field "organisation" is missing`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	for _, text := range []string{"", "[]", "version: [", "a: b\n\tc: d"} {
		if _, err := policy.Parse("p.yaml", []byte(text), policy.Relations()); !errors.As(err, &invalid) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	p, err := policy.Default(policy.Relations())
	if err != nil {
		t.Fatal(err)
	}
	narrow := p.Roles["underwriter"]
	narrow.Relations = []string{"submissions", "drivers"}
	narrow.Hidden = map[string][]string{"drivers": {"license_number", "name"}}
	p.Roles["underwriter"] = narrow
	at := func(names ...string) (out []statement.Relation) {
		for i, n := range names {
			out = append(out, statement.Relation{Name: n, Position: i + 1})
		}
		return out
	}
	for name, c := range map[string]struct {
		role string
		s    statement.Statement
		rule string
		pos  int
	}{
		"allowed":             {"underwriter", statement.Statement{Relations: at("submissions"), Columns: []string{"status"}}, "", 0},
		"role":                {"king", statement.Statement{}, "role", 0},
		"relation":            {"analyst", statement.Statement{Relations: at("submissions", "sqlite_master")}, "relation", 2},
		"relation of role":    {"underwriter", statement.Statement{Relations: at("losses")}, "relation_role", 1},
		"cte shadows":         {"analyst", statement.Statement{CTEs: at("drivers")}, "cte_shadows_relation", 1},
		"hidden":              {"underwriter", statement.Statement{Relations: at("drivers"), Columns: []string{"license_number"}}, "hidden_column", 0},
		"hidden for others":   {"analyst", statement.Statement{Relations: at("drivers"), Columns: []string{"license_number"}}, "", 0},
		"visible elsewhere":   {"underwriter", statement.Statement{Relations: at("submissions", "drivers"), Columns: []string{"workflow"}}, "", 0},
		"relation in capital": {"analyst", statement.Statement{Relations: at("Submissions")}, "relation", 1}, // names come in lower case
	} {
		_, err := p.Decide(c.role, &c.s)
		var f *fault.Error
		if errors.As(err, &f) != (c.rule != "") || f != nil && (f.Rule != c.rule || f.Position != c.pos || f.Hint == "") {
			t.Errorf("%s: got %+v", name, f)
		}
	}
	d, err := p.Decide("underwriter", &statement.Statement{Relations: at("drivers", "submissions"), Columns: []string{"workflow", "hire_date"}})
	if diff := cmp.Diff([]string{"drivers.hire_date", "drivers.workflow", "submissions.workflow"}, d.Columns); err != nil || diff != "" {
		t.Errorf("columns %s %v", diff, err)
	}
	if d, err := p.Decide("analyst", &statement.Statement{Relations: at("drivers"), Star: true}); err != nil || d.Columns[0] != "drivers.*" {
		t.Errorf("star %v %v", d.Columns, err)
	}
}

// A policy can't promise a mask that can't be built, and what it leaves out is masked all the same.
func TestMasks(t *testing.T) {
	t.Parallel()
	for masks, want := range map[string]string{
		"standard: {mask: {insured_name: token}}, full: {mask: {}}":                     "profiles.standard.mask.insured_name: masks are for",
		"standard: {mask: {ssn: year}}, full: {mask: {}}":                               "profiles.standard.mask.ssn: want one of last4+token, last4, token, null",
		"standard: {mask: {ssn: ''}}, full: {mask: {}}":                                 "profiles.standard.mask.ssn: want one of",
		"standard: {mask: {date_of_birth: last4}}, full: {mask: {}}":                    "profiles.standard.mask.date_of_birth: want one of year+token, year, token, null",
		"standard: {mask: {}}, full: {mask: {ssn: last4}}":                              "profiles.full.mask.ssn: the full profile is as imported",
		"standard: {mask: {ssn: token, date_of_birth: null}}, full: {mask: {}}":         "",
		"standard: {mask: {fein: last4+token, license_number: null}}, full: {mask: {}}": "",
	} {
		p, err := policy.Parse("p.yaml", []byte(strings.Replace(`version: 1
profiles: {MASKS}
roles: {analyst: {profile: standard, limits: {rows: 1, bytes: 1MiB, seconds: 1, memory: 128MiB}}}
budgets: {turn: {queries: 1, seconds: 1, bytes: 1MiB}, person: {queries: 1, seconds: 1, bytes: 1MiB}, organisation: {queries: 1, seconds: 1, bytes: 1MiB}}
`, "MASKS", masks, 1)), policy.Relations())
		if got := errorText(err); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q", masks, got)
		}
		if err == nil && (len(p.Profiles[policy.Standard].Mask) != 4 || len(p.Profiles[policy.Full].Mask) != 0) {
			t.Errorf("%s: %v", masks, p.Profiles)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzParse(f *testing.F) {
	f.Add("version: 1\nroles: {analyst: {profile: full}}")
	f.Add("- a\n- &x [*x]")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := policy.Parse("p", []byte(text), policy.Relations())
		var invalid *policy.InvalidError
		if (p == nil) == (err == nil) || err != nil && !errors.As(err, &invalid) {
			t.Errorf("%v %v", p, err)
		}
	})
}
