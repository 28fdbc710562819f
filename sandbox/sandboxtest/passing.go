package sandboxtest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gocloud.dev/blob/memblob"

	"bordereau/sandbox"
	"bordereau/sandbox/lease"
	"bordereau/sandbox/workspace"
)

// passing walks a conversation's sandbox through the recovery table over the real driver, on a bad day: what fails in passing changes
// nothing, what is gone comes back with its files.
func (s Subject) passing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	points, err := workspace.NewCheckpoints(workspace.CheckpointConfig{Bucket: bucket})
	if err != nil {
		t.Fatal(err)
	}
	store, err := lease.NewFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &Flaky{Driver: s.Driver}
	m, err := lease.New(lease.Config{Driver: f, Store: store, Log: Log(t), Checkpoints: points, Backoff: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	conversation := newID()
	get := func(how lease.How) *lease.Lease {
		t.Helper()
		l, err := m.Get(ctx, conversation, "acme")
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "how", l.Recovery().How, how)
		return l
	}
	read := func(l *lease.Lease, name string) string {
		t.Helper()
		return box{Driver: s.Driver, t: t, id: l.ID()}.read(name)
	}
	// The answer to the creation is lost: one sandbox is made all the same.
	f.Lose("create", 1)
	first := get(lease.Created)
	t.Cleanup(func() { _ = m.Forget(t.Context(), conversation) })
	if err := first.WriteFile(ctx, "report.txt", strings.NewReader("whole")); err != nil {
		t.Fatal(err)
	}
	// A file that breaks off half-way is no file.
	if err := first.WriteFile(ctx, "report.txt", io.MultiReader(strings.NewReader("ha"), iotest.ErrReader(errors.New("broken")))); err == nil {
		t.Fatal("half a file was taken")
	}
	equal(t, "after half a file", read(first, "report.txt"), "whole")
	// The answer of a command is lost: asked again by its key, its end is told and it is not run again.
	f.Lose("exec", 1)
	var out bytes.Buffer
	cmd := sandbox.Command{ID: "step", Args: []string{"/bin/sh", "-c", "echo ran >> count; cat count"}, Stdout: &out}
	if _, err := first.Exec(ctx, cmd); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Fatalf("a lost answer: %v", err)
	}
	out.Reset()
	if r, err := first.Exec(ctx, cmd); err != nil || r.ExitCode != 0 || out.String() != "ran\n" {
		t.Fatalf("%+v %v %q", r, err, out.String())
	}
	equal(t, "runs", read(first, "count"), "ran\n")
	// Look-ups fail and are slow: the same sandbox.
	f.Fail("find", 3)
	f.Slow("find", 100*time.Millisecond)
	equal(t, "after failing look-ups", get(lease.Found).ID(), first.ID())
	f.Slow("find", 0)
	// It stopped, and starting and reading fail in passing: the same sandbox, verified.
	if err := s.Driver.Stop(ctx, first.ID()); err != nil {
		t.Fatal(err)
	}
	f.Fail("start", 2)
	f.Fail("read", 2)
	again := get(lease.Started)
	f.Fail("read", 0) // how often a driver's start reads is its own
	equal(t, "after a stop", again.ID(), first.ID())
	equal(t, "file", read(again, "report.txt"), "whole")
	// A failure for long is told as one, and replaces nothing.
	f.Fail("find", 1000)
	if _, err := m.Get(ctx, conversation, "acme"); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Fatalf("look-ups that fail for long: %v", err)
	}
	f.Fail("find", 0)
	// Confirmed gone: a new one with the files of the checkpoint, and what is missing is told.
	if _, err := again.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Driver.Delete(ctx, first.ID()); err != nil {
		t.Fatal(err)
	}
	f.Fail("write", 1)
	back := get(lease.Restored)
	if back.ID() == first.ID() || !back.Recovery().Replaced || len(back.Recovery().Missing) == 0 {
		t.Fatalf("%s: %+v", back.ID(), back.Recovery())
	}
	equal(t, "file", read(back, "report.txt"), "whole")
}
