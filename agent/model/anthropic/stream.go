package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"bordereau/agent/model"
)

// folder puts a stream together. A reply is whole only after message_stop: a clean end of the connection before it is none.
type folder struct {
	price   model.Price
	blocks  map[int64]*part
	order   []int64
	usage   model.Usage
	stop    string
	stopped bool
}

// part is a content block in the making.
type part struct {
	kind, id, name string
	text           strings.Builder // text, thinking or a call's JSON
	signature      string
	data           string // of redacted thinking
	raw            json.RawMessage
}

func (f *folder) take(e sdk.MessageStreamEventUnion) []model.Event {
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		f.usage = model.Usage{Input: u.InputTokens, Output: u.OutputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens}
		return []model.Event{f.usageEvent()}
	case "content_block_start":
		return f.begin(e.Index, e.ContentBlock)
	case "content_block_delta":
		return f.delta(e.Index, e.Delta)
	case "content_block_stop":
		return f.close(e.Index)
	case "message_delta":
		if e.Delta.StopReason != "" {
			f.stop = string(e.Delta.StopReason)
		}
		// These counts are sums over the whole message; what they leave out stays as it was.
		f.usage.Output = max(f.usage.Output, e.Usage.OutputTokens)
		f.usage.Input = max(f.usage.Input, e.Usage.InputTokens)
		f.usage.CacheRead = max(f.usage.CacheRead, e.Usage.CacheReadInputTokens)
		f.usage.CacheWrite = max(f.usage.CacheWrite, e.Usage.CacheCreationInputTokens)
		return []model.Event{f.usageEvent()}
	case "message_stop":
		f.stopped = true
	}
	return nil
}

func (f *folder) usageEvent() model.Event {
	f.usage.CostMicros = f.price.Of(f.usage)
	return model.Event{Kind: model.UsageEvent, Usage: f.usage}
}

func (f *folder) begin(at int64, b sdk.ContentBlockStartEventContentBlockUnion) []model.Event {
	if f.blocks == nil {
		f.blocks = map[int64]*part{}
	}
	p := &part{kind: b.Type, id: b.ID, name: b.Name, data: b.Data, signature: b.Signature, raw: json.RawMessage(b.RawJSON())}
	f.blocks[at] = p
	f.order = append(f.order, at)
	switch b.Type {
	case "text":
		p.text.WriteString(b.Text)
		if b.Text != "" {
			return []model.Event{{Kind: model.TextDelta, Text: b.Text}}
		}
	case "thinking":
		p.text.WriteString(b.Thinking)
	case "tool_use":
		return []model.Event{{Kind: model.ToolStart, ID: b.ID, Name: b.Name}}
	}
	return nil
}

func (f *folder) delta(at int64, d sdk.MessageStreamEventUnionDelta) []model.Event {
	p := f.blocks[at]
	if p == nil {
		return nil
	}
	switch d.Type {
	case "text_delta":
		p.text.WriteString(d.Text)
		return []model.Event{{Kind: model.TextDelta, Text: d.Text}}
	case "thinking_delta":
		p.text.WriteString(d.Thinking)
		return []model.Event{{Kind: model.ReasoningDelta, Text: d.Thinking}}
	case "signature_delta":
		p.signature += d.Signature
	case "input_json_delta":
		p.text.WriteString(d.PartialJSON)
		if d.PartialJSON != "" {
			return []model.Event{{Kind: model.ToolDelta, ID: p.id, Text: d.PartialJSON}}
		}
	}
	return nil
}

func (f *folder) close(at int64) []model.Event {
	if p := f.blocks[at]; p != nil && p.kind == "tool_use" {
		return []model.Event{{Kind: model.ToolReady, ID: p.id, Name: p.name, Input: model.ReadInput(p.text.String())}}
	}
	return nil
}

// end tells whether the stream was whole, and what it said.
func (f *folder) end(ctx context.Context, err error) (model.Event, *model.Error) {
	if err != nil {
		failed := classify(ctx, err)
		failed.Usage = f.usage
		return model.Event{}, failed
	}
	if !f.stopped || f.stop == "" {
		return model.Event{}, &model.Error{Class: model.Truncated, Message: "the stream ended before the reply did", Usage: f.usage, Cause: context.Cause(ctx)}
	}
	done := model.Event{Kind: model.Done, Usage: f.usage, Message: model.Message{Role: model.Assistant}}
	for _, at := range f.order {
		if b, ok := f.blocks[at].block(); ok {
			done.Message.Blocks = append(done.Message.Blocks, b)
		}
	}
	switch f.stop {
	case "tool_use":
		done.Stop = model.UseTools
	case "max_tokens":
		done.Stop = model.MaxTokens
	case "refusal":
		done.Stop = model.Refused
	case "model_context_window_exceeded":
		return model.Event{}, &model.Error{Class: model.ContextExceeded, Message: "the context window was full before the reply ended", Usage: f.usage}
	default:
		done.Stop = model.EndTurn
	}
	return done, nil
}

// block is the finished block. Thinking goes back as it came, with its signature.
func (p *part) block() (model.Block, bool) {
	switch p.kind {
	case "text":
		return model.Block{Kind: model.Text, Text: p.text.String()}, p.text.Len() > 0
	case "tool_use":
		return model.Block{Kind: model.ToolUse, ID: p.id, Name: p.name, Input: model.ReadInput(p.text.String())}, true
	case "thinking":
		raw, err := json.Marshal(map[string]string{"type": "thinking", "thinking": p.text.String(), "signature": p.signature})
		return model.Block{Kind: model.Reasoning, Text: p.text.String(), Raw: raw, From: from}, err == nil
	default: // redacted thinking and kinds to come: kept, not understood
		return model.Block{Kind: model.Reasoning, Raw: p.raw, From: from}, len(p.raw) > 0
	}
}

// classify turns what the SDK returns into the classes that turns know.
func classify(ctx context.Context, err error) *model.Error {
	if ctx.Err() != nil {
		return &model.Error{Class: model.Cancelled, Message: "cancelled", Cause: context.Cause(ctx)}
	}
	var api *sdk.Error
	if !errors.As(err, &api) {
		return &model.Error{Class: model.Transport, Message: "the connection to the model failed", Hint: "check the address and the network", Cause: err}
	}
	e := model.FromStatus(api.StatusCode, api.Message)
	e.Cause = err
	if api.Response != nil {
		e.RetryAfter = model.RetryAfter(api.Response.Header)
	}
	// In mid-stream the status was 200: the type tells.
	switch string(api.Type()) {
	case "overloaded_error":
		e.Class = model.Overloaded
	case "rate_limit_error":
		e.Class = model.RateLimited
	case "authentication_error", "permission_error", "billing_error":
		e.Class = model.Auth
	case "api_error", "timeout_error":
		e.Class = model.Overloaded
	case "request_too_large":
		e.Class = model.ContextExceeded
	}
	return e
}
