// Package duck runs one read-only statement in a bounded, killable worker process.
package duck

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/statement"
)

// grace is how long after its deadline a statement may take to obey before its worker is killed.
const grace = 200 * time.Millisecond

// Config is what a Pool needs. Log is required; zero numbers take the defaults.
type Config struct {
	Log        *slog.Logger
	Executable string        // default: this program
	Args       []string      // default: WorkerCommand
	Workers    int           // kept warm at most, 32
	Running    int           // at once, two for each core
	PerOrg     int           // at once for one organisation, 2
	Queue      int           // waiting for one organisation, 64
	Threads    int           // of one statement, the number of cores up to 4
	Resident   int64         // bytes that idle workers may hold together, 1.5 GiB
	ParseTime  time.Duration // for the parser to read one statement, 2 s
}

// Pool keeps warm workers, one generation of one organisation each, and gives statements to them.
type Pool struct {
	c         Config
	admission *admission
	parsers   chan *process // idle ones; nil stands for one not started

	starting sync.WaitGroup

	mu     sync.Mutex
	idle   map[string][]*process // by key, least recently used first
	count  int                   // of all workers, idle or not
	closed bool
}

var (
	_ gate.Runner      = (*Pool)(nil)
	_ statement.Parser = (*Pool)(nil)
)

// parserCount is how many statements can be read at once.
const parserCount = 2

// New returns a pool without workers; they start when asked for.
func New(c Config) (*Pool, error) {
	if c.Log == nil {
		return nil, errors.New("duck: no log")
	}
	if c.Executable == "" {
		c.Executable = "/proc/self/exe" // survives the file being replaced
	}
	if c.Args == nil {
		c.Args = []string{WorkerCommand}
	}
	for _, f := range []struct {
		have *int
		want int
	}{{&c.Workers, 32}, {&c.Running, 2 * runtime.NumCPU()}, {&c.PerOrg, 2}, {&c.Queue, 64}, {&c.Threads, min(4, runtime.NumCPU())}} {
		if *f.have == 0 {
			*f.have = f.want
		}
	}
	if c.Resident == 0 {
		c.Resident = 3 << 29
	}
	if c.ParseTime == 0 {
		c.ParseTime = 2 * time.Second
	}
	p := &Pool{c: c, admission: newAdmission(c.Running, c.PerOrg, c.Queue), idle: map[string][]*process{}, parsers: make(chan *process, parserCount)}
	for range parserCount {
		p.parsers <- nil
	}
	return p, nil
}

// Close kills every worker that is idle; one that runs is killed when its statement ends.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	var all []*process
	for key, list := range p.idle {
		all = append(all, list...)
		delete(p.idle, key)
	}
	p.count -= len(all)
	p.mu.Unlock()
	for range parserCount {
		if w := <-p.parsers; w != nil {
			all = append(all, w)
		}
	}
	p.starting.Wait()
	for _, w := range all {
		w.kill()
	}
	return nil
}

// Run gives a job to a worker of its generation and its rows to sink.
func (p *Pool) Run(ctx context.Context, job gate.Job, sink gate.Sink) (gate.Ran, error) {
	var ran gate.Ran
	waited, err := p.admission.enter(ctx, job.Org)
	ran.Queue = waited
	if err != nil {
		return ran, p.contextFault(ctx, err)
	}
	defer p.admission.leave(job.Org)
	begun := time.Now()
	w, err := p.take(ctx, job)
	ran.Queue += time.Since(begun)
	if err != nil {
		if ctx.Err() != nil {
			return ran, p.contextFault(ctx, err)
		}
		return ran, unavailable("no worker could be started", err)
	}
	begun = time.Now()
	columns, done, err := p.ask(ctx, w, job, sink)
	ran.Run = time.Since(begun)
	ran.Columns, ran.Rows, ran.Bytes, ran.Truncated = columns, done.Rows, done.Bytes, done.Truncated
	return ran, err
}

func (p *Pool) contextFault(ctx context.Context, err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return timeoutFault()
	}
	return (&fault.Error{Code: fault.Interrupted, Component: component, Message: "the statement was cancelled"}).Because(context.Cause(ctx))
}

// ask runs one statement on w. A worker that overstays its deadline by the grace is killed; one that answered goes back.
func (p *Pool) ask(ctx context.Context, w *process, job gate.Job, sink gate.Sink) ([]gate.Column, doneReport, error) {
	id := w.nextID()
	watchdog := time.AfterFunc(job.Timeout+grace, w.kill)
	unwatch := context.AfterFunc(ctx, func() {
		w.cancel(id)
		time.AfterFunc(grace, func() { w.killIf(id) })
	})
	w.busy(id)
	err := w.query(queryRequest{ID: id, SQL: job.SQL, Relations: job.Relations, Explain: job.Explain, Millis: job.Timeout.Milliseconds(), MaxRows: job.MaxRows, MaxBytes: job.MaxBytes})
	var columns []gate.Column
	var done doneReport
	begun := time.Now()
	if err != nil {
		err = &brokenError{err}
	} else {
		columns, done, err = w.receive(sink)
	}
	w.busy("")
	unwatch()
	overstayed := !watchdog.Stop()
	var broken *brokenError
	var sunk *sinkError
	switch {
	case err == nil && !overstayed:
		p.give(w)
		return columns, done, nil
	case errors.As(err, &sunk):
		p.drop(w)
		return columns, done, (&fault.Error{Code: fault.Interrupted, Component: component, Message: "the receiver of the rows stopped"}).Because(sunk.cause)
	case overstayed || errors.As(err, &broken):
		p.drop(w)
		if overstayed {
			return columns, done, timeoutFault()
		}
		if ctx.Err() != nil {
			return columns, done, p.contextFault(ctx, ctx.Err())
		}
		p.c.Log.WarnContext(ctx, "worker died", "org", job.Org, "error", err)
		return columns, done, unavailable("the worker died", err)
	}
	p.give(w)
	if fault.Is(err, fault.Interrupted) {
		if ctx.Err() != nil {
			return columns, done, p.contextFault(ctx, ctx.Err())
		}
		if time.Since(begun) >= job.Timeout {
			return columns, done, timeoutFault()
		}
	}
	return columns, done, err
}

// take returns an idle worker for the job's file, or starts one, for which an idle one of another file may have to go.
func (p *Pool) take(ctx context.Context, job gate.Job) (*process, error) {
	key := fmt.Sprintf("%s\x00%d", job.Path, job.Memory)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, errors.New("closed")
	}
	for list := p.idle[key]; len(list) > 0; list = p.idle[key] {
		w := list[len(list)-1]
		p.setIdle(key, list[:len(list)-1])
		if !w.dead() {
			p.mu.Unlock()
			return w, nil
		}
		p.count--
	}
	var evicted *process
	if p.count >= p.c.Workers {
		evicted = p.oldest()
	}
	p.count++
	p.mu.Unlock()
	return p.startFor(ctx, openRequest{Path: job.Path, Memory: job.Memory, Threads: p.c.Threads}, func(r openRequest) (*process, error) {
		if evicted != nil {
			evicted.kill()
		}
		w, err := start(p.c.Executable, p.c.Args, r)
		if err != nil {
			p.mu.Lock()
			p.count--
			p.mu.Unlock()
			return nil, err
		}
		w.key, w.org, w.memory, w.used = key, job.Org, job.Memory, time.Now()
		return w, nil
	}, p.give)
}

// startFor starts a process and waits for it no longer than ctx. One that comes too late goes to spare.
func (p *Pool) startFor(ctx context.Context, r openRequest, begin func(openRequest) (*process, error), spare func(*process)) (*process, error) {
	type started struct {
		w   *process
		err error
	}
	done := make(chan started, 1)
	p.starting.Go(func() {
		w, err := begin(r)
		done <- started{w, err}
	})
	select {
	case s := <-done:
		return s.w, s.err
	case <-ctx.Done():
	}
	p.starting.Go(func() {
		if s := <-done; s.w != nil {
			spare(s.w)
		}
	})
	return nil, ctx.Err()
}

// oldest takes the least recently used idle worker out of the pool. The lock is held.
func (p *Pool) oldest() *process {
	var found *process
	for _, list := range p.idle {
		if found == nil || list[0].used.Before(found.used) {
			found = list[0]
		}
	}
	if found != nil {
		p.setIdle(found.key, p.idle[found.key][1:])
		p.count--
	}
	return found
}

func (p *Pool) setIdle(key string, list []*process) {
	if len(list) == 0 {
		delete(p.idle, key)
		return
	}
	p.idle[key] = list
}

// recycleAbove is how far above DuckDB's own limit a worker may be resident before it is not used again: glibc keeps what a large
// statement had.
const recycleAbove = 192 << 20

// give takes a worker back. When the idle ones hold more than they may together, the least recently used go.
func (p *Pool) give(w *process) {
	w.size = w.rss()
	if w.dead() || w.size > w.memory+recycleAbove {
		p.drop(w)
		return
	}
	w.used = time.Now()
	p.mu.Lock()
	if p.closed || p.count > p.c.Workers {
		p.mu.Unlock()
		p.drop(w)
		return
	}
	p.idle[w.key] = append(p.idle[w.key], w)
	var evicted []*process
	for p.resident() > p.c.Resident {
		evicted = append(evicted, p.oldest())
	}
	p.mu.Unlock()
	for _, e := range evicted {
		e.kill()
	}
}

// resident is what the idle workers hold together. The lock is held.
func (p *Pool) resident() (total int64) {
	for _, list := range p.idle {
		for _, w := range list {
			total += w.size
		}
	}
	return total
}

func (p *Pool) drop(w *process) {
	w.kill()
	p.mu.Lock()
	p.count--
	p.mu.Unlock()
}

// Retire ends the idle workers that serve path, which is about to be removed.
func (p *Pool) Retire(path string) {
	p.mu.Lock()
	var gone []*process
	for key, list := range p.idle {
		if len(key) > len(path) && key[:len(path)] == path && key[len(path)] == 0 {
			gone = append(gone, list...)
			delete(p.idle, key)
		}
	}
	p.count -= len(gone)
	p.mu.Unlock()
	for _, w := range gone {
		w.kill()
	}
}
