package playbook

import (
	"encoding/json"
	"slices"

	"bordereau/agent/model"
)

// planTool shows people what long work consists of, and how far it is.
const planTool = "plan"

type plan struct {
	Steps []planStep `json:"steps"`
}

type planStep struct {
	Title string `json:"title"`
	State string `json:"state"`
}

// newPlan has the first steps done and the next one under way.
func newPlan(done int, titles ...string) plan {
	var p plan
	for i, title := range titles {
		state := "todo"
		switch {
		case i < done:
			state = "done"
		case i == done:
			state = "doing"
		}
		p.Steps = append(p.Steps, planStep{title, state})
	}
	return p
}

func (s *scene) plans() bool { return s.tools[planTool] }

// planShown tells whether the newest plan is this one. Whether the tool took it doesn't matter: a plan is for people, and the work
// goes on without.
func (s *scene) planShown(p plan) bool {
	for _, d := range slices.Backward(s.did) {
		var shown plan
		if d.name == planTool {
			return json.Unmarshal(d.input, &shown) == nil && slices.Equal(shown.Steps, p.Steps)
		}
	}
	return false
}

// planned puts the plan before a reply's calls, where it isn't shown yet.
func (s *scene) planned(r reply, p plan) reply {
	if len(r.calls) == 0 || !s.plans() || s.planShown(p) {
		return r
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return r
	}
	r.calls = slices.Insert(r.calls, 0, model.Block{Kind: model.ToolUse, ID: s.callID(len(r.calls)), Name: planTool, Input: raw})
	return r
}
