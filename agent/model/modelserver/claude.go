package modelserver

import (
	"fmt"
	"net/http"
	"strings"
)

// claude writes the Messages API.
type claude struct{}

func (claude) key(h http.Header) string {
	if key := h.Get("X-Api-Key"); key != "" {
		return key
	}
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
}

func (claude) refuse(f Fault) (int, string) {
	switch f {
	case Overload:
		return 529, errorBody("overloaded_error", "Overloaded")
	case RateLimit:
		return http.StatusTooManyRequests, errorBody("rate_limit_error", "This request would exceed your rate limit")
	case ContextLength:
		return http.StatusBadRequest, errorBody("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")
	case BadKey:
		return http.StatusUnauthorized, errorBody("authentication_error", "invalid x-api-key")
	case UnknownModel:
		return http.StatusNotFound, errorBody("not_found_error", "model: nothing")
	default:
		return 0, ""
	}
}

func (claude) write(o *out, r Reply, fault Fault, input, output int) {
	event := func(kind, format string, args ...any) {
		o.send("event: " + kind + "\ndata: {\"type\":\"" + kind + "\"" + fmt.Sprintf(format, args...) + "}\n\n")
	}
	event("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","model":"scripted","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_read_input_tokens":7,"cache_creation_input_tokens":3,"output_tokens":1}}`, input)
	at := 0
	if r.Thinking != "" {
		event("content_block_start", `,"index":%d,"content_block":{"type":"thinking","thinking":"","signature":""}`, at)
		for _, p := range pieces(r.Thinking, r.Piece) {
			event("content_block_delta", `,"index":%d,"delta":{"type":"thinking_delta","thinking":%s}`, at, quote(p))
		}
		event("content_block_delta", `,"index":%d,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}`, at)
		event("content_block_stop", `,"index":%d`, at)
		at++
	}
	if fault == OverloadLate {
		o.send("event: error\ndata: " + errorBody("overloaded_error", "Overloaded") + "\n\n")
		return
	}
	all := pieces(r.Text, r.Piece)
	if len(all) > 0 {
		event("content_block_start", `,"index":%d,"content_block":{"type":"text","text":""}`, at)
		for i, p := range all {
			if i == len(all)/2 && o.breakOff(fault) || !o.pause(r.Every) {
				return
			}
			if i == len(all)/2 && fault == NotJSON {
				o.send("event: content_block_delta\ndata: {\"type\":\n\n")
			}
			event("content_block_delta", `,"index":%d,"delta":{"type":"text_delta","text":%s}`, at, quote(p))
		}
		event("content_block_stop", `,"index":%d`, at)
		at++
	} else if o.breakOff(fault) {
		return
	}
	stop := "end_turn"
	for _, c := range r.Calls {
		stop = "tool_use"
		text := string(c.Input)
		if fault == BadInput {
			text = text[:len(text)-1]
		}
		event("content_block_start", `,"index":%d,"content_block":{"type":"tool_use","id":%s,"name":%s,"input":{}}`, at, quote(c.ID), quote(c.Name))
		for _, p := range pieces(text, r.Piece) {
			event("content_block_delta", `,"index":%d,"delta":{"type":"input_json_delta","partial_json":%s}`, at, quote(p))
		}
		event("content_block_stop", `,"index":%d`, at)
		at++
	}
	switch fault {
	case Refuse:
		stop = "refusal"
	case FullWindow:
		stop = "model_context_window_exceeded"
	case LengthLimit:
		stop = "max_tokens"
	}
	event("message_delta", `,"delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}`, quote(stop), output)
	if fault != NoEndMarker {
		event("message_stop", "")
	}
}
