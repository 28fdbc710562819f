package generation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"bordereau/governance/dataset/record"
)

// runFold copies both files and takes what their logs hold into them.
func (b *build) runFold(ctx context.Context) (Result, error) {
	if b.empty {
		return Result{}, fmt.Errorf("there is nothing to fold")
	}
	if err := b.copyBoth()(); err != nil {
		return Result{}, err
	}
	b.mark("copy")
	if err := b.attach(ctx); err != nil {
		return Result{}, err
	}
	return b.seal(ctx, Result{Changed: true, Counts: b.countsByName()})
}

// runCompact writes both files anew, in order and without the gaps that replaced rows leave.
func (b *build) runCompact(ctx context.Context) (Result, error) {
	if b.empty {
		return Result{}, fmt.Errorf("there is nothing to compact")
	}
	for catalog, path := range map[string]string{"old_f": b.job.Full, "old_m": b.job.Standard} {
		if err := b.exec(ctx, "ATTACH "+literal(path)+" AS "+catalog+" (READ_ONLY)"); err != nil {
			return Result{}, err
		}
	}
	b.empty = true
	if err := b.attach(ctx); err != nil {
		return Result{}, err
	}
	for _, catalog := range []string{"f", "m"} { // one after the other: each may want all of the memory
		for _, r := range relations() {
			if err := b.exec(ctx, "INSERT INTO "+catalog+"."+r.name+" FROM old_"+catalog+"."+r.name+" ORDER BY "+r.order); err != nil {
				return Result{}, err
			}
		}
	}
	for _, catalog := range []string{"old_f", "old_m"} {
		if err := b.exec(ctx, "DETACH "+catalog); err != nil {
			return Result{}, err
		}
	}
	b.mark("compact")
	return b.seal(ctx, Result{Changed: true})
}

// runMask writes both files anew from the full one alone, masked as the job says.
func (b *build) runMask(ctx context.Context) (Result, error) {
	if b.empty {
		return Result{}, fmt.Errorf("there is nothing to mask")
	}
	if err := b.exec(ctx, "ATTACH "+literal(b.job.Full)+" AS old_f (READ_ONLY)"); err != nil {
		return Result{}, err
	}
	b.empty = true
	if err := b.attach(ctx); err != nil {
		return Result{}, err
	}
	for _, r := range relations() {
		if err := b.exec(ctx, "CREATE VIEW n_"+r.name+" AS FROM old_f."+r.name+" ORDER BY "+r.order); err != nil {
			return Result{}, err
		}
	}
	if err := b.maskFields(ctx); err != nil {
		return Result{}, err
	}
	for _, catalog := range []string{"f", "m"} {
		for _, r := range relations() {
			if err := b.write(ctx, b.conn, catalog, r); err != nil {
				return Result{}, err
			}
		}
	}
	if err := b.exec(ctx, "DETACH old_f"); err != nil {
		return Result{}, err
	}
	b.mark("mask")
	return b.seal(ctx, Result{Changed: true})
}

// runRebuild makes both files from the facts alone, import by import, as they were first made.
func (b *build) runRebuild(ctx context.Context) (Result, error) {
	b.empty = true
	if err := b.attach(ctx); err != nil {
		return Result{}, err
	}
	for _, folder := range b.job.Facts {
		for _, k := range record.Kinds() {
			if err := b.exec(ctx, "DROP TABLE IF EXISTS "+stage(k)); err != nil {
				return Result{}, err
			}
			if err := b.exec(ctx, stageDDL(k)); err != nil {
				return Result{}, err
			}
			path := filepath.Join(folder, k.String()+".parquet")
			if _, err := os.Stat(path); err != nil {
				continue
			}
			if err := b.exec(ctx, "INSERT INTO "+stage(k)+" SELECT 0, 0, * FROM read_parquet("+literal(path)+")"); err != nil {
				return Result{}, err
			}
		}
		if _, err := b.apply(ctx); err != nil {
			return Result{}, fmt.Errorf("facts in %s: %w", filepath.Base(folder), err)
		}
		if len(b.problems) > 0 {
			return Result{}, fmt.Errorf("facts in %s: %s", filepath.Base(folder), b.problems[0])
		}
		b.empty = false
	}
	return b.seal(ctx, Result{Changed: true})
}
