// Package pdf lays a discrepancy report out on paper for the person who signs and the auditor who checks.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"

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

// maxFindings is how many findings are printed; the attached workbook has all.
const maxFindings = 5000

// Write renders r with the attachments inside. The same report and attachments give the same bytes.
func Write(ctx context.Context, w io.Writer, r *reports.Report, attachments ...Attachment) error {
	if r == nil || r.RunID == "" {
		return fmt.Errorf("%w: no run", ErrReport)
	}
	c, err := newCanvas(r)
	if err != nil {
		return err
	}
	for _, part := range []func(*canvas){summary, findings, vehicles, guidelines, queries} {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part(c)
	}
	laidOut, err := c.bytes()
	if err != nil {
		return fmt.Errorf("laying out the PDF: %w", err)
	}
	return finish(w, laidOut, c.marks, r, attachments)
}
