package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// markBase is the first of the extra group ids that mark the processes of one command. Without capabilities none can shed it.
const markBase = 3_000_000_000

// child is one running command.
type child struct {
	pid   int
	mark  uint32
	ended chan syscall.WaitStatus
}

// processes starts, reaps and kills. It is process 1, so every orphan becomes its child.
type processes struct {
	uid      int
	bounding []uintptr

	mu      sync.Mutex // held over each fork and each sweep, so that no sweep meets a half-started command
	running map[int]*child
	next    uint32
}

func newProcesses(uid int) *processes {
	return &processes{uid: uid, bounding: bounding(), running: map[int]*child{}}
}

// bounding lists the capabilities that what is started from here could still gain.
func bounding() (held []uintptr) {
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		if has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err == nil && has != 0 {
			held = append(held, c)
		}
	}
	return held
}

// dropBounding makes sure that nothing started from this thread can gain a capability. To drop them on all threads beforehand would stop
// each of them for each capability, which is slow under a kernel in user space.
func (p *processes) dropBounding() error {
	for _, c := range p.bounding {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	return nil
}

func (p *processes) start(name string, req Request, files []uintptr) (*child, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	ch := &child{mark: markBase + p.next, ended: make(chan syscall.WaitStatus, 1)}
	runtime.LockOSThread() // the fork inherits from the thread that dropped
	defer runtime.UnlockOSThread()
	if err := p.dropBounding(); err != nil {
		return nil, err
	}
	pid, err := syscall.ForkExec(name, req.Args, &syscall.ProcAttr{
		Dir: req.Dir, Env: req.Env, Files: files,
		Sys: &syscall.SysProcAttr{
			Setsid: true,
			Credential: &syscall.Credential{
				Uid: uint32(p.uid), Gid: uint32(p.uid), Groups: []uint32{ch.mark}, // #nosec G115 -- checked in Run
			},
		},
	})
	if err != nil {
		return nil, err
	}
	ch.pid = pid
	p.running[pid] = ch
	return ch, nil
}

// reap waits for every child, own or orphaned.
func (p *processes) reap(ctx context.Context) {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	defer signal.Stop(died)
	for {
		for {
			var status syscall.WaitStatus
			pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if err != nil || pid <= 0 {
				break
			}
			p.mu.Lock()
			if ch := p.running[pid]; ch != nil {
				ch.ended <- status
			}
			p.mu.Unlock()
		}
		select {
		case <-died:
		case <-ctx.Done():
			return
		}
	}
}

// kill ends a running command and all it started.
func (p *processes) kill(ch *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[ch.pid] == ch {
		p.sweep(ch)
	}
}

// finish clears what an ended command left behind and forgets it.
func (p *processes) finish(ch *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep(ch)
	delete(p.running, ch.pid)
}

// sweep kills every process of ch. When no other command runs, that is everything but process 1, at one stroke, which no fork
// can outrun. Else it looks for the mark until a pass finds none.
func (p *processes) sweep(ch *child) {
	if len(p.running) == 1 {
		_ = syscall.Kill(-1, syscall.SIGKILL)
		return
	}
	for range 100 {
		found := false
		for _, pid := range marked(ch.mark) {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				found = true
			}
		}
		if !found {
			return
		}
	}
}

// marked lists the living processes that carry a mark.
func marked(mark uint32) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	want := strconv.FormatUint(uint64(mark), 10)
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == 1 {
			continue
		}
		status, err := os.ReadFile("/proc/" + e.Name() + "/status")
		if err != nil || strings.Contains(string(status), "\nState:\tZ") {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if groups, ok := strings.CutPrefix(line, "Groups:"); ok && strings.Contains(" "+strings.TrimSpace(groups)+" ", " "+want+" ") {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
