// Package mcpserver serves governed data and the domain tools to one turn at a time, over MCP.
package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"bordereau/governance/call"
	"bordereau/governance/export"
	"bordereau/governance/gate"
	"bordereau/governance/policy"
	"bordereau/governance/relation"
	"bordereau/governance/run"
	"bordereau/governance/turntoken"
)

// component names this part in the errors that it makes itself.
const component = "mcp"

// Config is what a Server needs. All of it is required but Limits, whose zero fields have defaults, and Sent.
type Config struct {
	Gate       gate.Querier
	Verifier   turntoken.Verifier
	Stamper    turntoken.Stamper
	Refusals   Refusals
	VINs       VINs
	Reconciler Reconciler
	Guidelines Guidelines
	Documents  Documents
	Policy     *policy.Policy // the gate's: what a role sees described, and whether it may read documents as they came
	Runs       *run.Store
	Exports    *export.Store
	Calls      *call.Desk
	Log        *slog.Logger
	Now        func() time.Time
	NewID      func() string // of runs, never twice the same
	Version    string        // of the program
	Limits     Limits
	Sent       func() // is told of each progress notification that was queued; nil for nobody
}

// Limits bound what one request, call and turn may take.
type Limits struct {
	Body      int64         // bytes of a request; 4 MiB
	Calls     int           // requests of one turn at once; 16
	SQL       time.Duration // of one call of any tool but reconcile; 2 min
	Reconcile time.Duration // of one reconciliation; 15 min
	Heartbeat time.Duration // between two progress notifications; 10 s
	Settle    time.Duration // from the last progress to the result; 150 ms
}

func (l *Limits) fill() {
	or := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	or(&l.SQL, 2*time.Minute)
	or(&l.Reconcile, 15*time.Minute)
	or(&l.Heartbeat, 10*time.Second)
	or(&l.Settle, 150*time.Millisecond)
	if l.Body == 0 {
		l.Body = 4 << 20
	}
	if l.Calls == 0 {
		l.Calls = 16
	}
}

// Server is an http.Handler for the MCP endpoint.
type Server struct {
	c         Config
	relations []relation.Relation
	mcp       *server.MCPServer
	http      *server.StreamableHTTPServer
	tools     map[string]bool
	takes     map[string]takes

	mu    sync.Mutex
	calls map[string]int // requests under way, by organisation and turn
	seen  map[string]time.Time
}

var _ http.Handler = (*Server)(nil)

// New returns a Server, or says what is missing: without issuer, audience, key, liveness or stamp's secret it refuses to start.
func New(c Config) (*Server, error) {
	if err := c.Verifier.Check(); err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	if err := c.Stamper.Check(); err != nil {
		return nil, fmt.Errorf("mcpserver: %w", err)
	}
	if c.Gate == nil || c.Refusals == nil || c.VINs == nil || c.Reconciler == nil || c.Guidelines == nil || c.Documents == nil || c.Policy == nil {
		return nil, errors.New("mcpserver: Gate, Refusals, VINs, Reconciler, Guidelines, Documents and Policy are required")
	}
	if c.Runs == nil || c.Exports == nil || c.Calls == nil || c.Log == nil || c.Now == nil || c.NewID == nil || c.Version == "" {
		return nil, errors.New("mcpserver: Runs, Exports, Calls, Log, Now, NewID and Version are required")
	}
	c.Limits.fill()
	s := &Server{c: c, tools: map[string]bool{}, takes: map[string]takes{}, calls: map[string]int{}, seen: map[string]time.Time{}}
	hooks := &server.Hooks{}
	hooks.AddAfterCallTool(s.typeValidation)
	s.mcp = server.NewMCPServer("bordereau-governance", c.Version,
		server.WithTitle("Bordereau: governed submission data"),
		server.WithInstructions(instructions),
		server.WithToolCapabilities(false), server.WithResourceCapabilities(false, false),
		server.WithToolFilter(listed),
		server.WithRecovery(), server.WithResourceRecovery(),
		server.WithInputSchemaValidation(), server.WithOutputSchemaValidation(),
		server.WithCacheHints(0, mcp.CacheScopePrivate), // a list is one token's: nobody else may see it
		server.WithHooks(hooks),
	)
	var err error
	if s.relations, err = relation.All(); err != nil {
		return nil, err
	}
	if err := s.addTools(); err != nil {
		return nil, err
	}
	s.addResources()
	s.http = server.NewStreamableHTTPServer(s.mcp, server.WithStateLess(true), server.WithDisableStreaming(true),
		server.WithStreamableHTTPLogger(c.Log))
	return s, nil
}

// Tend removes expired exports and answers, now and then every so often, until ctx ends.
func (s *Server) Tend(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		n, err := s.c.Exports.Reap(ctx)
		if err := errors.Join(err, s.c.Calls.Reap(ctx)); err != nil && ctx.Err() == nil {
			s.c.Log.WarnContext(ctx, "expired results not removed", "error", err)
		}
		if n > 0 {
			s.c.Log.InfoContext(ctx, "expired exports removed", "files", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// listed keeps the tools on the token's list, for tools/list and for tools/call alike.
func listed(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	who, ok := callerOf(ctx)
	out := make([]mcp.Tool, 0, len(tools))
	for _, t := range tools {
		if ok && who.May(t.Name) {
			out = append(out, t)
		}
	}
	return out
}

type callerKey struct{}

// callerOf is the verified token of a request.
func callerOf(ctx context.Context) (turntoken.Claims, bool) {
	c, ok := ctx.Value(callerKey{}).(turntoken.Claims)
	return c, ok
}

// principal is whom the gate sees.
func principal(c turntoken.Claims, via string) gate.Principal {
	return gate.Principal{
		Org: c.Org, Subject: c.Person, Role: c.Role, Via: via, Conversation: c.Conversation, Turn: c.Turn, Epoch: c.Epoch, Sandbox: c.Sandbox,
	}
}
