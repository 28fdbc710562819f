package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"bordereau/governance/dataset/generation"
)

// A small import into a large organisation makes a generation of the last one's files, linked, and of logs of what changed. The builder
// works on twins of those files, which nobody else opens; see generation/grow.go. What outgrows a log is taken into files of its own.
const (
	growInput = 8 << 20 // bytes of an import's files
	growLog   = 3 << 20 // bytes of a log that may still grow: a reader replays it when it opens, and its deletions slow scans
	foldLog   = 1 << 20 // bytes of a log that is worth folding when nothing else is to do
)

// growable tells whether an import is small enough, and what it changes large enough, to grow a log.
func (s *Store) growable(prev generationRow, job generation.Job) bool {
	if job.Mode != generation.Import || prev.manifest.Files[Full].Bytes < s.cfg.GrowAbove {
		return false
	}
	for _, f := range prev.manifest.Files {
		if f.Log != nil && f.Log.Bytes > growLog {
			return false
		}
	}
	var size int64
	for _, in := range job.Files {
		info, err := os.Stat(in.Path)
		if err != nil {
			return false // the build says what is wrong with it
		}
		size += info.Size()
	}
	return size <= growInput
}

func twinPath(dir string, f generation.Built) string { return filepath.Join(dir, "twins", f.SHA256) }

// twins makes a generation's twins ready to grow its logs, and returns where they are.
func (s *Store) twins(dir string, g generationRow) (full, standard string, err error) {
	for _, f := range g.manifest.Files {
		if err := makeTwin(dir, f); err != nil {
			return "", "", err
		}
		log := twinPath(dir, f) + generation.LogSuffix
		if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", "", err
		}
		if f.Log == nil {
			continue
		}
		if err := copyInto(filepath.Join(dir, f.Log.Path), log); err != nil {
			return "", "", err
		}
	}
	return twinPath(dir, g.manifest.Files[Full]), twinPath(dir, g.manifest.Files[Standard]), nil
}

// makeTwin copies a published file, unless its twin is there. Builders leave a twin as it is, or it is removed.
func makeTwin(dir string, f generation.Built) error {
	twin := twinPath(dir, f)
	if info, err := os.Stat(twin); err == nil && info.Size() == f.Bytes {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(twin), 0o700); err != nil {
		return err
	}
	return copyInto(filepath.Join(dir, f.Path), twin)
}

// copyInto copies a file. The copy is there whole and durable, or not at all.
func copyInto(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // only read
	tmp, err := os.CreateTemp(filepath.Dir(to), ".copy-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = io.Copy(tmp, in)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), to)
}

// outgrow does an import again, from the published files, that was too much for a log or couldn't be done with the twins.
func (s *Store) outgrow(ctx context.Context, dir string, prev generationRow, job generation.Job) (generation.Result, error) {
	if err := os.RemoveAll(filepath.Join(dir, "twins")); err != nil { // DuckDB may have written into them
		return generation.Result{}, s.unavailable("leftovers can't be removed", err)
	}
	if err := errors.Join(os.RemoveAll(job.Dir), os.Mkdir(job.Dir, 0o700)); err != nil {
		return generation.Result{}, s.unavailable("no folder to build in", err)
	}
	job.Grow = false
	job.Full, job.Standard = filepath.Join(dir, prev.manifest.Files[Full].Path), filepath.Join(dir, prev.manifest.Files[Standard].Path)
	return s.runBuilder(ctx, job)
}

// linkBases puts the files that a build's logs belong to beside them.
func linkBases(dir string, prev generationRow, built *generation.Result) error {
	for profile, f := range map[string]*generation.Built{Full: &built.Full, Standard: &built.Standard} {
		if f.Log == nil {
			continue
		}
		base := prev.manifest.Files[profile]
		if err := os.Link(filepath.Join(dir, base.Path), f.Path); err != nil {
			return fmt.Errorf("linking the file that stays: %w", err)
		}
		f.SHA256, f.Bytes, f.Object = base.SHA256, base.Bytes, objectOf(base)
	}
	return nil
}

// readyTwins makes the twins of what was just published and their keys, so that the next small import needn't, and removes those of before.
func (s *Store) readyTwins(ctx context.Context, org, dir, work string, g generationRow) {
	keep := map[string]bool{}
	for _, f := range g.manifest.Files {
		if f.Bytes < s.cfg.GrowAbove {
			continue
		}
		keep[filepath.Base(twinPath(dir, f))] = true
		if err := makeTwin(dir, f); err != nil {
			s.cfg.Logger.WarnContext(ctx, "no twin for the next import", "org", org, "error", err)
		}
	}
	if len(keep) == len(g.manifest.Files) {
		full, standard := twinPath(dir, g.manifest.Files[Full]), twinPath(dir, g.manifest.Files[Standard])
		keep[filepath.Base(generation.KeysPath(full, standard))] = true
		if err := s.makeKeys(ctx, work, full, standard); err != nil {
			s.cfg.Logger.WarnContext(ctx, "no keys for the next import", "org", org, "error", err)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, "twins"))
	if err != nil {
		return // there are none
	}
	for _, e := range entries {
		name := e.Name()
		if keep[name] || keep[name[:max(0, len(name)-len(generation.LogSuffix))]] {
			continue
		}
		if err := os.Remove(filepath.Join(dir, "twins", name)); err != nil {
			s.cfg.Logger.WarnContext(ctx, "left a twin behind", "org", org, "error", err)
		}
	}
}

// makeKeys has a builder write the keys of a pair of twins, unless they are there.
func (s *Store) makeKeys(ctx context.Context, work, full, standard string) error {
	if _, err := os.Stat(generation.KeysPath(full, standard)); err == nil {
		return nil
	}
	job := generation.Job{Mode: generation.Keys, Dir: filepath.Join(work, "keys"), Full: full, Standard: standard, Threads: s.cfg.Threads, MemoryMB: s.cfg.MemoryMB}
	if err := os.Mkdir(job.Dir, 0o700); err != nil {
		return err
	}
	_, err := s.runBuilder(ctx, job)
	return err
}

// objectOf is where a bucket has a file.
func objectOf(f generation.Built) string {
	if f.Object != "" {
		return f.Object
	}
	return f.Path
}

// newFiles are those of a profile's files that the bucket hasn't got from an earlier generation.
func newFiles(f generation.Built) []generation.Built {
	if f.Log == nil {
		return []generation.Built{f}
	}
	return []generation.Built{*f.Log}
}
