package home

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"bordereau/sandbox"
)

// maxEntries bounds one listing.
const maxEntries = 100_000

// open gives the workspace as a root that no symbolic link leads out of. The host reads it while code inside may change it.
func (s *Store) open(id string) (*Home, *os.Root, error) {
	h, err := s.Lock(id)
	if err != nil {
		return nil, nil, err
	}
	defer h.Mu.Unlock()
	if h.record.State == sandbox.Stopped {
		if err := h.Mount(); err != nil { // files of a stopped sandbox stay reachable
			return nil, nil, sandbox.Unavailable(err, "the workspace can't be mounted")
		}
	}
	root, err := os.OpenRoot(h.Workspace())
	if err != nil {
		return nil, nil, sandbox.Unavailable(err, "the workspace can't be opened")
	}
	return h, root, nil
}

// failure says which kind an error of the filesystem is.
func failure(err error, name string) error {
	kind := sandbox.ErrInvalid // a path that leads out, a folder where a file belongs, …
	hint := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		kind = sandbox.ErrNoFile
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		kind, hint = sandbox.ErrTooLarge, "the workspace is full: remove what is not needed"
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENOMEM):
		kind = sandbox.ErrUnavailable
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err // never a path of the host
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		err = l.Err
	}
	return &sandbox.Fault{Kind: kind, Text: name, Hint: hint, Cause: err}
}

// ReadFile opens a regular file of the workspace.
func (s *Store) ReadFile(_ context.Context, id, name string) (io.ReadCloser, sandbox.File, error) {
	rel, err := sandbox.Rel(name)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	_, root, err := s.open(id)
	if err != nil {
		return nil, sandbox.File{}, err
	}
	defer root.Close()
	// O_NONBLOCK: a FIFO that nobody writes must not hold the backend.
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, sandbox.File{}, failure(err, name)
	}
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		f.Close()
		if err == nil {
			err = sandbox.Invalid("%s is not a regular file", name)
		}
		return nil, sandbox.File{}, err
	}
	return f, describe(sandbox.Abs(rel), st), nil
}

func describe(name string, st fs.FileInfo) sandbox.File {
	return sandbox.File{Path: name, Size: st.Size(), Mode: st.Mode(), Modified: st.ModTime()}
}

// WriteFile replaces a file, making its folders. Readers see the old content or the new, never half of it.
func (s *Store) WriteFile(ctx context.Context, id, name string, content io.Reader) error {
	rel, err := sandbox.Rel(name)
	if err != nil {
		return err
	}
	if rel == "." {
		return sandbox.Invalid("%s is a folder", name)
	}
	h, root, err := s.open(id)
	if err != nil {
		return err
	}
	defer root.Close()
	uid, gid := h.record.UID, h.gid()
	if err := makeFolders(root, path.Dir(rel), uid, gid); err != nil {
		return failure(err, name)
	}
	if st, err := root.Lstat(rel); err == nil && st.IsDir() {
		return sandbox.Invalid("%s is a folder", name)
	}
	tmp := path.Join(path.Dir(rel), fmt.Sprintf(".writing-%x", s.number()))
	f, err := root.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return failure(err, name)
	}
	limit := h.record.Limits.FileBytes
	n, err := io.Copy(f, io.LimitReader(readerWith(ctx, content), limit+1))
	if err == nil && n > limit {
		err = &sandbox.Fault{Kind: sandbox.ErrTooLarge, Text: fmt.Sprintf("%s has more than %d bytes", name, limit)}
	} else {
		err = failure(err, name)
	}
	err = errors.Join(err, f.Chown(uid, gid), f.Chmod(0o644), f.Close())
	if err == nil {
		err = failure(root.Rename(tmp, rel), name)
	}
	if err != nil {
		_ = root.Remove(tmp)
	}
	return err
}

func (s *Store) number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys++
	return s.keys<<20 | uint64(s.cfg.Now().UnixNano())&(1<<20-1) // #nosec G115 -- only to differ
}

// makeFolders makes dir and what is above it, owned by the sandbox's user.
func makeFolders(root *os.Root, dir string, uid, gid int) error {
	if dir == "." {
		return nil
	}
	if st, err := root.Stat(dir); err == nil && st.IsDir() {
		return nil
	}
	if err := makeFolders(root, path.Dir(dir), uid, gid); err != nil {
		return err
	}
	if err := root.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return root.Lchown(dir, uid, gid)
}

// readerWith ends reading when ctx does.
func readerWith(ctx context.Context, r io.Reader) io.Reader { return &bounded{ctx.Err, r} }

type bounded struct {
	over func() error
	r    io.Reader
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.over(); err != nil {
		return 0, err
	}
	return b.r.Read(p)
}

// ListFiles lists one folder, names in order.
func (s *Store) ListFiles(_ context.Context, id, dir string) ([]sandbox.File, error) {
	rel, err := sandbox.Rel(dir)
	if err != nil {
		return nil, err
	}
	_, root, err := s.open(id)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, failure(err, dir)
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, failure(err, dir)
	}
	if len(entries) > maxEntries {
		return nil, &sandbox.Fault{Kind: sandbox.ErrTooLarge, Text: fmt.Sprintf("%s has more than %d entries", dir, maxEntries)}
	}
	files := make([]sandbox.File, 0, len(entries))
	for _, e := range entries {
		st, err := root.Lstat(path.Join(rel, e.Name()))
		if err != nil {
			continue // removed meanwhile
		}
		file := describe(sandbox.Abs(path.Join(rel, e.Name())), st)
		if st.Mode()&fs.ModeSymlink != 0 {
			file.Link, _ = root.Readlink(path.Join(rel, e.Name()))
		}
		files = append(files, file)
	}
	sortFiles(files)
	return files, nil
}

// MoveFile renames a file or folder, making the folders above to.
func (s *Store) MoveFile(_ context.Context, id, from, to string) error {
	a, err := sandbox.Rel(from)
	if err != nil {
		return err
	}
	b, err := sandbox.Rel(to)
	if err != nil {
		return err
	}
	if a == "." || b == "." {
		return sandbox.Invalid("the workspace itself can't be moved")
	}
	h, root, err := s.open(id)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(a); err != nil {
		return failure(err, from)
	}
	if err := makeFolders(root, path.Dir(b), h.record.UID, h.gid()); err != nil {
		return failure(err, to)
	}
	return failure(root.Rename(a, b), to)
}

// RemoveFile removes a file or a folder with all in it.
func (s *Store) RemoveFile(_ context.Context, id, name string) error {
	rel, err := sandbox.Rel(name)
	if err != nil {
		return err
	}
	if rel == "." {
		return sandbox.Invalid("the workspace itself can't be removed")
	}
	_, root, err := s.open(id)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(rel); err != nil {
		return failure(err, name)
	}
	return failure(root.RemoveAll(rel), name)
}

// SetToken replaces the token file, or removes it.
func (s *Store) SetToken(_ context.Context, id, token string) error {
	h, err := s.Lock(id)
	if err != nil {
		return err
	}
	defer h.Mu.Unlock()
	file := filepath.Join(h.DoorDir(), "token")
	if token == "" {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return sandbox.Unavailable(err, "the token can't be removed")
		}
		return nil
	}
	if err := replaceFile(file, []byte(token), 0o400); err != nil {
		return sandbox.Unavailable(err, "the token can't be written")
	}
	if err := os.Chown(file, h.record.UID, h.gid()); err != nil {
		return sandbox.Unavailable(err, "the token can't be given to the sandbox's user")
	}
	return nil
}
