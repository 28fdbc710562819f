package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"bordereau/cmd/bordereau/sample"
	"bordereau/tools/vin"
)

// runSample writes the sample organisations into a folder, one folder each.
func runSample(ctx context.Context, args []string, std stdio) error {
	fs := flag.NewFlagSet("sample", flag.ContinueOnError)
	fs.SetOutput(std.Err)
	today := fs.String("today", "", "the day on which the newest submissions arrive, such as 2026-11-29 (default: today, UTC)")
	seed := fs.Uint64("seed", 1, "another seed invents other organisations")
	out := fs.String("out", "", "the folder to write to")
	only := fs.String("org", "", "write only this organisation")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return usageError{err.Error()}
	}
	if *out == "" || fs.NArg() > 0 {
		return usagef("say where to: bordereau sample --today 2026-11-29 --seed 1 --out DIR")
	}
	day := time.Now().UTC()
	if *today != "" {
		var err error
		if day, err = time.Parse(time.DateOnly, *today); err != nil {
			return usagef("--today %q is not a day; write it as 2026-11-29", *today)
		}
	}
	decoder, err := vin.Load()
	if err != nil {
		return err
	}
	for _, id := range sample.Orgs() {
		if *only != "" && id != *only {
			continue
		}
		org, err := sample.Generate(ctx, sample.Config{Today: day, Seed: *seed, Decoder: decoder}, id)
		if err != nil {
			return err
		}
		folder := filepath.Join(*out, id)
		if err := org.Write(folder); err != nil {
			return err
		}
		fmt.Fprintf(std.Out, "%s: %d submissions (%d today), %d planted findings, %d clean submissions\n",
			folder, len(org.Submissions), len(org.Key.Received), len(org.Key.Findings), len(org.Key.Clean))
	}
	return nil
}
