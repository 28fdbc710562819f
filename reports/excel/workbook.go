// Package excel writes a discrepancy report as a workbook that an underwriter works through, and reads it back.
package excel

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/xuri/excelize/v2"

	"bordereau/reports"
)

// The sheets, in their order.
const (
	sheetSummary   = "Summary"
	sheetFindings  = "Findings"
	sheetVehicles  = "Vehicles"
	sheetDrivers   = "Drivers"
	sheetLosses    = "Losses"
	sheetCoverages = "Coverages"
	sheetGuideline = "Guideline"
	sheetEvidence  = "Evidence"
	sheetRunLog    = "Run log"
)

// ErrReport is returned for a report that can't be written: without a run or with more findings than a sheet has rows.
var ErrReport = errors.New("workbook: unusable report")

// maxRows is the number of rows of an .xlsx sheet, less its header.
const maxRows = 1<<20 - 1

// Write renders r. The same report gives the same bytes.
func Write(ctx context.Context, w io.Writer, r *reports.Report) (err error) {
	if r == nil || r.RunID == "" {
		return fmt.Errorf("%w: no run", ErrReport)
	}
	if len(r.Findings) > maxRows || evidenceCount(r) > maxRows {
		return fmt.Errorf("%w: %d findings with %d sources are more than a sheet holds; narrow the scope", ErrReport, len(r.Findings), evidenceCount(r))
	}
	file := excelize.NewFile()
	defer func() { err = errors.Join(err, file.Close()) }()
	book := &workbook{file: file, report: r, evidenceRow: evidenceRows(r)}
	if err := book.styles(); err != nil {
		return err
	}
	for _, sheet := range []func() error{
		book.summary, book.findings, book.vehicles, book.drivers, book.losses, book.coverages, book.guideline, book.evidence, book.runLog,
	} {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := sheet(); err != nil {
			return err
		}
	}
	stamp := r.Clock.UTC().Format("2006-01-02T15:04:05Z")
	if err := file.SetDocProps(&excelize.DocProperties{
		Title: r.Title, Subject: "Run " + r.RunID, Creator: "Bordereau", LastModifiedBy: "Bordereau", Created: stamp, Modified: stamp,
		Description: "Guideline " + r.Guideline.ID + " " + r.Guideline.Version + ", data generation " + r.Generation, Identifier: r.RunID,
	}); err != nil {
		return fmt.Errorf("writing the workbook's properties: %w", err)
	}
	return settle(file, w)
}

// workbook is one workbook in the making.
type workbook struct {
	file        *excelize.File
	report      *reports.Report
	evidenceRow map[string]int // finding id -> first row of its evidence
	style       styles
}

// evidenceCount is the number of rows of the Evidence sheet.
func evidenceCount(r *reports.Report) int {
	n := 0
	for _, f := range r.Findings {
		n += len(f.Evidence)
	}
	return n
}

// evidenceRows tells where each finding's evidence begins, so that Findings can link there before it is written.
func evidenceRows(r *reports.Report) map[string]int {
	rows := make(map[string]int, len(r.Findings))
	next := 2
	for _, f := range r.Findings {
		rows[f.ID] = next
		next += len(f.Evidence)
	}
	return rows
}
