package main

import (
	"bytes"
	"strings"
	"testing"

	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
)

// operator runs commands over one data folder.
type operator struct {
	t    *testing.T
	data string
}

func (o operator) run(args ...string) (string, error) {
	o.t.Helper()
	var out bytes.Buffer
	err := run(o.t.Context(), append(args, "--data", o.data), stdio{In: strings.NewReader(""), Out: &out, Err: o.t.Output(), Env: func(string) string { return "" }})
	return out.String(), err
}

func (o operator) does(args ...string) string {
	o.t.Helper()
	out, err := o.run(args...)
	if err != nil {
		o.t.Fatalf("%v: %v", args, err)
	}
	return out
}

func (o operator) fails(want string, args ...string) {
	o.t.Helper()
	if out, err := o.run(args...); err == nil || !strings.Contains(err.Error(), want) {
		o.t.Errorf("%v: %q, %v; want %q", args, out, err, want)
	}
}

// directory is the people of the data folder.
func (o operator) directory(do func(d *identity.Directory) error) {
	o.t.Helper()
	c := defaults()
	c.Data = o.data
	if err := withDirectory(o.t.Context(), c, do); err != nil {
		o.t.Fatal(err)
	}
}

func TestPeopleByCommand(t *testing.T) {
	t.Parallel()
	o := operator{t, t.TempDir()}
	o.does("organisation", "add", "acme", "--name", "Acme Underwriting")
	o.fails("is there already", "organisation", "add", "acme")
	o.fails("small letters", "organisation", "add", "A/B")
	if out := o.does("organisation", "list"); !strings.Contains(out, "Acme Underwriting") {
		t.Error(out)
	}
	if out := o.does("person", "link", "--org", "acme"); !strings.HasPrefix(out, "http://127.0.0.1:8700"+httpapi.WelcomePath) {
		t.Error(out)
	}
	link := o.does("person", "add", "Ann@Acme.example", "--org", "acme", "--name", "Ann", "--role", "admin")
	token, _, _ := strings.Cut(strings.TrimPrefix(link, "http://127.0.0.1:8700"+httpapi.WelcomePath), "\n")
	o.directory(func(d *identity.Directory) error {
		in, err := d.Redeem(t.Context(), identity.Redeem{Token: token, Password: "correct horse battery"})
		if err == nil && in.Person.Role != identity.Admin {
			t.Errorf("%+v", in.Person)
		}
		return err
	})
	o.fails("already", "person", "add", "ann@acme.example", "--org", "acme")
	o.fails("administrator already", "person", "link", "--org", "acme")
	o.does("person", "link", "ann@acme.example", "--org", "acme")
	// A key doesn't change what its person is.
	if out := o.does("key", "--org", "acme", "--email", "ann@acme.example", "--scopes", "read,ask"); !strings.HasPrefix(out, "bdr_") {
		t.Error(out)
	}
	o.fails("no scope", "key", "--org", "acme", "--email", "ann@acme.example", "--scopes", "root")
	if out := o.does("person", "list", "--org", "acme"); !strings.Contains(out, "admin") || !strings.Contains(out, "active") {
		t.Error(out)
	}
	o.does("person", "role", "ann@acme.example", "auditor", "--org", "acme")
	o.fails("one of the roles", "person", "role", "ann@acme.example", "root", "--org", "acme")
	o.does("person", "disable", "ann@acme.example", "--org", "acme")
	o.fails("disabled", "person", "link", "ann@acme.example", "--org", "acme")
	if out := o.does("person", "list", "--org", "acme"); !strings.Contains(out, "disabled") {
		t.Error(out)
	}
	o.does("person", "enable", "ann@acme.example", "--org", "acme")
	o.fails("not found", "person", "disable", "bob@acme.example", "--org", "acme")
	for _, wrong := range [][]string{{"person"}, {"person", "x", "--org", "acme"}, {"person", "list"}, {"person", "role", "ann@acme.example", "--org", "acme"}, {"organisation"}, {"organisation", "add"}} {
		o.fails("want", wrong...)
	}
	out := o.does("person", "log", "--org", "acme")
	for _, action := range []string{
		identity.OrganisationPut, identity.PersonAdded, identity.LinkIssued, identity.PasswordSet, identity.SignInDone, identity.KeyIssued, identity.RoleChanged,
		identity.PersonDisabled, identity.SessionEnded, identity.PersonEnabled,
	} {
		if !strings.Contains(out, action) {
			t.Errorf("the log lacks %s:\n%s", action, out)
		}
	}
	if lines := strings.Count(o.does("person", "log", "--org", "acme", "--last", "2"), "\n"); lines != 2 {
		t.Errorf("%d lines", lines)
	}
	verified := o.does("person", "verify-log", "--org", "acme")
	_, rest, _ := strings.Cut(verified, `"hash":"`)
	hash, _, _ := strings.Cut(rest, `"`)
	if len(hash) != 64 || !strings.Contains(verified, `"org":"acme"`) {
		t.Error(verified)
	}
	o.does("person", "verify-log", "--org", "acme", "--expect", hash)
	o.does("person", "verify-log", "--org", "-")
	o.fails("the hash that was kept", "person", "verify-log", "--org", "acme", "--expect", "0123")
}

func TestFirstLinks(t *testing.T) {
	t.Parallel()
	o := operator{t, t.TempDir()}
	o.does("organisation", "add", "acme")
	o.does("person", "add", "ann@with.example", "--org", "acme", "--role", "underwriter")
	o.does("organisation", "add", "with")
	o.does("person", "add", "ann@with.example", "--org", "with", "--role", "admin")
	o.directory(func(d *identity.Directory) error {
		var out bytes.Buffer
		if err := printFirstLinks(t.Context(), "https://b.example", d, &out); err != nil {
			return err
		}
		if got := out.String(); strings.Count(got, "https://b.example/welcome#token=bdl_") != 1 || !strings.Contains(got, "acme has no administrator") {
			t.Error(got)
		}
		return nil
	})
}
