// Package cgroup limits a group of the host's processes, with control groups of either version.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"bordereau/sandbox"
)

// mountPoint is where every distribution has them.
const mountPoint = "/sys/fs/cgroup"

// parent holds the groups of all sandboxes.
const parent = "bordereau"

// Group is one sandbox's. Dirs are the folders whose cgroup.procs a process joins.
type Group struct {
	Dirs []string
	v2   bool
}

// version tells which one this host has; 0 is none that we may write.
func version() int {
	if _, err := os.Stat(filepath.Join(mountPoint, "cgroup.controllers")); err == nil {
		return 2
	}
	if _, err := os.Stat(filepath.Join(mountPoint, "memory", "cgroup.procs")); err == nil {
		return 1
	}
	return 0
}

// New makes a group with limits. What it can't make it removes again.
func New(name string, l sandbox.Limits) (*Group, error) {
	var g *Group
	var settings map[string]string
	switch version() {
	case 2:
		top := filepath.Join(mountPoint, parent)
		if err := os.MkdirAll(top, 0o755); err != nil { // #nosec G301 -- a cgroup
			return nil, err
		}
		for _, dir := range []string{mountPoint, top} {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+memory +pids +cpu"), 0); err != nil { // #nosec G306
				return nil, err
			}
		}
		g = &Group{Dirs: []string{filepath.Join(top, name)}, v2: true}
		settings = map[string]string{
			"memory.max": fmt.Sprint(l.MemoryBytes), "memory.swap.max": "0", "pids.max": fmt.Sprint(l.Processes + 8),
			"cpu.max": fmt.Sprintf("%d 100000", int64(l.CPUs*100_000)),
		}
	case 1:
		g = &Group{}
		for _, controller := range []string{"memory", "pids", "cpu", "freezer"} {
			g.Dirs = append(g.Dirs, filepath.Join(mountPoint, controller, parent, name))
		}
		settings = map[string]string{
			"memory.limit_in_bytes": fmt.Sprint(l.MemoryBytes), "memory.memsw.limit_in_bytes": fmt.Sprint(l.MemoryBytes),
			"pids.max": fmt.Sprint(l.Processes + 8), "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": fmt.Sprint(int64(l.CPUs * 100_000)),
		}
	default:
		return nil, errors.New("cgroup: this host has none")
	}
	for _, dir := range g.Dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil { // #nosec G301 -- a cgroup
			g.Remove()
			return nil, err
		}
	}
	for _, pass := range []int{0, 1} { // memory before memory and swap
		for file, value := range settings {
			if strings.Contains(file, "memsw") == (pass == 0) {
				continue
			}
			if err := g.set(file, value); err != nil {
				g.Remove()
				return nil, err
			}
		}
	}
	return g, nil
}

// set writes a setting to the folder that has it. Swap accounting may be off.
func (g *Group) set(file, value string) error {
	for _, dir := range g.Dirs {
		name := filepath.Join(dir, file)
		if _, err := os.Stat(name); err == nil {
			return os.WriteFile(name, []byte(value), 0) // #nosec G306 -- it exists
		}
	}
	if strings.Contains(file, "swap") || strings.Contains(file, "memsw") {
		return nil
	}
	return fmt.Errorf("cgroup: no %s here: %w", file, fs.ErrNotExist)
}

// Freeze stops all processes of the group where they are; thaw lets them go on.
func (g *Group) Freeze(thaw bool) error {
	file, value := "freezer.state", "FROZEN"
	if g.v2 {
		file, value = "cgroup.freeze", "1"
	}
	if thaw {
		value = map[bool]string{true: "0", false: "THAWED"}[g.v2]
	}
	return g.set(file, value)
}

// Kill ends every process of the group and returns when none is left.
func (g *Group) Kill() error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		pids, err := g.pids()
		if err != nil || len(pids) == 0 {
			return err
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		<-tick.C
	}
	return errors.New("cgroup: processes outlive SIGKILL")
}

func (g *Group) pids() ([]int, error) {
	var pids []int
	for _, dir := range g.Dirs {
		text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs")) // #nosec G304 -- our own group
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for f := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(f); err == nil && pid > 1 {
				pids = append(pids, pid)
			}
		}
	}
	return pids, nil
}

// Remove removes the group; processes must be gone.
func (g *Group) Remove() {
	for _, dir := range g.Dirs {
		_ = os.Remove(dir)
	}
}
