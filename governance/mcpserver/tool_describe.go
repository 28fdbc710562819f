package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bordereau/governance/fault"
	"bordereau/governance/relation"
	"bordereau/tools/table"
)

type describeAnswer struct {
	Relations  []describedRelation `json:"relations"`
	Workflows  []describedWorkflow `json:"workflows"`
	Guidelines []Guideline         `json:"guidelines"`
	Notes      []string            `json:"notes"`
	AuditIDs   []string            `json:"audit_ids"`
}

type describedRelation struct {
	relation.Relation
	Rows int    `json:"row_count"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

type describedWorkflow struct {
	Workflow    string `json:"workflow"`
	Submissions int    `json:"submissions"`
	From        string `json:"from,omitempty"`
	To          string `json:"to,omitempty"`
}

// notes are what a writer of SQL has to know beside the columns.
func notes() []string {
	return []string{
		"DuckDB SQL, one SELECT; name relations without schema. Every day is a UTC day.",
		"PIVOT needs its values: PIVOT t ON c IN ('a', 'b') USING count(*). Method calls such as s.status.upper() are refused: write upper(s.status).",
		"A masked value still groups and counts; what a role doesn't see isn't listed here.",
	}
}

// describeData tells what there is to ask about, as far as the caller's role sees it.
func (s *Server) describeData(ctx context.Context, a asked) (any, error) {
	var ask struct {
		Relation string `json:"relation"`
	}
	if err := decode(a, &ask); err != nil {
		return nil, err
	}
	seen := s.visible(a.who.Role)
	if ask.Relation != "" {
		name := strings.ToLower(ask.Relation)
		i := slices.IndexFunc(seen, func(r relation.Relation) bool { return r.Name == name })
		if i < 0 {
			return nil, &fault.Error{Code: fault.NotFound, Component: component, Message: "there is no relation of that name", Hint: "the relations are " + strings.Join(names(seen), ", ")}
		}
		seen = seen[i : i+1]
	}
	out := describeAnswer{Relations: []describedRelation{}, Workflows: []describedWorkflow{}, Notes: notes(), AuditIDs: []string{}}
	sql := s.as(a, "chat")
	if err := s.count(ctx, sql, seen, &out); err != nil {
		return nil, err
	}
	if slices.Contains(names(s.visible(a.who.Role)), "submissions") {
		flows, err := sql.Query(ctx, workflowsSQL)
		if err != nil {
			return nil, err
		}
		out.AuditIDs = append(out.AuditIDs, flows.AuditID)
		for _, r := range flows.Rows {
			out.Workflows = append(out.Workflows, describedWorkflow{r.Text(0), r.Int(1), r.Day(2), r.Day(3)})
		}
	}
	var err error
	if out.Guidelines, err = s.c.Guidelines.Guidelines(ctx, a.who.Org); err != nil {
		return nil, err
	}
	if out.Guidelines == nil {
		out.Guidelines = []Guideline{}
	}
	return out, nil
}

const workflowsSQL = `
SELECT workflow, count(*) AS submissions, min(received_at) AS first, max(received_at) AS last
FROM submissions
GROUP BY workflow
ORDER BY workflow`

// count asks for all rows and date ranges in one statement. The names in it are ours, not the caller's.
func (s *Server) count(ctx context.Context, sql governed, seen []relation.Relation, out *describeAnswer) error {
	var parts []string
	for _, r := range seen {
		first, last := "NULL", "NULL"
		if slices.ContainsFunc(r.Columns, func(c relation.Column) bool { return c.Name == r.Time }) {
			first, last = "min("+r.Time+")", "max("+r.Time+")"
		}
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS relation, count(*) AS n, CAST(%s AS TIMESTAMP) AS first, CAST(%s AS TIMESTAMP) AS last FROM %s", r.Name, first, last, r.Name))
	}
	if len(parts) == 0 {
		return nil
	}
	counts, err := sql.Query(ctx, strings.Join(parts, "\nUNION ALL\n"))
	if err != nil {
		return err
	}
	out.AuditIDs = append(out.AuditIDs, counts.AuditID)
	for _, r := range seen {
		d := describedRelation{Relation: r}
		if i := slices.IndexFunc(counts.Rows, func(row table.Row) bool { return row.Text(0) == r.Name }); i >= 0 {
			d.Rows, d.From, d.To = counts.Rows[i].Int(1), counts.Rows[i].Day(2), counts.Rows[i].Day(3)
		}
		out.Relations = append(out.Relations, d)
	}
	return nil
}

// visible is the relations and columns that a role sees.
func (s *Server) visible(role string) []relation.Relation {
	return relation.Seen(s.relations, s.c.Policy, role)
}

func names(relations []relation.Relation) []string {
	out := make([]string, len(relations))
	for i, r := range relations {
		out[i] = r.Name
	}
	return out
}
