package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"bordereau/governance/dataset/generation"
	"bordereau/governance/fault"
)

// Compaction is due when this part of extracted_fields was replaced since the last; a file of up to smallOrg rows is
// then compacted along with the import.
const (
	churnPart = 5 // one fifth
	smallOrg  = 300_000
)

// Import takes src into the organisation's facts and publishes a new generation, whole and at once, or changes nothing.
// An import that is wrong returns an *ImportError.
func (s *Store) Import(ctx context.Context, org string, src Source) (ImportResult, error) {
	began := s.cfg.Now()
	if len(src.Files) == 0 {
		return ImportResult{}, &fault.Error{Code: fault.Invalid, Component: "dataset", Message: "there is nothing to import"}
	}
	job := generation.Job{Mode: generation.Import}
	for _, f := range src.Files {
		path, err := filepath.Abs(f.Path)
		if err != nil {
			return ImportResult{}, err
		}
		docs := f.Documents
		if docs != "" {
			if docs, err = filepath.Abs(docs); err != nil {
				return ImportResult{}, err
			}
		}
		job.Files = append(job.Files, generation.Input{Path: path, Name: f.Name, Format: string(f.Format), Documents: docs})
	}
	out, err := s.build(ctx, org, job)
	if err != nil {
		return ImportResult{}, err
	}
	res := ImportResult{Generation: out.row.id, Changed: out.built.Changed, Records: map[string]Counts{}, Relations: out.row.manifest.Relations, Steps: out.built.Millis}
	for kind, c := range out.built.Counts {
		res.Records[kind] = Counts(c)
	}
	fields := out.row.manifest.Relations["extracted_fields"]
	res.CompactionDue = out.row.manifest.Churn*churnPart > fields
	if res.CompactionDue && fields <= smallOrg {
		if id, err := s.Compact(ctx, org); err != nil {
			// What was asked for is done; the files are only less tidy.
			s.cfg.Logger.WarnContext(ctx, "compaction failed", "org", org, "error", err)
		} else {
			res.Generation, res.CompactionDue = id, false
		}
	}
	res.Took = s.cfg.Now().Sub(began)
	s.cfg.Logger.InfoContext(ctx, "imported", "org", org, "generation", res.Generation, "changed", res.Changed, "took", res.Took)
	return res, nil
}

// Compact publishes the same data in files without gaps, and returns the generation.
func (s *Store) Compact(ctx context.Context, org string) (string, error) {
	out, err := s.build(ctx, org, generation.Job{Mode: generation.Compact})
	return out.row.id, err
}

// Rebuild publishes a generation that is built from the organisation's facts alone, and returns it.
func (s *Store) Rebuild(ctx context.Context, org string) (string, error) {
	out, err := s.build(ctx, org, generation.Job{Mode: generation.Rebuild})
	return out.row.id, err
}

type outcome struct {
	row   generationRow
	built generation.Result
}

// build runs a job on the organisation's newest generation and publishes what comes out. If somebody else publishes meanwhile,
// from another machine, it starts again from there.
func (s *Store) build(ctx context.Context, org string, job generation.Job) (outcome, error) {
	dir, err := s.orgDir(org)
	if err != nil {
		return outcome{}, err
	}
	unlock, err := s.lockOrg(ctx, org, dir)
	if err != nil {
		return outcome{}, err
	}
	defer unlock()
	const tries = 5
	for range tries {
		var out outcome
		err := s.follow(ctx, org, dir)
		if err == nil && job.Mode != generation.Mask {
			out, err = s.buildOnce(ctx, org, dir, job)
		}
		if !errors.Is(err, errMoved) {
			return out, err
		}
	}
	return outcome{}, s.unavailable("others keep publishing for this organisation", errMoved)
}

func (s *Store) buildOnce(ctx context.Context, org, dir string, job generation.Job) (outcome, error) {
	key, current, err := s.ledger.org(ctx, org, s.cfg.Now())
	if err != nil {
		return outcome{}, s.unavailable("the organisation can't be looked up", err)
	}
	if err := s.sweep(ctx, org, dir); err != nil {
		return outcome{}, err
	}
	work := filepath.Join(dir, "building", uuid.NewString())
	if err := os.MkdirAll(work, 0o700); err != nil {
		return outcome{}, s.unavailable("no folder to build in", err)
	}
	defer func() {
		if err := os.RemoveAll(work); err != nil {
			s.cfg.Logger.WarnContext(ctx, "left a building folder behind", "org", org, "error", err)
		}
	}()
	job.Dir, job.Key, job.Documents = work, key, filepath.Join(dir, "documents")
	job.Threads, job.MemoryMB = s.cfg.Threads, s.cfg.MemoryMB
	masks, err := s.ledger.masks(ctx)
	if err != nil {
		return outcome{}, s.unavailable("the masks in force can't be looked up", err)
	}
	var prev generationRow
	if current > 0 {
		if prev, err = s.ledger.current(ctx, org); err != nil {
			return outcome{}, s.unavailable("the newest generation can't be looked up", err)
		}
		for _, f := range prev.manifest.Files {
			if err := s.remote.ensure(ctx, org, dir, f); err != nil {
				return outcome{}, s.unavailable("the newest generation is not there", err)
			}
		}
		job.Full, job.Standard = filepath.Join(dir, prev.manifest.Files[Full].Path), filepath.Join(dir, prev.manifest.Files[Standard].Path)
		if s.growable(prev, job) {
			if job.Full, job.Standard, err = s.twins(dir, prev); err != nil {
				return outcome{}, s.unavailable("the files to build on can't be made ready", err)
			}
			job.Grow, job.Relations = true, prev.manifest.Relations
		}
	}
	if job.Mode != generation.Import && current == 0 {
		return outcome{}, &fault.Error{Code: fault.NotFound, Component: "dataset", Message: "this organisation has no data yet"}
	}
	if current > 0 && job.Mode != generation.Rebuild && job.Mode != generation.Mask {
		masks = prev.manifest.Masks // what comes is masked as what is there
	}
	if job.Masks, err = parseMasks(masks); err != nil {
		return outcome{}, s.unavailable("the masks in force can't be read", err)
	}
	if job.Mode == generation.Rebuild {
		if job.Facts, err = s.factFolders(ctx, org, dir); err != nil {
			return outcome{}, err
		}
	}
	built, err := s.runBuilder(ctx, job)
	if job.Grow && ctx.Err() == nil && (err != nil || built.Overgrown) {
		if err != nil { // perhaps what only builders use is damaged, which is no reason to refuse every small import
			s.cfg.Logger.WarnContext(ctx, "a log couldn't be grown; the import goes into new files", "org", org, "error", err)
		}
		built, err = s.outgrow(ctx, dir, prev, job)
	}
	if err != nil {
		return outcome{}, err
	}
	if len(built.Problems) > 0 {
		return outcome{}, &ImportError{Problems: built.Problems}
	}
	if !built.Changed {
		return outcome{row: prev, built: built}, nil
	}
	if err := linkBases(dir, prev, &built); err != nil {
		return outcome{}, s.unavailable("the new generation can't be put in place; nothing changed", err)
	}
	row, err := s.publish(ctx, org, dir, prev, built, masks)
	if err == nil {
		s.readyTwins(ctx, org, dir, work, row)
	}
	return outcome{row: row, built: built}, err
}

// factFolders lists the folders of the organisation's facts, oldest first.
func (s *Store) factFolders(ctx context.Context, org, dir string) ([]string, error) {
	_, files, err := s.ledger.facts(ctx, org)
	if err != nil {
		return nil, s.unavailable("the facts can't be listed", err)
	}
	var folders []string
	for _, f := range files {
		for _, one := range f {
			if err := s.remote.ensure(ctx, org, dir, one); err != nil {
				return nil, s.unavailable("facts are not there", err)
			}
		}
		if len(f) > 0 {
			folders = append(folders, filepath.Join(dir, filepath.Dir(f[0].Path)))
		}
	}
	return folders, nil
}

// publish gives what was built its final place and then, in one transaction, makes it the one to read.
// Until that transaction commits nothing has happened; after it everything has.
func (s *Store) publish(ctx context.Context, org, dir string, prev generationRow, built generation.Result, masks string) (generationRow, error) {
	row := generationRow{seq: prev.seq + 1, createdAt: s.cfg.Now().UnixMicro()}
	row.id = fmt.Sprintf("%06d-%s", row.seq, built.Standard.Sum()[:12])
	row.manifest = manifest{Files: map[string]generation.Built{}, Relations: built.Relations, Masks: masks}
	if built.Churn > 0 {
		row.manifest.Churn = prev.manifest.Churn + built.Churn
	} else if built.Counts != nil {
		row.manifest.Churn = prev.manifest.Churn
	}
	place := filepath.Join("generations", row.id)
	files := map[string]generation.Built{}
	for profile, f := range map[string]generation.Built{Full: built.Full, Standard: built.Standard} {
		rel := filepath.Join(place, profile+".duckdb")
		files[f.Path] = generation.Built{Path: rel}
		if f.Log != nil {
			log := *f.Log
			files[log.Path] = generation.Built{Path: rel + generation.LogSuffix}
			log.Path, f.Log = rel+generation.LogSuffix, &log
		}
		f.Path = rel
		row.manifest.Files[profile] = f
	}
	var facts []generation.Built
	for _, f := range built.Facts {
		rel := filepath.Join("facts", row.id, filepath.Base(f.Path))
		files[f.Path] = generation.Built{Path: rel}
		f.Path = rel
		facts = append(facts, f)
	}
	if err := moveAll(dir, row.id, files); err != nil {
		return row, s.unavailable("the new generation can't be put in place; nothing changed", err)
	}
	uploads, err := documentFiles(built.Stored)
	if err != nil {
		return row, err
	}
	for _, f := range row.manifest.Files {
		uploads = append(uploads, newFiles(f)...)
	}
	if err := s.remote.upload(ctx, org, dir, append(uploads, facts...)); err != nil {
		return row, s.unavailable("the new generation can't be put into the bucket; nothing changed", err)
	}
	// Whoever asked may be gone by now; the work is done and is not thrown away for that.
	ctx = context.WithoutCancel(ctx)
	if err := s.ledger.publish(ctx, org, prev.seq, row, facts, built.Stored); err != nil {
		if errors.Is(err, errMoved) {
			return row, err
		}
		return row, s.unavailable("the new generation can't be published; nothing changed", err)
	}
	s.markPublished(ctx, dir, row.id)
	return row, nil
}

// moveAll moves files below dir and makes that durable.
func moveAll(dir, id string, files map[string]generation.Built) error {
	folders := map[string]bool{filepath.Join(dir, "generations"): true, filepath.Join(dir, "facts"): true}
	for _, kind := range []string{"generations", "facts"} {
		// A folder of this name was left by a publication that didn't come to its end.
		if err := os.RemoveAll(filepath.Join(dir, kind, id)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(dir, kind), 0o700); err != nil {
			return err
		}
	}
	for from, to := range files {
		target := filepath.Join(dir, to.Path)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := os.Rename(from, target); err != nil {
			return err
		}
		folders[filepath.Dir(target)] = true
	}
	for folder := range folders {
		f, err := os.Open(folder)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// noRows tells whether err says that there is no such row.
func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
