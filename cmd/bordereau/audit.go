package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"bordereau/governance/audit"
	"bordereau/migrations"
)

// brokenAudit is a chain that doesn't hold.
type brokenAudit struct{ *audit.BrokenError }

// ExitCode returns 3: the answer is no.
func (brokenAudit) ExitCode() int { return 3 }

// runAudit verifies or exports the audit record.
func runAudit(ctx context.Context, args []string, std stdio) error {
	usage := func() {
		fmt.Fprint(std.Err, "Usage:\n  bordereau audit verify [--org ORG] [--expect HASH]   prove that no entry was changed, dropped or reordered\n"+
			"  bordereau audit export --org ORG [-o FILE]           write the entries as NDJSON\n")
	}
	if len(args) == 0 || (args[0] != "verify" && args[0] != "export") {
		usage()
		if len(args) > 0 && (args[0] == "-h" || args[0] == "--help") {
			return nil
		}
		return usagef("audit: want verify or export")
	}
	fs := flag.NewFlagSet("audit "+args[0], flag.ContinueOnError)
	fs.SetOutput(std.Err)
	fs.Usage = func() { usage(); fs.PrintDefaults() }
	org := fs.String("org", "", "organisation (verify: default all)")
	data := fs.String("data", "", "data folder (default: BORDEREAU_DATA or ./data)")
	dsn := fs.String("db", "", "governance database (default: governance.db in the data folder)")
	expect := fs.String("expect", "", "verify: the hash that the chain of --org must end with or contain, kept from an earlier run")
	out := fs.String("o", "", "export: file to write (default: standard output)")
	if err := fs.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return usagef("audit: %v", err)
	}
	if *org == "" && (args[0] == "export" || *expect != "") {
		return usagef("audit %s: --org is required", args[0])
	}
	if *dsn == "" {
		*dsn = filepath.Join(dataDir(*data, std), "governance.db")
		if _, err := os.Stat(*dsn); err != nil {
			return fmt.Errorf("audit: there is no governance database: %w", err)
		}
	}
	db, _, err := migrations.Open(ctx, *dsn, migrations.Governance)
	if err != nil {
		return err
	}
	defer db.Close()
	if args[0] == "export" {
		return exportAudit(*out, std, func(w io.Writer) (int64, error) { return audit.Export(ctx, db, *org, w) })
	}
	orgs := []string{*org}
	if *org == "" {
		if orgs, err = audit.Orgs(ctx, db); err != nil {
			return err
		}
	}
	enc := json.NewEncoder(std.Out)
	for _, o := range orgs {
		v, err := audit.Verify(ctx, db, o, *expect)
		if broken, ok := errors.AsType[*audit.BrokenError](err); ok {
			return brokenAudit{broken}
		}
		if err != nil {
			return err
		}
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
	}
	return nil
}

func exportAudit(path string, std stdio, export func(io.Writer) (int64, error)) error {
	if path == "" {
		_, err := export(std.Out)
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	n, err := export(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.Err, "%d entries in %s\n", n, path)
	return err
}
