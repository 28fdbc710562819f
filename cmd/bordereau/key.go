package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"bordereau/agent/identity"
)

// runKey makes a person of an organisation, or finds her by her e-mail address, and issues an API key for her.
func runKey(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("key", flag.ContinueOnError)
	org := flags.String("org", std.Env("BORDEREAU_ORG"), "the `ORGANISATION`")
	email := flags.String("email", "", "the person's `ADDRESS`")
	name := flags.String("name", "", "the `NAME` of a person who is new (default: the address)")
	role := flags.String("role", "", "the person's `ROLE`: "+strings.Join(identity.Roles(), ", ")+" (default: the one that she has, else underwriter)")
	scopes := flags.String("scopes", identity.AllScopes().String(), "what the key is for, as `SCOPES`; never more than the role may")
	days := flags.Int("days", 90, "how many `DAYS` the key is good for, 0 for ever")
	c, err := loadConfig(flags, args, std)
	if err != nil {
		return err
	}
	if *org == "" || *email == "" || *role != "" && !slices.Contains(identity.Roles(), *role) || *days < 0 || flags.NArg() > 0 {
		return usagef("key: want --org ORG --email ADDRESS [--role %s] [--scopes SCOPES] [--days N]", strings.Join(identity.Roles(), "|"))
	}
	allowed, err := identity.ParseScopes(*scopes)
	if err != nil {
		return usagef("key: %v", err)
	}
	return withDirectory(ctx, c, func(d *identity.Directory) error {
		person, err := enlist(ctx, d, identity.Person{Org: *org, Email: *email, Name: *name, Role: *role})
		if err != nil {
			return err
		}
		var expires time.Time
		if *days > 0 {
			expires = time.Now().AddDate(0, 0, *days)
		}
		_, secret, err := d.IssueKey(ctx, *org, person.ID, "issued by command", expires, allowed...)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(std.Out, secret)
		return err
	})
}

// enlist finds a person or makes her, with her organisation. What is left open stays as it is.
func enlist(ctx context.Context, d *identity.Directory, p identity.Person) (identity.Person, error) {
	if _, err := d.FindOrganisation(ctx, p.Org); errors.Is(err, identity.ErrNotFound) {
		err = d.PutOrganisation(ctx, identity.Organisation{ID: p.Org, Name: p.Org})
		if err != nil {
			return p, err
		}
	} else if err != nil {
		return p, err
	}
	known, err := d.FindPersonByEmail(ctx, p.Org, p.Email)
	switch {
	case errors.Is(err, identity.ErrNotFound):
		p.Name, p.Role = or(p.Name, p.Email), or(p.Role, identity.Underwriter)
	case err != nil:
		return p, err
	default:
		p.Name, p.Role, p.Disabled = or(p.Name, known.Name), or(p.Role, known.Role), known.Disabled
	}
	return d.PutPerson(ctx, p)
}
