package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"
	"time"

	"bordereau/governance/dataset"
)

// runDatasetBuilder makes this process the one that builds a generation's files for the process that started it.
func runDatasetBuilder(ctx context.Context, _ []string, std stdio) error {
	return dataset.BuilderMain(ctx, std.In, std.Out, std.Err)
}

// runImport takes files into an organisation's data, all of them or none.
func runImport(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("import", flag.ContinueOnError)
	org := flags.String("org", "", "`ORGANISATION` whose data it is")
	asJSON := flags.Bool("json", false, "print the result as JSON")
	flags.Usage = func() {
		fmt.Fprint(std.Err, "Usage: bordereau import --org ORG [flags] FILE|FOLDER...\n"+
			"Files end with .ndjson, .csv, .parquet or .xlsx; a folder holds import.ndjson and the documents it names.\n"+
			"Everything is taken in, or nothing is changed.\n\n")
		flags.PrintDefaults()
	}
	c, err := loadConfig(flags, args, std)
	if err != nil {
		return err
	}
	if *org == "" || flags.NArg() == 0 {
		return usagef("import: --org and at least one file or folder are required")
	}
	src, err := dataset.SourceOf(flags.Args()...)
	if err != nil {
		return usagef("import: %v", err)
	}
	log := slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	var open closers
	defer func() { open.close(context.WithoutCancel(ctx), log) }()
	_, store, err := openStore(ctx, c, log, &open)
	if err != nil {
		return err
	}
	res, err := store.Import(ctx, *org, src)
	if err != nil {
		var refused *dataset.ImportError
		if errors.As(err, &refused) && *asJSON {
			return errors.Join(json.NewEncoder(std.Out).Encode(refused), err)
		}
		return err
	}
	// The data is visible by now; files in order again only make scans quicker.
	if res.CompactionDue {
		if res.Generation, err = store.Compact(ctx, *org); err != nil {
			return fmt.Errorf("imported and visible, but the files could not be put in order: %w", err)
		}
		res.CompactionDue = false
	}
	if *asJSON {
		return json.NewEncoder(std.Out).Encode(res)
	}
	return printImport(std.Out, *org, res)
}

func printImport(w io.Writer, org string, res dataset.ImportResult) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\tnew\treplaced\tunchanged\t\n")
	for _, kind := range []string{"submission", "document", "row", "field", "edit"} {
		c := res.Records[kind]
		fmt.Fprintf(t, "%ss\t%d\t%d\t%d\t\n", kind, c.New, c.Replaced, c.Unchanged)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	what := "published as generation"
	if !res.Changed {
		what = "all of it was there already, in generation"
	}
	_, err := fmt.Fprintf(w, "%s: %s %s in %s\n", org, what, res.Generation, res.Took.Round(time.Millisecond))
	return err
}
