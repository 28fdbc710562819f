package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// bareBundle is the least that runsc starts: this host's root, read-only, and a process that waits.
const bareBundle = `{"ociVersion":"1.0.2","root":{"path":"/","readonly":true},
"process":{"args":["sleep","infinity"],"env":["PATH=/usr/bin:/bin"],"cwd":"/","user":{"uid":0,"gid":0}},
"mounts":[{"destination":"/proc","type":"proc","source":"proc"}],
"linux":{"namespaces":[{"type":"pid"},{"type":"network"},{"type":"ipc"},{"type":"uts"},{"type":"mount"}]}}`

// peer is gVisor's own command on the same machine, without anything of ours: what a start costs here at the least.
type peer struct{ runsc, folder string }

func newPeer(runsc, state string) (*peer, error) {
	p := &peer{runsc: runsc, folder: filepath.Join(state, "peer")}
	if err := os.MkdirAll(p.folder, 0o700); err != nil {
		return nil, err
	}
	return p, os.WriteFile(filepath.Join(p.folder, "config.json"), []byte(bareBundle), 0o600)
}

func (p *peer) run(ctx context.Context, args ...string) error {
	flags := []string{"--root=" + filepath.Join(p.folder, "root"), "--network=none", "--ignore-cgroups", "--overlay2=none", "--host-settings=ignore"}
	cmd := exec.CommandContext(ctx, p.runsc, append(flags, args...)...) // #nosec G204 -- from the command line
	// A detached container inherits what is open here: nothing, or we would wait for its end.
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("runsc %s: %w", args[0], err)
	}
	return nil
}

// idles measures a start of runsc that does nothing.
func (p *peer) idles(ctx context.Context, f *figure, n int) error {
	return p.times(f, n, func(int) error { return p.run(ctx, "--version") }, nil)
}

// creates measures from nothing to the first result.
func (p *peer) creates(ctx context.Context, f *figure, n int) error {
	return p.times(f, n, func(i int) error {
		id := fmt.Sprintf("bare-%d", i)
		if err := p.run(ctx, "run", "--detach", "--bundle", p.folder, id); err != nil {
			return err
		}
		return p.run(ctx, "exec", id, "true")
	}, func(i int) error { return p.run(ctx, "delete", "--force", fmt.Sprintf("bare-%d", i)) })
}

// execs measures one command in a running container.
func (p *peer) execs(ctx context.Context, f *figure, n int) error {
	if err := p.run(ctx, "run", "--detach", "--bundle", p.folder, "bare"); err != nil {
		return err
	}
	err := p.times(f, n, func(int) error { return p.run(ctx, "exec", "bare", "true") }, nil)
	if gone := p.run(context.WithoutCancel(ctx), "delete", "--force", "bare"); err == nil {
		err = gone
	}
	return err
}

func (p *peer) times(f *figure, n int, measured, after func(i int) error) error {
	for i := range n {
		begun := time.Now()
		if err := measured(i); err != nil {
			return err
		}
		f.Times = append(f.Times, time.Since(begun))
		if after != nil {
			if err := after(i); err != nil {
				return err
			}
		}
	}
	return nil
}
