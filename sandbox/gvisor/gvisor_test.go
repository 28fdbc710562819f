package gvisor_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/gvisor"
	"bordereau/sandbox/sandboxtest"
)

func open(tb testing.TB, folder string) *gvisor.Driver {
	tb.Helper()
	d, err := gvisor.New(tb.Context(), gvisor.Config{
		Runsc: sandboxtest.Runsc(tb), Guest: sandboxtest.Guest(tb), Folder: folder, Log: sandboxtest.Log(tb), Timeout: time.Minute,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.Close)
	return d
}

// runtimePid finds the runtime's main process of the only sandbox of that id.
func kill(t *testing.T, folder, id string) {
	t.Helper()
	records, _ := filepath.Glob(filepath.Join(folder, "homes", "*", "record.json"))
	for _, r := range records {
		text, err := os.ReadFile(r)
		if err != nil || !strings.Contains(string(text), `"ID":"`+id+`"`) {
			continue
		}
		pid, err := os.ReadFile(filepath.Join(filepath.Dir(r), "pid"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(n, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no record of %s", id)
}

func TestSuite(t *testing.T) {
	t.Parallel()
	folder := sandboxtest.Folder(t)
	d := open(t, folder)
	sandboxtest.Run(t, sandboxtest.Subject{
		Driver: d, Name: gvisor.Name, Pauses: true, Splits: true, Tokens: true, Limited: true, Python: true, Isolated: true,
		KillRuntime: func(t *testing.T, id string) { t.Helper(); kill(t, folder, id) },
	})
}

// A backend that comes back finds its sandboxes running, with their memory, and what became of their commands.
func TestRestart(t *testing.T) {
	t.Parallel()
	folder := sandboxtest.Folder(t)
	d := open(t, folder)
	sandboxtest.Restart(t, d, func() sandbox.Driver { d.Close(); return open(t, folder) })
}
