package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"

	"bordereau/sandbox/local"
)

// runDoctor says which sandbox driver and image work on this machine, and why the others don't.
func runDoctor(ctx context.Context, args []string, std stdio) error {
	c, err := loadConfig(flag.NewFlagSet("doctor", flag.ContinueOnError), args, std)
	if err != nil {
		return err
	}
	d, err := local.Doctor(ctx, localConfig(c, slog.New(slog.DiscardHandler), nil))
	if err != nil {
		return err
	}
	for _, f := range d.Findings {
		mark := "works"
		if !f.Works {
			mark = "does not work"
		}
		fmt.Fprintf(std.Out, "%-12s %s: %s\n", f.Name, mark, f.Detail)
		if !f.Works && f.Remedy != "" {
			fmt.Fprintf(std.Out, "%-12s remedy: %s\n", "", f.Remedy)
		}
	}
	if d.Driver == "" {
		return errors.New("no driver works here, and nothing runs unconfined: follow a remedy above")
	}
	fmt.Fprintf(std.Out, "\nSandboxes run by %s over %s\n", d.Driver, d.Image)
	return nil
}
