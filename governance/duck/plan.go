package duck

import (
	"encoding/json"
	"slices"
)

// The second gate. What a statement reads is told here by DuckDB's binder, which knows nothing of how the gate read the text: the plan
// as it was bound, before anything is optimised away, has a node for every relation and table function that it touches.

// plannedStatements is how many statements a worker remembers as good. Its file never changes, so they stay good.
const plannedStatements = 256

// harmlessSources are the table functions that a plan may have; they read no data.
func harmlessSources() []string { return []string{"range", "generate_series", "unnest"} }

// checkPlan refuses a statement that touches another relation than those that it was found to name. The statement has been prepared,
// so its own errors are told already: one that DuckDB can run and whose plan it can't tell, for whatever reason, is refused too.
func (e *engine) checkPlan(sql string, relations []string) error {
	if e.planned[sql] {
		return nil
	}
	raw, err := e.text("SELECT json_serialize_plan(?::VARCHAR)::VARCHAR", sql)
	if err != nil {
		return err
	}
	var answer struct {
		Error bool  `json:"error"`
		Plans []any `json:"plans"`
	}
	if err := json.Unmarshal([]byte(raw), &answer); err != nil {
		return err
	}
	if answer.Error || len(answer.Plans) != 1 {
		return &failure{class: classPlan, message: "what the statement touches can't be checked"}
	}
	if !touchesOnly(answer.Plans[0], relations) {
		return &failure{class: classPlan, message: "the statement's plan touches something that the statement does not name"}
	}
	if len(e.planned) >= plannedStatements {
		clear(e.planned)
	}
	if e.planned == nil {
		e.planned = map[string]bool{}
	}
	e.planned[sql] = true
	return nil
}

// touchesOnly looks for sources everywhere in a plan, also where no operator should be.
func touchesOnly(v any, relations []string) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if !touchesOnly(e, relations) {
				return false
			}
		}
	case map[string]any:
		if v["type"] == "LOGICAL_GET" && !source(v, relations) {
			return false
		}
		for _, e := range v {
			if !touchesOnly(e, relations) {
				return false
			}
		}
	}
	return true
}

func source(get map[string]any, relations []string) bool {
	name, _ := get["name"].(string)
	if slices.Contains(harmlessSources(), name) {
		return true
	}
	data, _ := get["function_data"].(map[string]any)
	table, _ := data["table"].(string)
	return name == "seq_scan" && data["schema"] == "main" && slices.Contains(relations, table)
}
