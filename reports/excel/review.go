package excel

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"
)

// maxUnpacked bounds what a reviewed workbook may unpack to: people send files that nobody wrote.
const maxUnpacked = 1 << 30

// ErrReview is returned for a workbook that isn't a reviewed report; the message says what is wrong and where.
var ErrReview = errors.New("reviewed workbook")

// Review is what a reviewer said of one finding.
type Review struct {
	Finding     string `json:"finding"`
	Disposition string `json:"disposition"`
	Comment     string `json:"comment"`
	Row         int    `json:"row"`
}

// Read returns what a reviewer filled in, and the id of the run that the workbook was made of. Columns are found by their
// headers, since people move them.
func Read(r io.Reader) (run string, reviews []Review, err error) {
	file, err := excelize.OpenReader(r, excelize.Options{UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked})
	if err != nil {
		return "", nil, fmt.Errorf("%w: not a workbook that can be read: %w", ErrReview, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	props, err := file.GetDocProps()
	if err != nil || props.Identifier == "" {
		return "", nil, fmt.Errorf("%w: its properties name no run; send the workbook that the report came as", ErrReview)
	}
	if !slices.Contains(file.GetSheetList(), sheetFindings) {
		return "", nil, fmt.Errorf("%w: it has no sheet %q; it has %s", ErrReview, sheetFindings, strings.Join(file.GetSheetList(), ", "))
	}
	rows, err := file.Rows(sheetFindings)
	if err != nil {
		return "", nil, fmt.Errorf("%w: sheet %s: %w", ErrReview, sheetFindings, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var at map[string]int
	for n := 1; rows.Next(); n++ {
		cells, err := rows.Columns()
		if err != nil {
			return "", nil, fmt.Errorf("%w: sheet %s, row %d: %w", ErrReview, sheetFindings, n, err)
		}
		if at == nil {
			if at, err = reviewColumns(cells); err != nil {
				return "", nil, err
			}
			continue
		}
		review := Review{Finding: cellAt(cells, at[headFinding]), Disposition: cellAt(cells, at[headDisposition]), Comment: cellAt(cells, at[headComment]), Row: n}
		switch {
		case review.Disposition == "" && review.Comment == "":
			continue
		case review.Finding == "":
			return "", nil, fmt.Errorf("%w: sheet %s, row %d: a disposition without a finding", ErrReview, sheetFindings, n)
		case review.Disposition != "" && !slices.Contains(Dispositions(), review.Disposition):
			return "", nil, fmt.Errorf("%w: sheet %s, row %d: disposition %q: choose one of %s", ErrReview, sheetFindings, n, review.Disposition, strings.Join(Dispositions(), ", "))
		}
		reviews = append(reviews, review)
	}
	if at == nil {
		return "", nil, fmt.Errorf("%w: sheet %s is empty", ErrReview, sheetFindings)
	}
	return props.Identifier, reviews, rows.Error()
}

// reviewColumns finds the columns that a review needs.
func reviewColumns(header []string) (map[string]int, error) {
	at := map[string]int{}
	for i, name := range header {
		at[strings.TrimSpace(name)] = i
	}
	for _, name := range []string{headFinding, headDisposition, headComment} {
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
