package sandboxtest

import (
	"context"
	"io"
	"sync"
	"time"

	"bordereau/sandbox"
)

// Flaky is a driver on a bad day: calls fail before they have an effect, are slow, or have their effect and lose the answer.
type Flaky struct {
	sandbox.Driver

	mu    sync.Mutex
	fails map[string]int
	loses map[string]int
	slow  map[string]time.Duration
	calls map[string]int
}

// Fail makes the next n calls of a name fail in passing.
func (f *Flaky) Fail(call string, n int) { f.set(func() { f.fails[call] = n }) }

// Lose makes the answers of the next n calls be lost.
func (f *Flaky) Lose(call string, n int) { f.set(func() { f.loses[call] = n }) }

// Slow makes all later calls take that much longer.
func (f *Flaky) Slow(call string, d time.Duration) { f.set(func() { f.slow[call] = d }) }

// Calls is how often a call came.
func (f *Flaky) Calls(call string) (n int) {
	f.set(func() { n = f.calls[call] })
	return n
}

func (f *Flaky) set(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.fails, f.loses, f.slow, f.calls = map[string]int{}, map[string]int{}, map[string]time.Duration{}, map[string]int{}
	}
	do()
}

// do makes one call as the day has it.
func (f *Flaky) do(call string, act func() error) error {
	var fail, lose bool
	var late time.Duration
	f.set(func() {
		f.calls[call]++
		if fail = f.fails[call] > 0; fail {
			f.fails[call]--
			return
		}
		if lose = f.loses[call] > 0; lose {
			f.loses[call]--
		}
		late = f.slow[call]
	})
	if fail {
		return sandbox.Unavailable(nil, "%s failed in passing", call)
	}
	wait(late)
	err := act()
	if err == nil && lose {
		return sandbox.Unavailable(nil, "the answer of %s is lost", call)
	}
	return err
}

// Create is on the driver's bad day too, as all of these.
func (f *Flaky) Create(ctx context.Context, s sandbox.Spec) (info sandbox.Info, err error) {
	err = f.do("create", func() (err error) { info, err = f.Driver.Create(ctx, s); return err })
	return info, err
}

// Find looks a sandbox up.
func (f *Flaky) Find(ctx context.Context, id string) (info sandbox.Info, err error) {
	err = f.do("find", func() (err error) { info, err = f.Driver.Find(ctx, id); return err })
	return info, err
}

// Start brings one back.
func (f *Flaky) Start(ctx context.Context, id string) error {
	return f.do("start", func() error { return f.Driver.Start(ctx, id) })
}

// Exec runs a command.
func (f *Flaky) Exec(ctx context.Context, id string, c sandbox.Command) (r sandbox.Result, err error) {
	err = f.do("exec", func() (err error) { r, err = f.Driver.Exec(ctx, id, c); return err })
	return r, err
}

// ReadFile opens a file.
func (f *Flaky) ReadFile(ctx context.Context, id, path string) (r io.ReadCloser, file sandbox.File, err error) {
	err = f.do("read", func() (err error) { r, file, err = f.Driver.ReadFile(ctx, id, path); return err })
	return r, file, err
}

// WriteFile replaces a file.
func (f *Flaky) WriteFile(ctx context.Context, id, path string, content io.Reader) error {
	return f.do("write", func() error { return f.Driver.WriteFile(ctx, id, path, content) })
}
