package hosted

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/google/uuid"

	"bordereau/sandbox"
)

// Clean is a path below the workspace, as a service wants it: absolute.
func Clean(name string) (string, error) {
	rel, err := sandbox.Rel(name)
	return sandbox.Abs(rel), err
}

// CleanFile is the same for what must not be the workspace itself.
func CleanFile(name string) (string, error) {
	full, err := Clean(name)
	if err == nil && full == sandbox.WorkspaceDir {
		err = sandbox.Invalid("%s is the workspace itself", name)
	}
	return full, err
}

// Beside is a name of our own in the folder of a file: content goes there first, so that a broken upload leaves what was there.
func Beside(full string) string { return path.Join(path.Dir(full), ".writing-"+uuid.NewString()) }

// Whole ends with an error when the connection ends before the file of that size does.
type Whole struct {
	io.ReadCloser
	Left int64
}

// Read gives what comes.
func (w *Whole) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.Left -= int64(n)
	if errors.Is(err, io.EOF) && w.Left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// tokens is what SetToken needs of a driver.
type tokens interface {
	WriteFile(ctx context.Context, id, name string, content io.Reader) error
	RemoveFile(ctx context.Context, id, name string) error
}

// SetToken replaces the turn's token inside; empty removes it.
func SetToken(ctx context.Context, d tokens, id, token string) error {
	if token != "" {
		return d.WriteFile(ctx, id, TokenFile, strings.NewReader(token))
	}
	err := d.RemoveFile(ctx, id, TokenFile)
	if errors.Is(err, sandbox.ErrNoFile) {
		return nil
	}
	return err
}
