package excel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"bordereau/reports"
)

// maxUnpacked bounds what a reviewed workbook may unpack to: people send files that nobody wrote.
const maxUnpacked = 512 << 20

// ErrReview is returned for a workbook that isn't a reviewed report; the message says what is wrong and where.
var ErrReview = errors.New("reviewed workbook")

// Head names the report that a workbook was.
type Head struct {
	Run      string
	Title    string
	Revision int64 // of the reviews that it held when it was written
}

// Review is what a reviewer said of one finding.
type Review struct {
	Finding     string `json:"finding"`
	Disposition string `json:"disposition"`
	Comment     string `json:"comment"`
	Row         int    `json:"row"`
}

func openReviewed(r io.Reader) (*excelize.File, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading the workbook: %w", err)
	}
	if bytes.HasPrefix(raw, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) {
		return nil, fmt.Errorf("%w: it is encrypted, or of Excel before 2007: save it as .xlsx without a password", ErrReview)
	}
	file, err := excelize.OpenReader(bytes.NewReader(raw), excelize.Options{UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked})
	if err != nil {
		return nil, fmt.Errorf("%w: not a workbook that can be read: %w", ErrReview, err)
	}
	return file, nil
}

// ReadHead reads which run a workbook is of. It stands on the Summary, since programs drop a file's properties when they save it.
func ReadHead(r io.Reader) (h Head, err error) {
	file, err := openReviewed(r)
	if err != nil {
		return Head{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := hasSheet(file, sheetSummary); err != nil {
		return Head{}, err
	}
	if h.Title, err = file.GetCellValue(sheetSummary, "A1"); err != nil {
		return Head{}, fmt.Errorf("%w: sheet %s: %w", ErrReview, sheetSummary, err)
	}
	for row := 2; row < 30; row++ {
		label, errLabel := file.GetCellValue(sheetSummary, fmt.Sprintf("A%d", row))
		value, errValue := file.GetCellValue(sheetSummary, fmt.Sprintf("B%d", row))
		if err := errors.Join(errLabel, errValue); err != nil {
			return Head{}, fmt.Errorf("%w: sheet %s: %w", ErrReview, sheetSummary, err)
		}
		switch label {
		case labelRun:
			h.Run = value
		case labelRevision:
			if h.Revision, err = revisionOf(value); err != nil {
				return Head{}, fmt.Errorf("%w: sheet %s, row %d: %w", ErrReview, sheetSummary, row, err)
			}
		}
	}
	if h.Run == "" {
		return Head{}, fmt.Errorf("%w: sheet %s names no run; send the workbook that the report came as", ErrReview, sheetSummary)
	}
	return h, nil
}

func hasSheet(file *excelize.File, name string) error {
	if !slices.Contains(file.GetSheetList(), name) {
		return fmt.Errorf("%w: it has no sheet %q; it has %s", ErrReview, name, strings.Join(file.GetSheetList(), ", "))
	}
	return nil
}

// Read returns what a reviewer left beside each finding of a report, blank cells too: they take back what was said. Columns are
// found by their headers, since people move them. A row must still say what the finding of its id says, as says has it.
func Read(r io.Reader, says map[string]string) (reviews []Review, err error) {
	file, err := openReviewed(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := hasSheet(file, sheetFindings); err != nil {
		return nil, err
	}
	rows, err := file.Rows(sheetFindings)
	if err != nil {
		return nil, fmt.Errorf("%w: sheet %s: %w", ErrReview, sheetFindings, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var at map[string]int
	for n := 1; rows.Next(); n++ {
		cells, err := rows.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return nil, fmt.Errorf("%w: sheet %s, row %d: %w", ErrReview, sheetFindings, n, err)
		}
		if at == nil {
			if at, err = reviewColumns(cells); err != nil {
				return nil, err
			}
			continue
		}
		if !slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" }) {
			continue
		}
		review, err := readRow(file, cells, at, n, says)
		if err != nil {
			return nil, fmt.Errorf("%w: sheet %s, row %d: %w", ErrReview, sheetFindings, n, err)
		}
		reviews = append(reviews, review)
	}
	if at == nil {
		return nil, fmt.Errorf("%w: sheet %s is empty", ErrReview, sheetFindings)
	}
	return reviews, rows.Error()
}

func readRow(file *excelize.File, cells []string, at map[string]int, n int, says map[string]string) (Review, error) {
	v := Review{Finding: cellAt(cells, at[headFinding]), Disposition: cellAt(cells, at[headDisposition]), Comment: cellAt(cells, at[headComment]), Row: n}
	said, known := says[v.Finding]
	switch {
	case v.Finding == "":
		return v, errors.New("a row without a finding")
	case !known:
		return v, fmt.Errorf("finding %q is not of this run", v.Finding)
	case strings.TrimSpace(clean(said)) != cellAt(cells, at[headWords]):
		return v, fmt.Errorf("the row of %s doesn't say what the finding says: its id or its text was changed", v.Finding)
	case v.Disposition != "" && !slices.Contains(reports.Dispositions(), v.Disposition):
		return v, fmt.Errorf("disposition %q: choose one of %s", v.Disposition, strings.Join(reports.Dispositions(), ", "))
	}
	for column, value := range map[string]string{headDisposition: v.Disposition, headComment: v.Comment} {
		if value == "" {
			continue
		}
		cell, err := excelize.CoordinatesToCellName(at[column]+1, n)
		if err != nil {
			return v, err
		}
		switch formula, err := file.GetCellFormula(sheetFindings, cell); {
		case err != nil:
			return v, err
		case formula != "":
			return v, fmt.Errorf("%s is a formula; write it as text", cell)
		}
	}
	return v, nil
}

// reviewColumns finds the columns that a review needs.
func reviewColumns(header []string) (map[string]int, error) {
	at := map[string]int{}
	for i, name := range header {
		at[strings.TrimSpace(name)] = i
	}
	for _, name := range []string{headFinding, headWords, headDisposition, headComment} {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("%w: sheet %s, row 1: no column %q", ErrReview, sheetFindings, name)
		}
	}
	return at, nil
}

func cellAt(cells []string, i int) string {
	if i < len(cells) {
		return strings.TrimSpace(cells[i])
	}
	return ""
}
