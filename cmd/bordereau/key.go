package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
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
	name := flags.String("name", "", "the person's `NAME` (default: the address)")
	role := flags.String("role", identity.Underwriter, "the person's `ROLE`: "+strings.Join(identity.Roles(), ", "))
	days := flags.Int("days", 90, "how many `DAYS` the key is good for, 0 for ever")
	c, err := loadConfig(flags, args, std)
	if err != nil {
		return err
	}
	if *org == "" || *email == "" || !slices.Contains(identity.Roles(), *role) || *days < 0 || flags.NArg() > 0 {
		return usagef("key: want --org ORG --email ADDRESS [--role %s] [--days N]", strings.Join(identity.Roles(), "|"))
	}
	var open closers
	defer func() { open.close(context.WithoutCancel(ctx), slog.New(slog.DiscardHandler)) }()
	_, directory, _, err := openJournal(ctx, c, &open)
	if err != nil {
		return err
	}
	if err := directory.PutOrganisation(ctx, identity.Organisation{ID: *org, Name: *org}); err != nil {
		return err
	}
	person, err := directory.PutPerson(ctx, identity.Person{Org: *org, Email: *email, Name: or(*name, *email), Role: *role})
	if err != nil {
		return err
	}
	var expires time.Time
	if *days > 0 {
		expires = time.Now().AddDate(0, 0, *days)
	}
	_, secret, err := directory.IssueKey(ctx, *org, person.ID, "issued by command", expires)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(std.Out, secret)
	return err
}
