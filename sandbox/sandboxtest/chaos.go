package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/sandbox"
)

// chaos does to a driver what happens to it: crashes of what runs a sandbox, lives that cross, callers that leave.
func (s Subject) chaos(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	t.Run("runtime killed", func(t *testing.T) {
		if s.KillRuntime == nil {
			t.Log("this driver has no runtime that could be killed")
			return
		}
		t.Parallel()
		b := s.box(t, sandbox.Limits{})
		b.write("keep", "kept")
		failed := make(chan error, 1)
		go func() {
			_, err := b.Exec(ctx, b.id, sandbox.Command{Args: []string{"sleep", "300"}})
			failed <- err
		}()
		wait(300 * time.Millisecond)
		s.KillRuntime(t, b.id)
		if err := <-failed; !errors.Is(err, sandbox.ErrUnavailable) {
			t.Fatalf("the command got %v", err)
		}
		info, err := s.Driver.Find(ctx, b.id)
		if err != nil || info.State != sandbox.Stopped {
			t.Fatalf("a dead runtime counts as %+v, %v; its workspace is kept, so it is stopped", info, err)
		}
		if err := s.Driver.Start(ctx, b.id); err != nil {
			t.Fatal(err)
		}
		out, _ := b.sh("cat keep")
		equal(t, "after the crash", out, "kept")
	})
	t.Run("stopped under a command", func(t *testing.T) {
		if s.StopPauses {
			t.Log("a command outlives a pause")
			return
		}
		t.Parallel()
		b := s.box(t, sandbox.Limits{})
		failed := make(chan error, 1)
		go func() {
			_, err := b.Exec(ctx, b.id, sandbox.Command{Args: []string{"sleep", "300"}})
			failed <- err
		}()
		wait(300 * time.Millisecond)
		if err := s.Driver.Stop(ctx, b.id); err != nil {
			t.Fatal(err)
		}
		if err := <-failed; !errors.Is(err, sandbox.ErrUnavailable) {
			t.Fatalf("the command got %v", err)
		}
	})
	t.Run("lives cross", func(t *testing.T) {
		t.Parallel()
		b := s.box(t, sandbox.Limits{})
		b.write("keep", "kept")
		var wg sync.WaitGroup
		for n := range 3 {
			wg.Go(func() {
				for range 2 {
					_ = s.Driver.Stop(ctx, b.id)
					_ = s.Driver.Start(ctx, b.id)
					_, _ = b.Exec(ctx, b.id, sandbox.Command{Args: []string{"true"}})
					_ = b.WriteFile(ctx, b.id, fmt.Sprint("f", n), strings.NewReader("x"))
				}
			})
		}
		wg.Wait()
		if err := s.Driver.Start(ctx, b.id); err != nil {
			t.Fatal(err)
		}
		out, _ := b.sh("cat keep")
		equal(t, "after all", out, "kept")
	})
	t.Run("callers leave", func(t *testing.T) {
		t.Parallel()
		id := newID()
		soon, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		defer cancel()
		_, err := s.Driver.Create(soon, sandbox.Spec{ID: id, Org: "acme"})
		t.Cleanup(func() { _ = s.Driver.Delete(context.Background(), id) })
		if err != nil { // then nothing is left of it, or it can be found
			info, err := s.Driver.Find(ctx, id)
			if err == nil && info.State != sandbox.Running && info.State != sandbox.Stopped {
				t.Fatalf("half a sandbox: %+v", info)
			}
			if err := s.Driver.Delete(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		if _, err = s.Driver.Find(ctx, id); err != nil && !errors.Is(err, sandbox.ErrNotFound) {
			t.Fatal(err)
		}
	})
}

// Restart proves what a new process of the backend finds. reopen ends the driver and opens another on the same state.
func Restart(t *testing.T, driver sandbox.Driver, reopen func() sandbox.Driver) {
	t.Helper()
	ctx := t.Context()
	b := Subject{Driver: driver, Name: name(t, driver)}.box(t, sandbox.Limits{})
	b.write("keep", "kept")
	var out bytes.Buffer
	cmd := sandbox.Command{ID: "done before", Args: []string{"/bin/sh", "-c", "echo ran >> count; cat count; exit 4"}, Stdout: &out}
	if r, err := b.Exec(ctx, b.id, cmd); err != nil || r.ExitCode != 4 {
		t.Fatal(r, err)
	}
	running := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = b.Exec(ctx, b.id, sandbox.Command{ID: "under way", Args: []string{"/bin/sh", "-c", "echo go; sleep 300"}, Stdout: once(running)})
	}()
	<-running
	b.Driver = reopen()
	<-ended
	t.Cleanup(func() { _ = b.Delete(context.Background(), b.id) })
	info, err := b.Find(ctx, b.id)
	if err != nil || info.State != sandbox.Running || info.Org != "acme" {
		t.Fatalf("%+v %v", info, err)
	}
	out.Reset()
	r, err := b.Exec(ctx, b.id, cmd)
	if err != nil || r.ExitCode != 4 || out.String() != "ran\n" {
		t.Fatalf("the stored end: %+v %v %q", r, err, out.String())
	}
	equal(t, "runs", b.read("count"), "ran\n")
	_, err = b.Exec(ctx, b.id, sandbox.Command{ID: "under way", Args: []string{"echo", "again"}})
	if !errors.Is(err, sandbox.ErrInterrupted) && !errors.Is(err, sandbox.ErrUnavailable) {
		t.Fatalf("a command that was under way: %v", err)
	}
	text, _ := b.sh("cat keep")
	equal(t, "after the restart", text, "kept")
	b.alone()
}

func name(t *testing.T, d sandbox.Driver) string {
	t.Helper()
	id := newID()
	info, err := d.Create(t.Context(), sandbox.Spec{ID: id, Org: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return info.Driver
}
