package playbook

import (
	"encoding/json"
	"fmt"
	"strings"
)

// listing lists submissions.
type listing struct{ slots }

// maxListed is how many rows a chat shows.
const maxListed = 50

func (p listing) next(s *scene) reply {
	if len(p.spans) > 1 {
		return say("I list one period at a time; you named %d that don't touch. Ask for each of them.", len(p.spans))
	}
	workflow, wait := s.workflow(p.slots)
	if wait != nil {
		return *wait
	}
	d, ok := s.last("list_submissions")
	if !ok {
		in := map[string]any{"limit": maxListed}
		if len(p.spans) == 1 {
			in["from"], in["to"] = p.spans[0].from.Format(iso), p.spans[0].to.Format(iso)
		}
		for k, v := range map[string]string{"workflow": workflow, "status": p.status, "insured": p.insured} {
			if v != "" {
				in[k] = v
			}
		}
		return s.do("list_submissions", in)
	}
	var a struct {
		Total       int    `json:"total"`
		AuditID     string `json:"audit_id"`
		Submissions []struct {
			ID        string            `json:"submission_id"`
			Workflow  string            `json:"workflow"`
			Status    string            `json:"status"`
			Insured   string            `json:"insured_name"`
			Carrier   string            `json:"carrier"`
			Received  string            `json:"received_at"`
			Documents []json.RawMessage `json:"documents"`
		} `json:"submissions"`
	}
	if err := json.Unmarshal([]byte(d.text), &a); err != nil {
		return say("The submissions were listed, but the answer is too long to read here whole. Narrow the period, the workflow or the status.")
	}
	scope := p.scope(workflow)
	if a.Total == 0 {
		return say("No submission matches: %s.", scope)
	}
	var rows [][]string
	for _, x := range a.Submissions {
		rows = append(rows, []string{x.ID, x.Received, x.Workflow, x.Status, x.Insured, x.Carrier, fmt.Sprint(len(x.Documents))})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s.\n\n", count(a.Total, "submission", "submissions"), scope)
	b.WriteString(table([]string{"id", "received", "workflow", "status", "insured", "carrier", "documents"}, rows))
	if len(rows) < a.Total {
		fmt.Fprintf(&b, "\nThe first %d of %d; name a shorter period, a workflow or a status to see others.\n", len(rows), a.Total)
	}
	fmt.Fprintf(&b, "\nSource: audit id `%s`.", plain(a.AuditID))
	return reply{text: b.String()}
}

func (p listing) scope(workflow string) string {
	var parts []string
	if len(p.spans) == 1 {
		parts = append(parts, "received "+p.spans[0].words())
	}
	if workflow != "" {
		parts = append(parts, "workflow "+plain(workflow))
	}
	if p.status != "" {
		parts = append(parts, "status "+p.status)
	}
	if p.insured != "" {
		parts = append(parts, "insured like "+plain(p.insured))
	}
	if parts == nil {
		return "all that there are"
	}
	return strings.Join(parts, ", ")
}
