package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"bordereau/agent/journal"
	"bordereau/agent/turn"
	"bordereau/migrations"
)

// runTurn shows what happened to one turn: for the person who runs the system, on the machine with the journal.
func runTurn(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("turn show", flag.ContinueOnError)
	flags.SetOutput(std.Err)
	data := flags.String("data", "", "data folder (default: BORDEREAU_DATA or ./data)")
	dsn := flags.String("db", "", "journal database (default: journal.db in the data folder)")
	asJSON := flags.Bool("json", false, "print JSON")
	flags.Usage = func() {
		fmt.Fprintln(std.Err, "Usage: bordereau turn show [flags] ID\n\nPrints a turn's timeline: when it waited, for what, which step failed and whose fault it was.\n\nFlags:")
		flags.PrintDefaults()
	}
	if len(args) == 0 || args[0] != "show" {
		flags.Usage()
		if len(args) > 0 && (args[0] == "-h" || args[0] == "--help") {
			return nil
		}
		return usagef("turn: want show")
	}
	if err := flags.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return usagef("turn: %v", err)
	}
	if flags.NArg() != 1 {
		return usagef("turn show: want one turn id")
	}
	if *dsn == "" {
		*dsn = filepath.Join(dataDir(*data, std), "journal.db")
		if _, err := os.Stat(*dsn); err != nil {
			return fmt.Errorf("turn: there is no journal: %w", err)
		}
	}
	db, dialect, err := migrations.Open(ctx, *dsn, migrations.Journal)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	store, err := journal.Open(journal.Config{DB: db, Dialect: dialect, NewID: uuid.NewString})
	if err != nil {
		return err
	}
	t, err := turn.ReadTimeline(ctx, store, flags.Arg(0))
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return fmt.Errorf("turn: the journal has no turn %q", flags.Arg(0))
	case err != nil:
		return err
	case *asJSON:
		enc := json.NewEncoder(std.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(t)
	}
	printTimeline(t, std)
	return nil
}

func printTimeline(t turn.Timeline, std stdio) {
	o := t.Outcome
	fmt.Fprintf(std.Out, "turn %s of %s: %s", t.ID, t.Org, o.Status)
	for _, f := range []struct{ name, text string }{{"reason", o.Reason}, {"class", o.Class}, {"component", o.Component}, {"fault", o.Fault}} {
		if f.text != "" {
			fmt.Fprintf(std.Out, ", %s %s", f.name, f.text)
		}
	}
	if o.Step > 0 {
		fmt.Fprintf(std.Out, ", step %d, attempt %d", o.Step, o.Attempt)
	}
	fmt.Fprintln(std.Out)
	if o.Message != "" {
		fmt.Fprintf(std.Out, "%s; %s\n", o.Message, o.Hint)
	}
	for _, l := range t.Lines {
		fmt.Fprintln(std.Out, strings.TrimRight(l.String(), " "))
	}
	for _, c := range t.Charges {
		kind := "exact"
		if c.Estimated {
			kind = "estimated"
		}
		fmt.Fprintf(std.Out, "charge step %d attempt %d  %s  in %d out %d cached %d/%d  $%.6f  %s\n", c.N, c.Attempt, c.Model, c.Usage.Input, c.Usage.Output,
			c.Usage.CacheRead, c.Usage.CacheWrite, float64(c.Usage.CostMicros)/1e6, kind)
	}
	for _, a := range t.Artifacts {
		fmt.Fprintf(std.Out, "file %s  %d bytes  sha256 %s\n", a.Name, a.Size, a.SHA256)
	}
}
