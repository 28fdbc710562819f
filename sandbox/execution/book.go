// Package execution keeps what became of commands, so that asking again never runs one twice.
package execution

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"bordereau/sandbox"
)

// keep is how many ends a sandbox stores; the oldest go first.
const keep = 200

// Run is how a driver runs a command. It writes to the streams of cmd and returns when nothing of it runs any more.
type Run func(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error)

// Book is the commands of one sandbox. With a folder the ends survive a crash of the process.
type Book struct {
	folder string
	now    func() time.Time

	mu      sync.Mutex
	running map[string]*entry
	ended   map[string]*end // without a folder
	order   []string        // of ended, oldest first
}

// NewBook starts a book; folder "" keeps it in memory only.
func NewBook(folder string, now func() time.Time) *Book {
	return &Book{folder: folder, now: now, running: map[string]*entry{}, ended: map[string]*end{}}
}

// end is the stored form of an ended command.
type end struct {
	ID     string
	Result sandbox.Result
	Stdout []byte
	Stderr []byte
	At     time.Time
}

// entry is a command under way, or ended when its end is kept in memory.
type entry struct {
	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at each change
	out, err bytes.Buffer
	done     bool
	result   sandbox.Result
	failure  error
	waiters  int
	cancel   context.CancelCauseFunc
}

// Do runs cmd by run, joins it when its ID is under way, or returns its stored end.
func (b *Book) Do(ctx context.Context, cmd sandbox.Command, run Run) (sandbox.Result, error) {
	if cmd.ID == "" {
		return run(ctx, cmd)
	}
	name := fileName(cmd.ID)
	b.mu.Lock()
	e := b.running[name]
	if e == nil {
		stored, started, err := b.load(name)
		if err != nil {
			b.mu.Unlock()
			return sandbox.Result{}, sandbox.Unavailable(err, "can't read what became of command %q", cmd.ID)
		}
		if stored != nil {
			b.mu.Unlock()
			return replay(cmd, stored)
		}
		if started {
			b.mu.Unlock()
			return sandbox.Result{}, &sandbox.Fault{
				Kind: sandbox.ErrInterrupted, Text: "command " + cmd.ID + " was under way when the process that drove it died",
				Hint: "look at what it left in the workspace before it is run again under another id",
			}
		}
		if err := b.begin(name); err != nil {
			b.mu.Unlock()
			return sandbox.Result{}, sandbox.Unavailable(err, "can't note that command %q starts", cmd.ID)
		}
		e = &entry{changed: make(chan struct{})}
		b.running[name] = e
		var runCtx context.Context
		runCtx, e.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
		own := cmd
		own.Stdout, own.Stderr = &part{e, &e.out}, &part{e, &e.err}
		go b.drive(runCtx, name, e, own, run)
	}
	e.join()
	b.mu.Unlock()
	return e.follow(ctx, cmd)
}

// drive runs the command once, for everybody who asks for it.
func (b *Book) drive(ctx context.Context, name string, e *entry, cmd sandbox.Command, run Run) {
	result, failure := run(ctx, cmd)
	e.cancel(nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	if failure == nil {
		failure = b.store(name, end{ID: cmd.ID, Result: result, Stdout: e.out.Bytes(), Stderr: e.err.Bytes(), At: b.now()})
	} else if errors.Is(failure, sandbox.ErrInvalid) {
		b.forget(name) // it never ran
	}
	delete(b.running, name)
	e.mu.Lock()
	e.done, e.result, e.failure = true, result, failure
	close(e.changed)
	e.mu.Unlock()
}

// part is one stream of an entry.
type part struct {
	e   *entry
	buf *bytes.Buffer
}

// Write stores and wakes the followers.
func (p *part) Write(b []byte) (int, error) {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.buf.Write(b)
	close(p.e.changed)
	p.e.changed = make(chan struct{})
	return len(b), nil
}

func (e *entry) join() {
	e.mu.Lock()
	e.waiters++
	e.mu.Unlock()
}

// leave ends the command when nobody waits for it any more.
func (e *entry) leave(cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.waiters--; e.waiters == 0 && !e.done {
		e.cancel(cause)
	}
}

// follow copies the output as it comes and returns the end.
func (e *entry) follow(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	var sentOut, sentErr int
	left := false
	over := ctx.Done()
	for {
		e.mu.Lock()
		out, errs := slices.Clone(e.out.Bytes()[sentOut:]), slices.Clone(e.err.Bytes()[sentErr:])
		done, result, failure, changed := e.done, e.result, e.failure, e.changed
		e.mu.Unlock()
		sentOut, sentErr = sentOut+len(out), sentErr+len(errs)
		write(cmd.Stdout, out)
		write(cmd.Stderr, errs)
		if done {
			if !left {
				e.leave(nil)
			}
			return result, failure
		}
		select {
		case <-changed:
		case <-over:
			e.leave(context.Cause(ctx))
			left, over = true, nil
			e.mu.Lock()
			others := e.waiters > 0
			e.mu.Unlock()
			if others { // it goes on for them
				return sandbox.Result{}, context.Cause(ctx)
			}
		}
	}
}

func write(w io.Writer, p []byte) {
	if w != nil && len(p) > 0 {
		_, _ = w.Write(p)
	}
}

func replay(cmd sandbox.Command, stored *end) (sandbox.Result, error) {
	write(cmd.Stdout, stored.Stdout)
	write(cmd.Stderr, stored.Stderr)
	return stored.Result, nil
}

func fileName(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// load reads a stored end; started tells of a command that began and has none.
func (b *Book) load(name string) (stored *end, started bool, err error) {
	if b.folder == "" {
		return b.ended[name], false, nil
	}
	text, err := os.ReadFile(filepath.Join(b.folder, name+".json")) // #nosec G304 -- a hash
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(filepath.Join(b.folder, name+".begun"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, nil
		}
		return nil, err == nil, err
	}
	if err != nil {
		return nil, false, err
	}
	stored = &end{}
	return stored, true, json.Unmarshal(text, stored)
}

func (b *Book) begin(name string) error {
	if b.folder == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(b.folder, name+".begun"), nil, 0o600)
}

func (b *Book) forget(name string) {
	if b.folder != "" {
		_ = os.Remove(filepath.Join(b.folder, name+".begun"))
	}
}

// store writes an end so that a crash leaves it whole or not there.
func (b *Book) store(name string, e end) error {
	if b.folder == "" {
		b.ended[name], b.order = &e, append(b.order, name)
		if len(b.order) > keep {
			delete(b.ended, b.order[0])
			b.order = b.order[1:]
		}
		return nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	file := filepath.Join(b.folder, name+".json")
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return sandbox.Unavailable(err, "can't store the end of a command")
	}
	if err := os.Rename(file+".new", file); err != nil {
		return sandbox.Unavailable(err, "can't store the end of a command")
	}
	b.prune()
	return nil
}

// prune removes the oldest ends beyond keep.
func (b *Book) prune() {
	entries, err := os.ReadDir(b.folder)
	if err != nil || len(entries) <= 2*keep+keep/4 {
		return
	}
	type aged struct {
		name string
		at   time.Time
	}
	var ends []aged
	for _, e := range entries {
		if st, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".json" {
			ends = append(ends, aged{e.Name()[:len(e.Name())-len(".json")], st.ModTime()})
		}
	}
	slices.SortFunc(ends, func(x, y aged) int { return x.at.Compare(y.at) })
	for _, old := range ends[:max(0, len(ends)-keep)] {
		_ = os.Remove(filepath.Join(b.folder, old.name+".json"))
		_ = os.Remove(filepath.Join(b.folder, old.name+".begun"))
	}
}
