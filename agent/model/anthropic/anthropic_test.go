package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"

	"bordereau/agent/model"
	"bordereau/agent/model/anthropic"
	"bordereau/agent/model/modelserver"
	"bordereau/agent/model/modeltest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	modeltest.Run(t, func(url, key string) (model.Model, error) {
		return anthropic.New(anthropic.Config{Model: "claude-test", URL: url, Key: key, Thinking: 1024, Price: model.Price{Input: 3_000_000, Output: 15_000_000}})
	})
}

// Providers cache what a request has in common with the one before: the tools, the system prompt, and the talk so far.
func TestCacheBreakpoints(t *testing.T) {
	t.Parallel()
	server := modelserver.New(modelserver.Script{Replies: []modelserver.Reply{{Text: "one"}}})
	hs := httptest.NewServer(server)
	t.Cleanup(hs.Close)
	m, err := anthropic.New(anthropic.Config{Model: "m", Key: "k", URL: hs.URL})
	if err != nil {
		t.Fatal(err)
	}
	text := func(role model.Role, s string) model.Message {
		return model.Message{Role: role, Blocks: []model.Block{{Kind: model.Text, Text: s}}}
	}
	for _, err := range m.Stream(t.Context(), model.Request{
		System: "You are a test.", MaxTokens: 100, Tools: []model.Tool{{Name: "a", InputSchema: json.RawMessage(`{"type":"object"}`)}, {Name: "b", InputSchema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []model.Message{text(model.User, "1"), text(model.Assistant, "2"), text(model.User, "3"), text(model.Assistant, "4"), text(model.User, "5")},
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	type marked struct {
		Cache *struct{ Type, TTL string } `json:"cache_control"`
	}
	var sent struct {
		Tools    []marked
		System   []marked
		Messages []struct{ Content []marked }
	}
	if err := json.Unmarshal(server.LastBody(), &sent); err != nil {
		t.Fatal(err)
	}
	var got []string
	note := func(where string, all []marked) {
		for i, x := range all {
			if x.Cache != nil {
				got = append(got, fmt.Sprint(where, i, " ", x.Cache.TTL))
			}
		}
	}
	note("tool ", sent.Tools)
	note("system ", sent.System)
	for i, x := range sent.Messages {
		note(fmt.Sprint("message ", i, " block "), x.Content)
	}
	if want := []string{"tool 1 1h", "system 0 1h", "message 2 block 0 ", "message 4 block 0 "}; !slices.Equal(got, want) {
		t.Errorf("breakpoints %q, want %q", got, want)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if _, err := anthropic.New(anthropic.Config{Model: "m"}); err == nil {
		t.Error("no key, no error")
	}
}
