package playbook

import (
	"strings"
	"testing"

	"bordereau/agent/model"
)

// Long work has a plan, whose newest state stands before what is under way and is whole at the end.
func TestPlan(t *testing.T) {
	t.Parallel()
	tools := append(allTools(), model.Tool{Name: planTool})
	for name, c := range map[string]struct {
		answers answerer
		want    string
	}{
		"as it goes":     {answerer{"plan": {"{}", "{}", "{}"}, "reconcile": {runAnswer}, "publish_report": {publishedText}}, "doing todo, reconcile, done doing, publish_report, done done"},
		"a call is lost": {answerer{"plan": {"{}", "{}", "{}"}, "reconcile": {"!interrupted, outcome unknown", runAnswer}, "publish_report": {publishedText}}, "doing todo, reconcile, reconcile, done doing, publish_report, done done"},
		"plans fail":     {answerer{"plan": {"!no", "!no", "!no"}, "reconcile": {runAnswer}, "publish_report": {publishedText}}, "doing todo, reconcile, done doing, publish_report, done done"},
		"work fails":     {answerer{"plan": {"{}"}, "reconcile": {"!denied"}}, "doing todo, reconcile"},
	} {
		var calls []string
		log := talk(t, tools, c.answers, "Reconcile today")
		for line := range strings.Lines(log) {
			call, ok := strings.CutPrefix(line, "CALLS: ")
			if !ok {
				continue
			}
			tool, input, _ := strings.Cut(call, " ")
			if tool == planTool {
				var states []string
				for _, step := range strings.Split(input, `"state":"`)[1:] {
					state, _, _ := strings.Cut(step, `"`)
					states = append(states, state)
				}
				tool = strings.Join(states, " ")
			}
			calls = append(calls, tool)
		}
		if got := strings.Join(calls, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if c.answers["publish_report"] != nil && !strings.Contains(log, "Reports: `discrepancies.xlsx`") {
			t.Errorf("%s: no answer:\n%s", name, log)
		}
	}
}
