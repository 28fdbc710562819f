package playbook

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// abilities says what the playbook can do and how to get a model that can do more.
func abilities(first string) string {
	return strings.TrimSpace(first) + `

What I can do:

- **Reconcile** submissions of a period, or by id, against their carriers' guidelines and report the discrepancies:
  "Reconcile all submissions from today against carrier guidelines and generate a report flagging discrepancies"
- **Edit rate**: the share of extracted fields that a human edited, by field and day, as a workbook and a picture:
  "What percentage of extracted fields were edited by a human, per field per day, for June and July, for the Claims Intake workflow?"
- **Extraction accuracy** by field and workflow, as a workbook and a picture: "How accurate was extraction by field and workflow in June and July?"
- **Volumes and turn-around** of submissions, likewise: "Submission volumes and turn-around for this quarter"
- **Check vehicles**: decode the vehicle schedule of a submission, one that you attach (.xlsx, .csv), or VINs that you name:
  "Check the vehicle schedule of submission S-1", "Check the attached schedule"
- **Show a submission**: "Summarise submission S-1"
- **List submissions** of a period, workflow or status: "List the submissions received this week"
- **Chart** submissions, documents, extracted fields or edits by day, week or month: "Chart submissions per week by workflow for this quarter"

For free questions, connect a model: set ANTHROPIC_API_KEY, or for any server with the OpenAI wire (OpenAI, OpenRouter, vLLM, Ollama)
its base URL, key and model, as the README's section on configuration says. The tools and the data stay the same.`
}

// fault is the typed error that tools answer with; not every failed call has one.
type fault struct {
	Code      string `json:"code"`
	Component string `json:"component"`
	Message   string `json:"message"`
	Hint      string `json:"hint"`
}

func faultOf(text string) (fault, bool) {
	var f fault
	if err := json.Unmarshal([]byte(text), &f); err != nil || f.Code == "" {
		return fault{}, false
	}
	return f, true
}

var unknownRE = regexp.MustCompile(`(?i)\binterrupted\b|outcome (?:is )?unknown`)

// unknownOutcome tells whether a call may have run: its runner died, or it was stopped from outside.
func unknownOutcome(text string) bool {
	if f, ok := faultOf(text); ok {
		return f.Code == "interrupted"
	}
	return unknownRE.MatchString(text) && len(text) < 600
}

// trouble says what failed, and of which part, in a person's words.
func trouble(d did) string {
	f, ok := faultOf(d.text)
	if !ok {
		return fmt.Sprintf("I could not finish: `%s` failed.\n\n%s", d.name, quote(tail(d.text)))
	}
	text := fmt.Sprintf("I could not finish: `%s` answered **%s** (%s): %s", d.name, plain(f.Code), plain(f.Component), plain(f.Message))
	if f.Hint != "" {
		text += "\n\nWhat to do: " + plain(f.Hint)
	}
	return text
}

// account is the answer when no tool may be called: what was done, what was found, and that it ends here.
func (s *scene) account() string {
	if len(s.did) == 0 {
		return "I was asked to close before I could begin: nothing was read and nothing was made."
	}
	var b strings.Builder
	b.WriteString("I had to stop before the end. What was done so far:\n")
	for _, d := range s.did {
		state := "done"
		switch {
		case !d.answered:
			state = "not finished"
		case d.failed:
			state = "failed"
		}
		fmt.Fprintf(&b, "\n- `%s`: %s", d.name, state)
	}
	if d, ok := s.last("reconcile"); ok {
		if r, ok := readRun(d.text); ok {
			b.WriteString("\n\n" + r.summary())
		}
	}
	return b.String()
}

// plain makes text from data safe inside our Markdown: one line, no table cell, link, image, code or HTML of its own.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '[':
			return '('
		case r == ']':
			return ')'
		case r == '<':
			return '‹'
		case r == '>':
			return '›'
		case r == '|':
			return '/'
		case r == '`':
			return '\''
		case r == '*':
			return '∗'
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
	text = strings.ReplaceAll(text, "://", ": //")
	text = strings.TrimSpace(spaceRE.ReplaceAllString(text, " "))
	if r := []rune(text); len(r) > 300 {
		text = string(r[:299]) + "…"
	}
	return text
}

// quote shows output of a program as a block that nothing in it can leave.
func quote(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '`' {
			return '\''
		}
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
	return "```\n" + strings.TrimSpace(text) + "\n```"
}

// tail is the end of a program's output, where it says what went wrong.
func tail(text string) string {
	const n = 1200 // bytes
	if len(text) <= n {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-n:], "")
}

// table writes a Markdown table; cells are made plain.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + plain(c) + " |")
		}
		b.WriteString("\n")
	}
	line(head)
	b.WriteString("|" + strings.Repeat(" --- |", len(head)) + "\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// grid is the answer of a governed query.
type grid struct {
	AuditID    string                  `json:"audit_id"`
	Generation string                  `json:"generation"`
	Columns    []struct{ Name string } `json:"columns"`
	Rows       [][]any                 `json:"rows"`
	RowCount   int                     `json:"row_count"`
	Truncated  bool                    `json:"truncated"`
}

func readGrid(text string) (grid, bool) {
	var g grid
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return g, dec.Decode(&g) == nil && g.Columns != nil
}

// text is the value of a cell as people read it.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

func (g grid) names() []string {
	names := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		names[i] = c.Name
	}
	return names
}

func (g grid) cells() [][]string {
	out := make([][]string, len(g.Rows))
	for i, row := range g.Rows {
		for _, v := range row {
			out[i] = append(out[i], cell(v))
		}
	}
	return out
}

// literal writes an SQL string. Text with control characters has no business in a statement of ours.
func literal(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
