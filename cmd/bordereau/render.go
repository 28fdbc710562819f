package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"bordereau/agent/toolbox"
	"bordereau/reports"
	"bordereau/reports/excel"
	"bordereau/reports/pdf"
)

// renderer makes a report's workbook, and its PDF with the workbook and the run inside.
type renderer struct{}

var _ toolbox.Renderer = renderer{}

// Render returns discrepancies.xlsx and discrepancies.pdf.
func (renderer) Render(ctx context.Context, r *reports.Report) ([]toolbox.Document, error) {
	var workbook, paper bytes.Buffer
	if err := excel.Write(ctx, &workbook, r); err != nil {
		return nil, err
	}
	run, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, fmt.Errorf("writing the run as JSON: %w", err)
	}
	if err := pdf.Write(ctx, &paper, r,
		pdf.Attachment{Name: "discrepancies.xlsx", Description: "The same findings as a workbook", Content: workbook.Bytes()},
		pdf.Attachment{Name: "run.json", Description: "The run with all its evidence", Content: run},
	); err != nil {
		return nil, err
	}
	return []toolbox.Document{{Name: "discrepancies.xlsx", Content: workbook.Bytes()}, {Name: "discrepancies.pdf", Content: paper.Bytes()}}, nil
}
