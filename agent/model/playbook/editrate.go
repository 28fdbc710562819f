package playbook

import (
	_ "embed" // the programs that run in the sandbox
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// editRate answers which share of extracted fields a human edited, by field and day. The figures come from governed SQL
// that code in the sandbox fetches; the workbook and the picture are made there.
type editRate struct{ slots }

//go:embed edit_rate.py
var editRateProgram string

func (p editRate) next(s *scene) reply {
	if len(p.spans) == 0 {
		return say("For which period do you want the edit rate? For example: for June and July, for last month, or for 2026-06-01 to 2026-07-31.")
	}
	workflow, wait := s.workflow(p.slots)
	if wait != nil {
		return *wait
	}
	d, ok := s.last("run")
	if !ok {
		return s.do("run", map[string]any{"script": p.script(workflow), "timeout_seconds": 300})
	}
	var out struct {
		EditRate *rates `json:"edit_rate"`
	}
	if !lastJSON(d.text, &out) || out.EditRate == nil {
		return say("The figures were computed, but their summary can't be read. The program said:\n\n%s", quote(tail(d.text)))
	}
	return say("%s", out.EditRate.text())
}

// sql counts extracted fields by name and UTC day of extraction, and those of them that a person edited.
func (p editRate) sql(workflow string) string {
	var where []string
	if workflow != "" {
		where = append(where, "workflow = "+literal(workflow))
	}
	return "SELECT field_name, CAST(extracted_at AS DATE) AS day, count(*) AS fields,\n" +
		"       count(*) FILTER (WHERE edited_by_human) AS edited\n" +
		"FROM extracted_fields\nWHERE " + strings.Join(append(where, within("extracted_at", p.spans)), "\n  AND ") + "\n" +
		"GROUP BY field_name, CAST(extracted_at AS DATE)\nORDER BY field_name, day"
}

// within is the condition that a moment is in one of the spans of days.
func within(column string, spans []span) string {
	var any []string
	for _, s := range spans {
		any = append(any, fmt.Sprintf("%s >= TIMESTAMP '%s 00:00:00' AND %s < TIMESTAMP '%s 00:00:00'",
			column, s.from.Format(iso), column, s.to.Add(24*time.Hour).Format(iso)))
	}
	if len(any) == 1 {
		return any[0]
	}
	return "(" + strings.Join(any, "\n    OR ") + ")"
}

func (p editRate) script(workflow string) string {
	from, to := p.spans[0].from, p.spans[len(p.spans)-1].to
	spans := make([][2]string, len(p.spans))
	for i, s := range p.spans {
		spans[i] = [2]string{s.from.Format(iso), s.to.Format(iso)}
	}
	sql := p.sql(workflow)
	return program("edit-rate", sql, editRateProgram, map[string]any{
		"title":    "Share of extracted fields edited by a human, by field and day",
		"workflow": workflow, "from": from.Format(iso), "to": to.Format(iso), "spans": spans, "sql": sql,
	})
}

// program is the script that fetches rows by governed SQL and gives them to a Python program. The heredocs are quoted, and what
// goes into them has no line that could end them: JSON is one line, literals hold no line break.
func program(name, sql, python string, ask map[string]any) string {
	raw, err := json.Marshal(ask)
	if err != nil {
		raw = []byte("{}")
	}
	return strings.Join([]string{
		"set -euo pipefail",
		"mkdir -p /workspace/work/" + name + " /workspace/artifacts",
		"cd /workspace/work/" + name,
		"cat > " + name + ".json <<'END_OF_ASK'", string(raw), "END_OF_ASK",
		"cat > " + name + ".sql <<'END_OF_SQL'", sql, "END_OF_SQL",
		"cat > " + name + ".py <<'END_OF_PROGRAM'", strings.TrimRight(python, "\n"), "END_OF_PROGRAM",
		"rm -f rows.csv rows.csv.json",
		"gov sql -f " + name + ".sql -o rows.csv > gov.log",
		"/usr/bin/python3 " + name + ".py", // Debian's, which has the packages; another one may come first in PATH
	}, "\n") + "\n"
}

// rates is the summary that the program prints.
type rates struct {
	Workflow   string     `json:"workflow"`
	From       string     `json:"from"`
	To         string     `json:"to"`
	Days       int        `json:"days"`
	Parts      []string   `json:"parts"`
	AuditID    string     `json:"audit_id"`
	Generation string     `json:"generation"`
	Fields     int        `json:"fields"`
	All        rateLine   `json:"all"`
	Lines      []rateLine `json:"lines"`
	Files      []string   `json:"files"`
	Cut        bool       `json:"cut"` // the rows were cut by policy: the figures are of a part
}

// rateLine is one field: pairs of edited and extracted.
type rateLine struct {
	Field string   `json:"field"`
	Total [2]int   `json:"total"`
	Parts [][2]int `json:"parts"`
	Peak  []any    `json:"peak"` // day, edited, extracted
}

func (r rates) text() string {
	workflow := r.Workflow
	if workflow == "" {
		workflow = "all workflows"
	}
	scope := fmt.Sprintf("%s, %s to %s", plain(workflow), plain(r.From), plain(r.To))
	if r.Fields == 0 {
		return fmt.Sprintf("No field was extracted for %s, so there is no rate to show.%s", scope, r.source())
	}
	head := append([]string{"field", "edited", "extracted", "whole period"}, r.Parts...)
	head = append(head, "highest day")
	var rows [][]string
	for _, l := range append([]rateLine{r.All}, r.Lines...) {
		row := []string{l.Field, thousands(l.Total[0]), thousands(l.Total[1]), percent(l.Total)}
		for _, p := range l.Parts {
			row = append(row, percent(p))
		}
		rows = append(rows, append(row, l.peak()))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Fields edited by a human: %s\n\n", scope)
	fmt.Fprintf(&b, "**%s** of %s extracted fields were edited by a person (%s).\n\n", percent(r.All.Total), thousands(r.All.Total[1]), thousands(r.All.Total[0]))
	if r.Cut {
		b.WriteString("**The data was cut by policy before it was counted: these figures are of a part only.**\n\n")
	}
	b.WriteString(table(head, rows))
	if len(r.Lines) < r.Fields {
		fmt.Fprintf(&b, "\nThe %d fields edited most of %d; the workbook has all.\n", len(r.Lines), r.Fields)
	}
	var files []string
	for _, f := range r.Files {
		files = append(files, "`"+plain(f)+"`")
	}
	fmt.Fprintf(&b, "\nEach field and day (%d days) stands in the workbook, with counts and the SQL. Files: %s.%s", r.Days, strings.Join(files, ", "), r.source())
	return b.String()
}

func (r rates) source() string {
	if r.AuditID == "" {
		return ""
	}
	return fmt.Sprintf(" Source: audit id `%s`, data generation `%s`.", plain(r.AuditID), plain(r.Generation))
}

func (l rateLine) peak() string {
	if len(l.Peak) != 3 {
		return "–"
	}
	e, ok1 := l.Peak[1].(float64)
	n, ok2 := l.Peak[2].(float64)
	if !ok1 || !ok2 {
		return "–"
	}
	return fmt.Sprintf("%v: %s (%.0f of %.0f)", l.Peak[0], percent([2]int{int(e), int(n)}), e, n)
}

func percent(p [2]int) string {
	if p[1] == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(p[0])/float64(p[1]))
}

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// lastJSON reads the last line of a program's output that is a JSON object.
func lastJSON(text string, into any) bool {
	lines := strings.Split(text, "\n")
	for _, line := range slices.Backward(lines) {
		if line := strings.TrimSpace(line); strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), into) == nil {
			return true
		}
	}
	return false
}
