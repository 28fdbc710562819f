// Package gvisor drives sandboxes by gVisor's runsc: each has a kernel of its own in user space.
package gvisor

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/home"
	"bordereau/sandbox/image"
)

// Name is this driver's, as Info and doctor show it.
const Name = "gvisor"

// DefaultUID is the host user that owns what sandboxes write: far from any person's or service's.
const DefaultUID = 1_900_000_000

// Config is what the driver needs. It must be root on Linux.
type Config struct {
	Runsc   string        // the runtime's binary, required
	Guest   string        // the static first process, cmd/guest, required
	Gov     string        // the static client; "" leaves it out
	Image   string        // a Debian root; "" is the host's /usr
	Folder  string        // state, required, absolute after New
	Doors   home.Doors    // nil: no way out
	Log     *slog.Logger  // required
	Timeout time.Duration // of a command that names none; default 10 minutes
	Now     func() time.Time
}

func (c *Config) check() error {
	if c.Runsc == "" || c.Guest == "" || c.Folder == "" || c.Log == nil {
		return errors.New("gvisor: runsc, guest, folder and log are required")
	}
	if os.Geteuid() != 0 {
		return &sandbox.Fault{Kind: sandbox.ErrUnsupported, Text: "gVisor is driven by root only", Hint: "run as root, or use bubblewrap"}
	}
	for name, path := range map[string]*string{"runsc": &c.Runsc, "guest": &c.Guest, "folder": &c.Folder} {
		full, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("gvisor: %s: %w", name, err)
		}
		*path = full
	}
	for _, file := range []string{c.Runsc, c.Guest} {
		if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
			return &sandbox.Fault{Kind: sandbox.ErrUnsupported, Text: "no program at " + file, Hint: "build it: make build"}
		}
	}
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Minute
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return nil
}

// open makes the image and the store of a checked configuration.
func (c *Config) open() (*image.Image, *home.Store, error) {
	img, err := image.Open(image.Config{Folder: filepath.Join(c.Folder, "image"), Root: c.Image, Gov: c.Gov, UID: DefaultUID})
	if err != nil {
		return nil, nil, err
	}
	store, err := home.Open(home.Config{
		Folder: c.Folder, Quota: home.QuotaWorks(), FirstUID: DefaultUID, Users: 1, Doors: c.Doors, Log: c.Log, Now: c.Now,
	})
	return img, store, err
}
