package mcpserver_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bordereau/governance/mcpserver"
	"bordereau/governance/mcpserver/mcpservertest"
)

// session connects the official SDK's client through the door of the sandbox.
func session(t *testing.T, bed *mcpservertest.Bed, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "counter", Version: "1"}, options)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: bed.URL, HTTPClient: bed.Client(t, mcpservertest.Grant()), DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestNoProgressIsLost sends at least 10,000 notifications in real calls and counts them with a client of the official SDK: what the
// server queued is what must arrive. The server keeps each result back until the last notification is at least 100 ms old.
func TestNoProgressIsLost(t *testing.T) {
	t.Parallel()
	const calls, lanes, each = 40, 4, 250 // each: what a call waits for at least
	g := (&mcpservertest.Gate{}).On("slow", mcpservertest.Reply{Wait: func(ctx context.Context) error {
		timer := time.NewTimer(each * 2 * time.Millisecond)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		}
	}})
	var sent atomic.Int64
	bed := mcpservertest.Start(t, func(c *mcpserver.Config) {
		c.Gate = g
		c.Limits.Heartbeat, c.Limits.Settle = time.Millisecond, 110*time.Millisecond
		c.Sent = func() { sent.Add(1) }
	})
	var received atomic.Int64
	var late atomic.Int64
	var last sync.Map // by token: the time of its newest notification
	s := session(t, bed, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		received.Add(1)
		last.Store(r.Params.ProgressToken, time.Now())
	}})
	for sent.Load() < 10_000 {
		var lane sync.WaitGroup
		for l := range lanes {
			lane.Go(func() {
				for n := range calls / lanes / 4 {
					token := fmt.Sprintf("%d-%d-%d", sent.Load(), l, n)
					p := &mcp.CallToolParams{Name: "sql", Arguments: map[string]any{"query": "SELECT slow"}}
					p.SetProgressToken(token)
					r, err := s.CallTool(t.Context(), p)
					if err != nil || r.IsError {
						t.Errorf("call: %+v, %v", r, err)
						return
					}
					if at, ok := last.Load(token); ok && time.Since(at.(time.Time)) < 100*time.Millisecond {
						late.Add(1)
					}
				}
			})
		}
		lane.Wait()
		if t.Failed() {
			return
		}
	}
	deadline := time.Now().Add(5 * time.Second)
	for received.Load() < sent.Load() && time.Now().Before(deadline) {
		<-time.After(10 * time.Millisecond)
	}
	if received.Load() != sent.Load() {
		t.Errorf("%d notifications sent, %d received", sent.Load(), received.Load())
	}
	t.Logf("%d sent, %d received; %d results followed the last notification by less than 100 ms", sent.Load(), received.Load(), late.Load())
}

// TestOfficialClientReadsTheTools holds that the official SDK's client, which checks schemas itself, takes what is served.
func TestOfficialClientReadsTheTools(t *testing.T) {
	t.Parallel()
	bed := mcpservertest.Start(t, func(c *mcpserver.Config) { c.Gate = (&mcpservertest.Gate{}).Described() })
	s := session(t, bed, nil)
	t.Logf("protocol %s", s.InitializeResult().ProtocolVersion)
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != len(mcpservertest.Tools()) {
		t.Fatalf("tools %+v, %v", tools, err)
	}
	for name, arguments := range map[string]any{
		"sql": map[string]any{"query": "SELECT 1"}, "describe_data": map[string]any{}, "decode_vins": map[string]any{"vins": []any{map[string]any{"vin": "1FUJGLDR0CLBP8834"}}},
		"reconcile": map[string]any{},
	} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err != nil || r.IsError || r.StructuredContent == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	templates, err := s.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 4 {
		t.Errorf("templates %+v, %v", templates, err)
	}
}
