package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"bordereau/cmd/bordereau/sample"
	"bordereau/governance/dataset"
	"bordereau/tools/vin"
)

// sampleSeed makes the same sample organisations each time.
const sampleSeed = 1

// importSample invents the sample organisations for today and imports them, unless the data folder has data already.
func importSample(ctx context.Context, c config, log *slog.Logger, std stdio, today time.Time) error {
	var open closers
	defer func() { open.close(context.WithoutCancel(ctx), log) }()
	_, store, err := openStore(ctx, c, log, &open)
	if err != nil {
		return err
	}
	there, err := store.Organisations(ctx)
	if err != nil || len(there) > 0 {
		return err
	}
	began := time.Now()
	decoder, err := vin.Load()
	if err != nil {
		return err
	}
	folder := c.path("sample")
	defer func() { _ = os.RemoveAll(folder) }()
	group, ctx := errgroup.WithContext(ctx)
	for _, id := range sample.Orgs() {
		group.Go(func() error {
			org, err := sample.Generate(ctx, sample.Config{Today: today, Seed: sampleSeed, Decoder: decoder}, id)
			if err != nil {
				return err
			}
			dir := filepath.Join(folder, id)
			if err := org.Write(dir); err != nil {
				return err
			}
			source, err := dataset.SourceOf(dir)
			if err != nil {
				return err
			}
			if _, err := store.Import(ctx, id, source); err != nil {
				return fmt.Errorf("importing the sample organisation %s: %w", id, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "Invented and imported %d sample organisations in %.1f s\n", len(sample.Orgs()), time.Since(began).Seconds())
	return nil
}
