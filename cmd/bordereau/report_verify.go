package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"bordereau/governance/audit"
	"bordereau/reports"
	"bordereau/reports/excel"
	"bordereau/reports/pdf"
)

// exitChanged is the status of a report that isn't as it was written.
const exitChanged = 3

// changedError says that a report was changed after it was written.
type changedError struct{ what string }

func (e changedError) Error() string { return e.what }

// ExitCode returns 3: the answer is no.
func (changedError) ExitCode() int { return exitChanged }

// runReportVerify holds a report against its run and the audit chain.
func runReportVerify(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("report verify", flag.ContinueOnError)
	org := orgFlag(flags, std)
	secret := flags.String("password-file", "", "the `FILE` with the password of an encrypted PDF, - for standard input")
	c, err := loadConfig(flags, args, std)
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
	password, err := readPassword(*secret, std.In)
	if err != nil {
		return err
	}
	desk, shut, err := openReports(ctx, c, std)
	if err != nil {
		return err
	}
	defer shut()
	return desk.verify(ctx, *org, raw, password, std.Out)
}

// reportHead is what a report says it was made of.
type reportHead struct {
	RunID    string `json:"run_id"`
	Title    string `json:"title"`
	Revision int64  `json:"revision"`
	Excerpts string `json:"excerpts"`
	Console  string `json:"console"`
}

// verify renders the stored run again: equal runs give equal bytes, so whatever differs was changed since.
func (d *reportDesk) verify(ctx context.Context, org string, raw []byte, password string, out io.Writer) error {
	paper := bytes.HasPrefix(raw, []byte("%PDF-"))
	if paper && password != "" {
		var err error
		if raw, err = pdf.Decrypt(raw, password); err != nil {
			return err
		}
	}
	head, err := readHead(raw, paper)
	if err != nil {
		return err
	}
	run, err := d.load(ctx, org, head.RunID, head.Revision)
	if err != nil {
		return err
	}
	run.Title, run.Excerpts = head.Title, head.Excerpts
	entries, err := d.onRecord(ctx, org, run)
	if err != nil {
		return err
	}
	d.paper.password, d.paper.console = password, head.Console
	documents, err := d.paper.Render(ctx, run, d.opener(org, run))
	if err != nil {
		return err
	}
	written := documents[0].Content
	if paper {
		written = documents[1].Content
		if password != "" {
			if written, err = pdf.Decrypt(written, password); err != nil {
				return err
			}
		}
	}
	if !bytes.Equal(written, raw) {
		if err := explain(written, raw, paper, out); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "As written: run %s, %d findings, %d queries on record, audit chain of %d entries holds\n", head.RunID, len(run.Findings), len(run.Queries), entries)
	return nil
}

// onRecord looks for each query of a run in the audit chain, whose length it returns.
func (d *reportDesk) onRecord(ctx context.Context, org string, run *reports.Report) (int64, error) {
	chain, err := audit.Verify(ctx, d.db, org, "")
	if err != nil {
		return 0, changedError{err.Error()}
	}
	record, err := audit.New(ctx, audit.Config{DB: d.db, Now: time.Now})
	if err != nil {
		return 0, err
	}
	for _, q := range run.Queries {
		found, err := record.List(ctx, audit.Filter{Org: org, AuditID: q.AuditID})
		if err != nil {
			return 0, err
		}
		if len(found) == 0 {
			return 0, changedError{"the audit chain has no record " + q.AuditID + ", which the run names"}
		}
	}
	return chain.Entries, nil
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

// readHead reads what a report says it was made of.
func readHead(raw []byte, paper bool) (reportHead, error) {
	if !paper {
		h, err := excel.ReadHead(bytes.NewReader(raw))
		return reportHead{RunID: h.Run, Title: h.Title, Revision: h.Revision}, err
	}
	api.DisableConfigDir()
	attached, err := api.ExtractAttachmentsRaw(bytes.NewReader(raw), "", []string{"run.json"}, nil)
	if err != nil || len(attached) != 1 {
		return reportHead{}, errors.Join(errors.New("the PDF holds no run.json: it is no report of Bordereau, was printed anew, or is encrypted (--password-file)"), err)
	}
	var h reportHead
	if err := json.NewDecoder(attached[0]).Decode(&h); err != nil {
		return reportHead{}, fmt.Errorf("run.json in the PDF: %w", err)
	}
	return h, nil
}
