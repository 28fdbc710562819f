package sandboxtest

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// prefix is of the state folders of tests: the number of the process that made it, then something random.
const prefix = "bordereau-test-"

// Root is the repository's.
func Root(tb testing.TB) string {
	tb.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		tb.Fatal("no source path")
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// Runsc finds gVisor's runtime: BORDEREAU_RUNSC, or what the Makefile builds.
func Runsc(tb testing.TB) string {
	tb.Helper()
	for _, path := range []string{os.Getenv("BORDEREAU_RUNSC"), filepath.Join(Root(tb), "build/bin/runsc")} {
		if path != "" {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	tb.Fatal("no runsc: run `make build`, or set BORDEREAU_RUNSC")
	return ""
}

var (
	buildMu sync.Mutex            //nolint:gochecknoglobals // once for a test binary
	built   = map[string]string{} //nolint:gochecknoglobals // by name
)

// Program builds one of the static programs below cmd from the source under test.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	buildMu.Lock()
	defer buildMu.Unlock()
	if path := built[name]; path != "" {
		return path
	}
	dir := filepath.Join(Root(tb), "build", "test")
	if err := os.MkdirAll(dir, 0o755); err != nil { // #nosec G301 -- build output
		tb.Fatal(err)
	}
	tmp := filepath.Join(dir, fmt.Sprintf("%s-%d", name, os.Getpid()))
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", tmp, "bordereau/cmd/"+name) // #nosec G204 -- a constant
	cmd.Dir = Root(tb)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("build %s: %v: %s", name, err, text)
	}
	path := filepath.Join(dir, name)
	if err := os.Rename(tmp, path); err != nil { // test binaries of other packages do the same at the same time
		tb.Fatal(err)
	}
	built[name] = path
	return path
}

// Guest builds the first process of gVisor sandboxes.
func Guest(tb testing.TB) string {
	tb.Helper()
	return Program(tb, "guest")
}

// Log writes to the test's log.
func Log(tb testing.TB) *slog.Logger {
	tb.Helper()
	return slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

var sweepOnce sync.Once //nolint:gochecknoglobals // once for a test binary

// Folder is a state folder for a driver. At the end of the test everything that lives in it is killed, unmounted and removed; what an
// earlier run left when it was killed is removed first.
func Folder(tb testing.TB) string {
	tb.Helper()
	sweepOnce.Do(sweepOld)
	dir, err := os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-*")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { Sweep(dir) })
	return dir
}

func sweepOld() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.SplitN(strings.TrimPrefix(filepath.Base(dir), prefix), "-", 2)[0])
		if err == nil && unix.Kill(pid, 0) != nil {
			Sweep(dir)
		}
	}
}

// Sweep removes a state folder with every process, mount and control group that belongs to it.
func Sweep(dir string) {
	for range 3 {
		if !killThose(dir) {
			break
		}
		wait(20 * time.Millisecond)
	}
	for _, m := range mountsBelow(dir) {
		_ = unix.Unmount(m, unix.MNT_DETACH)
	}
	homes, _ := filepath.Glob(filepath.Join(dir, "*", "homes", "*"))
	more, _ := filepath.Glob(filepath.Join(dir, "homes", "*"))
	for _, h := range append(homes, more...) {
		key := filepath.Base(h)
		for _, pattern := range []string{"/sys/fs/cgroup/*/bordereau/" + key, "/sys/fs/cgroup/bordereau/" + key, "/sys/fs/cgroup/*/bordereau/b-" + key + "-*"} {
			groups, _ := filepath.Glob(pattern)
			for _, g := range groups {
				_ = os.Remove(g)
			}
		}
	}
	_ = os.RemoveAll(dir)
}

func wait(d time.Duration) {
	t := time.NewTimer(d)
	<-t.C
}

// killThose kills the processes that name the folder on their command line, and says whether there were any.
func killThose(dir string) (found bool) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && strings.Contains(string(line), dir+"/") && strings.Contains(string(line), "runsc") {
			_ = unix.Kill(pid, unix.SIGKILL)
			found = true
		}
	}
	return found
}

// mountsBelow lists mount points below a folder, the deepest first.
func mountsBelow(dir string) []string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var mounts []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			mounts = append(mounts, fields[4])
		}
	}
	slices.Reverse(mounts)
	return mounts
}
