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
	chosen := fmt.Sprintf("%s over %s", d.Driver, d.Image)
	if !c.Sandbox.local() { // what this machine could do is beside the point then, but for a host of sandboxd
		var open closers
		defer open.close(context.WithoutCancel(ctx), slog.New(slog.DiscardHandler))
		f := local.Finding{Name: c.Sandbox.Driver, Works: true}
		if _, f.Detail, err = openDriver(ctx, c, nil, slog.New(slog.DiscardHandler), &open); err != nil {
			f.Works, f.Detail, f.Remedy = false, err.Error(), "look at the configuration's sandbox block"
		}
		d.Findings = append(d.Findings, f)
		chosen, d.Driver = f.Detail, ""
		if f.Works {
			d.Driver = c.Sandbox.Driver
		}
	}
	for _, f := range d.Findings {
		mark := "works"
		if !f.Works {
			mark = "does not work"
		}
		fmt.Fprintf(std.Out, "%-12s %s: %s\n", f.Name, mark, f.Detail)
		if f.Remedy != "" {
			fmt.Fprintf(std.Out, "%-12s remedy: %s\n", "", f.Remedy)
		}
	}
	if d.Driver == "" && !c.Sandbox.local() {
		return fmt.Errorf("sandboxes by %s can't be used", c.Sandbox.Driver)
	}
	if d.Driver == "" {
		return errors.New("no driver works here, and nothing runs unconfined: follow a remedy above")
	}
	fmt.Fprintf(std.Out, "\nSandboxes run by %s\n", chosen)
	return nil
}
