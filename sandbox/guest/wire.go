// Package guest is the first process inside a sandbox that has a kernel of its own: it runs commands for the backend.
//
// Outside (Listener) and inside (Run) speak over a Unix socket that only root inside can reach. The inside dials and keeps idle
// connections ready; each command takes one, so an exec costs one message and one fork instead of a start of the runtime.
package guest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
)

// maxFrame bounds what either side takes in one piece; the inside is not trusted.
const maxFrame = 64 << 10

var frames = sync.Pool{New: func() any { return new([maxFrame]byte) }} //nolint:gochecknoglobals // a pool is one for the process

// frame is a buffer for one frame, until it is freed. A new one each time would be faulted in page by page, which is slow inside.
func frame() (buf []byte, free func()) {
	f := frames.Get().(*[maxFrame]byte) //nolint:forcetypeassert // the pool's only type
	return f[:], func() { frames.Put(f) }
}

// Kinds of frame.
const (
	frameRequest byte = 'R' // outside -> inside: Request as JSON; may span frames, ended by frameGo
	frameGo      byte = 'G'
	frameStdin   byte = 'I' // outside -> inside: one piece of standard input, answered by frameAck
	frameEOF     byte = 'i' // outside -> inside: end of standard input
	frameKill    byte = 'K' // outside -> inside: kill it and all it started
	frameAck     byte = 'A'
	frameStdout  byte = 'O'
	frameStderr  byte = 'E'
	frameEnd     byte = 'X' // inside -> outside: End as JSON
)

// Request is one command to run.
type Request struct {
	Args        []string
	Env         []string
	Dir         string
	OutputBytes int64 // of standard output and error each; more is read and thrown away
}

// End is how it ended.
type End struct {
	Code      int
	Truncated bool
	Refused   string // why it could not be started, when that is the request's fault
}

// conn writes and reads frames.
type conn struct {
	net.Conn
	mu sync.Mutex // one writer at a time
}

func (c *conn) send(kind byte, payload []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		piece := payload[:min(len(payload), maxFrame)]
		payload = payload[len(piece):]
		var head [5]byte
		head[0] = kind
		binary.BigEndian.PutUint32(head[1:], uint32(len(piece))) // #nosec G115 -- at most maxFrame
		buffers := net.Buffers{head[:], piece}
		if _, err := buffers.WriteTo(c.Conn); err != nil {
			return err
		}
		if len(payload) == 0 {
			return nil
		}
	}
}

func (c *conn) sendJSON(kind byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.send(kind, b)
}

// receive reads one frame into buf, which has maxFrame bytes.
func (c *conn) receive(buf []byte) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(c.Conn, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("guest: a frame of %d bytes", n)
	}
	_, err = io.ReadFull(c.Conn, buf[:n])
	return head[0], buf[:n], err
}
