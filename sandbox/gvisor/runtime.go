package gvisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runtimeLimit bounds each call of the runtime: a wrong platform hangs rather than fails.
const runtimeLimit = 10 * time.Second

// runsc runs one command of the runtime to its end.
func (d *Driver) runsc(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, runtimeLimit)
	defer cancel()
	flags := []string{
		"--root=" + d.runtimeDir(), "--platform=systrap", "--network=none", "--host-uds=open",
		"--overlay2=none", // the root is read-only, so nothing needs an upper layer
		"--host-settings=ignore", "--log=" + filepath.Join(d.cfg.Folder, "runsc.log"),
	}
	if !d.cgroups {
		flags = append(flags, "--ignore-cgroups")
	}
	cmd := exec.CommandContext(ctx, d.cfg.Runsc, append(flags, args...)...) // #nosec G204 -- from configuration
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// The container inherits what is open here: never a pipe, which would be held open for its whole life.
	out, err := os.CreateTemp(d.cfg.Folder, ".runsc-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, context.Cause(ctx))
		}
		text, _ := os.ReadFile(out.Name())
		return fmt.Errorf("runsc %s: %w: %s", args[0], err, bytes.TrimSpace(text[:min(len(text), 2000)]))
	}
	return nil
}

// startTime tells one process from a later one with the same number; 0 when there is none, or it is dead and not reaped.
func startTime(pid int) uint64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil || pid <= 0 {
		return 0
	}
	// The name may hold anything, so count from its closing parenthesis.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0
	}
	n, _ := strconv.ParseUint(fields[19], 10, 64)
	return n
}
