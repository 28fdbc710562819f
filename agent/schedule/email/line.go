package email

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// line is the connection of one message: it can be cut, and it knows whether it waited in vain. The library's errors don't
// tell.
type line struct {
	slow atomic.Bool
	mu   sync.Mutex
	conn net.Conn
	over bool
}

// dialer dials and keeps hold of the connection; config is nil where TLS comes later or never.
func (l *line) dialer(config *tls.Config) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		raw, err := d.DialContext(ctx, network, address)
		if err != nil {
			l.note(err)
			return nil, err
		}
		var c net.Conn = &noted{raw, l}
		l.mu.Lock()
		l.conn = raw
		over := l.over
		l.mu.Unlock()
		if over {
			return nil, errors.Join(context.Canceled, raw.Close())
		}
		if config == nil {
			return c, nil
		}
		secure := tls.Client(c, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			l.note(err)
			return nil, errors.Join(err, raw.Close())
		}
		return secure, nil
	}
}

// cut ends the connection.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.conn != nil {
		_ = l.conn.Close()
	}
}

func (l *line) note(err error) {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		l.slow.Store(true)
	}
}

// noted is a connection that notes waiting in vain.
type noted struct {
	net.Conn
	l *line
}

// Read reads.
func (n *noted) Read(p []byte) (int, error) {
	k, err := n.Conn.Read(p)
	n.l.note(err)
	return k, err
}

// Write writes.
func (n *noted) Write(p []byte) (int, error) {
	k, err := n.Conn.Write(p)
	n.l.note(err)
	return k, err
}
