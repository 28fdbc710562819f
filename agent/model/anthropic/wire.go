package anthropic

import (
	"encoding/json"
	"slices"

	"bordereau/agent/model"
)

// The request's JSON. It is written here, not by the SDK's types, so that blocks can go back exactly as they came.
type (
	request struct {
		Model     string    `json:"model"`
		MaxTokens int       `json:"max_tokens"`
		Stream    bool      `json:"stream"`
		System    []block   `json:"system,omitempty"`
		Messages  []message `json:"messages"`
		Tools     []tool    `json:"tools,omitempty"`
		Thinking  *thinking `json:"thinking,omitempty"`
	}
	message struct {
		Role    string `json:"role"`
		Content []any  `json:"content"`
	}
	block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text,omitempty"`
		ID        string          `json:"id,omitempty"`
		Name      string          `json:"name,omitempty"`
		Input     json.RawMessage `json:"input,omitempty"`
		ToolUseID string          `json:"tool_use_id,omitempty"`
		Content   string          `json:"content,omitempty"`
		IsError   bool            `json:"is_error,omitempty"`
		Cache     *cache          `json:"cache_control,omitempty"`
	}
	tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		InputSchema json.RawMessage `json:"input_schema"`
		Cache       *cache          `json:"cache_control,omitempty"`
	}
	thinking struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	}
	cache struct {
		Type string `json:"type"`
		TTL  string `json:"ttl,omitempty"`
	}
)

// wire writes a request. What stays the same for a day is cached for an hour; of the talk, the last two user messages are
// marked, so that each call finds what the one before has written.
func (c *Claude) wire(r model.Request) request {
	w := request{Model: c.c.Model, MaxTokens: r.MaxTokens, Stream: true, Messages: []message{}}
	if r.System != "" {
		w.System = []block{{Type: "text", Text: r.System, Cache: &cache{Type: "ephemeral", TTL: "1h"}}}
	}
	for i, t := range r.Tools {
		one := tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}
		if i == len(r.Tools)-1 {
			one.Cache = &cache{Type: "ephemeral", TTL: "1h"}
		}
		w.Tools = append(w.Tools, one)
	}
	messages := r.Messages
	if len(r.Tools) == 0 {
		messages = model.Flat(messages)
	} else if c.c.Thinking > 0 {
		w.Thinking = &thinking{Type: "enabled", Budget: c.c.Thinking}
		w.MaxTokens += c.c.Thinking
	}
	users := 0
	for _, message0 := range slices.Backward(messages) {
		mark := message0.Role == model.User && users < 2
		if mark {
			users++
		}
		content := contentOf(message0, mark)
		if len(content) == 0 {
			continue
		}
		w.Messages = append(w.Messages, message{Role: string(message0.Role), Content: content})
	}
	for i, j := 0, len(w.Messages)-1; i < j; i, j = i+1, j-1 {
		w.Messages[i], w.Messages[j] = w.Messages[j], w.Messages[i]
	}
	return w
}

func contentOf(m model.Message, mark bool) (content []any) {
	for i, b := range m.Blocks {
		var one block
		switch {
		case b.From == from && len(b.Raw) > 0:
			content = append(content, b.Raw)
			continue
		case b.Kind == model.Text && b.Text != "":
			one = block{Type: "text", Text: b.Text}
		case b.Kind == model.ToolUse:
			one = block{Type: "tool_use", ID: b.ID, Name: b.Name, Input: b.Input}
		case b.Kind == model.ToolResult:
			one = block{Type: "tool_result", ToolUseID: b.ID, Content: b.Text, IsError: b.Error}
		default: // another provider's reasoning means nothing here
			continue
		}
		if mark && i == len(m.Blocks)-1 {
			one.Cache = &cache{Type: "ephemeral"}
		}
		content = append(content, one)
	}
	return content
}
