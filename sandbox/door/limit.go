package door

import (
	"net"
	"sync"
)

// limited hands out at most n connections at a time; more are closed at once, so that a sandbox can only starve itself.
type limited struct {
	net.Listener
	slots chan struct{}
}

func newLimited(l net.Listener, n int) *limited {
	return &limited{Listener: l, slots: make(chan struct{}, n)}
}

// Accept waits for a connection within the limit.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.slots <- struct{}{}:
			return &counted{Conn: c, done: func() { <-l.slots }}, nil
		default:
			_ = c.Close()
		}
	}
}

type counted struct {
	net.Conn
	once sync.Once
	done func()
}

// Close gives the slot back.
func (c *counted) Close() error {
	c.once.Do(c.done)
	return c.Conn.Close()
}
