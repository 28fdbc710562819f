package main

import (
	"bytes"
	"errors"
	"io"

	"bordereau/governance/desk"
	"bordereau/governance/fault"
	runs "bordereau/governance/run"
	"bordereau/reports"
	"bordereau/reports/excel"
)

// workbooks reads reviewed workbooks for the desk.
type workbooks struct{}

var _ desk.Workbooks = workbooks{}

// Head names the run of a workbook and the revision of the reviews in it.
func (workbooks) Head(workbook []byte) (run string, revision int64, err error) {
	head, err := excel.ReadHead(bytes.NewReader(workbook))
	return head.Run, head.Revision, notReviewed(err)
}

// Opinions returns what a reviewer left beside the findings of a run.
func (workbooks) Opinions(workbook []byte, run io.Reader) ([]runs.Opinion, error) {
	says, err := reports.Sentences(run)
	if err != nil {
		return nil, err
	}
	said, err := excel.Read(bytes.NewReader(workbook), says)
	if err != nil {
		return nil, notReviewed(err)
	}
	return opinions(said), nil
}

// notReviewed is what the person is told of a file that is no reviewed workbook.
func notReviewed(err error) error {
	if !errors.Is(err, excel.ErrReview) {
		return err
	}
	return (&fault.Error{Code: fault.Invalid, Component: "desk", Message: err.Error(), Hint: "Send the workbook that the report came as, with dispositions and comments filled in."}).Because(err)
}

// opinions is what a workbook says, as the store takes it.
func opinions(said []excel.Review) []runs.Opinion {
	all := make([]runs.Opinion, len(said))
	for i, v := range said {
		all[i] = runs.Opinion{Finding: v.Finding, Disposition: v.Disposition, Comment: v.Comment}
	}
	return all
}
