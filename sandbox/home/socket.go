package home

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ListenUnix listens at dir/name, however long the path is: a socket's own address holds 108 bytes only.
// What an earlier process left at that name is replaced.
func ListenUnix(dir, name string, mode fs.FileMode) (net.Listener, error) {
	d, err := os.Open(dir) // #nosec G304 -- our own folder
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), name)})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // that name would mean another folder by then
	if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// LinkOrCopy gives a program a second name, or copies it where it can't have one.
func LinkOrCopy(from, to string) error {
	if a, err := os.Stat(from); err == nil {
		if b, err := os.Stat(to); err == nil && (os.SameFile(a, b) || a.Size() == b.Size() && !b.ModTime().Before(a.ModTime())) {
			return nil
		}
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := unix.Link(from, to)
	if err == nil {
		return nil
	}
	b, err := os.ReadFile(from) // #nosec G304 -- from configuration
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o500) // #nosec G306 -- a program
}
