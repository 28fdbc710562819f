package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"bordereau/agent/journal"
	"bordereau/agent/stream/uimessage"
)

// askPrinter shows progress on one writer and the answer on another.
type askPrinter struct {
	answer, progress io.Writer
	now              func() time.Time

	began    time.Time
	step     int
	calls    map[string]*askCall
	text     strings.Builder // of the block that isn't whole yet
	fenced   bool
	lastNote time.Time
}

type askCall struct {
	tool  string
	began time.Time
	note  string
}

func newAskPrinter(answer, progress io.Writer, now func() time.Time) *askPrinter {
	return &askPrinter{answer: answer, progress: progress, now: now, began: now(), calls: map[string]*askCall{}}
}

func (p *askPrinter) say(format string, args ...any) {
	fmt.Fprintf(p.progress, "%6.1f s  %s\n", p.now().Sub(p.began).Seconds(), fmt.Sprintf(format, args...))
}

// Event shows one part of the stream.
func (p *askPrinter) Event(e askEvent) {
	switch e.Type {
	case "start-step":
		p.flush()
		p.step++
	case "reset-step":
		p.text.Reset()
		p.fenced = false
		p.say("step %d is made again", p.step)
	case "text-delta":
		p.text.WriteString(e.Delta)
		p.blocks()
	case "text-end", "finish-step":
		p.flush()
	case "tool-input-available":
		p.calls[e.ToolCallID] = &askCall{tool: e.ToolName, began: p.now()}
		p.say("step %d  %s %s", p.step, e.ToolName, inputNote(e.Input))
	case "tool-output-available":
		p.ended(e.ToolCallID, outputNote(p.tool(e.ToolCallID), e.Output))
	case "tool-output-error":
		p.ended(e.ToolCallID, "; failed: "+oneLine(e.ErrorText, 300))
	default:
		p.data(e)
	}
}

func (p *askPrinter) tool(call string) string {
	if c := p.calls[call]; c != nil {
		return c.tool
	}
	return ""
}

func (p *askPrinter) ended(call, note string) {
	if c := p.calls[call]; c != nil {
		p.say("step %d  %s done in %.1f s%s", p.step, c.tool, p.now().Sub(c.began).Seconds(), note)
	}
}

func (p *askPrinter) data(e askEvent) {
	switch e.Type {
	case uimessage.DataProgress:
		var d uimessage.Progress
		if json.Unmarshal(e.Data, &d) == nil {
			p.note(e.ID, d)
		}
	case uimessage.DataRetry:
		var d uimessage.Retry
		if json.Unmarshal(e.Data, &d) == nil {
			p.say("step %d  the model failed (%s); asking again in %.1f s", d.Step, d.Class, float64(d.WaitMS)/1000)
		}
	case uimessage.DataArtifact:
		var d uimessage.Artifact
		if json.Unmarshal(e.Data, &d) == nil {
			p.say("step %d  file %s, %s", p.step, oneLine(d.Name, 100), bytesText(d.Size))
		}
	case uimessage.DataOutcome:
		p.flush()
		var d journal.Outcome
		if json.Unmarshal(e.Data, &d) == nil {
			p.say("%s", d.Status)
		}
	}
}

// note shows how far a call is, at most once a second and not twice the same.
func (p *askPrinter) note(call string, d uimessage.Progress) {
	text := oneLine(d.Message, 120)
	if d.Total > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s %.0f of %.0f", text, d.Done, d.Total))
	}
	c := p.calls[call]
	if text == "" || c == nil || c.note == text || p.now().Sub(p.lastNote) < time.Second {
		return
	}
	c.note, p.lastNote = text, p.now()
	p.say("step %d  %s: %s", p.step, d.Tool, text)
}

// Cut tells that the connection is made again.
func (p *askPrinter) Cut(err error, wait time.Duration) {
	p.say("connection lost (%s); going on in %.1f s", oneLine(fmt.Sprint(err), 200), wait.Seconds())
}

// Delivered tells where a file is.
func (p *askPrinter) Delivered(path string, size int64) {
	p.say("saved %s, %s", path, bytesText(size))
}

// blocks prints what is whole: paragraphs and tables, which can be laid out only when all rows are there.
func (p *askPrinter) blocks() {
	text := p.text.String()
	end := strings.LastIndex(text, "\n\n")
	if end < 0 || strings.Count(text[:end], "```")%2 == 1 {
		return
	}
	fmt.Fprint(p.answer, layout(text[:end+2]))
	p.text.Reset()
	p.text.WriteString(text[end+2:])
}

func (p *askPrinter) flush() {
	if text := p.text.String(); strings.TrimSpace(text) != "" {
		fmt.Fprintln(p.answer, layout(strings.TrimRight(text, "\n")))
	}
	p.text.Reset()
}

// layout aligns the columns of Markdown tables and drops what could steer a terminal.
func layout(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, text)
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		j := i
		for j < len(lines) && strings.HasPrefix(lines[j], "|") {
			j++
		}
		if j > i+1 {
			copy(lines[i:j], align(lines[i:j]))
			i = j
			continue
		}
		i++
	}
	return strings.Join(lines, "\n")
}

func align(rows []string) []string {
	cells := make([][]string, len(rows))
	var widths []int
	for i, r := range rows {
		for j, c := range strings.Split(strings.Trim(r, "|"), "|") {
			c = strings.TrimSpace(c)
			cells[i] = append(cells[i], c)
			if j == len(widths) {
				widths = append(widths, 3)
			}
			if i != 1 {
				widths[j] = max(widths[j], utf8.RuneCountInString(c))
			}
		}
	}
	out := make([]string, len(rows))
	for i, row := range cells {
		var b strings.Builder
		for j, c := range row {
			fill := max(widths[j]-utf8.RuneCountInString(c), 0)
			switch {
			case i == 1:
				c, fill = strings.Repeat("-", widths[j]), 0
			case numeric(c):
				c, fill = strings.Repeat(" ", fill)+c, 0
			}
			b.WriteString("| " + c + strings.Repeat(" ", fill) + " ")
		}
		out[i] = b.String() + "|"
	}
	return out
}

func numeric(c string) bool {
	return c != "" && strings.Trim(c, "0123456789.,% –") == ""
}

// inputNote says what a call is about, in a few words.
func inputNote(input json.RawMessage) string {
	var m map[string]any
	if json.Unmarshal(input, &m) != nil {
		return ""
	}
	if s, ok := m["script"].(string); ok {
		return fmt.Sprintf("(a script of %d lines)", strings.Count(s, "\n")+1)
	}
	for _, k := range []string{"query", "path", "run_id", "submission_id", "document_id"} {
		if s, ok := m[k].(string); ok {
			return oneLine(s, 100)
		}
	}
	from, to := m["from"], m["to"]
	switch {
	case from != nil && from == to:
		return fmt.Sprint(from)
	case from != nil && to != nil:
		return fmt.Sprintf("%v to %v", from, to)
	}
	if v, ok := m["vins"].([]any); ok {
		return fmt.Sprintf("(%d VINs)", len(v))
	}
	return ""
}

// outputNote says what a call gave, in a few words.
func outputNote(tool string, output json.RawMessage) string {
	var m map[string]any
	if json.Unmarshal(output, &m) != nil {
		return ""
	}
	var notes []string
	add := func(key, word string) {
		if n, ok := m[key].(float64); ok {
			notes = append(notes, fmt.Sprintf("%.0f %s", n, word))
		}
	}
	add("row_count", "rows")
	add("total", "in all")
	add("submissions", "submissions")
	if s, ok := m["severities"].(map[string]any); ok && tool == "reconcile" {
		total := 0.0
		for _, n := range s {
			f, _ := n.(float64)
			total += f
		}
		notes = append(notes, fmt.Sprintf("%.0f findings", total))
	}
	if r, ok := m["results"].([]any); ok {
		notes = append(notes, fmt.Sprintf("%d VINs", len(r)))
	}
	if code, ok := m["exit_code"].(float64); ok {
		notes = append(notes, fmt.Sprintf("exit code %.0f", code))
	}
	if e, ok := m["export"].(map[string]any); ok {
		if n, ok := e["rows"].(float64); ok {
			notes = append(notes, fmt.Sprintf("%.0f rows exported", n))
		}
	}
	if notes == nil {
		return ""
	}
	return ", " + strings.Join(notes, ", ")
}

func oneLine(text string, n int) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
