package modelserver

import (
	"fmt"
	"net/http"
	"strings"
)

// chat writes Chat Completions.
type chat struct{}

func (chat) key(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") }

func (chat) refuse(f Fault) (int, string) {
	body := func(kind, code, message string) string {
		return fmt.Sprintf(`{"error":{"message":%s,"type":%s,"code":%s}}`, quote(message), quote(kind), quote(code))
	}
	switch f {
	case Overload:
		return http.StatusServiceUnavailable, body("server_error", "overloaded", "The engine is currently overloaded")
	case RateLimit:
		return http.StatusTooManyRequests, body("requests", "rate_limit_exceeded", "Rate limit reached")
	case ContextLength:
		return http.StatusBadRequest, body("invalid_request_error", "context_length_exceeded", "Too many tokens in the messages")
	case BadKey:
		return http.StatusUnauthorized, body("invalid_request_error", "invalid_api_key", "Incorrect API key provided")
	case UnknownModel:
		return http.StatusNotFound, body("invalid_request_error", "model_not_found", "The model does not exist")
	default:
		return 0, ""
	}
}

func (chat) write(o *out, r Reply, fault Fault, input, output int) {
	event := func(format string, args ...any) {
		o.send(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"scripted",` + fmt.Sprintf(format, args...) + "}\n\n")
	}
	event(`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]`)
	for _, p := range pieces(r.Thinking, r.Piece) {
		event(`"choices":[{"index":0,"delta":{"reasoning":%s,"reasoning_details":[{"type":"reasoning.text","text":%s}]},"finish_reason":null}]`, quote(p), quote(p))
	}
	if fault == OverloadLate {
		o.send(`data: {"error":{"message":"Provider overloaded","code":502}}` + "\n\n")
		return
	}
	all := pieces(r.Text, r.Piece)
	for i, p := range all {
		if i == len(all)/2 && o.breakOff(fault) || !o.pause(r.Every) {
			return
		}
		if i == len(all)/2 && fault == NotJSON {
			o.send("data: {\"choices\":\n\n")
		}
		event(`"choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]`, quote(p))
	}
	if len(all) == 0 && o.breakOff(fault) {
		return
	}
	finish := "stop"
	for i, c := range r.Calls {
		finish = "tool_calls"
		text := string(c.Input)
		if fault == BadInput {
			text = text[:len(text)-1]
		}
		event(`"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]},"finish_reason":null}]`, i, quote(c.ID), quote(c.Name))
		for _, p := range pieces(text, r.Piece) {
			event(`"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]},"finish_reason":null}]`, i, quote(p))
		}
	}
	switch fault {
	case Refuse:
		finish = "content_filter"
	case LengthLimit:
		finish = "length"
	case FullWindow:
		o.send(`data: {"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}` + "\n\n")
		return
	}
	event(`"choices":[{"index":0,"delta":{},"finish_reason":%s}]`, quote(finish))
	event(`"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":7,"cache_write_tokens":3}}`, input+10, output)
	if fault != NoEndMarker {
		o.send("data: [DONE]\n\n")
	}
}
