package modelserver

import (
	"encoding/json"
	"testing"
)

func TestEachQuestionPlaysTheScript(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		messages string
		want     int
	}{
		"first question":          {`[{"role":"user","content":"a"}]`, 0},
		"after a tool, Messages":  {`[{"role":"user","content":"a"},{"role":"assistant"},{"role":"user","content":[{"type":"tool_result"}]}]`, 1},
		"added to a result":       {`[{"role":"user","content":"a"},{"role":"assistant"},{"role":"user","content":[{"type":"tool_result"},{"type":"text"}]}]`, 1},
		"after a tool, Chat":      {`[{"role":"system"},{"role":"user","content":"a"},{"role":"assistant"},{"role":"tool"}]`, 1},
		"added after a tool":      {`[{"role":"user","content":"a"},{"role":"assistant"},{"role":"tool"},{"role":"user","content":"b"}]`, 1},
		"second question":         {`[{"role":"user","content":"a"},{"role":"assistant"},{"role":"user","content":"b"}]`, 0},
		"second question, a tool": {`[{"role":"user","content":"a"},{"role":"assistant"},{"role":"user","content":"b"},{"role":"assistant"},{"role":"tool"}]`, 1},
	} {
		var all []message
		if err := json.Unmarshal([]byte(c.messages), &all); err != nil {
			t.Fatal(err)
		}
		if got := sinceQuestion(all); got != c.want {
			t.Errorf("%s: reply %d, want %d", name, got, c.want)
		}
	}
}
