package bubblewrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/home"
)

var (
	errTimeLimit = errors.New("the command's time is over")
	errFull      = errors.New("the workspace is over its size")
)

// Exec runs a command to its end. Nothing that it started outlives it: each has process and mount namespaces of its own.
func (d *Driver) Exec(ctx context.Context, id string, cmd sandbox.Command) (sandbox.Result, error) {
	if len(cmd.Args) == 0 || cmd.Args[0] == "" {
		return sandbox.Result{}, sandbox.Invalid("a command has at least one argument")
	}
	h, err := d.Running(ctx, id)
	if err != nil {
		return sandbox.Result{}, err
	}
	r := h.Record()
	h.Mu.Unlock()
	return h.Book.Do(ctx, cmd, func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
		return d.run(ctx, h, r, cmd)
	})
}

func (d *Driver) run(ctx context.Context, h *home.Home, r home.Record, cmd sandbox.Command) (sandbox.Result, error) {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := d.enter(h, &cancel)
	if b == nil {
		return sandbox.Result{}, sandbox.Unavailable(nil, "the sandbox %q is not running", r.ID)
	}
	defer d.leave(b, &cancel)
	limit := cmd.Timeout
	if limit <= 0 {
		limit = d.cfg.Timeout
	}
	timer := time.AfterFunc(limit, func() { cancel(errTimeLimit) })
	defer timer.Stop()
	var watching sync.WaitGroup
	defer watching.Wait()
	over, done := context.WithCancel(running)
	defer done()
	if !home.QuotaWorks() {
		watching.Go(func() { watch(over, filepath.Dir(h.Workspace()), r.Limits.WorkspaceBytes, cancel) })
	}

	out := &capped{w: cmd.Stdout, left: r.Limits.OutputBytes}
	errs := &capped{w: cmd.Stderr, left: r.Limits.OutputBytes}
	begun := d.cfg.Now()
	err := d.spawn(running, h, r, b, cmd, out, errs)
	result := sandbox.Result{Truncated: out.cut() || errs.cut(), Duration: d.cfg.Now().Sub(begun)}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return sandbox.Result{}, context.Cause(ctx)
	case errors.Is(context.Cause(running), errStopped):
		return sandbox.Result{}, &sandbox.Fault{Kind: sandbox.ErrUnavailable, Text: "the sandbox was stopped under the command"}
	case errors.Is(context.Cause(running), errTimeLimit):
		result.TimedOut, result.ExitCode = true, 137
	case errors.Is(context.Cause(running), errFull):
		result.ExitCode = 153 // as SIGXFSZ would
		fmt.Fprintf(errs, "the workspace is over its %d MiB; the command was ended\n", r.Limits.WorkspaceBytes>>20)
	case errors.As(err, &exit):
		result.ExitCode = exit.ExitCode()
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			result.ExitCode = 128 + int(s.Signal())
		}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return sandbox.Result{}, sandbox.Unavailable(err, "can't run a command")
	}
	if result.ExitCode == refusedDir && out.empty() {
		if st, err := d.folder(h, cmd.Dir); err != nil || !st {
			return sandbox.Result{}, sandbox.Invalid("no such folder: %s", cmd.Dir)
		}
	}
	return result, nil
}

// folder tells whether a working folder of the workspace exists; others are the image's and are left to the command.
func (d *Driver) folder(h *home.Home, dir string) (bool, error) {
	rel, err := sandbox.Rel(dir)
	if err != nil {
		return false, err
	}
	root, err := os.OpenRoot(h.Workspace())
	if err != nil {
		return false, err
	}
	defer root.Close()
	st, err := root.Stat(rel)
	if err != nil {
		return false, err
	}
	return st.IsDir(), nil
}

func (d *Driver) enter(h *home.Home, cancel *context.CancelCauseFunc) *box {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.boxes[h.Key]
	if b == nil {
		return nil
	}
	b.commands[cancel] = struct{}{}
	b.running.Add(1)
	return b
}

func (d *Driver) leave(b *box, cancel *context.CancelCauseFunc) {
	d.mu.Lock()
	delete(b.commands, cancel)
	d.mu.Unlock()
	b.running.Done()
}

// spawn runs bwrap and waits until its process namespace is gone.
func (d *Driver) spawn(ctx context.Context, h *home.Home, r home.Record, b *box, cmd sandbox.Command, out, errs io.Writer) error {
	options, err := pipeWith([]byte(strings.Join(d.options(h, cmd), "\x00") + "\x00"))
	if err != nil {
		return err
	}
	defer options.Close()
	filter, err := pipeWith(d.filter)
	if err != nil {
		return err
	}
	defer filter.Close()
	inner := append([]string{"/bin/sh", "-c", innerScript, "sh", limits(r.Limits)}, cmd.Args...)
	bwrap := append([]string{d.cfg.Bwrap, "--args", "3"}, inner...)
	var c *exec.Cmd
	if d.root {
		args := []string{"-c", outerScript, "sh", d.cfg.Folder, fmt.Sprint(r.UID)}
		if b.group != nil {
			args = append(args, b.group.Dirs...)
		}
		args = append(append(args, "--"), bwrap...)
		c = exec.CommandContext(ctx, "/bin/sh", args...) // #nosec G204 -- a constant script; arguments are data
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Unshareflags: syscall.CLONE_NEWNS}
	} else {
		c = exec.CommandContext(ctx, bwrap[0], bwrap[1:]...) // #nosec G204 -- from configuration
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	c.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	c.Stdout, c.Stderr = out, errs
	if cmd.Stdin != nil {
		c.Stdin = &input{cmd.Stdin}
	}
	c.ExtraFiles = []*os.File{options, filter}
	// The whole session: a shell or setpriv that has not become bwrap yet has no death signal.
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 3 * time.Second
	return c.Run()
}

// refusedDir is bwrap's own exit code when it can't set things up.
const refusedDir = 1

// outerScript runs as root in a mount namespace of its own. $1 is the state folder, which is put where the sandbox's user can reach it,
// $2 that user, then the cgroups to join up to "--", then bwrap's command line.
const outerScript = `set -e
state=$1; uid=$2; shift 2
while [ "$1" != "--" ]; do echo 0 > "$1/cgroup.procs"; shift; done
shift
mount --rbind "$state" /mnt
cd /
exec setpriv --reuid "$uid" --regid "$uid" --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs "$@"`

// innerScript is the last step before the command: $1 are the limits of each process.
const innerScript = `limits=$1; shift
for l in $limits; do ulimit "${l%%=*}" "${l#*=}" || exit 126; done
exec "$@"`

func limits(l sandbox.Limits) string {
	return fmt.Sprintf("-c=0 -n=4096 -p=%d -f=%d -d=%d", l.Processes, l.FileBytes/512, l.MemoryBytes/1024)
}

// options are bwrap's, without the command.
func (d *Driver) options(h *home.Home, cmd sandbox.Command) []string {
	// What the sandbox's user must pass through is seen under /mnt as root (see outerScript).
	at := func(path string) string {
		if rel, ok := strings.CutPrefix(path, d.cfg.Folder+"/"); ok && d.root {
			return "/mnt/" + rel
		}
		return path
	}
	dir := cmd.Dir
	if dir == "" {
		dir = sandbox.WorkspaceDir
	}
	o := []string{
		"--unshare-all", "--unshare-user", "--disable-userns", "--uid", fmt.Sprint(insideUID), "--gid", fmt.Sprint(insideUID), "--hostname", "sandbox",
		"--new-session", "--die-with-parent", "--cap-drop", "ALL", "--clearenv",
		"--ro-bind", at(d.img.Root), "/",
	}
	if d.img.Usr != "" {
		o = append(o, "--ro-bind", d.img.Usr, "/usr", "--tmpfs", "/usr/local", "--remount-ro", "/usr/local")
	}
	o = append(o, "--proc", "/proc", "--dev", "/dev", "--size", "67108864", "--tmpfs", "/dev/shm",
		"--bind", at(h.Tmp()), "/tmp", "--bind", at(h.Workspace()), sandbox.WorkspaceDir, "--ro-bind", at(h.DoorDir()), sandbox.DoorDir,
		"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", dir, "--seccomp", "4")
	for _, kv := range d.img.Env(cmd.Env) {
		k, v, _ := strings.Cut(kv, "=")
		o = append(o, "--setenv", k, v)
	}
	return o
}

// pipeWith gives a descriptor that reads content; it must fit a pipe's buffer or a file in memory holds it.
func pipeWith(content []byte) (*os.File, error) {
	fd, err := memfd()
	if err != nil {
		return nil, err
	}
	f := os.NewFile(fd, "content")
	if _, err := f.Write(content); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// watch ends a command that grows a workspace beyond its size where no quota can.
func watch(ctx context.Context, dir string, limit int64, cancel context.CancelCauseFunc) {
	before := usage(dir)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if now := usage(dir); now > limit && now > before {
				cancel(errFull)
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func usage(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // files come and go
		}
		if st, err := e.Info(); err == nil {
			if s, ok := st.Sys().(*syscall.Stat_t); ok {
				sum += 512*s.Blocks + 256
			}
		}
		return nil
	})
	return sum
}

// capped passes on up to left bytes and throws the rest away, so that the program does not block.
type capped struct {
	mu    sync.Mutex
	w     io.Writer
	left  int64
	over  bool
	wrote bool
}

// Write never fails: the command goes on when nobody listens any more.
func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrote = c.wrote || len(p) > 0
	keep := min(int64(len(p)), c.left)
	c.left -= keep
	if keep < int64(len(p)) {
		c.over = true
	}
	if c.w != nil && keep > 0 {
		_, _ = c.w.Write(p[:keep])
	}
	return len(p), nil
}

func (c *capped) cut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

func (c *capped) empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.wrote
}

// input ends where its source breaks: that is the caller's affair, not the command's.
type input struct{ r io.Reader }

// Read gives what there is.
func (i *input) Read(p []byte) (int, error) {
	n, err := i.r.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}
