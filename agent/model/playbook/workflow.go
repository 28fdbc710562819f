package playbook

import "strings"

const workflowsSQL = `SELECT workflow, count(*) AS submissions FROM submissions GROUP BY workflow ORDER BY workflow`

// workflow finds how the data spells the workflow that a request names. "" means all of them. While it isn't known yet, or
// when there is no such workflow, the reply to give instead is returned.
func (s *scene) workflow(p slots) (string, *reply) {
	if p.workflow == "" {
		return "", nil
	}
	if !s.tools["sql"] {
		return p.workflow, nil // as written: whoever reads the data will say if it doesn't exist
	}
	for _, d := range s.did {
		if d.name != "sql" || !strings.Contains(string(d.input), "GROUP BY workflow ORDER BY workflow") || !d.answered || d.failed {
			continue
		}
		g, ok := readGrid(d.text)
		if !ok {
			return p.workflow, nil
		}
		return match(p, g)
	}
	r := s.do("sql", map[string]any{"query": workflowsSQL, "max_rows": 200})
	return "", &r
}

func match(p slots, g grid) (string, *reply) {
	best := ""
	var names []string
	for _, row := range g.cells() {
		if len(row) == 0 || row[0] == "" {
			continue
		}
		names = append(names, "`"+plain(row[0])+"`")
		if strings.Contains(p.text, strings.ToLower(row[0])) && len(row[0]) > len(best) || strings.EqualFold(row[0], p.workflow) {
			best = row[0]
		}
	}
	if best != "" {
		return best, nil
	}
	r := say("There is no workflow called %q in your data. There are: %s.", plain(p.workflow), strings.Join(names, ", "))
	if names == nil {
		r = say("There is no workflow called %q: your organisation has no submissions yet.", plain(p.workflow))
	}
	return "", &r
}
