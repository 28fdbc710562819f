package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// run parses the command line and asks.
func run(ctx context.Context, args []string, std stdio) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		fmt.Fprint(std.Out, help)
		return nil
	}
	do, ok := map[string]func(context.Context, *command) error{
		"sql": sql, "describe": describe, "submissions": submissions, "extraction": extraction, "vin": vins, "vins": vins,
		"reconcile": reconcile, "document": document,
	}[args[0]]
	if !ok {
		return usagef("no command %q", args[0])
	}
	c := &command{std: std, client: dial(std), args: args[1:], flags: flag.NewFlagSet("gov "+args[0], flag.ContinueOnError)}
	c.flags.SetOutput(std.Err)
	c.flags.BoolVar(&c.json, "json", false, "print JSON, also on a terminal")
	c.flags.BoolVar(&c.table, "table", false, "print a table, also into a pipe")
	return do(ctx, c)
}

// command is one command under way.
type command struct {
	std         stdio
	client      *client
	flags       *flag.FlagSet
	args        []string
	json, table bool
}

// parse reads the flags, which may stand after the arguments too, and returns the arguments.
func (c *command) parse() ([]string, error) {
	var words []string
	rest := c.args
	for {
		if err := c.flags.Parse(rest); err != nil {
			return nil, usage("") // the flag package has said what is wrong
		}
		rest = c.flags.Args()
		if len(rest) == 0 {
			return words, nil
		}
		if len(c.args) > len(rest) && c.args[len(c.args)-len(rest)-1] == "--" {
			return append(words, rest...), nil
		}
		words, rest = append(words, rest[0]), rest[1:]
	}
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// fields drops what wasn't given, so that defaults are governance's.
func fields(in map[string]any) map[string]any {
	for k, v := range in {
		switch v := v.(type) {
		case string:
			if v == "" {
				delete(in, k)
			}
		case int:
			if v == 0 {
				delete(in, k)
			}
		case []string:
			if len(v) == 0 {
				delete(in, k)
			}
		}
	}
	return in
}

func describe(ctx context.Context, c *command) error {
	words, err := c.parse()
	if err != nil {
		return err
	}
	if len(words) > 1 {
		return usagef("describe takes one relation")
	}
	answer, err := c.client.call(ctx, "describe_data", fields(map[string]any{"relation": strings.Join(words, "")}))
	if err != nil {
		return err
	}
	return c.print(answer)
}

func submissions(ctx context.Context, c *command) error {
	from, to := c.flags.String("from", "", "first day of receipt"), c.flags.String("to", "", "last day of receipt")
	workflow, status := c.flags.String("workflow", "", "workflow"), c.flags.String("status", "", "status")
	insured := c.flags.String("insured", "", "part of the insured's name")
	limit, offset := c.flags.Int("limit", 0, "submissions of a page"), c.flags.Int("offset", 0, "how many to leave out")
	if words, err := c.parse(); err != nil {
		return err
	} else if len(words) > 0 {
		return usagef("submissions takes flags only, not %q", words[0])
	}
	answer, err := c.client.call(ctx, "list_submissions", fields(map[string]any{
		"from": *from, "to": *to, "workflow": *workflow, "status": *status, "insured": *insured, "limit": *limit, "offset": *offset,
	}))
	if err != nil {
		return err
	}
	return c.print(answer)
}

func extraction(ctx context.Context, c *command) error {
	submission, document, field := c.flags.String("submission", "", "id"), c.flags.String("document", "", "id"), c.flags.String("field", "", "id")
	limit, offset := c.flags.Int("limit", 0, "fields of a page"), c.flags.Int("offset", 0, "how many to leave out")
	all := c.flags.Bool("all", false, "all pages")
	if words, err := c.parse(); err != nil {
		return err
	} else if len(words) > 0 {
		return usagef("extraction takes flags only, not %q", words[0])
	}
	ask := map[string]any{"submission_id": *submission, "document_id": *document, "field_id": *field, "limit": *limit, "offset": *offset}
	if *all {
		ask["limit"] = 1000
	}
	var whole struct {
		Total    int               `json:"total"`
		Fields   []json.RawMessage `json:"fields"`
		AuditIDs []string          `json:"audit_ids"`
	}
	for {
		answer, err := c.client.call(ctx, "get_extraction", fields(ask))
		if err != nil {
			return err
		}
		if !*all {
			return c.print(answer)
		}
		page := whole
		page.Fields, page.AuditIDs = nil, nil
		if err := json.Unmarshal(answer, &page); err != nil {
			return err
		}
		whole.Total, whole.Fields, whole.AuditIDs = page.Total, append(whole.Fields, page.Fields...), append(whole.AuditIDs, page.AuditIDs...)
		if len(page.Fields) == 0 || *offset+len(whole.Fields) >= whole.Total {
			raw, err := json.Marshal(whole)
			if err != nil {
				return err
			}
			return c.print(raw)
		}
		ask["offset"] = *offset + len(whole.Fields)
	}
}

func vins(ctx context.Context, c *command) error {
	file := c.flags.String("f", "", "a JSON list of rows with vin, year, make, model, body_type, gvw, ref; - is standard input")
	schedule := c.flags.String("schedule", "", "check this .xlsx or .csv vehicle schedule")
	out := c.flags.String("o", "", "write the checked schedule to this .xlsx")
	limit := c.flags.Int("limit", 0, "how many differing rows of the schedule to print; 0 is all")
	words, err := c.parse()
	if err != nil {
		return err
	}
	if *schedule != "" {
		if len(words) > 0 || *file != "" {
			return usagef("vin takes a schedule alone")
		}
		return c.checkSchedule(ctx, *schedule, *out, *limit)
	}
	if *out != "" || *limit != 0 {
		return usagef("-o and --limit belong to --schedule")
	}
	rows := []map[string]any{}
	if *file != "" {
		raw, err := c.input(*file)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &rows); err != nil {
			return usagef("%s: not a JSON list of rows: %v", *file, err)
		}
	}
	for _, v := range words {
		rows = append(rows, map[string]any{"vin": v})
	}
	if len(rows) == 0 {
		return usagef("vin takes VINs, -f rows.json, or --schedule FILE")
	}
	answer, err := c.client.call(ctx, "decode_vins", map[string]any{"vins": rows})
	if err != nil {
		return err
	}
	return c.print(answer)
}

// input reads a file, or standard input for "-".
func (c *command) input(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(c.std.In, 16<<20))
	}
	raw, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usagef("there is no file %s", name)
	}
	return raw, err
}
