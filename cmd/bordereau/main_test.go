package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestMain lets this test binary stand in for the program: workers and builders start it again with their subcommand.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		for _, c := range commands() {
			if c.name == os.Args[1] {
				ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
				err := run(ctx, os.Args[1:], stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv})
				stop()
				os.Exit(exitStatus(err, os.Stderr))
			}
		}
	}
	os.Exit(m.Run())
}

// programs is the folder of the built programs; 'make build' fills it.
func programs(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../../build/bin")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gov", "guest"} {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			t.Fatalf("%v: run 'make build' first", err)
		}
	}
	return bin
}
