package toolbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bordereau/agent/turn"
)

// Bounds of a plan that a person still reads.
const (
	maxPlan      = 20
	maxPlanTitle = 120 // characters
)

// planStep is one line of a plan.
type planStep struct {
	Title string `json:"title"`
	State string `json:"state"` // todo, doing, done
}

// plan shows people what the model is going to do and how far it is. It has no other effect: the newest plan stands.
func (s *session) plan(_ context.Context, c turn.Call) (turn.Result, error) {
	var in struct {
		Steps []planStep `json:"steps"`
	}
	if err := decode(c, &in); err != nil {
		return turn.Result{}, err
	}
	if n := len(in.Steps); n == 0 || n > maxPlan {
		return turn.Result{}, invalid(fmt.Sprintf("a plan has 1 to %d steps, not %d", maxPlan, n), "join what belongs together")
	}
	done := 0
	for i := range in.Steps {
		step := &in.Steps[i]
		step.Title = strings.Join(strings.Fields(step.Title), " ")
		switch {
		case step.Title == "" || len([]rune(step.Title)) > maxPlanTitle:
			return turn.Result{}, invalid(fmt.Sprintf("the title of step %d has 0 or more than %d characters", i+1, maxPlanTitle), "say it in a few words")
		case !slices.Contains([]string{"todo", "doing", "done"}, step.State):
			return turn.Result{}, invalid(fmt.Sprintf("the state of step %d is not known", i+1), "todo, doing or done")
		case step.State == "done":
			done++
		}
	}
	return answer(map[string]any{"steps": len(in.Steps), "done": done})
}
