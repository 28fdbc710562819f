package toolbox

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"bordereau/agent/model"
	"bordereau/agent/turn"
	"bordereau/governance/turntoken"
)

// keyMeta carries the idempotency key of a call.
const keyMeta = "bordereau/key"

// governance is the turn's connection to the MCP server.
type governance struct {
	mcp     *client.Client
	opening sync.Mutex
	open    bool

	mu       sync.Mutex
	watchers map[string]func(turn.Progress) // by progress token
}

// wire keeps the typed error that a protocol error carries, which the client would flatten into text.
type wire struct{ *transport.StreamableHTTP }

// SendRequest returns a *fault for an answer that holds one.
func (w wire) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	resp, err := w.StreamableHTTP.SendRequest(ctx, r)
	if err != nil || resp == nil || resp.Error == nil || resp.Error.Data == nil {
		return resp, err
	}
	raw, err := json.Marshal(resp.Error.Data)
	if err != nil {
		return resp, nil //nolint:nilerr // the answer stands as it came
	}
	if f, ok := readFault(raw); ok {
		return nil, f
	}
	return resp, nil
}

func dial(c Config, t *token) (*governance, error) {
	// Each request carries a fresh stamp: it says that the agent itself asks for this sandbox's turn, now.
	head := func(context.Context) map[string]string {
		text, sandbox, err := t.get()
		if err != nil {
			return nil // governance refuses the call, and says so
		}
		return map[string]string{"Authorization": "Bearer " + text, turntoken.StampHeader: c.Stamper.Stamp(sandbox, text)}
	}
	http, err := transport.NewStreamableHTTP(c.MCP, transport.WithHTTPBasicClient(c.HTTP), transport.WithHTTPHeaderFunc(head))
	if err != nil {
		return nil, err
	}
	g := &governance{mcp: client.NewClient(wire{http}), watchers: map[string]func(turn.Progress){}}
	g.mcp.OnNotification(g.notified)
	return g, nil
}

func (g *governance) close() { _ = g.mcp.Close() } // nothing is buffered; there is no one to tell

// connect agrees on a protocol once.
func (g *governance) connect(ctx context.Context) error {
	g.opening.Lock()
	defer g.opening.Unlock()
	if g.open {
		return nil
	}
	if err := g.mcp.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	var init mcp.InitializeRequest
	init.Params.ClientInfo = mcp.Implementation{Name: "bordereau-agent", Version: "1"}
	if _, err := g.mcp.Initialize(ctx, init); err != nil {
		return err
	}
	g.open = true
	return nil
}

func (g *governance) notified(n mcp.JSONRPCNotification) {
	if n.Method != "notifications/progress" {
		return
	}
	raw, err := json.Marshal(n.Params.AdditionalFields)
	if err != nil {
		return
	}
	var p struct {
		Token    any     `json:"progressToken"`
		Progress float64 `json:"progress"`
		Total    float64 `json:"total"`
		Message  string  `json:"message"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return
	}
	g.mu.Lock()
	watch := g.watchers[fmt.Sprint(p.Token)]
	g.mu.Unlock()
	if watch != nil {
		watch(turn.Progress{Message: p.Message, Done: p.Progress, Total: p.Total})
	}
}

func (g *governance) watch(token string, f func(turn.Progress)) (stop func()) {
	g.mu.Lock()
	g.watchers[token] = f
	g.mu.Unlock()
	return func() {
		g.mu.Lock()
		delete(g.watchers, token)
		g.mu.Unlock()
	}
}

// ofMCP types an error of a call: what governance said, or that it didn't answer.
func ofMCP(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	var unauthorized *transport.AuthorizationRequiredError
	switch {
	case errors.As(err, &unauthorized), strings.Contains(err.Error(), "status 401"), strings.Contains(err.Error(), "status 403"):
		return &fault{Code: "auth", Component: "governance", Message: "governance refused the turn's token", Hint: "agent and governance must share keys, issuer, audience and the stamp's secret"}
	case errors.Is(err, mcp.ErrInvalidParams), errors.Is(err, mcp.ErrInvalidRequest):
		return &fault{Code: "invalid", Component: "governance", Message: "governance refused the call: " + safe(err)}
	case errors.Is(err, mcp.ErrMethodNotFound), errors.Is(err, mcp.ErrResourceNotFound):
		return &fault{Code: "not_found", Component: "governance", Message: "governance has no such thing: " + safe(err)}
	case errors.Is(err, mcp.ErrInternalError):
		return &fault{Code: "internal", Component: "governance", Message: "governance failed inside", Hint: "its log has the details"}
	case errors.Is(err, context.DeadlineExceeded):
		return &fault{Code: "timeout", Component: "governance", Message: "governance took too long"}
	case errors.Is(err, context.Canceled):
		return &fault{Code: "interrupted", Component: "governance", Message: "stopped"}
	}
	return &fault{Code: "unavailable", Component: "governance", Message: "governance does not answer", Hint: "the role governance may be down or unreachable", Retryable: true}
}

// safe is an error of the protocol layer as one bounded line; it holds no data of the customer.
func safe(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	return strings.ToValidUTF8(text[:min(len(text), 300)], "")
}

// preflight lists governance's tools, which must be those of the allow-list: with fewer, a model would say "I have no such
// tool" and look stupid for what is the installation's fault; with more, the token gives more than it should.
func (s *session) preflight(ctx context.Context) ([]model.Tool, error) {
	var listed *mcp.ListToolsResult
	began := s.c.Now()
	err := s.again(ctx, "governance", s.c.Preflight, func() (bool, error) {
		err := s.governance.connect(ctx)
		if err == nil {
			listed, err = s.governance.mcp.ListTools(ctx, mcp.ListToolsRequest{})
		}
		if err == nil {
			return false, nil
		}
		f := ofMCP(err)
		return f.passing(), f.failure(err)
	})
	if err != nil {
		return nil, err
	}
	if took := s.c.Now().Sub(began); took > time.Second {
		s.observer.Waited("governance", began, took, "preflight")
	}
	var names []string
	var tools []model.Tool
	for _, t := range listed.Tools {
		schema := t.RawInputSchema
		if schema == nil {
			if schema, err = json.Marshal(t.InputSchema); err != nil {
				return nil, &turn.Failure{Component: "governance", Class: "internal", Message: "a tool's schema can't be read", Cause: err}
			}
		}
		names = append(names, t.Name)
		tools = append(tools, model.Tool{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	slices.Sort(names)
	if !slices.Equal(names, s.c.Allow) {
		return nil, &turn.Failure{
			Component: "governance", Class: "unavailable", Message: "governance offers other tools than this turn may use",
			Hint:  fmt.Sprintf("expected %s; got %s", strings.Join(s.c.Allow, ", "), strings.Join(names, ", ")),
			Cause: errors.New("preflight: tools differ from the allow-list"),
		}
	}
	slices.SortFunc(tools, func(a, b model.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, nil
}

// governed calls a tool of governance. A call that failed in passing is made again under the same key, which joins the first
// one or returns its stored result.
func (s *session) governed(ctx context.Context, c turn.Call) (turn.Result, error) {
	stop := s.governance.watch(c.Key, func(p turn.Progress) { s.observer.Progress(c.ID, p) })
	defer stop()
	var request mcp.CallToolRequest
	request.Params.Name = c.Name
	request.Params.Arguments = c.Input
	request.Params.Meta = &mcp.Meta{ProgressToken: c.Key, AdditionalFields: map[string]any{keyMeta: c.Key}}
	var out turn.Result
	var failed *fault
	err := s.again(ctx, "governance", s.c.Patience, func() (bool, error) {
		answer, err := s.governance.mcp.CallTool(ctx, request)
		var f *fault
		if err != nil {
			f = ofMCP(err)
		} else if out, f = readAnswer(answer); f == nil {
			return false, nil
		}
		failed = f
		return f.passing(), f.failure(err)
	})
	switch {
	case err == nil:
	case failed.mendable():
		return failed.result(), nil
	default:
		return turn.Result{}, err
	}
	if c.Name == "sql" && !out.Error {
		return s.fetchExport(ctx, c, out)
	}
	return out, nil
}

// readAnswer reads a tool's result. An error without a type is the tool's word to the model.
func readAnswer(a *mcp.CallToolResult) (turn.Result, *fault) {
	var texts []string
	for _, c := range a.Content {
		if t, ok := c.(mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	r := turn.Result{Text: strings.Join(texts, "\n"), Error: a.IsError, Output: a.RawStructuredContent}
	if r.Output == nil && a.StructuredContent != nil {
		if raw, err := json.Marshal(a.StructuredContent); err == nil {
			r.Output = raw
		}
	}
	if r.Text == "" {
		r.Text = string(r.Output)
	}
	if a.IsError {
		for _, raw := range [][]byte{r.Output, []byte(r.Text)} {
			if f, ok := readFault(raw); ok {
				return turn.Result{}, f
			}
		}
	}
	r.AuditIDs = auditIDs(r)
	return r, nil
}

func auditIDs(r turn.Result) []string {
	raw := []byte(r.Output)
	if raw == nil {
		raw = []byte(r.Text)
	}
	var ids struct {
		One  string   `json:"audit_id"`
		Many []string `json:"audit_ids"`
	}
	if json.Unmarshal(raw, &ids) != nil {
		return nil
	}
	if ids.One != "" && !slices.Contains(ids.Many, ids.One) {
		ids.Many = append([]string{ids.One}, ids.Many...)
	}
	return ids.Many
}

// resource reads one part of a resource of governance.
func (s *session) resource(ctx context.Context, uri string) ([]byte, error) {
	var request mcp.ReadResourceRequest
	request.Params.URI = uri
	var out []byte
	err := s.again(ctx, "governance", s.c.Patience, func() (bool, error) {
		answer, err := s.governance.mcp.ReadResource(ctx, request)
		if err != nil {
			f := ofMCP(err)
			return f.passing(), f
		}
		if len(answer.Contents) == 0 {
			return false, &fault{Code: "internal", Component: "governance", Message: "a resource came without content"}
		}
		switch c := answer.Contents[0].(type) { // governance answers each part as one content
		case mcp.BlobResourceContents:
			out, err = base64.StdEncoding.DecodeString(c.Blob)
		case mcp.TextResourceContents:
			out = []byte(c.Text)
		}
		if err != nil {
			return false, &fault{Code: "internal", Component: "governance", Message: "a resource can't be read"}
		}
		return false, nil
	})
	return out, err
}
