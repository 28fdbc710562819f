package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"bordereau/sandbox"
)

func (s Subject) exec(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := s.box(t, sandbox.Limits{})

	t.Run("ends", func(t *testing.T) {
		b := box{b.Driver, t, b.id}
		for script, code := range map[string]int{"exit 0": 0, "exit 37": 37, "kill -9 $$": 137, "exit 128": 128, "no-such-program": 127} {
			_, r := b.sh(script)
			equal(t, script, r.ExitCode, code)
		}
		r, err := b.Exec(ctx, b.id, sandbox.Command{Args: []string{"no-such-program"}})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "a program that does not exist", r.ExitCode, 127)
		_, err = b.Exec(ctx, b.id, sandbox.Command{})
		is(t, err, sandbox.ErrInvalid)
		_, err = b.Exec(ctx, b.id, sandbox.Command{Args: []string{"true"}, Dir: "/workspace/no-such-folder"})
		is(t, err, sandbox.ErrInvalid)
	})
	t.Run("streams", func(t *testing.T) {
		b := box{b.Driver, t, b.id}
		if s.Splits {
			var out, errs bytes.Buffer
			raw := []byte{0, 0xff, 0xfe, '\r', '\n', 1, 2}
			r, err := b.Exec(ctx, b.id, sandbox.Command{
				Args: []string{"/bin/sh", "-c", "cat; printf err >&2"}, Stdin: bytes.NewReader(raw), Stdout: &out, Stderr: &errs,
			})
			if err != nil || r.ExitCode != 0 {
				t.Fatal(r, err)
			}
			equal(t, "stdout", out.String(), string(raw))
			equal(t, "stderr", errs.String(), "err")
		}
		big := bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // 1 MiB
		var out bytes.Buffer
		if _, err := b.Exec(ctx, b.id, sandbox.Command{Args: []string{"cat"}, Stdin: bytes.NewReader(big), Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		equal(t, "1 MiB through cat", sum(out.Bytes()), sum(big))
		// A program that never reads its input must not hold anybody.
		if _, err := b.Exec(ctx, b.id, sandbox.Command{Args: []string{"true"}, Stdin: bytes.NewReader(big)}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Exec(ctx, b.id, sandbox.Command{Args: []string{"cat"}, Stdin: iotest.ErrReader(errors.New("broken"))}); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("surroundings", func(t *testing.T) {
		b := box{b.Driver, t, b.id}
		if err := b.WriteFile(ctx, b.id, "sub dir/x", strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		r, err := b.Exec(ctx, b.id, sandbox.Command{
			Args: []string{"/bin/sh", "-c", `printf '%s|%s|%s' "$PWD" "$A" "$(pwd)"`}, Env: map[string]string{"A": "a 'b' $c\nd"},
			Dir: "/workspace/sub dir", Stdout: &out,
		})
		if err != nil || r.ExitCode != 0 {
			t.Fatal(r, err)
		}
		equal(t, "surroundings", out.String(), "/workspace/sub dir|a 'b' $c\nd|/workspace/sub dir")
		text, _ := b.sh("touch $HOME/x && echo $HOME && id -u && echo $MPLBACKEND $OMP_THREAD_LIMIT")
		if !strings.Contains(text, "Agg 1") || strings.Contains(text, "\n0\n") {
			t.Fatalf("environment: %q", text)
		}
	})
	t.Run("time limit", func(t *testing.T) {
		b := box{b.Driver, t, b.id}
		r, err := b.Exec(ctx, b.id, sandbox.Command{
			Args: []string{"/bin/sh", "-c", "trap '' TERM INT HUP; setsid sleep 300 & sleep 300 & while :; do sleep 1; done"}, Timeout: 500 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "timed out", r.TimedOut, true)
		if r.ExitCode == 0 {
			t.Fatal("a command that timed out ended with 0")
		}
		b.alone()
	})
	t.Run("cancel", func(t *testing.T) {
		b := box{b.Driver, t, b.id}
		cancelled, cancel := context.WithCancelCause(ctx)
		stop := errors.New("the person pressed stop")
		time.AfterFunc(300*time.Millisecond, func() { cancel(stop) })
		begun := time.Now()
		_, err := b.Exec(cancelled, b.id, sandbox.Command{Args: []string{"/bin/sh", "-c", "trap '' TERM; setsid sleep 300 & sleep 300"}})
		if !errors.Is(err, stop) && !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled exec gave %v", err)
		}
		if d := time.Since(begun); d > 15*time.Second {
			t.Fatalf("cancelling took %v", d)
		}
		b.alone()
	})
	t.Run("background", func(t *testing.T) {
		b := box{b.Driver, t, b.id}
		begun := time.Now()
		out, _ := b.sh("sleep 300 & (setsid sleep 300 >/dev/null 2>&1 &) ; echo done")
		equal(t, "output", out, "done\n")
		if d := time.Since(begun); d > 30*time.Second {
			t.Fatalf("a background process held the result for %v", d)
		}
		b.alone()
	})
	t.Run("together", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				var out bytes.Buffer
				r, err := b.Exec(ctx, b.id, sandbox.Command{Args: []string{"/bin/sh", "-c", "sleep 0.2 & wait; echo ok"}, Stdout: &out})
				if err != nil || r.ExitCode != 0 || out.String() != "ok\n" {
					t.Errorf("%+v %v %q", r, err, out.String())
				}
			})
		}
		// One that ends early must not take the others with it.
		_, _ = b.Exec(ctx, b.id, sandbox.Command{Args: []string{"/bin/sh", "-c", "sleep 100"}, Timeout: 50 * time.Millisecond})
		wg.Wait()
	})
	if s.Python {
		t.Run("tools", func(t *testing.T) {
			b := box{b.Driver, t, b.id}
			out, r := b.sh(`python3 - <<'END'
import pandas, openpyxl, os
import matplotlib.pyplot as plt
frame = pandas.DataFrame({"day": ["a", "b"], "rate": [1, 2]})
frame.to_excel("/workspace/artifacts/t.xlsx")
frame.plot(x="day", y="rate"); plt.savefig("/workspace/artifacts/t.png")
print(pandas.read_excel("/workspace/artifacts/t.xlsx").rate.sum(), os.path.getsize("/workspace/artifacts/t.png") > 1000)
END`)
			if r.ExitCode != 0 || out != "3 True\n" {
				t.Fatalf("%+v %q", r, out)
			}
		})
	}
}

// alone fails unless nothing but the check itself runs inside.
func (b box) alone() {
	b.t.Helper()
	out, _ := b.sh(`for p in /proc/[0-9]*; do c=$(tr '\0' ' ' < $p/cmdline 2>/dev/null); case "$c" in *sleep*300*) echo "$c";; esac; done; true`)
	if strings.Contains(strings.ReplaceAll(out, "case", ""), "sleep 300") {
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "sleep 300") || strings.HasPrefix(line, "setsid") {
				b.t.Fatalf("left behind: %s", out)
			}
		}
	}
}

func (s Subject) idempotency(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	b := s.box(t, sandbox.Limits{})
	run := func(id, script string) (string, sandbox.Result, error) {
		var out bytes.Buffer
		r, err := b.Exec(ctx, b.id, sandbox.Command{ID: id, Args: []string{"/bin/sh", "-c", script}, Stdout: &out, Timeout: 30 * time.Second})
		return out.String(), r, err
	}
	// Asked twice at once: one run, both hear all of it.
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			out, r, err := run("k1", "echo first; sleep 0.5; echo run >> count; echo last; exit 3")
			if err != nil || r.ExitCode != 3 || out != "first\nlast\n" {
				t.Errorf("%q %+v %v", out, r, err)
			}
		})
	}
	wg.Wait()
	out, r, err := run("k1", "echo another") // asked again later: the stored end
	if err != nil || r.ExitCode != 3 || out != "first\nlast\n" {
		t.Fatalf("%q %+v %v", out, r, err)
	}
	equal(t, "runs", b.read("count"), "run\n")
	if s.Late {
		return
	}
	// The one who started it leaves; the other still gets the end.
	early, leave := context.WithCancel(ctx)
	started := make(chan struct{})
	wg.Go(func() {
		_, err := b.Exec(early, b.id, sandbox.Command{ID: "k2", Args: []string{"/bin/sh", "-c", "echo go; sleep 0.7; echo done"}, Stdout: once(started)})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the one who left got %v", err)
		}
	})
	<-started
	time.AfterFunc(200*time.Millisecond, leave)
	out, r, err = run("k2", "")
	if err != nil || r.ExitCode != 0 || out != "go\ndone\n" {
		t.Fatalf("the one who stayed got %q %+v %v", out, r, err)
	}
	wg.Wait()
}

// once closes a channel at the first byte.
func once(c chan struct{}) *firstByte { return &firstByte{c: c} }

type firstByte struct {
	once sync.Once
	c    chan struct{}
}

// Write tells.
func (f *firstByte) Write(p []byte) (int, error) {
	f.once.Do(func() { close(f.c) })
	return len(p), nil
}
