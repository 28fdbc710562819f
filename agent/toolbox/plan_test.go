package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"bordereau/agent/turn"
)

func TestPlan(t *testing.T) {
	t.Parallel()
	plan := func(input string) (turn.Result, error) {
		return (&session{}).plan(context.Background(), turn.Call{Name: "plan", Input: json.RawMessage(input)})
	}
	r, err := plan(`{"steps":[{"title":"  Read the\n schedules ","state":"done"},{"title":"Compare","state":"doing"}]}`)
	if err != nil || r.Text != `{"done":1,"steps":2}` {
		t.Errorf("got %s, %v", r.Text, err)
	}
	many := `{"title":"x","state":"todo"}` + strings.Repeat(`,{"title":"x","state":"todo"}`, maxPlan)
	for name, input := range map[string]string{
		"empty":    `{"steps":[]}`,
		"too many": `{"steps":[` + many + `]}`,
		"untitled": `{"steps":[{"title":" ","state":"todo"}]}`,
		"long":     `{"steps":[{"title":"` + strings.Repeat("é", maxPlanTitle+1) + `","state":"todo"}]}`,
		"state":    `{"steps":[{"title":"x","state":"maybe"}]}`,
		"key":      `{"steps":[{"title":"x","state":"todo","why":"y"}]}`,
	} {
		if _, err := plan(input); !isMendable(err) {
			t.Errorf("%s: got %v, want a fault that the model can mend", name, err)
		}
	}
}

func isMendable(err error) bool {
	f, ok := errors.AsType[*fault](err)
	return ok && f.mendable()
}
