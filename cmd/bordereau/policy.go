package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"

	"bordereau/governance/duck"
	"bordereau/governance/gate"
	"bordereau/governance/policy"
	"bordereau/governance/statement"
)

// badPolicy is a policy file that can't be used.
type badPolicy struct{ *policy.InvalidError }

// ExitCode returns 3: the answer is no.
func (badPolicy) ExitCode() int { return 3 }

// runPolicy checks a policy file, the SQL of its row filters included.
func runPolicy(ctx context.Context, args []string, std stdio) error {
	usage := func() {
		fmt.Fprint(std.Err, "Usage:\n  bordereau policy check [FILE]   check a policy file (default: the built-in policy)\n"+
			"  bordereau policy schema         print the JSON schema of a policy file\n")
	}
	fs := flag.NewFlagSet("policy", flag.ContinueOnError)
	fs.SetOutput(std.Err)
	fs.Usage = usage
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return usagef("policy: %v", err)
	}
	switch {
	case fs.NArg() == 1 && fs.Arg(0) == "schema":
		_, err := std.Out.Write(policy.Schema())
		return err
	case fs.NArg() >= 1 && fs.NArg() <= 2 && fs.Arg(0) == "check":
		err := checkPolicy(ctx, fs.Arg(1), slog.New(slog.NewTextHandler(std.Err, nil)))
		if invalid, ok := errors.AsType[*policy.InvalidError](err); ok {
			return badPolicy{invalid}
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(std.Out, "the policy is good")
		return err
	}
	usage()
	return usagef("policy: want check or schema")
}

func checkPolicy(ctx context.Context, path string, log *slog.Logger) error {
	p, err := policy.Load(path, policy.Relations())
	if err != nil {
		return err
	}
	pool, err := duck.New(duck.Config{Log: log})
	if err != nil {
		return err
	}
	defer pool.Close()
	reader, err := statement.New(statement.Config{Parser: pool})
	if err != nil {
		return err
	}
	_, err = gate.Sources(ctx, reader, p)
	var invalid *policy.InvalidError
	if errors.As(err, &invalid) && path != "" {
		invalid.File = path
	}
	return err
}
