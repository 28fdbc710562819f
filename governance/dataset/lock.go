package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// errBusy says that another process holds a lock.
var errBusy = errors.New("locked by another process")

// flock locks a file of ours, never a data file: DuckDB has its own locks on those, and closing any handle drops them.
// The lock ends with the process, however it ends.
func flock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errBusy
	}
	return nil, errors.Join(err, f.Close())
}

// lockOrg waits for this process's and then for this machine's turn to build for an organisation.
func (s *Store) lockOrg(ctx context.Context, org, dir string) (func(), error) {
	s.mu.Lock()
	turn, ok := s.turns[org]
	if !ok {
		turn = make(chan struct{}, 1)
		s.turns[org] = turn
	}
	s.mu.Unlock()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	f, err := s.waitLock(ctx, filepath.Join(dir, "import.lock"))
	if err != nil {
		<-turn
		return nil, err
	}
	return func() {
		if err := f.Close(); err != nil {
			s.cfg.Logger.WarnContext(ctx, "lock file not closed", "org", org, "error", err)
		}
		<-turn
	}, nil
}

func (s *Store) waitLock(ctx context.Context, path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, s.unavailable("the organisation's folder can't be made", err)
	}
	const pause = 20 * time.Millisecond
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		f, err := flock(path, unix.LOCK_EX)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, errBusy) {
			return nil, s.unavailable("the organisation can't be locked", fmt.Errorf("%s: %w", path, err))
		}
		timer.Reset(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
