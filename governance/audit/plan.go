package audit

import (
	"fmt"
	"strings"
)

// How many candidates one request looks at: with text, for which each one's record is read, and without.
const (
	windowOfText = 10_000
	windowOfRest = 20_000
)

// The joins are written CROSS JOIN, by which SQLite goes from left to right: a few candidates, each looked up by a key.

// eventColumns are columnList of the table called e.
var eventColumns = "e." + strings.Join(strings.Fields(strings.ReplaceAll(columnList, ",", " ")), ", e.")

// planned is a search as SQL.
type planned struct {
	found      string // the page
	end        string // the last candidate of a window that is full
	args       []any
	windowArgs int // how many of args the window alone takes
}

// candidate is a condition that has an index of its own.
type candidate struct {
	column, value string
	set           bool
}

// planner puts conditions together.
type planner struct{ args []any }

func (p *planner) arg(v any) string {
	p.args = append(p.args, v)
	return fmt.Sprintf("$%d", len(p.args))
}

// plan chooses the index, the first that is likely to give the fewest candidates, and leaves the other conditions to the window.
func plan(s Search, limit int) planned {
	equal := []candidate{
		{"turn", s.Turn, s.Turn != ""},
		{"conversation", s.Conversation, s.Conversation != ""},
		{"column", s.Column, s.Column != ""},
		{"rule", s.Rule, s.Rule != ""},
		{"subject", s.Subject, s.Subject != ""},
		{"relation", s.Relation, s.Relation != ""},
		{"outcome", strings.TrimSuffix(s.Outcome, Running), s.Outcome != ""},
		{"decision", s.Decision, s.Decision != ""},
		{"via", s.Via, s.Via != ""},
	}
	var chosen candidate
	var rest []candidate
	for _, c := range equal {
		switch {
		case !c.set:
		case !chosen.set && c.column != "via":
			chosen = c
		default:
			rest = append(rest, c)
		}
	}
	size := limit + 1
	switch {
	case s.Text != "":
		size = windowOfText
	case len(rest) > 0 || s.MinRun > 0 || s.MaxRun > 0:
		size = windowOfRest
	}
	p := &planner{}
	window := p.window(s, chosen, size)
	out := planned{windowArgs: len(p.args)}
	out.end = fmt.Sprintf("SELECT w.at_us, w.first_seq FROM (%s) w ORDER BY w.at_us DESC, w.first_seq DESC LIMIT 1 OFFSET %d", window, size-1)
	where, join := p.rest(s, rest)
	found := fmt.Sprintf("SELECT w.org, w.at_us, w.first_seq, w.last_seq FROM (%s) w%s WHERE %s ORDER BY w.at_us DESC, w.first_seq DESC LIMIT %d",
		window, join, where, limit+1)
	out.found = fmt.Sprintf(`SELECT %s, w.at_us, w.first_seq FROM (%s) w CROSS JOIN audit_events e WHERE e.org = w.org AND e.seq = w.last_seq
 ORDER BY w.at_us DESC, w.first_seq DESC`, eventColumns, found)
	out.args = p.args
	return out
}

// window is the newest candidates.
func (p *planner) window(s Search, c candidate, size int) string {
	switch c.column {
	case "relation":
		return p.touching([]string{c.value}, s, size)
	case "column":
		relation, _, _ := strings.Cut(c.value, ".")
		return p.touching([]string{c.value, relation + ".*"}, s, size)
	}
	where := "org = " + p.arg(s.Org)
	if c.set {
		where += fmt.Sprintf(" AND %s = %s", c.column, p.arg(c.value))
	}
	return fmt.Sprintf("SELECT * FROM audit_statements WHERE %s%s ORDER BY at_us DESC, first_seq DESC LIMIT %d", where, p.times(s), size)
}

// touching is the newest statements that read something, which has one of several names.
func (p *planner) touching(names []string, s Search, size int) string {
	var each []string
	for _, name := range names {
		each = append(each, fmt.Sprintf(`SELECT * FROM (SELECT audit_id, at_us, first_seq FROM audit_touched WHERE org = %s AND name = %s%s
 ORDER BY at_us DESC, first_seq DESC LIMIT %d) t%d`, p.arg(s.Org), p.arg(name), p.times(s), size, len(each)))
	}
	return fmt.Sprintf(`SELECT s.* FROM (SELECT * FROM (%s) u ORDER BY at_us DESC, first_seq DESC LIMIT %d) n
 CROSS JOIN audit_statements s WHERE s.org = %s AND s.audit_id = n.audit_id`, strings.Join(each, " UNION ALL "), size, p.arg(s.Org))
}

// times bounds when candidates were asked.
func (p *planner) times(s Search) string {
	var b strings.Builder
	if !s.From.IsZero() {
		b.WriteString(" AND at_us >= " + p.arg(s.From.UnixMicro()))
	}
	if !s.To.IsZero() {
		b.WriteString(" AND at_us < " + p.arg(s.To.UnixMicro()))
	}
	if s.After != (Place{}) {
		b.WriteString(" AND (at_us, first_seq) < (" + p.arg(s.After.AtUS) + ", " + p.arg(s.After.Seq) + ")")
	}
	return b.String()
}

// rest is what the window's candidates must meet beside.
func (p *planner) rest(s Search, equal []candidate) (where, join string) {
	conditions := []string{"1 = 1"}
	add := func(format string, v any) { conditions = append(conditions, fmt.Sprintf(format, p.arg(v))) }
	const touched = "EXISTS (SELECT 1 FROM audit_touched t WHERE t.org = w.org AND t.at_us = w.at_us AND t.first_seq = w.first_seq AND t.name IN (%s))"
	for _, c := range equal {
		switch c.column {
		case "relation":
			add(touched, c.value)
		case "column":
			relation, _, _ := strings.Cut(c.value, ".")
			conditions = append(conditions, fmt.Sprintf(touched, p.arg(c.value)+", "+p.arg(relation+".*")))
		default:
			add("w."+c.column+" = %s", c.value)
		}
	}
	if s.MinRun > 0 {
		add("w.run_us >= %s", s.MinRun.Microseconds())
	}
	if s.MaxRun > 0 {
		add("w.run_us <= %s", s.MaxRun.Microseconds())
	}
	if s.Text != "" {
		join = " CROSS JOIN audit_events a"
		conditions = append(conditions, "a.org = w.org", "a.seq = w.last_seq")
		add(`lower(a.sql_asked) LIKE %s ESCAPE '\'`, "%"+like.Replace(strings.ToLower(s.Text))+"%")
	}
	return strings.Join(conditions, " AND "), join
}

// like makes text that stands for itself in LIKE.
var like = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
