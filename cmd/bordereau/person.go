package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"bordereau/agent/httpapi"
	"bordereau/agent/identity"
)

const personUsage = `person: want one of
  bordereau person add ADDRESS --org ORG [--name NAME] [--role ROLE]    adds somebody and prints her one-time link
  bordereau person list --org ORG
  bordereau person role ADDRESS ROLE --org ORG
  bordereau person disable ADDRESS --org ORG                            ends her sessions, refuses her keys
  bordereau person enable ADDRESS --org ORG
  bordereau person link [ADDRESS] --org ORG                             a new link; without ADDRESS for the first administrator
  bordereau person log --org ORG [--last N]                             who changed what, who signed in; --org - : of no organisation
  bordereau person verify-log --org ORG [--expect HASH]                 prove that no line was changed, dropped or put elsewhere`

// brokenLog is an admin log that doesn't hold.
type brokenLog struct{ *identity.BrokenError }

// ExitCode returns 3: the answer is no.
func (brokenLog) ExitCode() int { return 3 }

// runPerson adds, lists and changes people.
func runPerson(ctx context.Context, args []string, std stdio) error {
	if len(args) == 0 {
		return usagef("%s", personUsage)
	}
	flags := flag.NewFlagSet("person", flag.ContinueOnError)
	org := flags.String("org", std.Env("BORDEREAU_ORG"), "the `ORGANISATION`")
	name := flags.String("name", "", "add: the person's `NAME` (default: the address)")
	role := flags.String("role", identity.Underwriter, "add: the person's `ROLE`: "+strings.Join(identity.Roles(), ", "))
	last := flags.Int("last", 50, "log: the last `N` lines")
	expect := flags.String("expect", "", "verify-log: a `HASH` that was kept from an earlier run, which the log must hold")
	verb, words, rest := operands(args)
	c, err := loadConfig(flags, rest, std)
	if err != nil {
		return err
	}
	if *org == "" || flags.NArg() > 0 || *last < 1 {
		return usagef("%s", personUsage)
	}
	return withDirectory(ctx, c, func(d *identity.Directory) error {
		p := people{directory: d, origin: c.origin(), org: *org, std: std}
		switch {
		case verb == "add" && len(words) == 1:
			return p.add(ctx, words[0], or(*name, words[0]), *role)
		case verb == "list" && len(words) == 0:
			return p.list(ctx)
		case verb == "role" && len(words) == 2:
			return p.change(ctx, words[0], func(who *identity.Person) { who.Role = words[1] })
		case verb == "disable" && len(words) == 1:
			return p.change(ctx, words[0], func(who *identity.Person) { who.Disabled = time.Now() })
		case verb == "enable" && len(words) == 1:
			return p.change(ctx, words[0], func(who *identity.Person) { who.Disabled = time.Time{} })
		case verb == "link" && len(words) <= 1:
			return p.link(ctx, strings.Join(words, ""))
		case verb == "log" && len(words) == 0:
			return p.log(ctx, *last)
		case verb == "verify-log" && len(words) == 0:
			return p.verifyLog(ctx, *expect)
		}
		return usagef("%s", personUsage)
	})
}

// people is one organisation's, on the command line.
type people struct {
	directory *identity.Directory
	origin    string
	org       string
	std       stdio
}

func (p people) add(ctx context.Context, email, name, role string) error {
	who, err := p.directory.AddPerson(ctx, identity.Person{Org: p.org, Email: email, Name: name, Role: role})
	if err != nil {
		return err
	}
	return p.print(ctx, who.ID)
}

// change changes one person. The operator may take the last administrator away: she can make another one.
func (p people) change(ctx context.Context, email string, what func(*identity.Person)) error {
	who, err := p.directory.FindPersonByEmail(ctx, p.org, email)
	if err != nil {
		return err
	}
	what(&who)
	_, err = p.directory.PutPerson(ctx, who)
	return err
}

func (p people) link(ctx context.Context, email string) error {
	if email == "" {
		return p.print(ctx, "")
	}
	who, err := p.directory.FindPersonByEmail(ctx, p.org, email)
	if err != nil {
		return err
	}
	return p.print(ctx, who.ID)
}

// print makes a one-time link and prints it.
func (p people) print(ctx context.Context, person string) error {
	token, expires, err := p.directory.IssueLink(ctx, p.org, person)
	if errors.Is(err, identity.ErrConflict) && person == "" {
		return fmt.Errorf("%w: 'bordereau person link ADDRESS --org %s' makes one for a person", err, p.org)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.std.Out, "%s%s%s\ngood once, until %s\n", p.origin, httpapi.WelcomePath, token, expires.Local().Format(time.DateTime))
	return err
}

func (p people) list(ctx context.Context) error {
	all, err := p.directory.People(ctx, p.org)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(p.std.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ADDRESS\tNAME\tROLE\tSTATE\tLAST SEEN")
	for _, who := range all {
		state, seen := "active", "never"
		if !who.Disabled.IsZero() {
			state = "disabled"
		}
		if !who.Seen.IsZero() {
			seen = who.Seen.Local().Format(time.DateTime)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", who.Email, who.Name, who.Role, state, seen)
	}
	return t.Flush()
}

// logOf is whose log is meant.
func (p people) logOf() string {
	if p.org == "-" {
		return ""
	}
	return p.org
}

func (p people) verifyLog(ctx context.Context, kept string) error {
	v, err := p.directory.VerifyLog(ctx, p.logOf(), kept)
	if broken, ok := errors.AsType[*identity.BrokenError](err); ok {
		return brokenLog{broken}
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(p.std.Out).Encode(map[string]any{"org": p.logOf(), "entries": v.Lines, "hash": v.Hash})
}

func (p people) log(ctx context.Context, last int) error {
	all, err := p.directory.Log(ctx, p.logOf(), "", last)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(p.std.Out, 0, 0, 2, ' ', 0)
	for _, e := range slices.Backward(all) {
		// Quoted: an address that somebody typed at the sign-in must not steer a terminal.
		fmt.Fprintf(t, "%s\t%s\t%s\t%q\t%s\n", e.At.Local().Format(time.DateTime), e.ActorName, e.Action, e.Detail, e.Address)
	}
	return t.Flush()
}
