package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// idle is how many connections the outside keeps ready.
const idle = 4

// grace is how long a killed command may take to be gone before the whole sandbox is given up.
const grace = 5 * time.Second

// ErrLost means that the inside went away or stopped answering; what became of the command can't be told.
var ErrLost = errors.New("guest: the inside does not answer")

// RefusedError is a request that could not be started through its own fault.
type RefusedError struct{ Reason string }

// Error gives the reason.
func (e *RefusedError) Error() string { return e.Reason }

// Listener is the outside: it holds the idle connections of one sandbox.
type Listener struct {
	socket net.Listener
	ready  chan *conn
	done   chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
}

// Listen takes over an open socket whose file only root inside the sandbox can reach.
func Listen(socket net.Listener) *Listener {
	l := &Listener{socket: socket, ready: make(chan *conn, idle), done: make(chan struct{})}
	l.wg.Go(l.accept)
	return l
}

func (l *Listener) accept() {
	for {
		c, err := l.socket.Accept()
		if err != nil {
			return
		}
		select {
		case l.ready <- &conn{Conn: c}:
		case <-l.done:
			c.Close()
			return
		}
	}
}

// Close drops the idle connections and stops listening. Running commands are not touched.
func (l *Listener) Close() {
	l.once.Do(func() {
		close(l.done)
		l.socket.Close()
		l.wg.Wait()
		for {
			select {
			case c := <-l.ready:
				c.Close()
			default:
				return
			}
		}
	})
}

// Streams are what a command reads and writes. nil means empty and discarded.
type Streams struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Await returns once the inside has dialled, without using its connection up.
func (l *Listener) Await(ctx context.Context) error {
	select {
	case c := <-l.ready:
		select {
		case l.ready <- c:
		default:
			c.Close()
		}
		return nil
	case <-l.done:
		return ErrLost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// take gives a connection that the inside still holds. Those left by a dead inside are dropped.
func (l *Listener) take(ctx context.Context, req []byte) (*conn, error) {
	for {
		select {
		case c := <-l.ready:
			if c.send(frameRequest, req) == nil && c.send(frameGo, nil) == nil {
				return c, nil
			}
			c.Close()
		case <-l.done:
			return nil, ErrLost
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Run runs one command to its end. When ctx ends, the command and all it started are killed first.
func (l *Listener) Run(ctx context.Context, req Request, std Streams) (End, error) {
	text, err := json.Marshal(req)
	if err != nil {
		return End{}, err
	}
	c, err := l.take(ctx, text)
	if err != nil {
		return End{}, err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() {
		_ = c.send(frameKill, nil)
		_ = c.SetReadDeadline(time.Now().Add(grace))
	})
	defer stop()

	ack := make(chan struct{}, 1)
	over := make(chan struct{})
	var feeding sync.WaitGroup
	feeding.Go(func() { feed(c, std.Stdin, ack, over) })
	defer func() {
		close(over)
		// A reader that never returns must not hold the result; it ends with its source.
		if std.Stdin == nil {
			feeding.Wait()
		}
	}()

	var text2 bytes.Buffer
	buf, free := frame()
	defer free()
	for {
		kind, payload, err := c.receive(buf)
		if err != nil {
			return End{}, errors.Join(ErrLost, err)
		}
		switch kind {
		case frameAck:
			select {
			case ack <- struct{}{}:
			default:
			}
		case frameStdout:
			write(std.Stdout, payload)
		case frameStderr:
			write(std.Stderr, payload)
		case frameEnd:
			text2.Write(payload)
			var end End
			if err := json.Unmarshal(text2.Bytes(), &end); err != nil {
				return End{}, errors.Join(ErrLost, err)
			}
			if end.Refused != "" {
				return end, &RefusedError{Reason: end.Refused}
			}
			return end, nil
		}
	}
}

func write(w io.Writer, p []byte) {
	if w != nil {
		_, _ = w.Write(p) // the command goes on when nobody listens any more
	}
}

// feed sends standard input a piece at a time, so that a kill never waits behind input that nobody reads.
func feed(c *conn, in io.Reader, ack, over <-chan struct{}) {
	if in == nil {
		_ = c.send(frameEOF, nil)
		return
	}
	buf, free := frame()
	defer free()
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if c.send(frameStdin, buf[:n]) != nil {
				return
			}
			select {
			case <-ack:
			case <-over:
				return
			}
		}
		if err != nil {
			_ = c.send(frameEOF, nil)
			return
		}
	}
}
