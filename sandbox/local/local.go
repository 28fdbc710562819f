// Package local picks what isolates sandboxes on this host: gVisor, else bubblewrap, else nothing runs.
package local

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"bordereau/sandbox"
	"bordereau/sandbox/bubblewrap"
	"bordereau/sandbox/gvisor"
	"bordereau/sandbox/home"
)

// Config is what picking needs. Folder and Log are required.
type Config struct {
	Driver string     // "gvisor", "bubblewrap", or "" for the strongest that works
	Folder string     // state; each driver has a folder of its own below
	Runsc  string     // gVisor's runtime
	Guest  string     // its first process, cmd/guest
	Gov    string     // the static client for code inside; "" leaves it out
	Image  string     // a Debian root; "" is the host's /usr
	Doors  home.Doors // nil: no way out
	Log    *slog.Logger
}

// Driver is a local driver. Close stops driving; sandboxes stay for the next process.
type Driver interface {
	sandbox.Driver
	sandbox.Claimer
	Image() string
	Cgroups() bool
	Close()
}

// New returns the strongest driver that works here. When none does it refuses with the reasons and the remedy: untrusted code never runs
// unconfined.
func New(ctx context.Context, cfg Config) (Driver, error) {
	d, reasons := open(ctx, cfg)
	if d != nil {
		return d, nil
	}
	fault := &sandbox.Fault{
		Kind: sandbox.ErrUnconfined, Text: "no sandbox works on this machine, so no code of a model is run", Cause: errors.Join(reasons...),
		Hint: "as root on Linux: make build (gVisor); else: apt-get install bubblewrap, and allow unprivileged user namespaces",
	}
	return nil, fault
}

func open(ctx context.Context, cfg Config) (Driver, []error) {
	if cfg.Folder == "" || cfg.Log == nil {
		return nil, []error{errors.New("local: folder and log are required")}
	}
	if runtime.GOOS != "linux" {
		return nil, []error{errors.New("local sandboxes need Linux; use a sandboxd host, E2B or Daytona")}
	}
	var reasons []error
	if cfg.Driver == "" || cfg.Driver == gvisor.Name {
		d, err := newGVisor(ctx, cfg)
		if err == nil {
			return d, reasons
		}
		reasons = append(reasons, err)
	}
	if cfg.Driver == "" || cfg.Driver == bubblewrap.Name {
		d, err := bubblewrap.New(ctx, bubblewrap.Config{
			Gov: cfg.Gov, Image: cfg.Image, Folder: filepath.Join(cfg.Folder, bubblewrap.Name), Doors: cfg.Doors, Log: cfg.Log,
		})
		if err == nil {
			cfg.Log.WarnContext(ctx, "sandboxes share this host's kernel: bubblewrap is weaker than gVisor", slog.Any("gvisor", errors.Join(reasons...)))
			return d, reasons
		}
		reasons = append(reasons, err)
	}
	if len(reasons) == 0 {
		reasons = append(reasons, errors.New("local: there is no driver "+cfg.Driver))
	}
	return nil, reasons
}

func newGVisor(ctx context.Context, cfg Config) (Driver, error) {
	if os.Geteuid() != 0 {
		return nil, &sandbox.Fault{Kind: sandbox.ErrUnsupported, Text: "gVisor is driven by root only", Hint: "run as root"}
	}
	return gvisor.New(ctx, gvisor.Config{
		Runsc: cfg.Runsc, Guest: cfg.Guest, Gov: cfg.Gov, Image: cfg.Image, Folder: filepath.Join(cfg.Folder, gvisor.Name), Doors: cfg.Doors, Log: cfg.Log,
	})
}

// NameOf is the name of a driver that New gave.
func NameOf(d Driver) string {
	if _, ok := d.(*gvisor.Driver); ok {
		return gvisor.Name
	}
	return bubblewrap.Name
}
