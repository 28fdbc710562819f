package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// demoOrg is the organisation that the demonstration asks for.
const demoOrg = "northgate"

// runDemo does the main job on the sample organisations, from an empty data folder, over the public HTTP API.
func runDemo(ctx context.Context, args []string, std stdio) (err error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	out := flags.String("out", "out", "`FOLDER` for the reports")
	keep := flags.Bool("keep", false, "keep the data folder of an earlier demonstration")
	c, err := loadConfig(flags, args, std)
	if err != nil {
		return err
	}
	began := time.Now()
	c.Data = filepath.Join(c.Data, "demo")
	c.Listen, c.Governance.Listen = "127.0.0.1:0", "127.0.0.1:0"
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	logFile, err := os.OpenFile(filepath.Join(filepath.Dir(c.Data), "demo.log"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	defer func() { _ = logFile.Close() }()
	log := slog.New(slog.NewTextHandler(logFile, nil))
	// Sandboxes outlive the program that made them; a demonstration leaves none behind, and takes down what an interrupted
	// one left before its folder goes.
	clear := func() error { return clearSandboxes(context.WithoutCancel(ctx), c, log) }
	defer func() { err = errors.Join(err, clear()) }()
	if !*keep {
		if err := clear(); err != nil {
			return err
		}
		if err := os.RemoveAll(c.Data); err != nil {
			return fmt.Errorf("removing the data of an earlier demonstration: %w", err)
		}
	}
	if err := importSample(ctx, c, log, std, began); err != nil {
		return err
	}
	s, err := start(ctx, c, log)
	if err != nil {
		return err
	}
	defer s.stop() // before the sandboxes are taken down
	fmt.Fprintf(std.Out, "All roles are up on %s after %.1f s, sandboxes by %s\n", s.url, time.Since(began).Seconds(), s.sandboxes)
	key, err := os.ReadFile(keyFile(c.Data, demoOrg))
	if err != nil {
		return fmt.Errorf("reading the key of the sample organisation: %w", err)
	}
	if err := demoAsk(ctx, s.url, strings.TrimSpace(string(key)), *out, std); err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "\nDone in %.1f s. Log: %s\n", time.Since(began).Seconds(), logFile.Name())
	return nil
}
