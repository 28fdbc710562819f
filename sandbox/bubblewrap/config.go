// Package bubblewrap drives sandboxes by bwrap: namespaces, seccomp and limits on the host's own kernel. It is weaker than gVisor, and
// says so wherever it shows.
package bubblewrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/cgroup"
	"bordereau/sandbox/home"
	"bordereau/sandbox/image"
)

// Name is this driver's, as Info and doctor show it.
const Name = "bubblewrap"

// insideUID is the user as code inside sees it.
const insideUID = 1000

// As root, workspaces belong to host users of this range: far from any person's or service's, one for each sandbox.
const (
	firstUID = 1_900_100_000
	users    = 50_000
)

// Config is what the driver needs.
type Config struct {
	Bwrap   string        // default: on the PATH
	Gov     string        // the static client; "" leaves it out
	Image   string        // a Debian root; "" is the host's /usr
	Folder  string        // state, required
	Doors   home.Doors    // nil: no way out
	Log     *slog.Logger  // required
	Timeout time.Duration // of a command that names none; default 10 minutes
	Now     func() time.Time
}

// Driver drives sandboxes on this host. A sandbox has processes only while a command runs in it.
type Driver struct {
	*home.Lives

	cfg     Config
	img     *image.Image
	root    bool
	cgroups bool
	filter  []byte

	mu    sync.Mutex
	boxes map[string]*box // by home key
}

// box is the running side of one home.
type box struct {
	group    *cgroup.Group // nil: limits of the processes only
	commands map[*context.CancelCauseFunc]struct{}
	running  sync.WaitGroup
}

var (
	_ sandbox.Driver  = (*Driver)(nil)
	_ sandbox.Claimer = (*Driver)(nil)
)

// New opens the state folder and proves with a throwaway sandbox that namespaces work here.
func New(ctx context.Context, cfg Config) (*Driver, error) {
	if cfg.Folder == "" || cfg.Log == nil {
		return nil, errors.New("bubblewrap: folder and log are required")
	}
	if cfg.Bwrap == "" {
		cfg.Bwrap = "bwrap"
	}
	bwrap, err := exec.LookPath(cfg.Bwrap)
	if err != nil {
		return nil, &sandbox.Fault{Kind: sandbox.ErrUnsupported, Text: "bubblewrap is not installed", Hint: "apt-get install bubblewrap"}
	}
	if cfg.Bwrap, err = filepath.Abs(bwrap); err != nil {
		return nil, err
	}
	if cfg.Folder, err = filepath.Abs(cfg.Folder); err != nil {
		return nil, err
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 10 * time.Minute
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	d := &Driver{cfg: cfg, root: os.Geteuid() == 0, boxes: map[string]*box{}}
	if d.filter, err = seccomp(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Folder, 0o711); err != nil {
		return nil, err
	}
	if d.img, err = image.Open(image.Config{Folder: filepath.Join(cfg.Folder, "image"), Root: cfg.Image, Gov: cfg.Gov, UID: insideUID}); err != nil {
		return nil, err
	}
	owners := home.Config{Folder: cfg.Folder, Doors: cfg.Doors, Log: cfg.Log, Now: cfg.Now}
	if d.root {
		owners.Quota, owners.FirstUID, owners.Users = home.QuotaWorks(), firstUID, users
		if g, err := cgroup.New("probe-"+home.Random(4), sandbox.Limits{}.Or()); err == nil {
			g.Remove()
			d.cgroups = true
		} else {
			cfg.Log.WarnContext(ctx, "no cgroups here: memory is limited for each process, not for each sandbox", slog.Any("error", err))
		}
	}
	store, err := home.Open(owners)
	if err != nil {
		return nil, err
	}
	d.Lives = home.NewLives(store, Name, engine{d})
	d.adopt(ctx)
	if err := d.probe(ctx); err != nil {
		d.Close()
		return nil, &sandbox.Fault{
			Kind: sandbox.ErrUnsupported, Text: "bubblewrap does not work here", Cause: err,
			Hint: "it needs unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)",
		}
	}
	return d, nil
}

// Image is the name of what sandboxes see.
func (d *Driver) Image() string { return d.img.Name }

// Cgroups tells whether memory, CPU and processes are limited for each sandbox as a whole.
func (d *Driver) Cgroups() bool { return d.cgroups }

// adopt opens what an earlier process left. Commands died with it.
func (d *Driver) adopt(ctx context.Context) {
	for _, h := range d.All() {
		h.Mu.Lock()
		if r := h.Record(); r.State == sandbox.Running || r.State == sandbox.Paused {
			err := h.Update(func(r *home.Record) { r.State = sandbox.Stopped })
			if err == nil {
				err = d.Up(ctx, h)
			}
			if err != nil {
				d.cfg.Log.ErrorContext(ctx, "can't take up a sandbox", slog.String("sandbox", r.ID), slog.Any("error", err))
			}
		}
		h.Mu.Unlock()
	}
}

func (d *Driver) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("bwrap did not answer"))
	defer cancel()
	id := "probe-" + home.Random(6)
	if _, err := d.Create(ctx, sandbox.Spec{ID: id, Limits: sandbox.Limits{WorkspaceBytes: 16 << 20}}); err != nil {
		return err
	}
	var said limitedText
	r, err := d.Exec(ctx, id, sandbox.Command{Args: []string{"true"}, Stderr: &said})
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("true ended with %d: %s", r.ExitCode, said.text)
	}
	return errors.Join(err, d.Delete(context.WithoutCancel(ctx), id))
}

// limitedText keeps the beginning of what is written.
type limitedText struct{ text []byte }

// Write keeps up to 2,000 bytes.
func (l *limitedText) Write(p []byte) (int, error) {
	l.text = append(l.text, p[:min(len(p), 2000-min(2000, len(l.text)))]...)
	return len(p), nil
}
