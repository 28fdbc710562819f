// Package sandboxtest is the suite that every driver of sandboxes passes: contract, chaos and escapes.
package sandboxtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bordereau/sandbox"
)

// Subject is a driver under test, and what the suite may expect of it.
type Subject struct {
	Driver sandbox.Driver
	Name   string // what Info.Driver says

	Pauses      bool                          // Pause is supported
	Splits      bool                          // standard output and error are told apart, as bytes
	Tokens      bool                          // SetToken is supported
	Limited     bool                          // limits of memory, disk and output are enforced
	Late        bool                          // output comes when the command ends
	StopPauses  bool                          // a stopped sandbox is a paused one
	NoLinks     bool                          // where a link points is not told
	Python      bool                          // python3 with pandas, matplotlib and openpyxl is inside
	KillRuntime func(t *testing.T, id string) // as a crash of what runs it would
	Isolated    bool                          // run Escape too
}

var serial atomic.Int64 //nolint:gochecknoglobals // names differ within a test binary

// newID is a name that no other test has.
func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("t%d-%s", serial.Add(1), hex.EncodeToString(b[:]))
}

// box is one sandbox of a test.
type box struct {
	sandbox.Driver
	t  *testing.T
	id string
}

func (s Subject) box(t *testing.T, limits sandbox.Limits) box {
	t.Helper()
	b := box{Driver: s.Driver, t: t, id: newID()}
	info, err := s.Driver.Create(t.Context(), sandbox.Spec{ID: b.id, Org: "acme", Limits: limits})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	t.Cleanup(func() { _ = s.Driver.Delete(context.Background(), b.id) })
	if info.ID != b.id || info.Org != "acme" || info.State != sandbox.Running || info.Driver != s.Name {
		t.Fatalf("create gave %+v", info)
	}
	return b
}

// sh runs a shell script and returns its standard output.
func (b box) sh(script string) (stdout string, r sandbox.Result) {
	b.t.Helper()
	var out, errs bytes.Buffer
	r, err := b.Exec(b.t.Context(), b.id, sandbox.Command{
		Args: []string{"/bin/sh", "-c", script}, Stdout: &out, Stderr: &errs, Timeout: time.Minute,
	})
	if err != nil {
		b.t.Fatalf("exec %q: %v", script, err)
	}
	if r.ExitCode != 0 {
		b.t.Logf("%q ended with %d: %s", script, r.ExitCode, errs.String())
	}
	return out.String(), r
}

func (b box) write(path, content string) {
	b.t.Helper()
	if err := b.WriteFile(b.t.Context(), b.id, path, strings.NewReader(content)); err != nil {
		b.t.Fatalf("write %s: %v", path, err)
	}
}

func (b box) read(path string) string {
	b.t.Helper()
	f, _, err := b.ReadFile(b.t.Context(), b.id, path)
	if err != nil {
		b.t.Fatalf("read %s: %v", path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		b.t.Fatalf("read %s: %v", path, err)
	}
	return string(text)
}

func is(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got %v, want %v", err, kind)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// Run runs the whole suite.
func Run(t *testing.T, s Subject) {
	t.Helper()
	t.Run("life", s.life)
	t.Run("exec", s.exec)
	t.Run("files", s.files)
	t.Run("idempotency", s.idempotency)
	t.Run("chaos", s.chaos)
	t.Run("passing", s.passing)
	if s.Limited {
		t.Run("limits", s.limits)
	}
	if s.Isolated {
		t.Run("escape", s.escape)
	}
}

func (s Subject) life(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := s.box(t, sandbox.Limits{})
	_, err := s.Driver.Create(ctx, sandbox.Spec{ID: b.id})
	is(t, err, sandbox.ErrExists)
	_, err = s.Driver.Create(ctx, sandbox.Spec{ID: "Not an id"})
	is(t, err, sandbox.ErrInvalid)
	_, err = s.Driver.Find(ctx, "t0-nobody")
	is(t, err, sandbox.ErrNotFound)
	is(t, s.Driver.Start(ctx, "t0-nobody"), sandbox.ErrNotFound)
	_, err = s.Driver.Exec(ctx, "t0-nobody", sandbox.Command{Args: []string{"true"}})
	is(t, err, sandbox.ErrNotFound)

	state := func(want sandbox.State) {
		t.Helper()
		info, err := s.Driver.Find(ctx, b.id)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "state", info.State, want)
		equal(t, "org", info.Org, "acme")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	listed := false
	infos, err := s.Driver.List(ctx)
	must(err)
	for _, i := range infos {
		listed = listed || i.ID == b.id
	}
	equal(t, "listed", listed, true)

	b.write("keep.txt", "kept")
	must(s.Driver.Start(ctx, b.id)) // no effect
	state(sandbox.Running)
	if s.Pauses {
		must(s.Driver.Pause(ctx, b.id))
		must(s.Driver.Pause(ctx, b.id))
		state(sandbox.Paused)
		must(s.Driver.Start(ctx, b.id))
		state(sandbox.Running)
		out, _ := b.sh("cat keep.txt")
		equal(t, "after a pause", out, "kept")
	}
	must(s.Driver.Stop(ctx, b.id))
	must(s.Driver.Stop(ctx, b.id))
	stopped := sandbox.Stopped
	if s.StopPauses {
		stopped = sandbox.Paused
	}
	state(stopped)
	_, err = s.Driver.Exec(ctx, b.id, sandbox.Command{Args: []string{"true"}})
	is(t, err, sandbox.ErrUnavailable)
	must(s.Driver.Start(ctx, b.id))
	state(sandbox.Running)
	out, _ := b.sh("cat keep.txt")
	equal(t, "after a stop", out, "kept")

	if c, ok := s.Driver.(sandbox.Claimer); ok {
		to := newID()
		_, err := c.Claim(ctx, b.id, sandbox.Spec{ID: to, Org: "other"})
		must(err)
		_, err = s.Driver.Find(ctx, b.id)
		is(t, err, sandbox.ErrNotFound)
		info, err := s.Driver.Find(ctx, to)
		must(err)
		equal(t, "org of a claimed one", info.Org, "other")
		b.id = to
		out, _ := b.sh("cat keep.txt")
		equal(t, "after a claim", out, "kept")
	}
	must(s.Driver.Delete(ctx, b.id))
	must(s.Driver.Delete(ctx, b.id))
	_, err = s.Driver.Find(ctx, b.id)
	is(t, err, sandbox.ErrNotFound)
}
