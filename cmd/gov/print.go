package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxCell is how wide a table's cell may be.
const maxCell = 60

// print writes an answer: JSON, or tables of what it holds.
func (c *command) print(answer json.RawMessage) error {
	if c.json || !c.std.Terminal && !c.table {
		var line bytes.Buffer
		if err := json.Compact(&line, answer); err != nil {
			return fmt.Errorf("the answer is no JSON: %w", err)
		}
		line.WriteByte('\n')
		_, err := c.std.Out.Write(line.Bytes())
		return err
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(answer, &whole); err != nil {
		return fmt.Errorf("the answer is no object: %w", err)
	}
	var out strings.Builder
	if raw, ok := whole["rows"]; ok && bytes.HasPrefix(raw, []byte("[")) {
		sqlTable(&out, whole["columns"], raw)
		delete(whole, "columns")
		delete(whole, "rows")
	}
	keys, err := memberNames(answer)
	if err != nil {
		return err
	}
	for _, key := range keys { // plain values first, then lists
		if raw, ok := whole[key]; ok && !bytes.HasPrefix(raw, []byte("[{")) {
			fmt.Fprintf(&out, "%s: %s\n", key, cell(raw))
		}
	}
	for _, key := range keys {
		if raw, ok := whole[key]; ok && bytes.HasPrefix(raw, []byte("[{")) {
			fmt.Fprintf(&out, "\n%s\n", key)
			objectTable(&out, raw)
		}
	}
	_, err = fmt.Fprint(c.std.Out, out.String())
	return err
}

func sqlTable(out *strings.Builder, columns, rows json.RawMessage) {
	var heads []struct {
		Name string `json:"name"`
	}
	var cells [][]json.RawMessage
	if json.Unmarshal(columns, &heads) != nil || json.Unmarshal(rows, &cells) != nil {
		return
	}
	lines := [][]string{{}}
	for _, h := range heads {
		lines[0] = append(lines[0], h.Name)
	}
	for _, row := range cells {
		line := []string{}
		for _, v := range row {
			line = append(line, cell(v))
		}
		lines = append(lines, line)
	}
	align(out, lines)
	out.WriteByte('\n')
}

// objectTable writes a list of objects, with the members of the first as its columns.
func objectTable(out *strings.Builder, raw json.RawMessage) {
	var rows []json.RawMessage
	if json.Unmarshal(raw, &rows) != nil || len(rows) == 0 {
		return
	}
	heads, err := memberNames(rows[0])
	if err != nil {
		return
	}
	lines := [][]string{heads}
	for _, r := range rows {
		var members map[string]json.RawMessage
		if json.Unmarshal(r, &members) != nil {
			return
		}
		line := []string{}
		for _, h := range heads {
			line = append(line, cell(members[h]))
		}
		lines = append(lines, line)
	}
	align(out, lines)
}

// memberNames is the names of an object's members in their order.
func memberNames(raw json.RawMessage) ([]string, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var out []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(name))
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// cell is a value in one short line, without what could move a terminal's cursor.
func cell(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil || raw == nil {
		s = string(raw)
	}
	if string(raw) == "null" {
		return "NULL"
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > maxCell {
		s = string([]rune(s)[:maxCell-1]) + "…"
	}
	return s
}

func align(out *strings.Builder, lines [][]string) {
	widths := []int{}
	for _, line := range lines {
		for i, s := range line {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(s))
		}
	}
	for _, line := range lines {
		for i, s := range line {
			if i == len(line)-1 {
				out.WriteString(s)
				break
			}
			out.WriteString(s + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s)+2))
		}
		out.WriteByte('\n')
	}
}
