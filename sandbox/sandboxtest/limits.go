package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"bordereau/sandbox"
)

// attack runs hostile code, which may take its own sandbox down, and then proves that the workspace is whole and the next command runs.
func (b box) attack(script string, limit time.Duration) (stdout string, r sandbox.Result) {
	b.t.Helper()
	var out, errs bytes.Buffer
	r, err := b.Exec(b.t.Context(), b.id, sandbox.Command{
		Args: []string{"/bin/bash", "-c", script}, Stdout: &out, Stderr: &errs, Timeout: limit,
	})
	if err != nil && !errors.Is(err, sandbox.ErrUnavailable) {
		b.t.Fatalf("%v", err)
	}
	b.whole()
	if errs.Len() > 0 {
		b.t.Logf("it said: %.300s", errs.String())
	}
	return out.String(), r
}

const canary = "whole and alive"

// whole fails unless the sandbox goes on, after a start if need be, with its files.
func (b box) whole() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	var err error
	for range 20 {
		out.Reset()
		var r sandbox.Result
		r, err = b.Exec(ctx, b.id, sandbox.Command{Args: []string{"cat", "canary.txt"}, Stdout: &out, Timeout: 20 * time.Second})
		if err == nil && r.ExitCode == 0 && out.String() == canary {
			equal(b.t, "canary, read from outside", b.read("canary.txt"), canary)
			return
		}
		if err != nil && !errors.Is(err, sandbox.ErrUnavailable) {
			break
		}
		_ = b.Start(ctx, b.id)
		wait(50 * time.Millisecond)
	}
	b.t.Fatalf("after the attack: %v, %q", err, out.String())
}

func (s Subject) limits(t *testing.T) {
	t.Parallel()
	limits := sandbox.Limits{MemoryBytes: 384 << 20, WorkspaceBytes: 48 << 20, Processes: 64, FileBytes: 32 << 20, OutputBytes: 256 << 10, CPUs: 2}
	fresh := func(t *testing.T) box {
		t.Helper()
		b := s.box(t, limits)
		b.write("canary.txt", canary)
		return b
	}
	t.Run("memory", func(t *testing.T) {
		b := fresh(t)
		_, r := b.attack(`python3 -c 'b = []
while True: b.append(bytearray(8 << 20))'`, 60*time.Second)
		if r.ExitCode == 0 && !r.TimedOut {
			t.Log("the sandbox died with the command") // accepted: what counts is that it goes on
		}
		b.attack(`tail /dev/zero`, 60*time.Second)
	})
	t.Run("processes", func(t *testing.T) {
		b := fresh(t)
		b.attack(`b() { b | b & }; b; sleep 1`, 10*time.Second)
		b.attack(`while :; do sleep 100 & done`, 2*time.Second)
		b.alone()
	})
	t.Run("disk", func(t *testing.T) {
		b := fresh(t)
		for _, dir := range []string{"/workspace", "/tmp"} {
			out, r := b.attack("cd "+dir+"; for i in 1 2 3 4 5; do dd if=/dev/zero of=fill$i bs=1M count=30 2>&1; done; du -sm . | cut -f1", 60*time.Second)
			if !strings.Contains(out, "No space left") && !strings.Contains(out, "quota") && r.ExitCode != 153 {
				t.Fatalf("%s was filled without end: %q", dir, out)
			}
			b.attack("rm -f "+dir+"/fill*", 20*time.Second)
		}
		// Inodes.
		b.attack(`mkdir many; cd many; python3 -c '
import os
try:
    for i in range(200000): os.close(os.open(str(i), os.O_CREAT))
except OSError as e: print(e)
'`, 60*time.Second)
		b.attack("rm -rf many", 60*time.Second)
		err := b.WriteFile(t.Context(), b.id, "too-big", io.LimitReader(zeros{}, 33<<20))
		is(t, err, sandbox.ErrTooLarge)
		b.whole()
		out, _ := b.attack("dd if=/dev/zero of=one bs=1M count=40 2>/dev/null; stat -c %s one; rm -f one", 30*time.Second)
		if n, err := strconv.Atoi(strings.TrimSpace(out)); err != nil || n > 32<<20 {
			t.Fatalf("one file grew to %q bytes", out)
		}
		// The size of /dev itself is no limit with every runtime, so nobody may write there.
		out, _ = b.attack("for d in /dev /dev/pts /dev/mqueue /run /; do dd if=/dev/zero of=$d/fill bs=1M count=1 2>/dev/null && echo $d; done; true", 30*time.Second)
		equal(t, "writable beside the workspace", out, "")
		out, _ = b.attack("dd if=/dev/zero of=/dev/shm/x bs=1M count=200; stat -c %s /dev/shm/x; rm /dev/shm/x", 30*time.Second)
		if strings.Contains(out, "209715200") {
			t.Fatal("/dev/shm has no end")
		}
	})
	t.Run("output", func(t *testing.T) {
		b := fresh(t)
		for _, script := range []string{"yes | head -c 5000000", "yes | head -c 5000000 >&2"} {
			var out, errs bytes.Buffer
			r, err := b.Exec(t.Context(), b.id, sandbox.Command{Args: []string{"/bin/sh", "-c", script}, Stdout: &out, Stderr: &errs, Timeout: 30 * time.Second})
			if err != nil || r.ExitCode != 0 {
				t.Fatalf("%+v %v", r, err)
			}
			equal(t, "truncated", r.Truncated, true)
			if n := out.Len() + errs.Len(); n != 256<<10 {
				t.Fatalf("%s: %d bytes came through", script, n)
			}
		}
		r, err := b.Exec(t.Context(), b.id, sandbox.Command{Args: []string{"yes"}, Timeout: 500 * time.Millisecond})
		if err != nil || !r.TimedOut {
			t.Fatalf("yes: %+v %v", r, err)
		}
		b.whole()
	})
	t.Run("log", func(t *testing.T) {
		b := fresh(t)
		// A terabyte into the host's log by way of errors, warnings and system calls that the kernel would complain about.
		b.attack(`for i in $(seq 2000); do echo flood >/dev/kmsg; logger flood; kill -99 $$; done 2>/dev/null; true`, 20*time.Second)
	})
	t.Run("zombies", func(t *testing.T) {
		b := fresh(t)
		b.attack(`for i in $(seq 40); do (setsid sleep 0.05 &) ; done; sleep 1`, 20*time.Second)
		out, _ := b.sh(`cat /proc/[0-9]*/stat 2>/dev/null | awk '$3 == "Z"' | wc -l`)
		equal(t, "zombies", strings.TrimSpace(out), "0")
	})
	t.Run("descriptors", func(t *testing.T) {
		b := fresh(t)
		out, _ := b.attack("python3 -c '\nimport os\nn = 0\ntry:\n    while True: os.open(\"/dev/null\", 0); n += 1\nexcept OSError: print(n < 10000)\n'", 30*time.Second)
		equal(t, "bounded", out, "True\n")
	})
	t.Run("cpu", func(t *testing.T) {
		b := fresh(t)
		b.attack(`for i in 1 2 3 4; do while :; do :; done & done; sleep 100`, time.Second)
		b.alone()
	})
}

type zeros struct{}

// Read gives zeros for ever.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
