package bubblewrap_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/bubblewrap"
	"bordereau/sandbox/sandboxtest"
)

func open(tb testing.TB, folder string) *bubblewrap.Driver {
	tb.Helper()
	d, err := bubblewrap.New(tb.Context(), bubblewrap.Config{Folder: folder, Log: sandboxtest.Log(tb), Timeout: time.Minute})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.Close)
	return d
}

func TestSuite(t *testing.T) {
	t.Parallel()
	d := open(t, sandboxtest.Folder(t))
	sandboxtest.Run(t, sandboxtest.Subject{
		Driver: d, Name: bubblewrap.Name, Pauses: d.Cgroups(), Splits: true, Tokens: true, Limited: true, Python: true, Isolated: true,
	})
}

// A backend that comes back finds its sandboxes and what became of their commands.
func TestRestart(t *testing.T) {
	t.Parallel()
	folder := sandboxtest.Folder(t)
	d := open(t, folder)
	sandboxtest.Restart(t, d, func() sandbox.Driver { d.Close(); return open(t, folder) })
}

// A driver that was closed leaves its folder as one that can be copied or removed.
func TestCloseUnmounts(t *testing.T) {
	t.Parallel()
	folder := sandboxtest.Folder(t)
	d := open(t, folder)
	if _, err := d.Create(t.Context(), sandbox.Spec{ID: "one"}); err != nil {
		t.Fatal(err)
	}
	d.Close()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mounts), folder+"/") {
		t.Fatalf("still mounted:\n%s", mounts)
	}
}
