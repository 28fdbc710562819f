package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"bordereau/agent/toolbox"
	"bordereau/reports"
	"bordereau/reports/excel"
	"bordereau/reports/excerpt"
	"bordereau/reports/pdf"
)

// renderer makes a report's workbook, and its PDF with the workbook and the run inside.
type renderer struct {
	cache    *excerpt.Cache // nil: without pages of documents
	console  string         // address of the console, for links; "": links stay inside the workbook
	password string         // that opens the PDF; "": it isn't encrypted
}

var _ toolbox.Renderer = renderer{}

// openRenderer returns the renderer of a data folder.
func openRenderer(c config, open *closers) (renderer, error) {
	cache, err := excerpt.OpenCache(c.path("cache", "pdfium"))
	if err != nil {
		return renderer{}, err
	}
	open.add(func() error { return cache.Close(context.Background()) })
	return renderer{cache: cache, console: c.PublicURL}, nil
}

// Render returns discrepancies.xlsx and discrepancies.pdf.
func (p renderer) Render(ctx context.Context, r *reports.Report, open func(ctx context.Context, id string) ([]byte, error)) (made []toolbox.Document, err error) {
	var workbook, paper bytes.Buffer
	r.Console = p.console
	if err := excel.Write(ctx, &workbook, r); err != nil {
		return nil, err
	}
	o := pdf.Options{Password: p.password}
	inside := *r
	if size(r) > maxAttached { // what it was made of stays inside, to be verified by
		inside.Submissions, inside.Findings = nil, nil
	} else {
		o.Attachments = append(o.Attachments, pdf.Attachment{Name: "discrepancies.xlsx", Description: "The same findings as a workbook", Content: workbook.Bytes()})
	}
	run, err := json.MarshalIndent(inside, "", " ")
	if err != nil {
		return nil, fmt.Errorf("writing the run as JSON: %w", err)
	}
	o.Attachments = append(o.Attachments, pdf.Attachment{Name: "run.json", Description: "The run and its evidence, as far as they fit into a file to mail", Content: run})
	if p.cache != nil && open != nil && r.Excerpts == reports.Shown {
		cutter, err := excerpt.New(p.cache, open)
		if err != nil {
			return nil, err
		}
		defer func() { _ = cutter.Close() }() // the pictures are made
		o.Pictures = cutter
	}
	if err := pdf.Write(ctx, &paper, r, o); err != nil {
		return nil, err
	}
	return []toolbox.Document{{Name: "discrepancies.xlsx", Content: workbook.Bytes()}, {Name: "discrepancies.pdf", Content: paper.Bytes()}}, nil
}

// maxAttached is the most rows and findings of a run that travels inside its PDF: a larger one leaves its head there.
const maxAttached = 50_000

// size counts the rows and findings of a run.
func size(r *reports.Report) int {
	n := len(r.Findings)
	for _, s := range r.Submissions {
		n += len(s.Vehicles) + len(s.Drivers) + len(s.Losses) + len(s.Coverages)
	}
	return n
}
