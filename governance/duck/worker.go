package duck

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"time"

	"bordereau/governance/gate"
)

// WorkerCommand is the hidden subcommand that makes a process a worker: WorkerMain is called for it and the process exits with
// what it returns.
const WorkerCommand = "duck-worker"

// The pipes of a worker, beside the standard three.
const (
	fdRequests = 3
	fdAnswers  = 4
)

// WorkerMain serves one parent over the pipes it was started with, until they close.
func WorkerMain() int {
	requests, answers := os.NewFile(fdRequests, "requests"), os.NewFile(fdAnswers, "answers")
	if requests == nil || answers == nil {
		return 2
	}
	debug.SetGCPercent(50)
	w := &worker{in: bufio.NewReaderSize(requests, 64<<10), out: answers, work: make(chan message), cancel: make(chan string, 1)}
	go w.read()
	return w.serve()
}

type message struct {
	kind    kind
	payload []byte
}

type worker struct {
	in     io.Reader
	out    io.Writer
	engine *engine
	work   chan message
	cancel chan string // the id of the statement to stop
}

// read hands requests on. When the parent is gone the process ends at once, whatever DuckDB is doing.
func (w *worker) read() {
	for {
		k, payload, err := readFrame(w.in)
		if err != nil {
			os.Exit(0)
		}
		if k == frameCancel {
			select { // one that nobody took is for a statement that has ended
			case <-w.cancel:
			default:
			}
			w.cancel <- string(payload)
			continue
		}
		w.work <- message{k, payload}
	}
}

func (w *worker) serve() int {
	for m := range w.work {
		if err := w.handle(m); err != nil {
			report := errorReport{Class: classEngine, Message: err.Error()}
			if f, ok := errors.AsType[*failure](err); ok {
				report = errorReport{Class: f.class, Message: f.message}
			}
			if w.send(frameError, report) != nil {
				return 1
			}
		}
	}
	return 0
}

func (w *worker) send(k kind, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFrame(w.out, k, payload)
}

func (w *worker) handle(m message) error {
	switch m.kind {
	case frameOpen:
		var r openRequest
		if err := json.Unmarshal(m.payload, &r); err != nil {
			return err
		}
		if err := confine(r.Memory); err != nil {
			return err
		}
		e, err := openEngine(r)
		if err != nil {
			return err
		}
		if e.used, err = openUsage(); err != nil {
			return err
		}
		if err := seal(); err != nil {
			return err
		}
		w.engine = e
		return writeFrame(w.out, frameReady, nil)
	case frameQuery:
		var r queryRequest
		if err := json.Unmarshal(m.payload, &r); err != nil {
			return err
		}
		return w.query(r)
	case frameParse:
		tree, err := w.parse(string(m.payload))
		if err != nil {
			return err
		}
		return writeFrame(w.out, frameParsed, []byte(tree))
	case framePrint:
		sql, err := w.engine.text("SELECT json_deserialize_sql(?::JSON)", string(m.payload))
		if err != nil {
			return err
		}
		tree, err := w.parse(sql)
		if err != nil {
			return err
		}
		return writeFrame(w.out, framePrinted, []byte(sql+"\x00"+tree))
	}
	return errors.New("unknown request")
}

func (w *worker) parse(sql string) (string, error) {
	return w.engine.text("SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", sql)
}

func (w *worker) query(r queryRequest) error {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		w.engine.watch(time.Duration(r.Millis)*time.Millisecond, w.cancel, r.ID, stop)
	}()
	done, err := w.engine.query(r, w)
	close(stop)
	<-stopped
	if err != nil {
		return err
	}
	return w.send(frameDone, done)
}

func (w *worker) head(columns []column, names []string) error {
	out := make([]gate.Column, len(columns))
	for i, c := range columns {
		out[i] = gate.Column{Name: names[i], Type: c.name}
	}
	return w.send(frameHead, out)
}

func (w *worker) rows(batch []byte) error { return writeFrame(w.out, frameRows, batch) }
