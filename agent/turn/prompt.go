package turn

import (
	_ "embed"
	"strings"
	"text/template"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/model"
)

//go:embed prompt.txt
var promptText string

// promptData fills the system prompt.
type promptData struct {
	Today string
	Org   string
	Role  string
	Tools []string
}

// systemPrompt tells a model who it works for and by which rules. It is the same for a whole day and person, so that
// providers can cache it.
func systemPrompt(t journal.Turn, org string, tools []model.Tool, now time.Time) (string, error) {
	parsed, err := template.New("prompt").Parse(promptText)
	if err != nil {
		return "", err
	}
	// What the clock started means the day of its tick, however late it runs.
	if day, err := time.Parse(time.DateOnly, t.Today); err == nil {
		now = day
	}
	d := promptData{Today: now.UTC().Format("Monday, 2 January 2006 (2006-01-02)"), Org: oneLine(org), Role: oneLine(t.Role)}
	for _, tool := range tools {
		d.Tools = append(d.Tools, tool.Name)
	}
	var b strings.Builder
	if err := parsed.Execute(&b, d); err != nil {
		return "", err
	}
	return b.String(), nil
}

// oneLine keeps a name from looking like an instruction of its own.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 120 {
		s = strings.ToValidUTF8(s[:120], "")
	}
	return s
}

// tokens estimates how many tokens a text has: good to about a fifth for English and JSON, on the high side.
func tokens(n int) int { return (n + 3) / 4 * 11 / 10 }
