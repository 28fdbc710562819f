package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"bordereau/governance/turntoken"
)

// The protocol as this client speaks it: MCP of 2026-07-28, where every request stands alone.
const (
	version     = "2026-07-28"
	behindDoor  = "http://localhost/mcp" // by way of the socket
	maxMessage  = 64 << 20
	maxAttempts = 6
)

// client calls governance through the door, or where there is none at its address, with proofs of the token's key.
type client struct {
	http      *http.Client
	endpoint  string
	tokenFile string
	seen      func(message string) // progress; nil for none
	pause     time.Duration        // before the second attempt; it doubles
}

func dial(std stdio) *client {
	c := &client{
		http: &http.Client{Transport: &http.Transport{DisableCompression: true}}, endpoint: std.Env("BORDEREAU_ENDPOINT"),
		tokenFile: or(std.Env("BORDEREAU_TOKEN_FILE"), "/run/bordereau/token"),
		pause:     200 * time.Millisecond,
	}
	if c.endpoint == "" {
		socket := or(std.Env("BORDEREAU_SOCKET"), "/run/bordereau/mcp.sock")
		c.endpoint = behindDoor
		c.http.Transport = &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", socket)
			},
			DisableCompression: true,
		}
	}
	if std.Terminal {
		c.seen = func(message string) { fmt.Fprintln(std.Err, "gov:", message) }
	}
	return c
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// call asks a tool and returns its structured answer. It asks again when governance fails in passing; the key makes sure
// that the work is done once.
func (c *client) call(ctx context.Context, tool string, arguments any) (json.RawMessage, error) {
	key := "gov:" + rand.Text()
	params := map[string]any{"name": tool, "arguments": arguments, "_meta": map[string]any{"bordereau/key": key, "progressToken": key}}
	var out struct {
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
		Content    []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := c.again(ctx, "tools/call", tool, params, &out); err != nil {
		return nil, err
	}
	if out.IsError {
		f := &fault{}
		text := ""
		if len(out.Content) > 0 {
			text = out.Content[0].Text
		}
		if json.Unmarshal([]byte(text), f) != nil || f.Code == "" {
			f = &fault{Code: "internal", Component: "governance", Message: text}
		}
		return nil, f
	}
	if out.Structured == nil && len(out.Content) > 0 {
		out.Structured = json.RawMessage(out.Content[0].Text)
	}
	return out.Structured, nil
}

// read returns one part of a resource.
func (c *client) read(ctx context.Context, uri string) ([]byte, error) {
	var out struct {
		Contents []struct {
			Blob string `json:"blob"`
		} `json:"contents"`
	}
	if err := c.again(ctx, "resources/read", uri, map[string]any{"uri": uri, "_meta": map[string]any{}}, &out); err != nil {
		return nil, err
	}
	if len(out.Contents) != 1 {
		return nil, &fault{Code: "internal", Component: "governance", Message: "a resource came without content"}
	}
	part, err := base64.StdEncoding.DecodeString(out.Contents[0].Blob)
	if err != nil {
		return nil, &fault{Code: "internal", Component: "governance", Message: "a resource can't be read"}
	}
	return part, nil
}

func (c *client) again(ctx context.Context, method, name string, params map[string]any, into any) error {
	wait := c.pause
	for n := 1; ; n++ {
		err := c.request(ctx, method, name, params, into)
		var f *fault
		if err == nil || n == maxAttempts || ctx.Err() != nil || !errors.As(err, &f) || !f.passing() {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
		wait *= 2
	}
}

// request makes one request. The token is read each time: the loop renews it while the turn goes on.
func (c *client) request(ctx context.Context, method, name string, params map[string]any, into any) error {
	text, err := os.ReadFile(c.tokenFile)
	if err != nil {
		return &fault{Code: "auth", Component: "gov", Message: "there is no turn token: " + err.Error(), Hint: "gov works inside a sandbox, while a turn runs"}
	}
	credential, err := turntoken.ReadCredential(string(text))
	if err != nil {
		return &fault{Code: "auth", Component: "gov", Message: err.Error(), Hint: "the turn writes it anew with its next step"}
	}
	meta, ok := params["_meta"].(map[string]any)
	if !ok {
		return errors.New("a request has no _meta")
	}
	meta["io.modelcontextprotocol/protocolVersion"] = version
	meta["io.modelcontextprotocol/clientInfo"] = map[string]string{"name": "gov", "version": "1"}
	meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if err := authorise(r, credential); err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", version)
	r.Header.Set("Mcp-Method", method)
	r.Header.Set("Mcp-Name", name)
	answer, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return &fault{Code: "interrupted", Component: "gov", Message: "stopped"}
		}
		return broken("governance can't be reached: "+err.Error(), "the door is open only while a turn runs")
	}
	defer func() { _ = answer.Body.Close() }()
	return c.answer(answer, into)
}

// authorise adds the token, and a proof of the key that it is bound to. A token without one goes through the door only: nothing
// that another could use is sent over a network.
func authorise(r *http.Request, c turntoken.Credential) error {
	if c.Key == nil {
		if r.URL.String() != behindDoor {
			return &fault{Code: "auth", Component: "gov", Message: "the token is bound to no key", Hint: "without a door governance takes only tokens with a proof of their key"}
		}
		r.Header.Set("Authorization", "Bearer "+c.Token)
		return nil
	}
	proof, err := turntoken.Prove(c.Key, r.Method, r.URL.String(), c.Token, time.Now())
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", turntoken.ProofScheme+" "+c.Token)
	r.Header.Set(turntoken.ProofHeader, proof)
	return nil
}

// message is what governance writes.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Params struct {
		Message string `json:"message"`
	} `json:"params"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    *fault `json:"data"`
	} `json:"error"`
}

func (c *client) answer(r *http.Response, into any) error {
	body := bufio.NewReaderSize(io.LimitReader(r.Body, maxMessage), 64<<10)
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(body)
		if err != nil {
			return broken("the answer broke off", "ask again")
		}
		var m message
		if json.Unmarshal(raw, &m) != nil || m.Error == nil && m.Result == nil {
			return ofStatus(r.StatusCode, raw)
		}
		return m.take(into)
	}
	for {
		line, err := body.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var m message
			if json.Unmarshal([]byte(data), &m) != nil {
				return broken("the answer can't be read", "ask again")
			}
			if m.Method == "" {
				return m.take(into)
			}
			if c.seen != nil && m.Params.Message != "" {
				c.seen(m.Params.Message)
			}
		}
		if err != nil {
			return broken("the answer broke off", "ask again")
		}
	}
}

func (m message) take(into any) error {
	if m.Error == nil {
		if err := json.Unmarshal(m.Result, into); err != nil {
			return &fault{Code: "internal", Component: "governance", Message: "the answer can't be read"}
		}
		return nil
	}
	if m.Error.Data != nil && m.Error.Data.Code != "" {
		return m.Error.Data
	}
	f := &fault{Code: "internal", Component: "governance", Message: m.Error.Message}
	if m.Error.Code == -32602 {
		f.Code = "invalid"
	}
	return f
}

// ofStatus types an answer that isn't the protocol's, such as a proxy's.
func ofStatus(status int, raw []byte) error {
	var door struct {
		Error fault `json:"error"`
	}
	if json.Unmarshal(raw, &door) == nil && door.Error.Code != "" {
		door.Error.Component = or(door.Error.Component, "door")
		return &door.Error
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(raw[:min(len(raw), 200)]), ""))
	f := &fault{Code: "internal", Component: "door", Message: fmt.Sprintf("HTTP status %d: %s", status, text)}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f.Code = "auth"
	case status == http.StatusTooManyRequests:
		f.Code = "rate_limited"
	case status == http.StatusRequestEntityTooLarge:
		f.Code = "too_large"
	case status >= 500:
		f.Code, f.Retryable = "unavailable", true
	}
	return f
}
