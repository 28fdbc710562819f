package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	runs "bordereau/governance/run"
	"bordereau/reports"
	"bordereau/reports/excel"
)

// exitConflict is the status of an import that left out what others reviewed since.
const exitConflict = 4

// conflictError says that somebody else reviewed the same findings.
type conflictError struct{ findings int }

func (e conflictError) Error() string {
	return fmt.Sprintf("%d findings were reviewed by somebody else since the workbook was written, and stay as they are; --overwrite takes this workbook's", e.findings)
}

// ExitCode returns 4: some of it wasn't taken.
func (conflictError) ExitCode() int { return exitConflict }

// runReportImport takes a reviewer's dispositions and comments out of a workbook.
func runReportImport(ctx context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("report import", flag.ContinueOnError)
	org := orgFlag(flags, std)
	person := flags.String("person", "", "who reviewed it: the `ADDRESS` that stays with each disposition")
	overwrite := flags.Bool("overwrite", false, "also where somebody else reviewed a finding since the workbook was written")
	c, err := loadConfig(flags, args, std)
	if err != nil {
		return err
	}
	if *org == "" || *person == "" || flags.NArg() != 1 {
		return usagef("report import: want --org ORG, --person ADDRESS and one workbook")
	}
	raw, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return fmt.Errorf("reading the workbook: %w", err)
	}
	desk, shut, err := openReports(ctx, c, std)
	if err != nil {
		return err
	}
	defer shut()
	took, err := desk.review(ctx, *org, *person, raw, *overwrite)
	if err != nil {
		return err
	}
	return printReviewed(std.Out, took)
}

// review keeps what a reviewed workbook says. The workbook names its run and which reviews it held, so that what the person left
// untouched changes nothing.
func (d *reportDesk) review(ctx context.Context, org, person string, workbook []byte, overwrite bool) (runs.Reviewed, error) {
	head, err := excel.ReadHead(bytes.NewReader(workbook))
	if err != nil {
		return runs.Reviewed{}, err
	}
	body, err := d.runs.Open(ctx, org, head.Run)
	if err != nil {
		return runs.Reviewed{}, fmt.Errorf("run %s of %s: %w", head.Run, org, err)
	}
	says, err := reports.Sentences(body)
	if err != nil {
		return runs.Reviewed{}, fmt.Errorf("run %s: %w", head.Run, err)
	}
	said, err := excel.Read(bytes.NewReader(workbook), says)
	if err != nil {
		return runs.Reviewed{}, err
	}
	sum := sha256.Sum256(workbook)
	ask := runs.Reviewing{
		Org: org, Run: head.Run, Person: person, Via: "workbook", Source: hex.EncodeToString(sum[:]), At: time.Now(), Base: head.Revision, Overwrite: overwrite,
		Opinions: opinions(said),
	}
	return d.runs.Review(ctx, ask)
}

func printReviewed(w io.Writer, took runs.Reviewed) error {
	for _, c := range took.Conflicts {
		fmt.Fprintf(w, "%s: the workbook says %s; %s said %s on %s\n", c.Yours.Finding, words(c.Yours), c.Theirs.Person, words(c.Theirs.Opinion), c.Theirs.At.Format("2006-01-02 15:04 UTC"))
	}
	fmt.Fprintf(w, "%d findings reviewed, %d unchanged; the run is at revision %d\n", len(took.Stored), took.Unchanged, took.Revision)
	if n := len(took.Conflicts); n > 0 {
		return conflictError{n}
	}
	return nil
}

func words(o runs.Opinion) string {
	text := or(o.Disposition, "nothing")
	if o.Comment != "" {
		text += fmt.Sprintf(" (%q)", o.Comment)
	}
	return text
}
