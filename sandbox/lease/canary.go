package lease

import (
	"context"
	"errors"
	"io"
	"strings"

	"bordereau/sandbox"
)

// canaryFile holds a secret of the conversation: a workspace without it is not the one we left.
const canaryFile = sandbox.WorkspaceDir + "/.bordereau/canary"

func (m *Manager) plant(ctx context.Context, r Record) error {
	return m.cfg.Driver.WriteFile(ctx, r.ID(), canaryFile, strings.NewReader(r.Canary))
}

// verify checks a recovered sandbox's workspace. lost says, in words, that it is not the conversation's. Code inside may have removed the
// canary; then the files of the last checkpoint speak for the workspace.
func (m *Manager) verify(ctx context.Context, r Record) (lost string, err error) {
	var seen string
	err = m.retry(ctx, func() error {
		f, _, err := m.cfg.Driver.ReadFile(ctx, r.ID(), canaryFile)
		if err != nil {
			return err
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, 1<<10))
		seen = string(b)
		if err != nil {
			return sandbox.Unavailable(err, "can't read the workspace's mark")
		}
		return nil
	})
	switch {
	case err == nil && seen == r.Canary:
		return "", nil
	case errors.Is(err, sandbox.ErrNotFound):
		return "the sandbox no longer exists", nil
	case err != nil && !errors.Is(err, sandbox.ErrNoFile) && !errors.Is(err, sandbox.ErrInvalid):
		return "", err
	case err == nil && len(seen) == len(r.Canary):
		return "its workspace is another one's", nil
	}
	same, err := m.resembles(ctx, r)
	if err != nil {
		return "", err
	}
	if !same {
		return "its workspace came back without its files", nil
	}
	return "", m.retry(ctx, func() error { return m.plant(ctx, r) })
}

// resembles tells whether any file of the last checkpoint is where it was.
func (m *Manager) resembles(ctx context.Context, r Record) (bool, error) {
	if m.cfg.Checkpoints == nil {
		return true, nil
	}
	last, err := m.cfg.Checkpoints.Last(ctx, r.Conversation)
	if err != nil {
		return false, err
	}
	files := 0
	if last != nil {
		for _, e := range last.Entries {
			if !e.Mode.IsRegular() {
				continue
			}
			if files++; files > 20 {
				break
			}
			f, _, err := m.cfg.Driver.ReadFile(ctx, r.ID(), e.Path)
			if err == nil {
				f.Close()
				return true, nil
			}
			if !errors.Is(err, sandbox.ErrNoFile) && !errors.Is(err, sandbox.ErrInvalid) {
				return false, err
			}
		}
	}
	return files == 0, nil
}
