package toolbox

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"bordereau/governance/turntoken"
)

const secret = "0123456789abcdef0123456789abcdef"

// gov is governance as the wire knows it: it checks token and stamp, and answers what a test tells it to.
type gov struct {
	*httptest.Server
	key     ed25519.PrivateKey
	tools   []string
	answer  func(name, key string, n int) (*mcp.CallToolResult, error)
	parts   map[string][]byte
	offline func() bool // answers 503

	mu    sync.Mutex
	calls map[string]int
	keys  []string
}

type alive struct{}

func (alive) TurnLive(context.Context, string, int64) (bool, error) { return true, nil }

func newGov(t *testing.T) *gov {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	g := &gov{key: key, tools: Governed(), calls: map[string]int{}, parts: map[string][]byte{}}
	g.answer = func(name, _ string, _ int) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructured(map[string]any{"audit_id": "a-1", "tool": name}, `{"audit_id":"a-1","tool":"`+name+`"}`), nil
	}
	return g
}

func (g *gov) start(t *testing.T) *gov {
	t.Helper()
	s := server.NewMCPServer("governance", "1", server.WithToolCapabilities(false), server.WithResourceCapabilities(false, false))
	for _, name := range g.tools {
		s.AddTool(mcp.NewTool(name, mcp.WithDescription("test tool")), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			key, _ := r.Params.Meta.AdditionalFields[keyMeta].(string)
			g.mu.Lock()
			g.calls[r.Params.Name]++
			n := g.calls[r.Params.Name]
			g.keys = append(g.keys, key)
			g.mu.Unlock()
			return g.answer(r.Params.Name, key, n)
		})
	}
	s.AddResourceTemplate(mcp.NewResourceTemplate("bordereau://{kind}/{id}/{part}", "parts"), func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		b, ok := g.parts[r.Params.URI]
		if !ok {
			return nil, mcp.ErrResourceNotFound
		}
		return []mcp.ResourceContents{mcp.BlobResourceContents{URI: r.Params.URI, Blob: base64.StdEncoding.EncodeToString(b)}}, nil
	})
	v := turntoken.Verifier{Key: g.key.Public().(ed25519.PublicKey), Issuer: "agent", Audience: "governance", Live: alive{}}
	stamper := turntoken.Stamper{Secret: []byte(secret)}
	inner := server.NewStreamableHTTPServer(s, server.WithStateLess(true))
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.offline != nil && g.offline() {
			http.Error(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"down","data":{"code":"unavailable","component":"turn","message":"nobody can tell","retryable":true}}}`, http.StatusServiceUnavailable)
			return
		}
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		sandbox, err := stamper.Sandbox(r.Header.Get(turntoken.StampHeader), token)
		if err == nil {
			_, err = v.Verify(r.Context(), token, sandbox)
		}
		if err != nil {
			http.Error(w, "refused", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ URI string }
		}
		if json.Unmarshal(body, &m) == nil && m.Method == "resources/read" && g.parts[m.Params.URI] == nil {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no","data":{"code":"not_found","component":"run","message":"no such run, or no such part of it","retryable":false}}}`, m.ID)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}
