package bubblewrap_test

import (
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
