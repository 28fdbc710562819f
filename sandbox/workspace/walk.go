// Package workspace keeps what a sandbox's workspace holds: documents go in, artifacts come out, checkpoints outlive the sandbox.
package workspace

import (
	"context"
	"errors"
	"io/fs"

	"bordereau/sandbox"
)

// private is the folder of our own marks; it is part of no checkpoint and no listing for people.
const private = sandbox.WorkspaceDir + "/.bordereau"

// walk calls visit for everything below dir, folders before what is in them, and never follows a link. It stops after limit entries and
// says so.
func walk(ctx context.Context, files Files, id, dir string, limit int, visit func(sandbox.File) error) (cut bool, err error) {
	pending := []string{dir}
	for len(pending) > 0 {
		at := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		entries, err := files.ListFiles(ctx, id, at)
		if errors.Is(err, sandbox.ErrNoFile) || errors.Is(err, sandbox.ErrTooLarge) {
			cut = cut || errors.Is(err, sandbox.ErrTooLarge)
			continue // removed meanwhile, or a bomb of entries
		}
		if err != nil {
			return cut, err
		}
		for _, f := range entries {
			if f.Path == private {
				continue
			}
			if limit--; limit < 0 {
				return true, nil
			}
			if err := visit(f); err != nil {
				return cut, err
			}
			if f.Mode.IsDir() && f.Mode&fs.ModeSymlink == 0 {
				pending = append(pending, f.Path)
			}
		}
	}
	return cut, nil
}
