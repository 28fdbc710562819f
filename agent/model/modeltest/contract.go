package modeltest

import (
	"context"
	"encoding/json"
	"testing"

	"bordereau/agent/model"
)

// Contract is what every model does, whether it has a wire or not; questions are what it can answer.
func Contract(t *testing.T, m model.Model, questions ...model.Request) {
	t.Helper()
	if m.Name() == "" {
		t.Error("a model without a name")
	}
	for _, q := range questions {
		h := ask(t.Context(), t, m, q)
		if h.err != nil {
			t.Fatal(h.err)
		}
		calls := 0
		for _, b := range h.done.Message.Blocks {
			if b.Kind == model.ToolUse {
				calls++
				var object map[string]json.RawMessage
				if b.ID == "" || b.Name == "" || json.Unmarshal(b.Input, &object) != nil {
					t.Errorf("a call that can't be made: %+v", b)
				}
			}
		}
		if calls != len(h.ready) || (calls > 0) != (h.done.Stop == model.UseTools) || h.done.Message.Role != model.Assistant {
			t.Errorf("%d calls in the message, %d in the stream, stop %q", calls, len(h.ready), h.done.Stop)
		}
		if len(q.Tools) == 0 && calls > 0 {
			t.Errorf("%d calls of tools that weren't offered", calls)
		}
		for range m.Stream(t.Context(), q) { // whoever stops listening early ends the stream
			break
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range m.Stream(gone, q) {
			if err != nil && model.AsError(err).Class != model.Cancelled {
				t.Errorf("asked by one who had left: %v", err)
			}
		}
	}
}
