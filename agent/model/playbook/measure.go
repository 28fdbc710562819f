package playbook

import (
	_ "embed" // the programs that run in the sandbox
	"fmt"
	"regexp"
	"strings"
)

// measure answers a question whose figures are one governed query: how well extraction reads, or how much comes in and how long it
// takes. Code in the sandbox makes the workbook and the picture.
type measure struct{ slots }

//go:embed measure.py
var measureProgram string

var (
	accuracyRE   = regexp.MustCompile(`\b(?:accura(?:cy|te)|extraction quality|precision of (?:the )?extraction)\b`)
	turnaroundRE = regexp.MustCompile(`\bturn[- ]?arounds?\b|\bvolumes?\b|\bhow long\b.*\bsubmissions?\b|\bprocessing times?\b|\btime to complet`)
)

// asked is one question: its query, what the columns hold, and what the picture shows.
type asked struct {
	File    string            `json:"file"`
	Title   string            `json:"title"`
	SQL     string            `json:"sql"`
	Columns []measured        `json:"columns"`
	Notes   map[string]string `json:"notes"`  // what a figure means, by its title
	Across  string            `json:"across"` // the column along the picture's axis
	Series  string            `json:"series"`
	Height  string            `json:"height"`
	Period  string            `json:"period"`
	Scope   string            `json:"scope"`
}

// measured is a column of the rows.
type measured struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Kind  string `json:"kind"` // text, count, percent, hours, day
}

func (p measure) asked(workflow string) asked {
	period := fmt.Sprintf("%s to %s", p.spans[0].from.Format(iso), p.spans[len(p.spans)-1].to.Format(iso))
	a := asked{Period: period, Scope: or(workflow, "all workflows")}
	where := func(column string) string {
		cond := within(column, p.spans)
		if workflow != "" {
			cond += "\n  AND workflow = " + literal(workflow)
		}
		return cond
	}
	if accuracyRE.MatchString(p.text) {
		a.File, a.Title, a.Across, a.Series, a.Height = "extraction-accuracy", "Extraction accuracy by field and workflow", "field_name", "workflow", "accuracy"
		a.SQL = "SELECT workflow, field_name, count(*) AS fields, count(*) FILTER (WHERE edited_by_human) AS edited,\n" +
			"       1 - count(*) FILTER (WHERE edited_by_human) / count(*) AS accuracy, avg(confidence) AS confidence\n" +
			"FROM extracted_fields\nWHERE " + where("extracted_at") + "\nGROUP BY workflow, field_name\nORDER BY workflow, field_name"
		a.Columns = []measured{
			{"workflow", "Workflow", "text"},
			{"field_name", "Field", "text"},
			{"fields", "Extracted fields", "count"},
			{"edited", "Edited by a person", "count"},
			{"accuracy", "Accuracy", "percent"},
			{"confidence", "Mean confidence", "percent"},
		}
		a.Notes = map[string]string{
			"Accuracy":         "the share of extracted fields that no person edited; a field that nobody looked at counts as right",
			"Mean confidence":  "what the extraction itself said of these fields; far from the accuracy it misleads",
			"Extracted fields": "by UTC day of extraction",
		}
		return a
	}
	a.File, a.Title, a.Across, a.Series, a.Height = "turnaround", "Submission volumes and turn-around", "month", "workflow", "submissions"
	a.SQL = "SELECT workflow, CAST(date_trunc('month', received_at) AS DATE) AS month, count(*) AS submissions, count(completed_at) AS completed,\n" +
		"       avg(epoch(completed_at) - epoch(received_at)) / 3600 AS mean_hours, median(epoch(completed_at) - epoch(received_at)) / 3600 AS median_hours\n" +
		"FROM submissions\nWHERE " + where("received_at") + "\nGROUP BY 1, 2\nORDER BY 1, 2"
	a.Columns = []measured{
		{"workflow", "Workflow", "text"},
		{"month", "Month received (UTC)", "day"},
		{"submissions", "Submissions", "count"},
		{"completed", "Completed", "count"},
		{"mean_hours", "Mean turn-around (hours)", "hours"},
		{"median_hours", "Median turn-around (hours)", "hours"},
	}
	a.Notes = map[string]string{
		"Completed":                "of those submissions, the ones that are completed by now",
		"Mean turn-around (hours)": "from received to completed, of the completed ones; blank where none is",
	}
	return a
}

func (p measure) next(s *scene) reply {
	if len(p.spans) == 0 {
		return say("For which period do you want this? For example: for June and July, for last month, or for 2026-06-01 to 2026-07-31.")
	}
	workflow, wait := s.workflow(p.slots)
	if wait != nil {
		return *wait
	}
	a := p.asked(workflow)
	d, ok := s.last("run")
	if !ok {
		return s.do("run", map[string]any{"script": program("measure", a.SQL, measureProgram, map[string]any{"asked": a}), "timeout_seconds": 300})
	}
	var out struct {
		Measure *measurement `json:"measure"`
	}
	if !lastJSON(d.text, &out) || out.Measure == nil {
		return say("The figures were computed, but their summary can't be read. The program said:\n\n%s", quote(tail(d.text)))
	}
	return say("%s", out.Measure.text(a))
}

// measurement is the summary that the program prints.
type measurement struct {
	Rows       int        `json:"rows"`
	Shown      [][]string `json:"shown"` // cells as text, the first rows
	AuditID    string     `json:"audit_id"`
	Generation string     `json:"generation"`
	Files      []string   `json:"files"`
	Cut        bool       `json:"cut"`
}

func (m measurement) text(a asked) string {
	source := fmt.Sprintf(" Source: audit id `%s`, data generation `%s`.", plain(m.AuditID), plain(m.Generation))
	scope := fmt.Sprintf("%s, %s", plain(a.Scope), plain(a.Period))
	if m.Rows == 0 {
		return fmt.Sprintf("There is nothing to count for %s.%s", scope, source)
	}
	heads := make([]string, len(a.Columns))
	for i, c := range a.Columns {
		heads[i] = c.Title
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## %s: %s\n\n", a.Title, scope)
	if m.Cut {
		b.WriteString("**The data was cut by policy before it was counted: these figures are of a part only.**\n\n")
	}
	b.WriteString(table(heads, m.Shown))
	if len(m.Shown) < m.Rows {
		fmt.Fprintf(&b, "\nThe first %d of %d rows; the workbook has all.\n", len(m.Shown), m.Rows)
	}
	files := make([]string, len(m.Files))
	for i, f := range m.Files {
		files[i] = "`" + plain(f) + "`"
	}
	fmt.Fprintf(&b, "\nThe workbook has the SQL on a sheet of its own. Files: %s.%s", strings.Join(files, ", "), source)
	return b.String()
}
