package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
)

// dataDir is where everything is kept: the flag, else BORDEREAU_DATA, else ./data.
func dataDir(flagged string, std stdio) string {
	if flagged != "" {
		return flagged
	}
	if dir := std.Env("BORDEREAU_DATA"); dir != "" {
		return dir
	}
	return "data"
}

// runQuery asks one question in SQL through the gate.
func runQuery(ctx context.Context, args []string, std stdio) error {
	fs := flag.NewFlagSet("query", flag.ContinueOnError)
	fs.SetOutput(std.Err)
	org := fs.String("org", "", "organisation whose data is asked")
	role := fs.String("role", "", "underwriter, analyst, auditor or admin")
	person := fs.String("as", "", "who asks, for the audit record (default: the operating system's user)")
	asJSON := fs.Bool("json", false, "answer and errors as JSON")
	rows := fs.Int("rows", 0, "most rows to answer (default: the policy's)")
	timeout := fs.Duration("timeout", 0, "longest run (default: the policy's)")
	data := fs.String("data", "", "data folder (default: BORDEREAU_DATA or ./data)")
	policyFile := fs.String("policy", "", "policy file (default: the built-in policy)")
	fs.Usage = func() {
		fmt.Fprint(std.Err, "Usage: bordereau query --org ORG --role ROLE [flags] 'SELECT …'\nWithout SQL it is read from standard input.\n"+
			"Exits 0 answered, 3 refused, 4 a limit was met, 5 the infrastructure failed.\n\n")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return usagef("query: %v", err)
	}
	if *org == "" || *role == "" {
		return usagef("query: --org and --role are required")
	}
	sql := strings.Join(fs.Args(), " ")
	if sql == "" {
		raw, err := io.ReadAll(io.LimitReader(std.In, 1<<20))
		if err != nil {
			return fmt.Errorf("reading the statement: %w", err)
		}
		sql = string(raw)
	}
	if *person == "" {
		if *person = std.Env("USER"); *person == "" {
			*person = "operator"
		}
	}
	g, done, err := openGate(ctx, gateOptions{data: dataDir(*data, std), policy: *policyFile, log: slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		return queryFailure(fault.Of(err, "query"), *asJSON, std)
	}
	defer done()
	out := newRowPrinter(std.Out, *asJSON)
	answer, err := g.Query(ctx, gate.Principal{Org: *org, Subject: *person, Role: *role, Via: "cli"}, gate.Request{SQL: sql, MaxRows: *rows, Timeout: *timeout}, out)
	if err != nil {
		return queryFailure(fault.Of(err, "query"), *asJSON, std)
	}
	return out.finish(answer, std.Err)
}

// queryError is a failed query, already printed when that was asked for.
type queryError struct {
	fault   *fault.Error
	printed bool
}

func (e *queryError) Error() string {
	if e.printed {
		return ""
	}
	text := e.fault.Error()
	if e.fault.Position > 0 {
		text += fmt.Sprintf(" (at character %d)", e.fault.Position)
	}
	if e.fault.Hint != "" {
		text += "\n  " + e.fault.Hint
	}
	if cause := errors.Unwrap(e.fault); cause != nil && e.fault.AuditID == "" {
		text += "\n  " + cause.Error() // nothing was asked yet: this is the operator's own machine
	}
	return text
}

func (e *queryError) Unwrap() error { return e.fault }

// ExitCode tells refusals, limits and failures of the infrastructure apart.
func (e *queryError) ExitCode() int {
	switch e.fault.Code {
	case fault.Auth, fault.Denied, fault.Invalid:
		return 3
	case fault.RateLimited, fault.Timeout, fault.TooLarge:
		return 4
	case fault.NotFound, fault.Unavailable, fault.Interrupted, fault.Internal:
		return 5
	}
	return 5
}

func queryFailure(f *fault.Error, asJSON bool, std stdio) error {
	if !asJSON {
		return &queryError{fault: f}
	}
	enc := json.NewEncoder(std.Out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"error": f}); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return &queryError{fault: f, printed: true}
}
