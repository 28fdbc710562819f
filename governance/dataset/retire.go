package dataset

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"bordereau/governance/dataset/generation"
)

// published marks a generation's folder as one that was published, so that no sweep takes it for a leftover, even one
// that was started with the wrong database.
const publishedFile = "published"

// Retire removes all but the newest keep generations of the organisation, except those that are pinned. The facts stay.
func (s *Store) Retire(ctx context.Context, org string, keep int) (Retired, error) {
	var gone Retired
	dir, err := s.orgDir(org)
	if err != nil {
		return gone, err
	}
	unlock, err := s.lockOrg(ctx, org, dir)
	if err != nil {
		return gone, err
	}
	defer unlock()
	rows, err := s.ledger.generations(ctx, org)
	if err != nil {
		return gone, s.unavailable("the generations can't be listed", err)
	}
	for i := len(rows) - 1; i >= max(keep, 1); i-- { // oldest first: what it shares with later ones goes with the last of them
		g := rows[i]
		if leased, err := s.ledger.leased(ctx, org, g.id, s.holder, s.cfg.Now()); err != nil {
			return gone, s.unavailable("the leases can't be looked up", err)
		} else if leased {
			gone.Pinned = append(gone.Pinned, g.id)
			continue
		}
		folder := filepath.Join(dir, "generations", g.id)
		lock, err := flock(filepath.Join(folder, lockFile), unix.LOCK_EX)
		if errors.Is(err, errBusy) {
			gone.Pinned = append(gone.Pinned, g.id)
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return gone, s.unavailable("a generation can't be locked", err)
		}
		err = s.ledger.retire(ctx, org, g.seq, s.cfg.Now())
		if err == nil {
			err = errors.Join(os.RemoveAll(folder), s.remote.remove(ctx, org, g, rows))
		}
		if lock != nil {
			err = errors.Join(err, lock.Close())
		}
		if err != nil {
			return gone, s.unavailable("a generation can't be removed", err)
		}
		gone.Generations = append(gone.Generations, g.id)
		for _, f := range g.manifest.Files {
			gone.Bytes += sizeOf(f)
		}
		rows = slices.Delete(rows, i, i+1)
	}
	return gone, nil
}

// sizeOf is what a profile's files of their own take.
func sizeOf(f generation.Built) (n int64) {
	for _, one := range newFiles(f) {
		n += one.Bytes
	}
	return n
}

// markPublished makes the marker of a published generation. That it failed is mended by the next sweep.
func (s *Store) markPublished(ctx context.Context, dir, id string) {
	for _, name := range []string{publishedFile, lockFile} {
		f, err := os.OpenFile(filepath.Join(dir, "generations", id, name), os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			s.cfg.Logger.WarnContext(ctx, "generation not marked", "generation", id, "error", err)
		}
	}
}

// sweep removes what builds that were killed left behind. The organisation is locked, so none is at work.
func (s *Store) sweep(ctx context.Context, org, dir string) error {
	if err := os.RemoveAll(filepath.Join(dir, "building")); err != nil {
		return s.unavailable("leftovers can't be removed", err)
	}
	if err := sweepShared(dir); err != nil {
		return s.unavailable("leftovers can't be removed", err)
	}
	known, err := s.ledger.ids(ctx, org)
	if err != nil {
		return s.unavailable("the generations can't be listed", err)
	}
	// Facts first: if this is cut short, the generation's folder still tells the next sweep to go on.
	for _, kind := range []string{"facts", "generations"} {
		entries, err := os.ReadDir(filepath.Join(dir, kind))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s.unavailable("a folder can't be read", err)
		}
		for _, e := range entries {
			if err := s.sweepOne(ctx, dir, kind, e.Name(), known); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepShared removes shared files that no generation here is linked to any more.
func sweepShared(dir string) error {
	entries, err := os.ReadDir(filepath.Join(dir, sharedFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, sharedFolder, e.Name())
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil || st.Nlink > 1 {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// sweepOne looks after one folder of facts or of a generation. Facts of a generation that was ever published stay for good.
func (s *Store) sweepOne(ctx context.Context, dir, kind, id string, known map[string]bool) error {
	retired, was := known[id]
	_, err := os.Stat(filepath.Join(dir, "generations", id, publishedFile))
	marked := err == nil
	switch {
	case was && !retired && !marked && kind == "generations":
		s.markPublished(ctx, dir, id)
		return nil
	case was && retired && kind == "generations": // a retirement was cut short, or made by another replica
		if lock, err := flock(filepath.Join(dir, kind, id, lockFile), unix.LOCK_EX); err != nil || lock.Close() != nil {
			return nil //nolint:nilerr // somebody still reads it; a later sweep comes by
		}
	case was || marked:
		return nil
	}
	if err := os.RemoveAll(filepath.Join(dir, kind, id)); err != nil {
		return s.unavailable("leftovers can't be removed", err)
	}
	s.cfg.Logger.InfoContext(ctx, "removed what an unfinished build left", "kind", kind, "generation", id)
	return nil
}
