// Package uimessage writes the parts of the AI SDK UI message stream, version 1, that a turn's events are made of.
package uimessage

import "encoding/json"

// Header and Version name the protocol in an HTTP answer.
const (
	Header  = "x-vercel-ai-ui-message-stream"
	Version = "v1"
)

// Names of the data parts of ours. A part with the id of an earlier one of the same name replaces it.
const (
	DataTurn     = "data-turn"     // Turn: which turn this is and who runs it
	DataProgress = "data-progress" // Progress of a tool call, id = the call's id
	DataArtifact = "data-artifact" // Artifact: a file that was delivered, id = "artifact-<name>"
	DataUsage    = "data-usage"    // Usage so far, id = "usage"
	DataRetry    = "data-retry"    // Retry: a model attempt failed and another follows; transient
	DataOutcome  = "data-outcome"  // journal.Outcome: how the turn ended, id = "outcome"; the last but one part
	DataPad      = "data-pad"      // holds the place of an event that is no longer known; transient, ignored
)

// Reason is why a whole message ended.
type Reason string

// The reasons of a finish part that this project uses.
const (
	Stop   Reason = "stop"
	Length Reason = "length" // a limit cut it short
)

// Turn heads the stream and appears again when another runner takes over.
type Turn struct {
	Turn         string `json:"turn"`
	Conversation string `json:"conversation"`
	Epoch        int64  `json:"epoch"`
	Model        string `json:"model"`
}

// Progress is where a tool call is.
type Progress struct {
	Tool    string  `json:"tool"`
	Message string  `json:"message,omitempty"`
	Done    float64 `json:"done,omitempty"`
	Total   float64 `json:"total,omitempty"`
}

// Artifact is a delivered file. URL is where the HTTP face serves it, relative to its root.
type Artifact struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"`
	SHA256    string `json:"sha256"`
	URL       string `json:"url"`
}

// Usage is what a turn used so far.
type Usage struct {
	Steps      int   `json:"steps"`
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	CostMicros int64 `json:"costMicros"`
}

// Retry tells that a model attempt failed in passing.
type Retry struct {
	Step    int    `json:"step"`
	Attempt int    `json:"attempt"`
	Class   string `json:"class"`
	WaitMS  int64  `json:"waitMs"`
}

// part is the union of the keys that our parts use, in the order they are written.
type part struct {
	Type         string          `json:"type"`
	ID           string          `json:"id,omitempty"`
	MessageID    string          `json:"messageId,omitempty"`
	ToolCallID   string          `json:"toolCallId,omitempty"`
	ToolName     string          `json:"toolName,omitempty"`
	Delta        *string         `json:"delta,omitempty"`
	InputDelta   *string         `json:"inputTextDelta,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	Output       json.RawMessage `json:"output,omitempty"`
	ErrorText    string          `json:"errorText,omitempty"`
	Dynamic      bool            `json:"dynamic,omitempty"`
	URL          string          `json:"url,omitempty"`
	MediaType    string          `json:"mediaType,omitempty"`
	Data         any             `json:"data,omitempty"`
	Transient    bool            `json:"transient,omitempty"`
	FinishReason Reason          `json:"finishReason,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	Metadata     any             `json:"messageMetadata,omitempty"`
}

func write(p part) json.RawMessage {
	b, err := json.Marshal(p)
	if err != nil {
		// Only Input, Output, Data and Metadata can fail, on text that isn't JSON: say so in the stream, don't break it.
		b, _ = json.Marshal(part{Type: p.Type, ID: p.ID, ToolCallID: p.ToolCallID, ToolName: p.ToolName, Dynamic: p.Dynamic, ErrorText: "unreadable value"})
	}
	return b
}

// Start begins the message.
func Start(messageID string) json.RawMessage { return write(part{Type: "start", MessageID: messageID}) }

// StartStep begins a step: one model reply and its tool calls.
func StartStep() json.RawMessage { return json.RawMessage(`{"type":"start-step"}`) }

// FinishStep ends a step.
func FinishStep() json.RawMessage { return json.RawMessage(`{"type":"finish-step"}`) }

// ResetStep drops what the current step has shown: its model attempt is made again.
func ResetStep() json.RawMessage { return json.RawMessage(`{"type":"reset-step"}`) }

// TextStart begins a text block.
func TextStart(id string) json.RawMessage { return write(part{Type: "text-start", ID: id}) }

// TextDelta adds to a text block.
func TextDelta(id, delta string) json.RawMessage { return delta3("text-delta", id, delta) }

// TextEnd ends a text block.
func TextEnd(id string) json.RawMessage { return write(part{Type: "text-end", ID: id}) }

// ReasoningStart begins a reasoning block.
func ReasoningStart(id string) json.RawMessage { return write(part{Type: "reasoning-start", ID: id}) }

// ReasoningDelta adds to a reasoning block.
func ReasoningDelta(id, delta string) json.RawMessage { return delta3("reasoning-delta", id, delta) }

// ReasoningEnd ends a reasoning block.
func ReasoningEnd(id string) json.RawMessage { return write(part{Type: "reasoning-end", ID: id}) }

// ToolInputStart begins a tool call. Every tool is dynamic: the client needs no list of them.
func ToolInputStart(call, tool string) json.RawMessage {
	return write(part{Type: "tool-input-start", ToolCallID: call, ToolName: tool, Dynamic: true})
}

// ToolInputDelta adds to the JSON text of a call's input.
func ToolInputDelta(call, delta string) json.RawMessage {
	return write(part{Type: "tool-input-delta", ToolCallID: call, InputDelta: &delta})
}

// ToolInputAvailable gives a call's whole input.
func ToolInputAvailable(call, tool string, input json.RawMessage) json.RawMessage {
	return write(part{Type: "tool-input-available", ToolCallID: call, ToolName: tool, Input: input, Dynamic: true})
}

// ToolInputError tells that a call's input can't be read.
func ToolInputError(call, tool string, input json.RawMessage, text string) json.RawMessage {
	return write(part{Type: "tool-input-error", ToolCallID: call, ToolName: tool, Input: input, ErrorText: text, Dynamic: true})
}

// ToolOutput gives a call's result.
func ToolOutput(call string, output json.RawMessage) json.RawMessage {
	return write(part{Type: "tool-output-available", ToolCallID: call, Output: output, Dynamic: true})
}

// ToolOutputError tells that a call failed.
func ToolOutputError(call, text string) json.RawMessage {
	return write(part{Type: "tool-output-error", ToolCallID: call, ErrorText: text, Dynamic: true})
}

// File names a delivered file for clients that don't know DataArtifact.
func File(url, mediaType string) json.RawMessage {
	return write(part{Type: "file", URL: url, MediaType: mediaType})
}

// Data writes a data part that stays in the message; the same name and id replaces.
func Data(name, id string, data any) json.RawMessage {
	return write(part{Type: name, ID: id, Data: data})
}

// Passing writes a data part that the message doesn't keep.
func Passing(name, id string, data any) json.RawMessage {
	return write(part{Type: name, ID: id, Data: data, Transient: true})
}

// Pad holds the place of an event that is no longer known.
func Pad() json.RawMessage {
	return json.RawMessage(`{"type":"data-pad","data":0,"transient":true}`)
}

// Finish ends a message that is whole or was cut short.
func Finish(reason Reason, metadata any) json.RawMessage {
	return write(part{Type: "finish", FinishReason: reason, Metadata: metadata})
}

// Abort ends a message that a person cancelled.
func Abort(reason string) json.RawMessage { return write(part{Type: "abort", Reason: reason}) }

// Error ends a message that failed.
func Error(text string) json.RawMessage { return write(part{Type: "error", ErrorText: text}) }

// delta3 is write for the parts that come thousands of times: three keys, no reflection over the union.
func delta3(kind, id, delta string) json.RawMessage {
	b := make([]byte, 0, len(kind)+len(id)+len(delta)+40)
	b = append(b, `{"type":"`...)
	b = append(b, kind...)
	b = append(b, `","id":`...)
	b = appendString(b, id)
	b = append(b, `,"delta":`...)
	b = appendString(b, delta)
	return append(b, '}')
}

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	plain := true
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f || c == '<' || c == '>' || c == '&' {
			plain = false
			break
		}
	}
	if plain {
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"')
	}
	q, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...)
	}
	return append(b, q...)
}
