package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// export is where governance keeps a whole result.
type export struct {
	URI    string `json:"uri"`
	Format string `json:"format"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Parts  int    `json:"parts"`
}

func sql(ctx context.Context, c *command) error {
	file := c.flags.String("f", "", "a file with the query; - is standard input")
	out := c.flags.String("o", "", "write the whole result to this .csv, .parquet or .arrow")
	rows := c.flags.Int("max-rows", 0, "rows of the preview")
	words, err := c.parse()
	if err != nil {
		return err
	}
	query := strings.Join(words, " ")
	if query == "" {
		raw, err := c.input(or(*file, "-"))
		if err != nil {
			return err
		}
		query = string(raw)
	} else if *file != "" {
		return usagef("the query comes from -f or from the command line, not from both")
	}
	if strings.TrimSpace(query) == "" {
		return usagef("sql takes a query")
	}
	ask := map[string]any{"query": query, "max_rows": *rows}
	if *out == "" {
		answer, err := c.client.call(ctx, "sql", fields(ask))
		if err != nil {
			return err
		}
		return c.print(answer)
	}
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(*out)), ".")
	if format != "csv" && format != "parquet" && format != "arrow" {
		return usagef("-o takes a name that ends in .csv, .parquet or .arrow")
	}
	ask["export"] = format
	answer, err := c.client.call(ctx, "sql", fields(ask))
	if err != nil {
		return err
	}
	return c.fetch(ctx, answer, *out)
}

// fetch writes the whole result and its head. The head is there only if the result is.
func (c *command) fetch(ctx context.Context, answer json.RawMessage, name string) error {
	var head struct {
		AuditID    string          `json:"audit_id"`
		Generation string          `json:"generation"`
		Columns    json.RawMessage `json:"columns"`
		Truncated  bool            `json:"truncated"`
		Note       string          `json:"note"`
		Export     *export         `json:"export"`
	}
	if err := json.Unmarshal(answer, &head); err != nil || head.Export == nil {
		return &fault{Code: "internal", Component: "governance", Message: "the answer names no export"}
	}
	e := *head.Export
	sum, size, err := c.save(ctx, name, func(n int) (string, bool) {
		return fmt.Sprintf("%s/%d", e.URI, n), n <= e.Parts
	}, e.SHA256)
	if err != nil {
		return err
	}
	// What the preview cut doesn't concern the file; what the policy cut does.
	cut := head.Truncated && strings.HasPrefix(head.Note, "The file ends")
	note := ""
	if cut {
		note = head.Note
	}
	about := map[string]any{
		"file": name, "audit_id": head.AuditID, "generation": head.Generation, "columns": head.Columns, "rows": e.Rows, "bytes": size,
		"sha256": sum, "truncated": cut,
	}
	if note != "" {
		about["note"] = note
	}
	raw, err := json.Marshal(about)
	if err != nil {
		return err
	}
	if err := writeFile(name+".json", append(raw, '\n')); err != nil {
		return err
	}
	return c.print(raw)
}
