package guest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"time"
)

// Config is what the inside needs.
type Config struct {
	Socket string // where the outside listens
	UID    int    // whom commands run as, also as group
}

// Run serves until ctx ends. It must be the sandbox's process 1, as root.
func Run(ctx context.Context, cfg Config) error {
	if cfg.Socket == "" || cfg.UID <= 0 {
		return fmt.Errorf("guest: socket and a uid that is not root's are required")
	}
	p := newProcesses(cfg.UID)
	if err := p.dropBounding(); err != nil { // then no command's start could: that is a sandbox that doesn't come up, not commands that fail
		return fmt.Errorf("guest: %w", err)
	}
	go p.reap(ctx)
	slots := make(chan struct{}, idle)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		c := dial(ctx, cfg.Socket)
		if c == nil {
			return nil
		}
		go serve(c, p, func() { <-slots })
	}
}

// dial tries until the outside listens: a backend that died comes back at the same socket.
func dial(ctx context.Context, socket string) *conn {
	wait := time.NewTicker(20 * time.Millisecond)
	defer wait.Stop()
	d := net.Dialer{}
	for n := 0; ; n++ {
		if c, err := d.DialContext(ctx, "unix", socket); err == nil {
			return &conn{Conn: c}
		}
		if n == 100 {
			wait.Reset(250 * time.Millisecond)
		}
		select {
		case <-wait.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// serve waits for one request on c and runs it. taken is called when the connection no longer is idle.
func serve(c *conn, p *processes, taken func()) {
	defer c.Close()
	var text []byte
	buf, free := frame()
	defer free()
	for {
		kind, payload, err := c.receive(buf)
		if err != nil {
			taken()
			return
		}
		if kind == frameRequest && len(text) < 8<<20 {
			text = append(text, payload...)
			continue
		}
		break
	}
	taken()
	var req Request
	if err := json.Unmarshal(text, &req); err != nil {
		_ = c.sendJSON(frameEnd, End{Refused: "a request that can't be read"})
		return
	}
	_ = c.sendJSON(frameEnd, run(c, p, req))
}
