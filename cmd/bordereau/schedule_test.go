package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"bordereau/agent/identity"
)

// TestSchedulesByCommand makes, changes, runs and removes a schedule of a running Bordereau.
func TestSchedulesByCommand(t *testing.T) {
	t.Parallel()
	s := startSystem(t)
	if err := s.directory.PutOrganisation(t.Context(), identity.Organisation{ID: "acme", Name: "Acme"}); err != nil {
		t.Fatal(err)
	}
	ann, err := s.directory.PutPerson(t.Context(), identity.Person{Org: "acme", Email: "ann@acme.example", Name: "Ann", Role: identity.Underwriter})
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := s.directory.IssueKey(t.Context(), "acme", ann.ID, "test", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) (string, error) {
		t.Helper()
		var out bytes.Buffer
		env := map[string]string{"BORDEREAU_API_KEY": key, "BORDEREAU_URL": s.url}
		err := run(t.Context(), append([]string{"schedule"}, args...), stdio{In: strings.NewReader(""), Out: &out, Err: t.Output(), Env: func(name string) string { return env[name] }})
		return out.String(), err
	}
	does := func(want string, args ...string) string {
		t.Helper()
		out, err := command(args...)
		if err != nil || !regexp.MustCompile(want).MatchString(out) {
			t.Fatalf("schedule %v: %v\n%s\nwant %s", args, err, out, want)
		}
		return out
	}
	fails := func(want string, args ...string) {
		t.Helper()
		if out, err := command(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("schedule %v: %q, %v; want %q", args, out, err, want)
		}
	}
	does("Usage")
	fails("there is no", "sing")
	fails("want one name or id", "add")
	fails("want one name or id", "list", "all")
	fails("", "add", "--cron", "every morning", "--task", "Reconcile yesterday", "Morning")

	made := does(`(?s)Morning\n.*Reconcile yesterday\n.*30 6 \* \* mon-fri, America/New_York.*to folder reports.*next \w{3} .* 06:30 E[SD]T`,
		"add", "--cron", "30 6 * * mon-fri", "--zone", "America/New_York", "--task", "Reconcile yesterday", "--folder", "reports", "--missed", "skip", "Morning")
	id, _, _ := strings.Cut(made, "\n")
	does(id+`  Morning .* next \d{4}-.*; never ran`, "list")
	does(`^paused\n$`, "pause", id)
	does(`Morning .* paused; never ran`, "list")
	does(`^next \d{4}-`, "resume", id)
	does(`running: conversation \S+`, "run", id)
	does(`(?s)`+id+`.*by person`, "show", id)
	does(`last \w+ \d{4}-`, "list")
	fails("no such schedule", "show", "none")
	does(`^$`, "remove", id)
	fails("no such schedule", "show", id)
	does(`^$`, "list")
}
