package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"bordereau/governance/audit"
)

// auditFilters are the flags by which statements are chosen, the same as the console's filters.
type auditFilters struct {
	search   audit.Search
	from, to string
}

func (f *auditFilters) define(fs *flag.FlagSet) {
	s := &f.search
	fs.StringVar(&s.Subject, "person", "", "of this person")
	fs.StringVar(&s.Turn, "turn", "", "of this turn")
	fs.StringVar(&s.Conversation, "conversation", "", "of this conversation")
	fs.StringVar(&s.Via, "via", "", "asked through chat, schedule, console, cli or reconcile")
	fs.StringVar(&s.Relation, "relation", "", "that read this relation")
	fs.StringVar(&s.Column, "column", "", "that read this relation.column")
	fs.StringVar(&s.Decision, "decision", "", "allowed or refused")
	fs.StringVar(&s.Rule, "rule", "", "refused by this rule")
	fs.StringVar(&s.Outcome, "outcome", "", "answered, running, or the code of a failure such as timeout")
	fs.StringVar(&s.Text, "text", "", "with this in their SQL")
	fs.StringVar(&f.from, "from", "", "asked at or after 2026-11-29 or 2026-11-29T12:00:00Z")
	fs.StringVar(&f.to, "to", "", "asked before")
	fs.DurationVar(&s.MinRun, "min-run", 0, "that ran at least so long, such as 2s")
	fs.DurationVar(&s.MaxRun, "max-run", 0, "that ran at most so long")
	fs.IntVar(&s.Limit, "limit", 100, "how many, the newest first")
}

func (f *auditFilters) read(org string) (audit.Search, error) {
	s := f.search
	s.Org = org
	for _, t := range []struct {
		name, text string
		into       *time.Time
	}{{"from", f.from, &s.From}, {"to", f.to, &s.To}} {
		if t.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, t.text)
		if err != nil {
			at, err = time.Parse(time.DateOnly, t.text)
		}
		if err != nil {
			return s, usagef("audit list: --%s is no moment: write it as 2026-11-29 or 2026-11-29T12:00:00Z", t.name)
		}
		*t.into = at
	}
	if s.Limit < 1 {
		return s, usagef("audit list: --limit is at least 1")
	}
	return s, nil
}

// listAudit writes statements, the newest first: a table, or a JSON object a line.
func listAudit(ctx context.Context, db *sql.DB, s audit.Search, asJSON bool, std stdio) error {
	log, err := audit.New(ctx, audit.Config{DB: db, Now: time.Now})
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(std.Out, 0, 8, 2, ' ', 0)
	if !asJSON {
		fmt.Fprintln(table, "ASKED\tPERSON\tROLE\tVIA\tOUTCOME\tRULE\tROWS\tMS\tAUDIT ID\tSQL")
	}
	wanted := s.Limit
	for found := 0; found < wanted; {
		s.Limit = min(wanted-found, 500)
		page, err := log.Search(ctx, s)
		if err != nil {
			return err
		}
		for _, st := range page.Statements {
			if err := printStatement(table, std.Out, st, asJSON); err != nil {
				return err
			}
		}
		found += len(page.Statements)
		if page.Next == nil {
			break
		}
		s.After = *page.Next
	}
	return table.Flush()
}

func printStatement(table, out io.Writer, st audit.Statement, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return enc.Encode(st)
	}
	outcome := st.Outcome
	if st.Event == audit.Asked {
		outcome = audit.Running
	}
	text := printable(strings.Join(strings.Fields(st.SQLAsked), " "))
	if cut := []rune(text); len(cut) > 100 {
		text = string(cut[:99]) + "…"
	}
	_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%.1f\t%s\t%s\n", st.Asked.Format("2006-01-02 15:04:05"), printable(st.Subject), st.Role, st.Via, outcome,
		printable(st.Rule), st.Rows, float64(st.Run.Microseconds())/1000, st.AuditID, text)
	return err
}

// showAudit writes one statement with all that is on record.
func showAudit(ctx context.Context, db *sql.DB, org, id string, asJSON bool, std stdio) error {
	log, err := audit.New(ctx, audit.Config{DB: db, Now: time.Now})
	if err != nil {
		return err
	}
	st, err := log.Statement(ctx, org, id)
	if err != nil {
		return err
	}
	if asJSON {
		return printStatement(nil, std.Out, st, true)
	}
	w := tabwriter.NewWriter(std.Out, 0, 8, 2, ' ', 0)
	for _, f := range []struct {
		name  string
		value any
	}{
		{"audit id", st.AuditID},
		{"asked", st.Asked.Format(time.RFC3339Nano)},
		{"person", st.Subject},
		{"role", st.Role},
		{"via", st.Via},
		{"conversation", st.Conversation},
		{"turn", st.Turn},
		{"sandbox", st.Sandbox},
		{"decision", st.Decision},
		{"outcome", st.Outcome},
		{"rule", st.Rule},
		{"message", st.Message},
		{"hint", st.Hint},
		{"relations", strings.Join(st.Relations, ", ")},
		{"columns", strings.Join(st.Columns, ", ")},
		{"generation", st.Generation},
		{"profile", st.Profile},
		{"rows", st.Rows},
		{"bytes", st.Bytes},
		{"truncated", st.Truncated},
		{"queued", st.Queue},
		{"ran", st.Run},
		{"chain", fmt.Sprintf("entries %d to %d", st.First, st.Seq)},
		{"hash", st.Hash},
	} {
		if text := printable(fmt.Sprint(f.value)); text != "" {
			fmt.Fprintf(w, "%s\t%s\n", f.name, text)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "\nasked:\n%s\n", marked(st.SQLAsked, int(st.Position)))
	if st.SQLRun != "" {
		fmt.Fprintf(std.Out, "\nrun:\n%s\n", printableLines(st.SQLRun))
	}
	return nil
}

// marked writes SQL with a caret under a place, a 1-based byte offset; 0 marks nothing.
func marked(sql string, position int) string {
	if position < 1 || position > len(sql) {
		return printableLines(sql)
	}
	begin := strings.LastIndexByte(sql[:position-1], '\n') + 1
	end := len(sql)
	if n := strings.IndexByte(sql[position-1:], '\n'); n >= 0 {
		end = position - 1 + n
	}
	caret := strings.Repeat(" ", len([]rune(strings.ToValidUTF8(sql[begin:position-1], "?")))) + "^"
	return printableLines(sql[:end]) + "\n" + caret + printableLines(sql[end:])
}

func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}
