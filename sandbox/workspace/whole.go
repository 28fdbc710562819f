package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"bordereau/sandbox"
)

// errChanging is a file that is being written while it is read.
var errChanging = errors.New("it is still being written")

// whole copies a file to spool, complete and unchanged while it was read, or not at all. The spool is left at its start.
func whole(ctx context.Context, files Files, id string, want sandbox.File, spool *os.File) (sum string, err error) {
	for range 3 {
		sum, err = copyOnce(ctx, files, id, &want, spool)
		if !errors.Is(err, errChanging) {
			return sum, err
		}
	}
	return "", err
}

func copyOnce(ctx context.Context, files Files, id string, want *sandbox.File, spool *os.File) (string, error) {
	before, err := lstat(ctx, files, id, want.Path)
	if err != nil {
		return "", err
	}
	if !before.Mode.IsRegular() {
		return "", sandbox.Invalid("%s is not a regular file any more", want.Path)
	}
	if before.Size > want.Size && want.Size >= 0 {
		want.Size = before.Size
	}
	r, opened, err := files.ReadFile(ctx, id, want.Path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if err := spool.Truncate(0); err != nil {
		return "", err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(spool, h), io.LimitReader(r, before.Size+1))
	if err != nil {
		return "", err
	}
	after, err := lstat(ctx, files, id, want.Path)
	if err != nil {
		return "", err
	}
	if n != before.Size || !same(before, opened) || !same(before, after) {
		return "", errChanging
	}
	*want = after
	_, err = spool.Seek(0, io.SeekStart)
	return hex.EncodeToString(h.Sum(nil)), err
}

func same(a, b sandbox.File) bool {
	return a.Size == b.Size && a.Modified.Equal(b.Modified) && a.Mode == b.Mode
}

// lstat asks for one entry without following a link.
func lstat(ctx context.Context, files Files, id, name string) (sandbox.File, error) {
	entries, err := files.ListFiles(ctx, id, parent(name))
	if err != nil {
		return sandbox.File{}, err
	}
	for _, f := range entries {
		if f.Path == name {
			return f, nil
		}
	}
	return sandbox.File{}, &sandbox.Fault{Kind: sandbox.ErrNoFile, Text: name}
}

func parent(name string) string {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '/' {
			return name[:i]
		}
	}
	return "/"
}
