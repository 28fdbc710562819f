package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"bordereau/governance/export"
	"bordereau/governance/fault"
	"bordereau/governance/run"
	"bordereau/tools/extraction"
	"bordereau/tools/guideline"
	"bordereau/tools/reconcile"
	"bordereau/tools/submission"
)

// JSON-RPC's codes, and MCP's for a resource that isn't there before 2026-07-28.
const (
	codeInvalidParams = -32602
	codeInternal      = -32603
	codeRefused       = -32000
	codeNoResource    = -32002
)

// mendable tells whether the caller can do something about it. What it can't is a protocol error: a failure of the
// infrastructure must not look like an answer.
func mendable(code fault.Code) bool {
	switch code {
	case fault.Denied, fault.Invalid, fault.NotFound, fault.RateLimited, fault.Timeout, fault.TooLarge:
		return true
	}
	return false
}

// typeError gives an error of the tools and stores its type.
func typeError(err error, part string) *fault.Error {
	f := &fault.Error{Component: part, Message: err.Error()}
	switch {
	case errors.Is(err, submission.ErrAsk), errors.Is(err, extraction.ErrAsk):
		f.Code, f.Message, f.Hint = fault.Invalid, strings.TrimPrefix(err.Error(), part+": "), "the tool's input schema says what it takes"
	case errors.Is(err, extraction.ErrNotFound):
		f.Code, f.Hint = fault.NotFound, "list_submissions names the submissions and their documents"
	case errors.Is(err, export.ErrTooLarge):
		f.Code, f.Hint = fault.TooLarge, "select fewer columns or rows, or aggregate in SQL"
	case errors.Is(err, export.ErrValue):
		f.Code, f.Hint = fault.Invalid, "cast the column to VARCHAR, or export csv"
	case errors.Is(err, export.ErrNotFound):
		f.Code, f.Message, f.Hint = fault.NotFound, "no such export, or it has expired", "ask sql again with export"
	case errors.Is(err, run.ErrNotFound):
		f.Code, f.Message, f.Hint = fault.NotFound, "no such run, or no such part of it", "reconcile names the run"
	case errors.Is(err, guideline.ErrNone):
		f.Code, f.Message, f.Hint = fault.NotFound, strings.TrimPrefix(err.Error(), part+": "), "describe_data lists the guidelines by id"
	case errors.Is(err, reconcile.ErrCut):
		f.Code, f.Message, f.Hint = fault.TooLarge, "there is more data than a run may read", "reconcile fewer days, one workflow, or some submission_ids"
	case errors.Is(err, reconcile.ErrChanged):
		f.Code, f.Message, f.Hint, f.Retryable = fault.Unavailable, "the data changed during the run", "ask again", true
	case errors.Is(err, context.Canceled):
		return (&fault.Error{Code: fault.Interrupted, Component: part, Message: "the call was stopped", Retryable: true}).Because(err)
	default:
		return fault.Of(err, part)
	}
	return f.Because(err)
}

// result is a mendable error as the caller sees it: its JSON, as text. It is no structured content, since that would have
// to be of the tool's output schema.
func result(f *fault.Error) *mcp.CallToolResult {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false) // a model reads it, no browser
	if err := e.Encode(f); err != nil {
		return mcp.NewToolResultError(`{"code":"internal","component":"mcp","message":"internal error"}`)
	}
	return mcp.NewToolResultError(strings.TrimSuffix(raw.String(), "\n"))
}

// wireError carries a typed error through the library, which knows errors by their text only. typed puts it in its place.
type wireError struct{ f *fault.Error }

func (e wireError) Error() string {
	raw, err := json.Marshal(e.f)
	if err != nil {
		return "internal error"
	}
	return string(raw)
}

func (e wireError) Unwrap() error { return e.f }

// typed writes a protocol error's type as its data, where clients look for it.
type typed struct {
	http.ResponseWriter
	modern bool
}

// Flush passes on what has been written; without it the library couldn't stream.
func (t *typed) Flush() {
	if f, ok := t.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap is for http.ResponseController.
func (t *typed) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// sse is how the library begins an event.
const sse = "event: message\ndata: "

// Write passes p on, which is one whole message of the library's, with the error in it typed.
func (t *typed) Write(p []byte) (int, error) {
	head, message := []byte(nil), p
	if bytes.HasPrefix(p, []byte(sse)) {
		head, message = p[:len(sse)], p[len(sse):]
	}
	// A result is never looked at: an error begins with its id and has no other member before it.
	if len(message) > 64<<10 || !bytes.Contains(message, []byte(`"error":{`)) {
		return t.ResponseWriter.Write(p)
	}
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  json.RawMessage `json:"result"`
		Error   *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(message, &m) != nil || m.Error == nil || m.Result != nil {
		return t.ResponseWriter.Write(p)
	}
	f, ok := t.read(m.Error.Code, m.Error.Message)
	if !ok {
		return t.ResponseWriter.Write(p)
	}
	out := append(bytes.Clone(head), errorJSON(m.ID, t.code(f), f.Message, f)...)
	if head != nil {
		out = append(out, "\n\n"...)
	}
	if _, err := t.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// read is the typed error in a message. Anything else that the library calls internal may hold what is inside, such as
// the text of a panic, and is not shown.
func (t *typed) read(code int, message string) (*fault.Error, bool) {
	var f fault.Error
	if json.Unmarshal([]byte(message), &f) == nil && f.Code != "" && f.Message != "" {
		return &f, true
	}
	if code == codeInternal {
		return &fault.Error{Code: fault.Internal, Component: component, Message: "internal error"}, true
	}
	return nil, false
}

func (t *typed) code(f *fault.Error) int {
	switch {
	case f.Code == fault.NotFound && !t.modern:
		return codeNoResource
	case mendable(f.Code):
		return codeInvalidParams
	}
	return codeInternal
}

func errorJSON(id json.RawMessage, code int, message string, f *fault.Error) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	out, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message, "data": f},
	})
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return out
}

func writeError(w http.ResponseWriter, status int, id json.RawMessage, code int, message string, f *fault.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(errorJSON(id, code, message, f), '\n')) // who has gone misses only the refusal
}

// refuse answers a request that isn't let in.
func refuse(w http.ResponseWriter, status int, f *fault.Error) {
	writeError(w, status, nil, codeRefused, f.Message, f)
}

// isModern tells the era of a request.
func isModern(r *http.Request) bool {
	return mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
}

// typeValidation types the library's refusals of arguments and answers that don't fit their schema.
func (s *Server) typeValidation(ctx context.Context, _ any, request *mcp.CallToolRequest, answer any) {
	r, ok := answer.(*mcp.CallToolResult)
	if !ok || r == nil || !r.IsError || len(r.Content) != 1 {
		return
	}
	text, ok := r.Content[0].(mcp.TextContent)
	if !ok || strings.HasPrefix(text.Text, "{") {
		return
	}
	var f *fault.Error
	if refusedInput(text.Text) {
		f = s.takes[request.Params.Name].refuse(request.Params.Name, request.Params.Arguments)
	} else {
		f = &fault.Error{Code: fault.Internal, Component: component, Message: "internal error"}
		s.c.Log.ErrorContext(ctx, "an answer doesn't fit its schema", "tool", request.Params.Name, "error", text.Text)
	}
	*r = *result(f)
}

// refusedInput is the one place that tells the library's messages apart by their text; the golden texts hold it.
func refusedInput(text string) bool {
	return strings.HasPrefix(text, "input schema") || strings.HasPrefix(text, "invalid arguments")
}
