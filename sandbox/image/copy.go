package image

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// link makes a symbolic link unless it is there already.
func link(target, name string) error {
	if have, err := os.Readlink(name); err == nil && have == target {
		return nil
	}
	if err := os.RemoveAll(name); err != nil {
		return err
	}
	return os.Symlink(target, name)
}

// copyTree copies a file or folder of /etc that may be missing. Links stay links as long as they lead into /usr or stay beside; a link
// to elsewhere in /etc is copied as what it points to.
func copyTree(from, to string) error {
	st, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case st.IsDir():
		if err := os.MkdirAll(to, 0o755); err != nil { // #nosec G301 -- the sandbox's user reads it
			return err
		}
		entries, err := os.ReadDir(from)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
		return nil
	case st.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), link(target, to)) // #nosec G301 -- read by the sandbox's user
	case st.Mode().IsRegular() && st.Mode().Perm()&0o004 != 0: // never what only root may read
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { // #nosec G301 -- read by the sandbox's user
			return err
		}
		b, err := os.ReadFile(from) // #nosec G304 -- from the fixed list
		if err != nil {
			return err
		}
		return writeIfChanged(to, b, 0o644)
	default:
		return nil
	}
}

// writeIfChanged replaces a file by renaming, so that a sandbox that runs never sees half of it.
func writeIfChanged(name string, content []byte, mode fs.FileMode) error {
	if have, err := os.ReadFile(name); err == nil && bytes.Equal(have, content) { // #nosec G304 -- our own folder
		return nil
	}
	return replace(name, bytes.NewReader(content), mode)
}

func copyFile(from, to string, mode fs.FileMode) error {
	f, err := os.Open(from) // #nosec G304 -- from configuration
	if err != nil {
		return err
	}
	defer f.Close()
	return replace(to, f, mode)
}

func replace(name string, content io.Reader, mode fs.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, content)
	if err := errors.Join(err, tmp.Chmod(mode), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}
