package uimessage

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// piece is one part of a whole message, as the AI SDK's UIMessage.parts has it.
type piece struct {
	Type       string          `json:"type"`
	ID         string          `json:"id,omitempty"`
	Text       *string         `json:"text,omitempty"`
	State      string          `json:"state,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	ErrorText  string          `json:"errorText,omitempty"`
	URL        string          `json:"url,omitempty"`
	MediaType  string          `json:"mediaType,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`

	key  string
	text strings.Builder
}

// Folder puts a stream's parts together to the message that a client would hold after them.
type Folder struct{ pieces []*piece }

// Add takes the next part.
func (f *Folder) Add(event json.RawMessage) error {
	var p struct {
		part
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(event, &p); err != nil {
		return fmt.Errorf("reading a part: %w", err)
	}
	switch p.Type {
	case "start-step":
		f.add(&piece{Type: "step-start"})
	case "reset-step":
		f.reset()
	case "text-start", "reasoning-start":
		kind := strings.TrimSuffix(p.Type, "-start")
		f.add(&piece{Type: kind, State: "done", key: kind + p.ID})
	case "text-delta", "reasoning-delta":
		if x := f.find(strings.TrimSuffix(p.Type, "-delta") + p.ID); x != nil && p.Delta != nil {
			x.text.WriteString(*p.Delta)
		}
	case "tool-input-available", "tool-input-error":
		x := &piece{Type: "dynamic-tool", ToolName: p.ToolName, ToolCallID: p.ToolCallID, State: "input-available", Input: p.Input, key: "tool" + p.ToolCallID}
		if p.Type == "tool-input-error" {
			x.State, x.ErrorText = "output-error", p.ErrorText
		}
		f.add(x)
	case "tool-output-available":
		if x := f.find("tool" + p.ToolCallID); x != nil {
			x.State, x.Output = "output-available", p.Output
		}
	case "tool-output-error":
		if x := f.find("tool" + p.ToolCallID); x != nil {
			x.State, x.ErrorText = "output-error", p.ErrorText
		}
	case "file":
		f.add(&piece{Type: "file", URL: p.URL, MediaType: p.MediaType})
	default:
		if strings.HasPrefix(p.Type, "data-") && !p.Transient {
			f.data(p.Type, p.ID, p.Data)
		}
	}
	return nil
}

// Parts returns the message's parts so far.
func (f *Folder) Parts() (json.RawMessage, error) {
	for _, x := range f.pieces {
		if x.Type == "text" || x.Type == "reasoning" {
			s := x.text.String()
			x.Text = &s
		}
	}
	if f.pieces == nil {
		return json.RawMessage("[]"), nil
	}
	return json.Marshal(f.pieces)
}

func (f *Folder) data(kind, id string, data json.RawMessage) {
	key := kind + "\n" + id
	if id != "" {
		if x := f.find(key); x != nil {
			x.Data = data
			return
		}
	}
	f.add(&piece{Type: kind, ID: id, Data: data, key: key})
}

func (f *Folder) reset() {
	for i, v := range slices.Backward(f.pieces) {
		if v.Type == "step-start" {
			f.pieces = f.pieces[:i+1]
			return
		}
	}
}

func (f *Folder) add(x *piece) { f.pieces = append(f.pieces, x) }

func (f *Folder) find(key string) *piece {
	for _, v := range slices.Backward(f.pieces) {
		if v.key == key {
			return v
		}
	}
	return nil
}
