package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"text/tabwriter"
	"time"

	"bordereau/agent/identity"
)

const organisationUsage = `organisation: want one of
  bordereau organisation add ID [--name NAME]
  bordereau organisation list`

// runOrganisation adds or lists organisations.
func runOrganisation(ctx context.Context, args []string, std stdio) error {
	if len(args) == 0 {
		return usagef("%s", organisationUsage)
	}
	flags := flag.NewFlagSet("organisation", flag.ContinueOnError)
	name := flags.String("name", "", "its `NAME` (default: the id)")
	verb, names, rest := operands(args)
	c, err := loadConfig(flags, rest, std)
	if err != nil {
		return err
	}
	add, list := verb == "add" && len(names) == 1, verb == "list" && len(names) == 0
	if !add && !list { // before a database is made
		return usagef("%s", organisationUsage)
	}
	return withDirectory(ctx, c, func(d *identity.Directory) error {
		if add {
			if _, err := d.FindOrganisation(ctx, names[0]); err == nil {
				return fmt.Errorf("organisation %s is there already", names[0])
			} else if !errors.Is(err, identity.ErrNotFound) {
				return err
			}
			if err := d.PutOrganisation(ctx, identity.Organisation{ID: names[0], Name: or(*name, names[0])}); err != nil {
				return err
			}
			_, err := fmt.Fprintf(std.Out, "Added. 'bordereau person link --org %s' makes a link for its first administrator.\n", names[0])
			return err
		}
		all, err := d.Organisations(ctx)
		if err != nil {
			return err
		}
		t := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
		for _, o := range all {
			fmt.Fprintf(t, "%s\t%s\t%s\n", o.ID, o.Name, o.Created.Local().Format(time.DateOnly))
		}
		return t.Flush()
	})
}

// operands takes a verb and the words after it that are no flags from the front of a command line; flags may follow them.
func operands(args []string) (verb string, words, rest []string) {
	verb, rest = args[0], args[1:]
	for len(rest) > 0 && len(rest[0]) > 0 && rest[0][0] != '-' {
		words, rest = append(words, rest[0]), rest[1:]
	}
	return verb, words, rest
}

// withDirectory does something with the people of a data folder.
func withDirectory(ctx context.Context, c config, do func(*identity.Directory) error) error {
	var open closers
	defer func() { open.close(context.WithoutCancel(ctx), slog.New(slog.DiscardHandler)) }()
	_, directory, _, err := openJournal(ctx, c, &open)
	if err != nil {
		return err
	}
	return do(directory)
}
