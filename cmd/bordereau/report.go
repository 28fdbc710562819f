package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"

	"bordereau/governance/dataset"
	runs "bordereau/governance/run"
	"bordereau/reports"
)

// runReport checks, reads back and renders reports.
func runReport(ctx context.Context, args []string, std stdio) error {
	if len(args) > 0 {
		switch args[0] {
		case "verify":
			return runReportVerify(ctx, args[1:], std)
		case "import":
			return runReportImport(ctx, args[1:], std)
		case "render":
			return runReportRender(ctx, args[1:], std)
		}
	}
	return usagef("report: want 'report verify', 'report import' or 'report render', each with --org ORG")
}

// reportDesk is what the report commands work with.
type reportDesk struct {
	db    *sql.DB
	runs  *runs.Store
	data  *dataset.Store
	paper renderer
}

// openReports opens the stores of a data folder.
func openReports(ctx context.Context, c config, std stdio) (d *reportDesk, shut func(), err error) {
	log := slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: slog.LevelError}))
	var open closers
	shut = func() { open.close(context.WithoutCancel(ctx), log) }
	d = &reportDesk{}
	if d.db, d.data, err = openStore(ctx, c, log, &open); err == nil {
		if d.runs, err = runs.NewStore(d.db); err == nil {
			d.paper, err = openRenderer(c, &open) //nolint:contextcheck // each rendering has its own
		}
	}
	if err != nil {
		shut()
		return nil, nil, err
	}
	return d, shut, nil
}

// load reads a run with what people said of it up to a revision.
func (d *reportDesk) load(ctx context.Context, org, id string, revision int64) (*reports.Report, error) {
	body, err := d.runs.Body(ctx, org, id)
	if err != nil {
		return nil, fmt.Errorf("run %s of %s: %w", id, org, err)
	}
	var r reports.Report
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	if revision == 0 {
		return &r, nil
	}
	said, err := d.runs.Reviews(ctx, org, id, revision)
	if err != nil {
		return nil, err
	}
	r.Review(reviewsOf(said))
	return &r, nil
}

// newest asks load for everything that people said.
const newest = math.MaxInt64

// reviewsOf is what the store kept, as a report carries it.
func reviewsOf(said []runs.Review) []reports.Review {
	all := make([]reports.Review, len(said))
	for i, v := range said {
		all[i] = reports.Review{Seq: v.Seq, Finding: v.Finding, Disposition: v.Disposition, Comment: v.Comment, Person: v.Person, At: v.At}
	}
	return all
}

// opener reads the documents of a run as it knew them.
func (d *reportDesk) opener(org string, r *reports.Report) func(ctx context.Context, id string) ([]byte, error) {
	want := map[string]string{}
	for _, s := range r.Submissions {
		for _, doc := range s.Documents {
			want[doc.ID] = doc.SHA256
		}
	}
	return func(ctx context.Context, id string) ([]byte, error) {
		file, _, err := d.data.Document(ctx, org, id)
		if err != nil {
			return nil, errors.New("The document could not be read.") //nolint:revive,staticcheck // a sentence for the report's reader
		}
		raw, err := io.ReadAll(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, errors.New("The document could not be read.") //nolint:revive,staticcheck // a sentence for the report's reader
		}
		if sum := sha256.Sum256(raw); want[id] != "" && want[id] != hex.EncodeToString(sum[:]) {
			return nil, errors.New("The document is not the one that the run read.") //nolint:revive,staticcheck // a sentence for the report's reader
		}
		return raw, nil
	}
}

// orgFlag is the flag that every report command has.
func orgFlag(flags *flag.FlagSet, std stdio) *string {
	return flags.String("org", std.Env("BORDEREAU_ORG"), "the `ORGANISATION` whose report it is")
}
