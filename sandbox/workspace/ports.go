package workspace

import (
	"context"
	"io"

	"bordereau/sandbox"
)

// Files is what is needed of a driver, or of a lease, to read and write a workspace.
type Files interface {
	ReadFile(ctx context.Context, id, path string) (io.ReadCloser, sandbox.File, error)
	WriteFile(ctx context.Context, id, path string, content io.Reader) error
	ListFiles(ctx context.Context, id, dir string) ([]sandbox.File, error)
}

// Box is a driver as far as a restore needs it.
type Box interface {
	Files
	sandbox.Executor
}
