// Package pdf lays a discrepancy report out on paper for the person who signs and the auditor who checks.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"bordereau/reports"
)

// ErrReport is returned for a report that can't be printed.
var ErrReport = errors.New("PDF: unusable report")

// Attachment is a file that travels inside the PDF.
type Attachment struct {
	Name        string
	Description string
	Content     []byte
}

// Options say what a PDF holds beside the report. Zero fields leave out.
type Options struct {
	Attachments []Attachment
	Pictures    Pictures // for excerpts of the documents
	Password    string   // opens the file, which is encrypted by it with AES-256: its bytes then differ each time
}

// How much is printed: the gravest findings, and cells of vehicles that differ. The workbook has all.
const (
	maxFindings    = 5000
	maxVehicleRows = 5000
)

// Write renders r with the attachments inside. The same report, attachments and pictures give the same bytes.
func Write(ctx context.Context, w io.Writer, r *reports.Report, o Options) error {
	if r == nil || r.RunID == "" {
		return fmt.Errorf("%w: no run", ErrReport)
	}
	c, err := newCanvas(r)
	if err != nil {
		return err
	}
	c.attached = attached(o.Attachments)
	pictured := func(c *canvas) { excerpts(ctx, c, o.Pictures) }
	for _, part := range []func(*canvas){summary, findings, pictured, vehicles, guidelines, queries} {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part(c)
	}
	laidOut, err := c.bytes()
	if err != nil {
		return fmt.Errorf("laying out the PDF: %w", err)
	}
	if o.Password == "" {
		return finish(w, laidOut, c.marks, r, o.Attachments)
	}
	var open bytes.Buffer
	if err := finish(&open, laidOut, c.marks, r, o.Attachments); err != nil {
		return err
	}
	return encrypt(w, open.Bytes(), o.Password)
}

// attached names the files that travel inside the PDF, in a sentence.
func attached(all []Attachment) string {
	if len(all) == 0 {
		return "no file is attached to this one."
	}
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.Name
	}
	return "attached to this file: " + strings.Join(names, ", ") + "."
}
