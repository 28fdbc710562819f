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
	"slices"

	"bordereau/governance/audit"
	"bordereau/migrations"
)

// brokenAudit is a chain that doesn't hold.
type brokenAudit struct{ *audit.BrokenError }

// ExitCode returns 3: the answer is no.
func (brokenAudit) ExitCode() int { return 3 }

// runAudit lists, shows, verifies or exports the audit record.
func runAudit(ctx context.Context, args []string, std stdio) error {
	usage := func() {
		fmt.Fprint(std.Err, "Usage:\n  bordereau audit list --org ORG [filters] [--json]    list statements, the newest first\n"+
			"  bordereau audit show --org ORG AUDIT_ID [--json]     one statement with all that is on record\n"+
			"  bordereau audit verify [--org ORG] [--expect HASH]   prove that no entry was changed, dropped or reordered\n"+
			"  bordereau audit export --org ORG [-o FILE]           write the entries as NDJSON\n")
	}
	if len(args) == 0 || !slices.Contains([]string{"list", "show", "verify", "export"}, args[0]) {
		usage()
		if len(args) > 0 && (args[0] == "-h" || args[0] == "--help") {
			return nil
		}
		return usagef("audit: want list, show, verify or export")
	}
	fs := flag.NewFlagSet("audit "+args[0], flag.ContinueOnError)
	fs.SetOutput(std.Err)
	fs.Usage = func() { usage(); fs.PrintDefaults() }
	org := fs.String("org", "", "organisation (verify: default all)")
	data := fs.String("data", "", "data folder (default: BORDEREAU_DATA or ./data)")
	dsn := fs.String("db", "", "governance database (default: governance.db in the data folder)")
	expect := fs.String("expect", "", "verify: the hash that the chain of --org must end with or contain, kept from an earlier run")
	out := fs.String("o", "", "export: file to write (default: standard output)")
	asJSON := fs.Bool("json", false, "list, show: as JSON")
	var filters auditFilters
	wanted := 0 // arguments beside the flags
	switch args[0] {
	case "list":
		filters.define(fs)
	case "show":
		wanted = 1
	}
	rest, err := parseAround(fs, args[1:])
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return usagef("audit: %v", err)
	}
	if len(rest) != wanted {
		return usagef("audit %s: want %d arguments, not %d", args[0], wanted, len(rest))
	}
	if *org == "" && (args[0] != "verify" || *expect != "") {
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
	switch args[0] {
	case "list":
		search, err := filters.read(*org)
		if err != nil {
			return err
		}
		return listAudit(ctx, db, search, *asJSON, std)
	case "show":
		return showAudit(ctx, db, *org, rest[0], *asJSON, std)
	case "export":
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

// parseAround parses flags that may stand before and after the other arguments, which it returns.
func parseAround(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return rest, nil
		}
		rest, args = append(rest, fs.Arg(0)), fs.Args()[1:]
	}
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
