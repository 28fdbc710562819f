package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// progress tells a waiting client that its call is alive. The library drops a notification that races with the result,
// and one that finds its queue full; so each is sent again until it is queued, and the result waits for the last.
type progress struct {
	s     *Server
	token mcp.ProgressToken

	mu      sync.Mutex
	message string

	began time.Time
	last  time.Time // when the last one was queued
	done  chan struct{}
	ended sync.WaitGroup
}

// follow starts the notifications of a call that asked for them.
func (s *Server) follow(ctx context.Context, request mcp.CallToolRequest, message string) *progress {
	p := &progress{s: s, message: message, began: time.Now(), done: make(chan struct{})}
	if request.Params.Meta == nil || request.Params.Meta.ProgressToken == nil {
		return p
	}
	p.token = request.Params.Meta.ProgressToken
	p.ended.Go(func() {
		ticker := time.NewTicker(s.c.Limits.Heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-p.done:
				return
			case <-ticker.C:
				p.send(ctx)
			}
		}
	})
	return p
}

// say changes what the next notification says.
func (p *progress) say(message string) {
	p.mu.Lock()
	p.message = message
	p.mu.Unlock()
}

func (p *progress) send(ctx context.Context) {
	p.mu.Lock()
	message := p.message
	p.mu.Unlock()
	elapsed := time.Since(p.began)
	params := map[string]any{
		"progressToken": p.token, "progress": elapsed.Seconds(), "message": fmt.Sprintf("%s (%d s)", message, int(elapsed.Seconds())),
	}
	for {
		err := p.s.mcp.SendNotificationToClient(ctx, "notifications/progress", params)
		if err == nil {
			p.last = time.Now()
			if p.s.c.Sent != nil {
				p.s.c.Sent()
			}
			return
		}
		if !errors.Is(err, server.ErrNotificationChannelBlocked) || !pause(ctx, p.done, time.Millisecond) {
			return
		}
	}
}

// stop ends the notifications. When it returns, the last of them is as long ago as it has to be.
func (p *progress) stop(ctx context.Context) {
	close(p.done)
	p.ended.Wait()
	if !p.last.IsZero() {
		pause(ctx, nil, p.s.c.Limits.Settle-time.Since(p.last))
	}
}

// pause waits; false says that there was a reason not to wait on.
func pause(ctx context.Context, done <-chan struct{}, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-done:
		return false
	case <-timer.C:
		return true
	}
}
