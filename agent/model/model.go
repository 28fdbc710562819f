// Package model is what a turn says to a model and hears back, whichever model it is.
package model

import (
	"context"
	"encoding/json"
	"iter"
)

// Role says who spoke a message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Kind says what a block of a message is.
type Kind string

// The kinds.
const (
	Text       Kind = "text"
	Reasoning  Kind = "reasoning"
	ToolUse    Kind = "tool_use"
	ToolResult Kind = "tool_result"
)

// Block is one part of a message. Which fields are set follows from Kind.
type Block struct {
	Kind  Kind            `json:"kind"`
	Text  string          `json:"text,omitempty"`   // Text, Reasoning; of a ToolResult what the model reads
	ID    string          `json:"id,omitempty"`     // ToolUse, and the ToolResult that answers it
	Name  string          `json:"name,omitempty"`   // ToolUse, ToolResult
	Input json.RawMessage `json:"input,omitempty"`  // ToolUse; always a JSON object
	Error bool            `json:"error,omitempty"`  // ToolResult: the tool failed in a way that the model can mend
	Raw   json.RawMessage `json:"raw,omitempty"`    // the provider's own block, kept verbatim and sent back so
	From  string          `json:"raw_of,omitempty"` // which adapter Raw belongs to
}

// Message is one turn of the talk between user and assistant.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
}

// Tool is what a model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Request is one call of a model.
type Request struct {
	System    string
	Messages  []Message
	Tools     []Tool // empty: the model must answer in text
	MaxTokens int
}

// Usage counts tokens of one attempt. Cost is in millionths of a US dollar.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	CostMicros int64 `json:"cost_micros"`
}

// StopReason says why a model ended its reply.
type StopReason string

// The reasons. A stream that ends without one is an *Error of class Truncated.
const (
	EndTurn   StopReason = "end_turn"
	UseTools  StopReason = "tool_use"
	MaxTokens StopReason = "max_tokens"
	Refused   StopReason = "refusal"
)

// EventKind says what an event of a stream carries.
type EventKind string

// The kinds of event.
const (
	TextDelta      EventKind = "text_delta"
	ReasoningDelta EventKind = "reasoning_delta"
	ToolStart      EventKind = "tool_start" // ID, Name
	ToolDelta      EventKind = "tool_delta" // ID, Text: a piece of the input's JSON
	ToolReady      EventKind = "tool_ready" // ID, Name, Input whole
	UsageEvent     EventKind = "usage"      // the usage so far; replaces the one before
	Done           EventKind = "done"       // Stop, Usage, Message whole; always the last of a good stream
)

// Event is one thing a model said.
type Event struct {
	Kind    EventKind
	ID      string
	Name    string
	Text    string
	Input   json.RawMessage
	Usage   Usage
	Stop    StopReason
	Message Message
}

// Model answers requests. The stream ends after Done or after one error, always an *Error.
type Model interface {
	Name() string // "playbook", "anthropic/claude-…", "openai/…": recorded with each step
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// Class is the kind of failure of a model call.
type Class string

// The classes. Infrastructure tells which of them are no fault of the model.
const (
	Overloaded      Class = "overloaded"
	RateLimited     Class = "rate_limited"
	ContextExceeded Class = "context_exceeded"
	Refusal         Class = "refusal"
	Auth            Class = "auth"
	BadRequest      Class = "bad_request"
	Truncated       Class = "truncated"
	Transport       Class = "transport"
	Cancelled       Class = "cancelled"
)

// MalformedInput is the only key of a ToolUse's Input when the model wrote something that is no JSON object: its value is
// that text. The loop answers such a call without running it.
const MalformedInput = "_malformed_input"
