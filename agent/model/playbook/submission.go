package playbook

import (
	"fmt"
	"strings"
)

// submission shows one submission: its head, its documents, and how well they were read.
type submission struct{ slots }

func (p submission) next(s *scene) reply {
	id := literal(p.submissions[0])
	questions := []string{
		"SELECT submission_id, workflow, status, insured_name, broker_name, carrier, effective_date, expiry_date, received_at, completed_at\n" +
			"FROM submissions WHERE submission_id = " + id,
		"SELECT document_type, filename, pages, bytes, document_id FROM documents WHERE submission_id = " + id + "\nORDER BY received_at, filename",
		"SELECT coalesce(table_name, 'outside tables') AS part, count(DISTINCT row_id) AS rows, count(*) AS fields,\n" +
			"       count(*) FILTER (WHERE edited_by_human) AS edited_by_human, round(min(confidence), 2) AS lowest_confidence\n" +
			"FROM extracted_fields WHERE submission_id = " + id + "\nGROUP BY coalesce(table_name, 'outside tables') ORDER BY part",
	}
	var answers []did
	for _, d := range s.did {
		if d.name == "sql" && d.answered && !d.failed {
			answers = append(answers, d)
		}
	}
	if len(answers) < len(questions) {
		var inputs []any
		for _, q := range questions {
			inputs = append(inputs, map[string]any{"query": q, "max_rows": 200})
		}
		return s.do("sql", inputs...)
	}
	var grids [3]grid
	for i, d := range answers[len(answers)-len(questions):] {
		g, ok := readGrid(d.text)
		if !ok {
			return say("The submission was read, but an answer can't be understood:\n\n%s", quote(d.text[:min(len(d.text), 400)]))
		}
		grids[i] = g
	}
	if len(grids[0].Rows) == 0 {
		return say("There is no submission %s in your organisation.", plain(p.submissions[0]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Submission %s\n\n", plain(p.submissions[0]))
	row := grids[0].cells()[0]
	var facts [][]string
	for i, name := range grids[0].names() {
		if i < len(row) && row[i] != "" && name != "submission_id" {
			facts = append(facts, []string{strings.ReplaceAll(name, "_", " "), row[i]})
		}
	}
	b.WriteString(table([]string{"", ""}, facts))
	fmt.Fprintf(&b, "\n### %s\n\n", count(len(grids[1].Rows), "document", "documents"))
	b.WriteString(table(grids[1].names(), grids[1].cells()))
	b.WriteString("\n### What was extracted\n\n")
	b.WriteString(table(spaced(grids[2].names()), grids[2].cells()))
	fmt.Fprintf(&b, "\nSource: audit ids `%s`, `%s`, `%s`; data generation `%s`.", plain(grids[0].AuditID), plain(grids[1].AuditID), plain(grids[2].AuditID), plain(grids[0].Generation))
	return reply{text: b.String()}
}

func spaced(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strings.ReplaceAll(n, "_", " ")
	}
	return out
}
