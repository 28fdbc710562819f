package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"bordereau/governance/fault"
	"bordereau/governance/mcpserver/mcpservertest"
	"bordereau/governance/turntoken"
)

// reply is one answer over the wire.
type reply struct {
	status int
	header http.Header
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int          `json:"code"`
		Message string       `json:"message"`
		Data    *fault.Error `json:"data"`
	} `json:"error"`
	notifications int
}

// post sends one message as a legacy client does.
func post(t *testing.T, bed *mcpservertest.Bed, token, stamp, method string, params any) reply {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Mcp-Protocol-Version": {"2025-06-18"}}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if stamp != "" {
		header.Set(turntoken.StampHeader, stamp)
	}
	return send(t, bed, header, body)
}

// modern sends one message as a client of 2026-07-28 does.
func modern(t *testing.T, bed *mcpservertest.Bed, token, stamp, method, name string, params map[string]any) reply {
	t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	meta, ok := params["_meta"].(map[string]any)
	if !ok {
		meta = map[string]any{}
	}
	meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28"
	meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
	params["_meta"] = meta
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}, "Authorization": {"Bearer " + token}, turntoken.StampHeader: {stamp},
	}
	if name != "" {
		header.Set("Mcp-Name", name)
	}
	return send(t, bed, header, body)
}

func send(t *testing.T, bed *mcpservertest.Bed, header http.Header, body []byte) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, bed.URL, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header.Clone()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := reply{}
	for line := range strings.SplitSeq(string(raw), "\n") {
		line = strings.TrimPrefix(line, "data: ")
		if !strings.HasPrefix(line, "{") {
			continue
		}
		if strings.Contains(line, `"method":"notifications/`) {
			out.notifications++
			continue
		}
		if err := json.Unmarshal([]byte(line), &out); err != nil {
			t.Fatalf("answer %q: %v", line, err)
		}
	}
	out.status, out.header = answer.StatusCode, answer.Header
	return out
}

// called is a tool's answer.
type called struct {
	IsError    bool            `json:"isError"`
	Structured json.RawMessage `json:"structuredContent"`
	Content    []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// callTool calls a tool with a good token of g and returns its answer.
func callTool(t *testing.T, bed *mcpservertest.Bed, g turntoken.Grant, name string, arguments any) called {
	t.Helper()
	return toolAnswer(t, callWith(t, bed, g, name, arguments, nil))
}

func callWith(t *testing.T, bed *mcpservertest.Bed, g turntoken.Grant, name string, arguments any, meta map[string]any) reply {
	t.Helper()
	token := bed.Mint(t, g)
	params := map[string]any{"name": name, "arguments": arguments}
	if meta != nil {
		params["_meta"] = meta
	}
	return post(t, bed, token, bed.Stamper.Stamp(g.Sandbox, token), "tools/call", params)
}

func toolAnswer(t *testing.T, r reply) called {
	t.Helper()
	var out called
	if r.Error != nil {
		t.Fatalf("protocol error %d %s, %+v", r.Error.Code, r.Error.Message, r.Error.Data)
	}
	if err := json.Unmarshal(r.Result, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// faultOf is the typed error of a tool result.
func faultOf(t *testing.T, c called) fault.Error {
	t.Helper()
	var f fault.Error
	if !c.IsError || len(c.Content) != 1 || json.Unmarshal([]byte(c.Content[0].Text), &f) != nil {
		t.Fatalf("no typed error: %+v", c)
	}
	return f
}

// structured reads a tool's answer.
func structured[T any](t *testing.T, c called) T {
	t.Helper()
	var out T
	if c.IsError {
		t.Fatalf("error: %s", c.Content[0].Text)
	}
	if err := json.Unmarshal(c.Structured, &out); err != nil {
		t.Fatal(err)
	}
	if string(c.Structured) != c.Content[0].Text {
		t.Errorf("the text is not the structured content:\n%s\n%s", c.Content[0].Text, c.Structured)
	}
	return out
}
