package openai

import (
	"encoding/json"
	"strings"

	"bordereau/agent/model"
)

type (
	message struct {
		Role       string          `json:"role"`
		Content    *string         `json:"content,omitempty"`
		ToolCalls  []toolCall      `json:"tool_calls,omitempty"`
		ToolCallID string          `json:"tool_call_id,omitempty"`
		Details    json.RawMessage `json:"reasoning_details,omitempty"` // OpenRouter: must come back as it was
	}
	toolCall struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	tool struct {
		Type     string   `json:"type"`
		Function toolSpec `json:"function"`
	}
	toolSpec struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

// wire writes a request.
func (c *Chat) wire(r model.Request) ([]byte, error) {
	w := map[string]any{"model": c.c.Model, "stream": true, "stream_options": map[string]bool{"include_usage": true}}
	if r.MaxTokens > 0 {
		w[c.c.MaxField] = r.MaxTokens
	}
	messages := []message{}
	if r.System != "" {
		messages = append(messages, message{Role: "system", Content: &r.System})
	}
	said := r.Messages
	if len(r.Tools) == 0 {
		said = model.Flat(said)
	} else {
		tools := make([]tool, len(r.Tools))
		for i, t := range r.Tools {
			tools[i] = tool{Type: "function", Function: toolSpec{Name: t.Name, Description: t.Description, Parameters: t.InputSchema}}
		}
		w["tools"] = tools
	}
	for _, m := range said {
		messages = append(messages, messagesOf(m)...)
	}
	w["messages"] = messages
	return json.Marshal(w)
}

// messagesOf tells one message of ours in theirs: results are messages of their own there, right after the calls.
func messagesOf(m model.Message) (out []message) {
	var text strings.Builder
	one := message{Role: string(m.Role)}
	for _, b := range m.Blocks {
		switch b.Kind {
		case model.Text:
			if text.Len() > 0 {
				text.WriteString("\n\n")
			}
			text.WriteString(b.Text)
		case model.ToolUse:
			one.ToolCalls = append(one.ToolCalls, toolCall{ID: b.ID, Type: "function", Function: function{Name: b.Name, Arguments: string(b.Input)}})
		case model.ToolResult:
			content := b.Text
			if b.Error {
				content = "error: " + content
			}
			out = append(out, message{Role: "tool", ToolCallID: b.ID, Content: &content})
		case model.Reasoning:
			if b.From == from {
				one.Details = b.Raw
			}
		}
	}
	if text.Len() > 0 {
		s := text.String()
		one.Content = &s
	}
	if one.Content != nil || len(one.ToolCalls) > 0 {
		out = append(out, one)
	}
	return out
}
