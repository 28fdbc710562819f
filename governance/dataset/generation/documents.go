package generation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// maxDocument bounds one document's file.
const maxDocument = 256 << 20

// documentStore keeps documents' files by their hash. A file is there whole or not at all, and never changes.
type documentStore struct {
	dir   string
	roots map[string]*os.Root
	wrote bool
}

func newDocumentStore(dir string) (*documentStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("documents' folder: %w", err)
	}
	return &documentStore{dir: dir, roots: map[string]*os.Root{}}, nil
}

// keep copies the file at path below root into the store. why says what is wrong with the path, for whoever sent it.
func (d *documentStore) keep(root, path string) (sum string, size int64, why string, err error) {
	if root == "" {
		return "", 0, "this import comes without documents' files", nil
	}
	if !filepath.IsLocal(path) || strings.ContainsAny(path, "\\") || path != filepath.Clean(path) {
		return "", 0, fmt.Sprintf("%q is not a plain path below the import's folder", path), nil
	}
	in, why, err := d.open(root, path)
	if why != "" || err != nil {
		return "", 0, why, err
	}
	defer in.Close() // only read
	tmp, err := os.CreateTemp(d.dir, ".incoming-*")
	if err != nil {
		return "", 0, "", fmt.Errorf("keeping a document: %w", err)
	}
	defer func() {
		if sum == "" {
			_ = os.Remove(tmp.Name())
		}
	}()
	h := sha256.New()
	size, err = io.Copy(io.MultiWriter(tmp, h), io.LimitReader(in, maxDocument+1))
	err = errors.Join(err, tmp.Chmod(0o400), tmp.Close())
	if err != nil {
		return "", 0, "", fmt.Errorf("keeping a document: %w", err)
	}
	if size > maxDocument {
		return "", 0, fmt.Sprintf("the file has more than %d bytes", maxDocument), nil
	}
	name := hex.EncodeToString(h.Sum(nil))
	final := filepath.Join(d.dir, name[:2], name)
	if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
		return "", 0, "", fmt.Errorf("keeping a document: %w", err)
	}
	if err := os.Rename(tmp.Name(), final); err != nil {
		return "", 0, "", fmt.Errorf("keeping a document: %w", err)
	}
	d.wrote = true
	return name, size, "", nil
}

// open opens a regular file below root. No step of the way may be a symbolic link.
func (d *documentStore) open(root, path string) (*os.File, string, error) {
	r, ok := d.roots[root]
	if !ok {
		var err error
		if r, err = os.OpenRoot(root); err != nil {
			return nil, "", fmt.Errorf("the import's folder: %w", err)
		}
		d.roots[root] = r
	}
	parts := strings.Split(path, "/")
	for i := range parts {
		info, err := r.Lstat(strings.Join(parts[:i+1], "/"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Sprintf("there is no file %q", path), nil
		case err != nil:
			return nil, fmt.Sprintf("%q can't be opened", path), nil //nolint:nilerr // the document's problem, told as such; the import goes on
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, fmt.Sprintf("%q goes over a symbolic link", path), nil
		case i == len(parts)-1 && !info.Mode().IsRegular():
			return nil, fmt.Sprintf("%q is not a file", path), nil
		}
	}
	// Should a link or a pipe take the file's place meanwhile, it is refused here, and a link out of the folder by os.Root.
	f, err := r.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Sprintf("%q can't be opened", path), nil //nolint:nilerr // the document's problem, told as such; the import goes on
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Sprintf("%q is not a file", path), f.Close()
	}
	return f, "", nil
}

// close makes what was kept durable, all at once: a sync for each file would cost more than the import.
func (d *documentStore) close(context.Context) error {
	var err error
	for _, r := range d.roots {
		err = errors.Join(err, r.Close())
	}
	if !d.wrote {
		return err
	}
	dir, openErr := os.Open(d.dir)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	return errors.Join(err, unix.Syncfs(int(dir.Fd())), dir.Close())
}
