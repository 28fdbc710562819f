package home

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// volume is a folder with a size: an ext4 filesystem in a sparse file, mounted by a loop device that goes with the mount.
type volume struct{ dir, image string }

// formatting keeps two homes from making the same template.
var formatting sync.Mutex //nolint:gochecknoglobals // guards a file of the host, which is one for the process too

// format writes an empty filesystem by copying a template that is made once for each size.
func (v *volume) format(folder string, size int64) error {
	size = max(size, 16<<20) &^ 4095
	template := filepath.Join(folder, fmt.Sprintf("template-%d.img", size))
	if err := makeTemplate(template, size); err != nil {
		return err
	}
	return copySparse(template, v.image, size)
}

func makeTemplate(template string, size int64) error {
	formatting.Lock()
	defer formatting.Unlock()
	if _, err := os.Stat(template); err == nil {
		return nil
	}
	tmp := fmt.Sprintf("%s.%d", template, os.Getpid())
	defer os.Remove(tmp)
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return err
	}
	mkfs := "/sbin/mkfs.ext4"
	if _, err := os.Stat(mkfs); err != nil {
		mkfs = "mkfs.ext4"
	}
	inodes := min(max(size/(16<<10), 1024), 131072)
	format := func(features string) ([]byte, error) {
		//nolint:noctx // it takes a moment, and all later homes of that size get the template, whoever asked first
		return exec.Command(mkfs, "-q", "-F", "-b", "4096", "-m", "0", "-N", fmt.Sprint(inodes), "-O", features, "-J", "size=4",
			"-E", "lazy_itable_init=1,nodiscard", tmp).CombinedOutput() // #nosec G204 -- our own path
	}
	out, err := format("^resize_inode,^orphan_file")
	if err != nil && strings.Contains(string(out), "orphan_file") { // e2fsprogs before 1.47 does not know that feature
		out, err = format("^resize_inode")
	}
	if err != nil {
		return fmt.Errorf("make a filesystem: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return os.Rename(tmp, template)
}

// copySparse copies only what the template holds.
func copySparse(from, to string, size int64) error {
	src, err := os.Open(from) // #nosec G304 -- our own path
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // #nosec G304 -- our own path
	if err != nil {
		return err
	}
	defer dst.Close()
	if err := dst.Truncate(size); err != nil {
		return err
	}
	for at := int64(0); at < size; {
		data, err := unix.Seek(int(src.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break
		} else if err != nil {
			return err
		}
		hole, err := unix.Seek(int(src.Fd()), data, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		if _, err := dst.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(dst, io.NewSectionReader(src, data, hole-data)); err != nil {
			return err
		}
		at = hole
	}
	return dst.Close()
}

func (v *volume) mount() error {
	if err := os.MkdirAll(v.dir, 0o711); err != nil {
		return err
	}
	if mounted, err := v.mounted(); err != nil || mounted {
		return err
	}
	// Somebody's mount namespace may still have the last mount: a command of another sandbox, begun while this one was mounted. A
	// second device over the same file would be a second filesystem over the same blocks, so that device is taken again.
	loop := attached(v.image)
	if loop == nil {
		var err error
		if loop, err = attach(v.image); err != nil {
			return fmt.Errorf("attach a loop device: %w", err)
		}
	}
	defer loop.Close() // the mount keeps it; without one it detaches by itself
	err := unix.Mount(loop.Name(), v.dir, "ext4", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOATIME, "discard,errors=remount-ro")
	if err != nil {
		return fmt.Errorf("mount a workspace: %w", err)
	}
	return os.Chmod(v.dir, 0o711) // #nosec G302 -- to pass through
}

func (v *volume) mounted() (bool, error) {
	var here, above unix.Stat_t
	if err := unix.Stat(v.dir, &here); err != nil {
		if errors.Is(err, unix.ENOENT) {
			return false, nil
		}
		return false, err
	}
	if err := unix.Stat(filepath.Dir(v.dir), &above); err != nil {
		return false, err
	}
	return here.Dev != above.Dev, nil
}

// attached opens the loop device that a file has already, nil when it has none.
func attached(image string) *os.File {
	if full, err := filepath.EvalSymlinks(image); err == nil {
		image = full
	}
	backing, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, b := range backing {
		text, err := os.ReadFile(b) // #nosec G304 -- of the kernel
		if err != nil || strings.TrimSpace(string(text)) != image {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(b, "/sys/block/loop%d/", &n); err != nil {
			continue
		}
		loop, err := openLoop(n)
		if err != nil {
			continue
		}
		if _, err := unix.IoctlLoopGetStatus64(int(loop.Fd())); err == nil { // it was not let go of meanwhile
			return loop
		}
		loop.Close()
	}
	return nil
}

// attach finds a free loop device for a file. Others take devices at the same time, so it tries again.
func attach(image string) (*os.File, error) {
	backing, err := os.OpenFile(image, os.O_RDWR, 0) // #nosec G304 -- our own path
	if err != nil {
		return nil, err
	}
	defer backing.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer control.Close()
	for try := 0; ; try++ {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, err
		}
		loop, err := openLoop(n)
		if err != nil {
			return nil, err
		}
		cfg := unix.LoopConfig{Fd: uint32(backing.Fd()), Size: 4096, Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}} // #nosec G115 -- a descriptor
		err = unix.IoctlLoopConfigure(int(loop.Fd()), &cfg)
		if err == nil {
			return loop, nil
		}
		loop.Close()
		if !errors.Is(err, unix.EBUSY) || try > 200 {
			return nil, err
		}
	}
}

// openLoop opens a device whose node may only be coming.
func openLoop(n int) (*os.File, error) {
	name := fmt.Sprintf("/dev/loop%d", n)
	loop, err := os.OpenFile(name, os.O_RDWR, 0) // #nosec G304 -- a device
	if !errors.Is(err, os.ErrNotExist) {
		return loop, err
	}
	// Without udev (in a container, say) nobody makes the node.
	if err := unix.Mknod(name, unix.S_IFBLK|0o660, int(unix.Mkdev(7, uint32(n)))); err != nil && !errors.Is(err, unix.EEXIST) { // #nosec G115 -- small
		return nil, err
	}
	return os.OpenFile(name, os.O_RDWR, 0) // #nosec G304 -- a device
}

// unmount ends the mount. A process that still holds a file is given two seconds, then the mount goes away under it.
func (v *volume) unmount() error {
	mounted, err := v.mounted()
	if err != nil || !mounted {
		return err
	}
	// What another namespace still mounts is not written back by unmounting here.
	if err := v.sync(); err != nil {
		return err
	}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for range 200 {
		err = unix.Unmount(v.dir, 0)
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		<-again.C
	}
	return unix.Unmount(v.dir, unix.MNT_DETACH)
}

// sync writes the workspace's filesystem back.
func (v *volume) sync() error {
	d, err := os.Open(v.dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if mounted, err := v.mounted(); err != nil || !mounted {
		// On the host's own filesystem a sync would wait for everybody's writes.
		return err
	}
	return unix.Syncfs(int(d.Fd()))
}
