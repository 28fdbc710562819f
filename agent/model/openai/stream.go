package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"strings"

	"bordereau/agent/model"
)

// maxLine bounds one line of the stream.
const maxLine = 8 << 20

// events yields the data of server-sent events. Lines of one event are joined; comments and other fields are passed over.
func events(body io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r := bufio.NewReaderSize(body, 32<<10)
		var data []byte
		for {
			line, err := readLine(r)
			if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
				if len(data) > 0 && errors.Is(err, io.EOF) && !yield(data, nil) {
					return
				}
				if !errors.Is(err, io.EOF) {
					yield(nil, err)
				}
				return
			}
			if len(line) == 0 {
				if len(data) > 0 && !yield(data, nil) {
					return
				}
				data = data[:0]
				continue
			}
			if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				if len(data) > 0 {
					data = append(data, '\n')
				}
				data = append(data, bytes.TrimPrefix(rest, []byte(" "))...)
			}
		}
	}
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if line == nil && err == nil {
			return bytes.TrimRight(piece, "\r\n"), nil
		}
		line = append(line, piece...)
		switch {
		case len(line) > maxLine:
			return nil, errors.New("a line of the stream is too long")
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		default:
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

type (
	chunk struct {
		Choices []choice   `json:"choices"`
		Usage   *usage     `json:"usage"`
		Error   *wireError `json:"error"`
	}
	choice struct {
		Delta  delta  `json:"delta"`
		Finish string `json:"finish_reason"`
	}
	delta struct {
		Content          string            `json:"content"`
		Reasoning        string            `json:"reasoning"`         // OpenRouter, vLLM
		ReasoningContent string            `json:"reasoning_content"` // DeepSeek and others
		Details          []json.RawMessage `json:"reasoning_details"`
		Refusal          string            `json:"refusal"`
		ToolCalls        []callDelta       `json:"tool_calls"`
	}
	callDelta struct {
		Index    int      `json:"index"`
		ID       string   `json:"id"`
		Function function `json:"function"`
	}
	usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Details    struct {
			Cached int64 `json:"cached_tokens"`
			Write  int64 `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
		Cost *float64 `json:"cost"` // OpenRouter, in dollars
	}
	wireError struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"` // a string or a number, by provider
	}
)

func (e wireError) text() string {
	if code := strings.Trim(string(e.Code), `"`); code == "context_length_exceeded" {
		return e.Message + " (context_length_exceeded)"
	}
	return e.Message
}

// folder puts a stream together. A reply is whole only after a finish_reason; some servers end without [DONE].
type folder struct {
	price     model.Price
	text      strings.Builder
	reasoning strings.Builder
	details   []json.RawMessage
	refusal   strings.Builder
	calls     []*callPart
	usage     model.Usage
	finish    string
	over      bool
}

type callPart struct {
	id, name string
	args     strings.Builder
	began    bool
}

type said struct {
	event model.Event
	err   error
}

func (f *folder) take(data []byte) (out []model.Event, failed *model.Error) {
	if string(data) == "[DONE]" {
		f.over = true
		return nil, nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, &model.Error{Class: model.Truncated, Message: "the stream can't be read", Cause: err}
	}
	if c.Error != nil {
		return nil, inStream(*c.Error)
	}
	for _, ch := range c.Choices {
		out = append(out, f.delta(ch.Delta)...)
		if ch.Finish != "" {
			f.finish = ch.Finish
		}
	}
	if u := c.Usage; u != nil {
		f.usage = model.Usage{Input: u.Prompt - u.Details.Cached - u.Details.Write, Output: u.Completion, CacheRead: u.Details.Cached, CacheWrite: u.Details.Write}
		f.usage.CostMicros = f.price.Of(f.usage)
		if u.Cost != nil {
			f.usage.CostMicros = int64(math.Ceil(*u.Cost * 1e6))
		}
		out = append(out, model.Event{Kind: model.UsageEvent, Usage: f.usage})
	}
	return out, nil
}

func (f *folder) delta(d delta) (out []model.Event) {
	if r := d.Reasoning + d.ReasoningContent; r != "" {
		f.reasoning.WriteString(r)
		out = append(out, model.Event{Kind: model.ReasoningDelta, Text: r})
	}
	f.details = append(f.details, d.Details...)
	f.refusal.WriteString(d.Refusal)
	if d.Content != "" {
		f.text.WriteString(d.Content)
		out = append(out, model.Event{Kind: model.TextDelta, Text: d.Content})
	}
	for _, t := range d.ToolCalls {
		if t.Index < 0 || t.Index > 255 {
			continue
		}
		for len(f.calls) <= t.Index {
			f.calls = append(f.calls, &callPart{})
		}
		p := f.calls[t.Index]
		if t.ID != "" {
			p.id = t.ID
		}
		p.name += t.Function.Name
		if !p.began && p.id != "" && p.name != "" {
			p.began = true
			out = append(out, model.Event{Kind: model.ToolStart, ID: p.id, Name: p.name})
		}
		if t.Function.Arguments != "" {
			p.args.WriteString(t.Function.Arguments)
			out = append(out, model.Event{Kind: model.ToolDelta, ID: p.id, Text: t.Function.Arguments})
		}
	}
	return out
}

// end tells whether the stream was whole, and what it said.
func (f *folder) end(ctx context.Context) (out []said) {
	if f.finish == "" {
		class := model.Truncated
		if ctx.Err() != nil {
			class = model.Cancelled
		}
		return []said{{err: &model.Error{Class: class, Message: "the stream ended before the reply did", Usage: f.usage, Cause: context.Cause(ctx)}}}
	}
	done := model.Event{Kind: model.Done, Usage: f.usage, Message: model.Message{Role: model.Assistant}, Stop: model.EndTurn}
	if f.reasoning.Len() > 0 || len(f.details) > 0 {
		b := model.Block{Kind: model.Reasoning, Text: f.reasoning.String()}
		if raw, err := json.Marshal(f.details); err == nil && len(f.details) > 0 {
			b.Raw, b.From = raw, from
		}
		done.Message.Blocks = append(done.Message.Blocks, b)
	}
	if f.text.Len() > 0 {
		done.Message.Blocks = append(done.Message.Blocks, model.Block{Kind: model.Text, Text: f.text.String()})
	}
	for _, p := range f.calls {
		if p.id == "" || p.name == "" {
			continue
		}
		input := model.ReadInput(p.args.String())
		out = append(out, said{event: model.Event{Kind: model.ToolReady, ID: p.id, Name: p.name, Input: input}})
		done.Message.Blocks = append(done.Message.Blocks, model.Block{Kind: model.ToolUse, ID: p.id, Name: p.name, Input: input})
		done.Stop = model.UseTools // some servers say "stop" even so
	}
	switch {
	case f.finish == "length":
		done.Stop = model.MaxTokens
	case f.finish == "content_filter", f.refusal.Len() > 0:
		done.Stop = model.Refused
	}
	return append(out, said{event: done})
}

// inStream classes an error that came after the status 200.
func inStream(e wireError) *model.Error {
	code := strings.Trim(string(e.Code), `"`)
	failed := &model.Error{Class: model.Overloaded, Message: "the model failed in mid-stream"}
	if e.Message != "" {
		failed = model.FromStatus(0, e.text())
		if failed.Class == model.Transport {
			failed.Class = model.Overloaded
		}
	}
	switch {
	case failed.Class == model.ContextExceeded:
	case code == "429", strings.Contains(e.Type, "rate_limit"), code == "rate_limit_exceeded":
		failed.Class = model.RateLimited
	case code == "401", code == "402", code == "403":
		failed.Class = model.Auth
	case code == "400":
		failed.Class = model.BadRequest
	}
	return failed
}
