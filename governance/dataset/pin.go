package dataset

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"bordereau/governance/fault"
)

// pin keeps one generation's folder for the readers of this process. Other processes see the lock.
type pin struct {
	readers int
	lock    *os.File
}

const lockFile = "lock"

// Pin returns the organisation's newest generation in a masking profile and keeps it until release is called.
func (s *Store) Pin(ctx context.Context, org, profile string) (Pinned, func(), error) {
	return s.pinRow(ctx, org, profile, true, func() (generationRow, error) { return s.ledger.current(ctx, org) })
}

// PinGeneration is Pin for a certain generation, which an earlier answer cited.
func (s *Store) PinGeneration(ctx context.Context, org, profile, id string) (Pinned, func(), error) {
	return s.pinRow(ctx, org, profile, false, func() (generationRow, error) { return s.ledger.generation(ctx, org, id) })
}

func (s *Store) pinRow(ctx context.Context, org, profile string, newest bool, find func() (generationRow, error)) (Pinned, func(), error) {
	dir, err := s.orgDir(org)
	if err != nil {
		return Pinned{}, nil, err
	}
	const tries = 3 // a generation may be retired between being found and being locked
	var last error
	for range tries {
		g, err := find()
		if noRows(err) {
			return Pinned{}, nil, &fault.Error{
				Code: fault.NotFound, Component: "dataset", Message: "there is no such data: nothing was imported for this organisation, or the generation was retired",
				Hint: "import a file first",
			}
		}
		if err != nil {
			return Pinned{}, nil, s.unavailable("the generation can't be looked up", err)
		}
		file, ok := g.manifest.Files[profile]
		if !ok {
			return Pinned{}, nil, &fault.Error{Code: fault.Invalid, Component: "dataset", Message: "there is no such masking profile", Hint: "use standard or full"}
		}
		if profile != Full && !g.follows() {
			return Pinned{}, nil, otherwiseMasked(newest)
		}
		path := filepath.Join(dir, file.Path)
		folder := filepath.Dir(path)
		if s.cfg.Bucket != nil {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return Pinned{}, nil, s.unavailable("no folder for the generation", err)
			}
		}
		release, err := s.hold(folder)
		if err == nil {
			err = s.lease(ctx, org, g.id)
		}
		if err == nil {
			if err = s.remote.ensure(ctx, org, dir, file); err == nil {
				return Pinned{Path: path, Generation: g.id, SHA256: file.Sum(), Profile: profile}, release, nil
			}
		}
		if release != nil {
			release()
		}
		if ctx.Err() != nil {
			return Pinned{}, nil, context.Cause(ctx)
		}
		last = err
		s.cfg.Logger.WarnContext(ctx, "generation not there", "org", org, "generation", g.id, "error", err)
	}
	return Pinned{}, nil, s.unavailable("the generation's file is not there", last)
}

// hold keeps a generation's folder until release is called.
func (s *Store) hold(folder string) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pins[folder]
	if !ok {
		lock, err := flock(filepath.Join(folder, lockFile), unix.LOCK_SH)
		if err != nil {
			return nil, err
		}
		p = &pin{lock: lock}
		s.pins[folder] = p
	}
	p.readers++
	return sync.OnceFunc(func() { s.unhold(folder, p) }), nil
}

func (s *Store) unhold(folder string, p *pin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.readers--
	if p.readers > 0 {
		return
	}
	delete(s.pins, folder)
	if err := p.lock.Close(); err != nil {
		s.cfg.Logger.Warn("lock file not closed", "error", err)
	}
}
