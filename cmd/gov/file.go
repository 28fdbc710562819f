package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// save writes the parts of a resource to a file, which appears whole or not at all. next names the n-th part and tells
// whether there is one; sum is what they hash to, "" if that isn't known.
func (c *command) save(ctx context.Context, name string, next func(n int) (string, bool), sum string) (string, int64, error) {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".gov-*")
	if err != nil {
		return "", 0, usagef("can't write %s: %v", name, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // after the rename there is none
	hash, size := sha256.New(), int64(0)
	for n := 1; ; n++ {
		uri, more := next(n)
		if !more {
			break
		}
		part, err := c.client.read(ctx, uri)
		var f *fault
		if sum == "" && n > 1 && errors.As(err, &f) && f.Code == "not_found" {
			break // the end of something whose number of parts nobody told
		}
		if err == nil {
			_, err = tmp.Write(part)
		}
		if err != nil {
			return "", 0, errors.Join(err, tmp.Close())
		}
		hash.Write(part)
		size += int64(len(part))
	}
	got := hex.EncodeToString(hash.Sum(nil))
	if sum != "" && got != sum {
		return "", 0, errors.Join(&fault{
			Code: "unavailable", Component: "door", Message: "the file arrived damaged: its hash is not the one that was announced", Hint: "ask again",
		}, tmp.Close())
	}
	if err := errors.Join(tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return "", 0, fmt.Errorf("writing %s: %w", name, err)
	}
	if err := os.Rename(tmp.Name(), name); err != nil {
		return "", 0, fmt.Errorf("writing %s: %w", name, err)
	}
	return got, size, nil
}

// writeFile writes a small file whole or not at all.
func writeFile(name string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".gov-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // after the rename there is none
	_, err = tmp.Write(content)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := os.Rename(tmp.Name(), name); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func reconcile(ctx context.Context, c *command) error {
	from, to := c.flags.String("from", "", "first day of receipt"), c.flags.String("to", "", "last day of receipt")
	workflow, guideline := c.flags.String("workflow", "", "workflow"), c.flags.String("guideline", "", "id of a guideline")
	out := c.flags.String("o", "", "write the whole run to this file, as JSON")
	var ids list
	c.flags.Var(&ids, "submission", "id of a submission; may be given several times")
	if words, err := c.parse(); err != nil {
		return err
	} else if len(words) > 0 {
		return usagef("reconcile takes flags only, not %q", words[0])
	}
	answer, err := c.client.call(ctx, "reconcile", fields(map[string]any{
		"from": *from, "to": *to, "workflow": *workflow, "guideline": *guideline, "submission_ids": []string(ids),
	}))
	if err != nil {
		return err
	}
	if *out != "" {
		var head struct {
			URI   string `json:"uri"`
			Parts int    `json:"parts"`
		}
		if err := json.Unmarshal(answer, &head); err != nil {
			return err
		}
		if _, _, err := c.save(ctx, *out, func(n int) (string, bool) { return fmt.Sprintf("%s/%d", head.URI, n), n <= head.Parts }, ""); err != nil {
			return err
		}
	}
	return c.print(answer)
}

func document(ctx context.Context, c *command) error {
	out := c.flags.String("o", "", "write the document to this file")
	words, err := c.parse()
	if err != nil {
		return err
	}
	if len(words) != 1 || *out == "" {
		return usagef("document takes an id and -o FILE")
	}
	sum, size, err := c.save(ctx, *out, func(n int) (string, bool) { return fmt.Sprintf("bordereau://document/%s/%d", words[0], n), n <= 4096 }, "")
	if err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{"document_id": words[0], "file": *out, "bytes": size, "sha256": sum})
	if err != nil {
		return err
	}
	return c.print(raw)
}
