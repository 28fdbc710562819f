// Package modeltest is what every adapter of a model provider must do, tried over its real wire against a scripted server.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bordereau/agent/model"
	"bordereau/agent/model/modelserver"
)

// Key is what the server wants.
const Key = "test-key"

// New makes the adapter under test for a server's address.
type New func(url, key string) (model.Model, error)

// tools is what requests offer.
var tools = []model.Tool{{Name: "sql", Description: "runs SQL", InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}}}`)}}

func question() model.Request {
	return model.Request{
		System: "You are a test.", MaxTokens: 100, Tools: tools,
		Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Kind: model.Text, Text: "How many?"}}}},
	}
}

// Run is the suite.
func Run(t *testing.T, make New) {
	t.Helper()
	t.Run("whole", func(t *testing.T) { t.Parallel(); whole(t, make) })
	t.Run("faults", func(t *testing.T) { t.Parallel(); faults(t, make) })
	t.Run("back and forth", func(t *testing.T) { t.Parallel(); backAndForth(t, make) })
	t.Run("cancel", func(t *testing.T) { t.Parallel(); cancelled(t, make) })
	t.Run("contract", func(t *testing.T) {
		t.Parallel()
		m, _ := start(t, make, modelserver.Script{Replies: []modelserver.Reply{{Text: "one", Calls: []modelserver.Call{{ID: "c1", Name: "sql", Input: json.RawMessage(`{}`)}}}}})
		Contract(t, m, question())
	})
	t.Run("early stop", func(t *testing.T) { t.Parallel(); earlyStop(t, make) })
}

func start(t *testing.T, make New, s modelserver.Script) (model.Model, *modelserver.Server) {
	t.Helper()
	server := modelserver.New(s)
	h := httptest.NewServer(server)
	t.Cleanup(h.Close)
	m, err := make(h.URL, Key)
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

// heard is what came of one request.
type heard struct {
	text, reasoning string
	ready           []string
	usages          int
	done            *model.Event
	err             *model.Error
	after           int // events after the end
}

func ask(ctx context.Context, t *testing.T, m model.Model, r model.Request) (h heard) {
	t.Helper()
	for e, err := range m.Stream(ctx, r) {
		if h.done != nil || h.err != nil {
			h.after++
		}
		if err != nil {
			if !errors.As(err, &h.err) {
				t.Fatalf("an error that is no *model.Error: %v", err)
			}
			continue
		}
		switch e.Kind {
		case model.TextDelta:
			h.text += e.Text
		case model.ReasoningDelta:
			h.reasoning += e.Text
		case model.ToolReady:
			h.ready = append(h.ready, e.ID+" "+e.Name+" "+string(e.Input))
		case model.UsageEvent:
			h.usages++
		case model.Done:
			h.done = &e
		}
	}
	if h.after > 0 {
		t.Errorf("%d events after the end", h.after)
	}
	if h.done == nil && h.err == nil {
		t.Error("neither an end nor an error")
	}
	return h
}

func whole(t *testing.T, make New) {
	for _, split := range []bool{false, true} {
		m, _ := start(t, make, modelserver.Script{Key: Key, SplitByte: split, Replies: []modelserver.Reply{
			{Thinking: "Let me see…", Text: "Grüße, 14 of 200 – “fine” 🚚", Calls: []modelserver.Call{{ID: "c1", Name: "sql", Input: json.RawMessage(`{"query":"SELECT 'ü'"}`)}, {ID: "c2", Name: "sql", Input: json.RawMessage(`{}`)}}},
		}})
		h := ask(t.Context(), t, m, question())
		if h.err != nil {
			t.Fatal(h.err)
		}
		if h.text != "Grüße, 14 of 200 – “fine” 🚚" || h.reasoning != "Let me see…" {
			t.Errorf("heard %q, reasoning %q", h.text, h.reasoning)
		}
		if diff := cmp.Diff([]string{`c1 sql {"query":"SELECT 'ü'"}`, `c2 sql {}`}, h.ready); diff != "" {
			t.Error(diff)
		}
		if h.done.Stop != model.UseTools || h.usages == 0 {
			t.Errorf("stop %q, %d usage events", h.done.Stop, h.usages)
		}
		u := h.done.Usage
		if u.CacheRead != 7 || u.CacheWrite != 3 || u.Input < 10 || u.Output < 10 || u.CostMicros <= 0 {
			t.Errorf("usage %+v", u)
		}
		var kinds []model.Kind
		for _, b := range h.done.Message.Blocks {
			kinds = append(kinds, b.Kind)
		}
		if diff := cmp.Diff([]model.Kind{model.Reasoning, model.Text, model.ToolUse, model.ToolUse}, kinds); diff != "" {
			t.Error(diff)
		}
	}
}

func faults(t *testing.T, make New) {
	long := strings.Repeat("words and ", 40)
	for fault, want := range map[modelserver.Fault]model.Class{
		modelserver.Cut: model.Transport, modelserver.CleanEnd: model.Truncated, modelserver.Overload: model.Overloaded, modelserver.OverloadLate: model.Overloaded,
		modelserver.RateLimit: model.RateLimited, modelserver.ContextLength: model.ContextExceeded, modelserver.BadKey: model.Auth, modelserver.UnknownModel: model.BadRequest,
		modelserver.NotJSON: "", modelserver.FullWindow: model.ContextExceeded,
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			m, _ := start(t, make, modelserver.Script{Key: Key, Replies: []modelserver.Reply{{Text: long, Fault: fault, Times: 1, RetryAfter: "3"}}})
			h := ask(t.Context(), t, m, question())
			if h.err == nil {
				t.Fatalf("taken for success: %+v", h.done)
			}
			if want != "" && h.err.Class != want {
				t.Errorf("class %s, want %s: %v", h.err.Class, want, h.err)
			}
			if want == "" && !h.err.Class.Retryable() {
				t.Errorf("class %s: %v", h.err.Class, h.err)
			}
			if fault == modelserver.RateLimit && h.err.RetryAfter != 3*time.Second {
				t.Errorf("Retry-After: %s", h.err.RetryAfter)
			}
			if (fault == modelserver.BadKey || fault == modelserver.UnknownModel) && h.err.Hint == "" {
				t.Error("no hint says what to do")
			}
			if strings.Contains(h.err.Error(), Key) {
				t.Error("the error tells the key")
			}
			if again := ask(t.Context(), t, m, question()); again.err != nil || again.text != long {
				t.Errorf("the next attempt: %v", again.err)
			}
		})
	}
	for fault, want := range map[modelserver.Fault]model.StopReason{modelserver.Refuse: model.Refused, modelserver.LengthLimit: model.MaxTokens} {
		m, _ := start(t, make, modelserver.Script{Replies: []modelserver.Reply{{Text: long, Fault: fault}}})
		if h := ask(t.Context(), t, m, question()); h.err != nil || h.done.Stop != want {
			t.Errorf("%s: %v, %+v", fault, h.err, h.done)
		}
	}
	m, _ := start(t, make, modelserver.Script{Replies: []modelserver.Reply{{Fault: modelserver.BadInput, Calls: []modelserver.Call{{ID: "c1", Name: "sql", Input: json.RawMessage(`{"query":"x"}`)}}}}})
	h := ask(t.Context(), t, m, question())
	if h.err != nil || len(h.ready) != 1 || !strings.Contains(h.ready[0], model.MalformedInput) || !json.Valid(h.done.Message.Blocks[0].Input) {
		t.Errorf("bad input: %v, %v", h.err, h.ready)
	}
	nobody, err := make("http://127.0.0.1:1", Key)
	if err != nil {
		t.Fatal(err)
	}
	if h := ask(t.Context(), t, nobody, question()); h.err == nil || h.err.Class != model.Transport || h.err.Hint == "" {
		t.Errorf("nobody there: %v", h.err)
	}
}

// backAndForth sends a reply back with its result: the provider must find its own blocks as they were.
func backAndForth(t *testing.T, make New) {
	m, server := start(t, make, modelserver.Script{Replies: []modelserver.Reply{
		{Thinking: "secret thought", Piece: 100, Calls: []modelserver.Call{{ID: "c1", Name: "sql", Input: json.RawMessage(`{"query":"SELECT 1"}`)}}}, {Text: "one"},
	}})
	r := question()
	first := ask(t.Context(), t, m, r)
	if first.err != nil {
		t.Fatal(first.err)
	}
	// Through JSON, as the journal keeps it.
	kept, err := json.Marshal(first.done.Message)
	if err != nil {
		t.Fatal(err)
	}
	var again model.Message
	if err := json.Unmarshal(kept, &again); err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, again, model.Message{Role: model.User, Blocks: []model.Block{{Kind: model.ToolResult, ID: "c1", Name: "sql", Text: "1"}}})
	if h := ask(t.Context(), t, m, r); h.err != nil || h.text != "one" {
		t.Errorf("%v, %q", h.err, h.text)
	}
	for _, want := range []string{"secret thought", `SELECT 1`, `"c1"`} {
		if !strings.Contains(string(server.LastBody()), want) {
			t.Errorf("%s didn't go back: %s", want, server.LastBody())
		}
	}
	// Without tools the same talk must still be accepted: no calls in it.
	r.Tools = nil
	if h := ask(t.Context(), t, m, r); h.err != nil {
		t.Error(h.err)
	}
	if b := string(server.LastBody()); strings.Contains(b, `"tool_use"`) || strings.Contains(b, `"tool_calls"`) {
		t.Errorf("calls in a request without tools: %s", b)
	}
}

func cancelled(t *testing.T, make New) {
	m, _ := start(t, make, modelserver.Script{Replies: []modelserver.Reply{{Text: "never to be ended", Fault: modelserver.Stall}}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if h := ask(ctx, t, m, question()); h.err == nil || h.err.Class != model.Cancelled {
		t.Errorf("%v", h.err)
	}
}

func earlyStop(t *testing.T, make New) {
	m, _ := start(t, make, modelserver.Script{Replies: []modelserver.Reply{{Text: strings.Repeat("more ", 100)}}})
	n := 0
	for range m.Stream(t.Context(), question()) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d events", n)
	}
}
