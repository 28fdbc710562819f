package playbook

import (
	_ "embed" // the programs that run in the sandbox
	"fmt"
	"strings"
)

// chart draws one of a few figures over time.
type chart struct{ slots }

//go:embed chart.py
var chartProgram string

// figure is something that can be counted over time.
type figure struct {
	title, label string
	from, column string            // the relation, and its moment
	value        string            // the aggregate
	by           map[string]string // word in the request to column; the first match makes the series
	workflow     bool              // the relation has a column of that name
}

func (p chart) figure() (figure, bool) {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(p.text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("edit", "correction"):
		return figure{
			"Edits of extracted fields", "Edits", "field_edits", "edited_at", "count(*)",
			map[string]string{"source": "edit_source", "workflow": "workflow", "field": "field_name"},
			true,
		}, true
	case has("document", "file"):
		return figure{"Documents received", "Documents", "documents", "received_at", "count(*)", map[string]string{"type": "document_type"}, false}, true
	case has("field", "extract"):
		return figure{
			"Extracted fields", "Fields", "extracted_fields", "extracted_at", "count(*)",
			map[string]string{"workflow": "workflow", "type": "document_type", "field": "field_name"},
			true,
		}, true
	case has("submission"):
		return figure{
			"Submissions received", "Submissions", "submissions", "received_at", "count(*)",
			map[string]string{"status": "status", "workflow": "workflow", "carrier": "carrier", "broker": "broker_name"},
			true,
		}, true
	}
	return figure{}, false
}

func (p chart) unit() string {
	switch {
	case strings.Contains(p.text, "month") && !strings.Contains(p.text, "per day") && !strings.Contains(p.text, "daily"):
		if strings.Contains(p.text, "per week") || strings.Contains(p.text, "weekly") || strings.Contains(p.text, "by week") {
			return "week"
		}
		if strings.Contains(p.text, "per month") || strings.Contains(p.text, "monthly") || strings.Contains(p.text, "by month") || strings.Contains(p.text, "each month") {
			return "month"
		}
		return "day"
	case strings.Contains(p.text, "per week"), strings.Contains(p.text, "weekly"), strings.Contains(p.text, "by week"), strings.Contains(p.text, "each week"):
		return "week"
	}
	return "day"
}

func (p chart) next(s *scene) reply {
	f, ok := p.figure()
	if !ok {
		return say("I can chart submissions, documents, extracted fields and edits, by day, week or month. Which of them, and for which period?")
	}
	if len(p.spans) != 1 {
		return say("For which period shall I chart this? Name one, such as this month, the last 30 days, or 2026-06-01 to 2026-07-31.")
	}
	workflow := ""
	if f.workflow {
		var wait *reply
		if workflow, wait = s.workflow(p.slots); wait != nil {
			return *wait
		}
	}
	d, ok := s.last("run")
	if !ok {
		return s.do("run", map[string]any{"script": p.script(f, workflow), "timeout_seconds": 300})
	}
	var out struct {
		Chart *drawn `json:"chart"`
	}
	if !lastJSON(d.text, &out) || out.Chart == nil {
		return say("The figure was computed, but its summary can't be read. The program said:\n\n%s", quote(tail(d.text)))
	}
	return say("%s", out.Chart.text(f, p.unit(), p.spans[0]))
}

func (p chart) series(f figure) (column, name string) {
	for _, word := range []string{"status", "source", "workflow", "carrier", "broker", "type", "field"} {
		column, ok := f.by[word]
		if ok && (strings.Contains(p.text, "by "+word) || strings.Contains(p.text, "per "+word) || strings.Contains(p.text, "and "+word) ||
			word == "type" && strings.Contains(p.text, "by document type")) {
			return column, word
		}
	}
	return "", ""
}

func (p chart) script(f figure, workflow string) string {
	column, by := p.series(f)
	series := literal(f.label)
	if column != "" {
		series = "coalesce(" + column + ", 'none')"
	}
	unit, sp := p.unit(), p.spans[0]
	x := fmt.Sprintf("CAST(date_trunc('%s', %s) AS DATE)", unit, f.column)
	where := within(f.column, p.spans)
	if workflow != "" {
		where += "\n  AND workflow = " + literal(workflow)
	}
	sql := fmt.Sprintf("SELECT %s AS x, %s AS series, %s AS y\nFROM %s\nWHERE %s\nGROUP BY 1, 2\nORDER BY 1, 2", x, series, f.value, f.from, where)
	title := f.title
	if workflow != "" {
		title += ", " + workflow
	}
	from := sp.from
	switch unit { // a bar stands at the beginning of its week or month
	case "week":
		from = from.AddDate(0, 0, -(int(from.Weekday())+6)%7)
	case "month":
		from = date(from.Year(), from.Month(), 1)
	}
	return program("chart", sql, chartProgram, map[string]any{
		"title": title, "label": f.label, "by": by, "unit": unit, "from": from.Format(iso), "to": sp.to.Format(iso),
		"file": "chart-" + f.from + ".png",
	})
}

type drawn struct {
	Rows       int     `json:"rows"`
	Total      int     `json:"total"`
	Series     [][]any `json:"series"`
	Peak       []any   `json:"peak"`
	AuditID    string  `json:"audit_id"`
	Generation string  `json:"generation"`
	File       string  `json:"file"`
}

func (d drawn) text(f figure, unit string, s span) string {
	if d.Rows == 0 {
		return fmt.Sprintf("There is nothing to chart: no %s %s.", strings.ToLower(f.label), s.words())
	}
	var rows [][]string
	for _, pair := range d.Series {
		if len(pair) == 2 {
			rows = append(rows, []string{fmt.Sprint(pair[0]), fmt.Sprint(pair[1])})
		}
	}
	text := fmt.Sprintf("## %s per %s, %s\n\n**%s** in all", f.title, unit, s.words(), thousands(d.Total))
	if len(d.Peak) == 2 {
		text += fmt.Sprintf("; most in the %s of %v: %v", unit, d.Peak[0], d.Peak[1])
	}
	text += ".\n\n"
	if len(rows) > 1 {
		text += table([]string{"", "count"}, rows) + "\n"
	}
	return text + fmt.Sprintf("Picture: `%s`. Source: audit id `%s`, data generation `%s`.", plain(d.File), plain(d.AuditID), plain(d.Generation))
}
