package duck

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"bordereau/governance/gate"
)

// process is the parent's end of one worker. One statement at a time uses it.
type process struct {
	cmd     *exec.Cmd
	to      *os.File
	from    *bufio.Reader
	fromEnd *os.File
	exited  chan struct{}
	once    sync.Once
	mu      sync.Mutex
	running string // the id of the statement that runs
	doomed  bool   // killed, though it may not be gone yet

	key    string // of the pool
	org    string
	memory int64 // DuckDB's limit
	size   int64 // resident when it was last given back
	used   time.Time
	count  uint64 // of requests
}

// start begins a worker and has it open its file. The environment is empty but for what glibc needs to give memory back.
func start(executable string, args []string, r openRequest) (*process, error) {
	requestsOut, requestsIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answersOut, answersIn, err := os.Pipe()
	if err != nil {
		return nil, closing(err, requestsOut, requestsIn)
	}
	cmd := exec.Command(executable, args...) //nolint:noctx // a worker outlives the request that started it; kill ends it
	cmd.Env = []string{"MALLOC_ARENA_MAX=2", "TZ=UTC", "GOTRACEBACK=none"}
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{requestsOut, answersIn}
	if err := cmd.Start(); err != nil {
		return nil, closing(err, requestsOut, requestsIn, answersOut, answersIn)
	}
	_ = closing(nil, requestsOut, answersIn) // the child has its own
	p := &process{cmd: cmd, to: requestsIn, from: bufio.NewReaderSize(answersOut, 128<<10), fromEnd: answersOut, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // its status says nothing that the closed pipe doesn't
		close(p.exited)
	}()
	if err := p.open(r); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func closing(err error, files ...io.Closer) error {
	for _, f := range files {
		_ = f.Close() // a pipe that nobody uses any more
	}
	return err
}

// openTime is how long a worker may take to start and open its file.
const openTime = 15 * time.Second

func (p *process) open(r openRequest) error {
	payload, err := json.Marshal(r)
	if err != nil {
		return err
	}
	watchdog := time.AfterFunc(openTime, p.kill)
	defer watchdog.Stop()
	if err := writeFrame(p.to, frameOpen, payload); err != nil {
		return err
	}
	k, answer, err := readFrame(p.from)
	if err != nil {
		return fmt.Errorf("the worker did not start: %w", err)
	}
	if k != frameReady {
		return fmt.Errorf("the worker could not open its file: %s", answer)
	}
	return nil
}

// kill ends the process at once and waits until it is gone.
func (p *process) kill() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill() // it may be gone already
		_ = closing(nil, p.to)
	})
	<-p.exited
	_ = closing(nil, p.fromEnd)
}

// busy notes which statement runs, "" for none.
func (p *process) busy(id string) {
	p.mu.Lock()
	p.running = id
	p.mu.Unlock()
}

// killIf kills the process if it still runs that statement.
func (p *process) killIf(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == id && !p.doomed {
		p.doomed = true
		_ = p.cmd.Process.Kill() // it may be gone already
	}
}

func (p *process) dead() bool {
	p.mu.Lock()
	doomed := p.doomed
	p.mu.Unlock()
	if doomed {
		return true
	}
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *process) cancel(id string) { _ = writeFrame(p.to, frameCancel, []byte(id)) } // a broken pipe shows when reading

func (p *process) query(r queryRequest) error {
	payload, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return writeFrame(p.to, frameQuery, payload)
}

func (p *process) nextID() string {
	p.count++
	return strconv.FormatUint(p.count, 10)
}

// rss is the memory in bytes that the worker has for itself, 0 when it can't be told. What all workers share, the program, isn't counted.
func (p *process) rss() int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	var size, resident, shared int64
	if _, err := fmt.Sscan(string(raw), &size, &resident, &shared); err != nil {
		return 0
	}
	return (resident - shared) * int64(os.Getpagesize())
}

// receive hands the frames of one answer to the sink until its last.
func (p *process) receive(sink gate.Sink) (columns []gate.Column, done doneReport, err error) {
	rows := 0
	for {
		k, payload, err := readFrame(p.from)
		if err != nil {
			return columns, done, &brokenError{err}
		}
		switch k {
		case frameHead:
			if err := json.Unmarshal(payload, &columns); err != nil {
				return columns, done, &brokenError{err}
			}
			if err := sink.Begin(columns); err != nil {
				return columns, done, &sinkError{err}
			}
		case frameRows:
			n, err := decodeRows(payload, len(columns), sink)
			rows += n
			if err != nil {
				return columns, done, err
			}
		case frameDone:
			if err := json.Unmarshal(payload, &done); err != nil {
				return columns, done, &brokenError{err}
			}
			if done.Rows != rows { // a row that was lost would make a wrong answer look right
				return columns, done, &brokenError{fmt.Errorf("%d rows of %d arrived", rows, done.Rows)}
			}
			return columns, done, nil
		case frameError:
			var report errorReport
			if err := json.Unmarshal(payload, &report); err != nil {
				return columns, done, &brokenError{err}
			}
			return columns, done, faultOf(report)
		default:
			return columns, done, &brokenError{errFrame}
		}
	}
}

func decodeRows(payload []byte, columns int, sink gate.Sink) (int, error) {
	d := decoder{b: payload}
	rows := 0
	for len(d.b) > 0 && columns > 0 {
		values := make([]any, columns)
		for i := range values {
			v, err := d.value()
			if err != nil {
				return rows, &brokenError{err}
			}
			values[i] = v
		}
		if err := sink.Row(values); err != nil {
			return rows, &sinkError{err}
		}
		rows++
	}
	return rows, nil
}

// brokenError is a worker that can't be talked to any more.
type brokenError struct{ cause error }

func (e *brokenError) Error() string { return "duck: worker: " + e.cause.Error() }
func (e *brokenError) Unwrap() error { return e.cause }

// sinkError is a receiver that wants no more. The worker has rows under way, so it is not used again.
type sinkError struct{ cause error }

func (e *sinkError) Error() string { return "duck: receiver: " + e.cause.Error() }
func (e *sinkError) Unwrap() error { return e.cause }
