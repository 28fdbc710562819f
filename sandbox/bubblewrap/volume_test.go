package bubblewrap_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/sandboxtest"
)

// A command holds copies of what was mounted when it began. Another sandbox that is stopped and started meanwhile has its files, and keeps
// them when that command has ended.
func TestRestartBesideALongCommand(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := open(t, sandboxtest.Folder(t))
	for _, id := range []string{"long", "restarted"} {
		if _, err := d.Create(ctx, sandbox.Spec{ID: id}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Delete(t.Context(), id) })
	}
	ended := make(chan error, 1)
	begun := &firstWrite{c: make(chan struct{})}
	go func() {
		_, err := d.Exec(ctx, "long", sandbox.Command{Args: []string{"sh", "-c", "echo begun; sleep 4"}, Stdout: begun, Timeout: time.Minute})
		ended <- err
	}()
	<-begun.c
	want := ""
	for n := range 3 {
		want += strings.Repeat("line\n", n+1)
		if err := d.WriteFile(ctx, "restarted", "f", strings.NewReader(want)); err != nil {
			t.Fatal(err)
		}
		if err := d.Stop(ctx, "restarted"); err != nil {
			t.Fatal(err)
		}
		if err := d.Start(ctx, "restarted"); err != nil {
			t.Fatal(err)
		}
	}
	read := func() string {
		var out bytes.Buffer
		if r, err := d.Exec(ctx, "restarted", sandbox.Command{Args: []string{"cat", "f"}, Stdout: &out}); err != nil || r.ExitCode != 0 {
			t.Fatal(r, err)
		}
		return out.String()
	}
	if got := read(); got != want {
		t.Fatalf("beside the command: %q", got)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if err := d.Stop(ctx, "restarted"); err != nil {
		t.Fatal(err)
	}
	if err := d.Start(ctx, "restarted"); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != want {
		t.Fatalf("after the command: %q", got)
	}
}

// firstWrite closes its channel at the first byte.
type firstWrite struct {
	c    chan struct{}
	said bool
}

// Write tells.
func (f *firstWrite) Write(p []byte) (int, error) {
	if !f.said {
		f.said = true
		close(f.c)
	}
	return len(p), nil
}
