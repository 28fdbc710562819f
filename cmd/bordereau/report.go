package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"bordereau/governance/audit"
	runs "bordereau/governance/run"
	"bordereau/reports"
	"bordereau/reports/excel"
)

// exitChanged is the status of a report that isn't as it was written.
const exitChanged = 3

// changedError says that a report was changed after it was written.
type changedError struct{ what string }

func (e changedError) Error() string { return e.what }

// ExitCode returns 3: the answer is no.
func (changedError) ExitCode() int { return exitChanged }

// runReport checks reports against their run and the audit chain.
func runReport(ctx context.Context, args []string, std stdio) error {
	if len(args) == 0 || args[0] != "verify" {
		return usagef("report: want 'report verify --org ORG FILE.xlsx|FILE.pdf'")
	}
	flags := flag.NewFlagSet("report verify", flag.ContinueOnError)
	org := flags.String("org", std.Env("BORDEREAU_ORG"), "the `ORGANISATION` whose report it is")
	c, err := loadConfig(flags, args[1:], std)
	if err != nil {
		return err
	}
	if *org == "" || flags.NArg() != 1 {
		return usagef("report verify: want --org ORG and one file")
	}
	raw, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return fmt.Errorf("reading the report: %w", err)
	}
	log := slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: slog.LevelError}))
	var open closers
	defer func() { open.close(context.WithoutCancel(ctx), log) }()
	db, _, err := openStore(ctx, c, log, &open)
	if err != nil {
		return err
	}
	return verifyReport(ctx, db, *org, raw, std.Out)
}

// verifyReport renders the stored run again: equal runs give equal bytes, so whatever differs was changed since.
func verifyReport(ctx context.Context, db *sql.DB, org string, raw []byte, out io.Writer) error {
	paper := bytes.HasPrefix(raw, []byte("%PDF-"))
	id, title, err := reportHead(raw, paper)
	if err != nil {
		return err
	}
	store, err := runs.NewStore(db)
	if err != nil {
		return err
	}
	body, err := store.Body(ctx, org, id)
	if err != nil {
		return fmt.Errorf("run %s of %s: %w", id, org, err)
	}
	var run reports.Report
	if err := json.Unmarshal(body, &run); err != nil {
		return fmt.Errorf("run %s: %w", id, err)
	}
	run.Title = title
	chain, err := audit.Verify(ctx, db, org, "")
	if err != nil {
		return changedError{err.Error()}
	}
	record, err := audit.New(ctx, audit.Config{DB: db, Now: time.Now})
	if err != nil {
		return err
	}
	for _, q := range run.Queries {
		found, err := record.List(ctx, audit.Filter{Org: org, AuditID: q.AuditID})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return changedError{"the audit chain has no record " + q.AuditID + ", which the run names"}
		}
	}
	documents, err := renderer{}.Render(ctx, &run)
	if err != nil {
		return err
	}
	written := documents[0].Content
	if paper {
		written = documents[1].Content
	}
	if !bytes.Equal(written, raw) {
		if err := explain(written, raw, paper, out); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "As written: run %s, %d findings, %d queries on record, audit chain of %d entries holds\n", id, len(run.Findings), len(run.Queries), chain.Entries)
	return nil
}

// explain says what was changed. Dispositions and comments of a reviewer are no change.
func explain(written, found []byte, paper bool, out io.Writer) error {
	if paper {
		return changedError{"the PDF differs from the one that its run gives: it was changed, or printed anew by another program"}
	}
	differences, err := excel.Compare(bytes.NewReader(written), bytes.NewReader(found))
	if err != nil {
		return err
	}
	for _, d := range differences {
		fmt.Fprintf(out, "%s!%s: written %q, found %q\n", d.Sheet, d.Cell, d.Written, d.Found)
	}
	if len(differences) > 0 {
		return changedError{fmt.Sprintf("%d cells differ from what was written", len(differences))}
	}
	return nil
}

// reportHead is the run and the title that a report says it was made of.
func reportHead(raw []byte, paper bool) (run, title string, err error) {
	if !paper {
		return excel.Head(bytes.NewReader(raw))
	}
	api.DisableConfigDir()
	attached, err := api.ExtractAttachmentsRaw(bytes.NewReader(raw), "", []string{"run.json"}, nil)
	if err != nil || len(attached) != 1 {
		return "", "", errors.Join(errors.New("the PDF holds no run.json: it is no report of Bordereau, or was printed anew"), err)
	}
	var r reports.Report
	if err := json.NewDecoder(attached[0]).Decode(&r); err != nil {
		return "", "", fmt.Errorf("run.json in the PDF: %w", err)
	}
	return r.RunID, r.Title, nil
}
