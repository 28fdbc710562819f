package excel

import (
	"errors"
	"fmt"
	"io"

	"github.com/xuri/excelize/v2"
)

// Difference is a cell of a workbook that isn't as it was written.
type Difference struct {
	Sheet   string `json:"sheet"`
	Cell    string `json:"cell"`
	Written string `json:"written"`
	Found   string `json:"found"`
}

// maxDifferences bounds a comparison: a workbook that differs in more places is another one.
const maxDifferences = 100

// Compare returns the cells of found that differ from what was written, without the columns that a reviewer fills in.
// Formatting is not compared: it proves nothing.
func Compare(written, found io.Reader) (differences []Difference, err error) {
	want, err := excelize.OpenReader(written)
	if err != nil {
		return nil, fmt.Errorf("reading the workbook as it was written: %w", err)
	}
	defer func() { err = errors.Join(err, want.Close()) }()
	got, err := openReviewed(found)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, got.Close()) }()
	for _, sheet := range want.GetSheetList() {
		wanted, err := want.GetRows(sheet)
		if err != nil {
			return nil, fmt.Errorf("sheet %s: %w", sheet, err)
		}
		there, err := got.GetRows(sheet)
		if err != nil {
			differences = append(differences, Difference{Sheet: sheet, Written: "a sheet", Found: "none"})
			continue
		}
		free := map[int]bool{}
		if sheet == sheetFindings && len(wanted) > 0 {
			for i, head := range wanted[0] {
				free[i] = head == headDisposition || head == headComment // a reviewer's
			}
		}
		for y := range max(len(wanted), len(there)) {
			for x := range max(width(wanted, y), width(there, y)) {
				w, g := at(wanted, y, x), at(there, y, x)
				if w == g || free[x] && y > 0 {
					continue
				}
				cell, err := excelize.CoordinatesToCellName(x+1, y+1)
				if err != nil {
					return nil, fmt.Errorf("sheet %s: %w", sheet, err)
				}
				if differences = append(differences, Difference{Sheet: sheet, Cell: cell, Written: w, Found: g}); len(differences) == maxDifferences {
					return differences, nil
				}
			}
		}
	}
	return differences, nil
}

func width(rows [][]string, y int) int {
	if y < len(rows) {
		return len(rows[y])
	}
	return 0
}

func at(rows [][]string, y, x int) string {
	if y < len(rows) && x < len(rows[y]) {
		return rows[y][x]
	}
	return ""
}
