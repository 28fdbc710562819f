package excel_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"bordereau/reports"
	"bordereau/reports/excel"
)

// changed is the workbook of a report after a person has been at it.
func changed(t *testing.T, r *reports.Report, change func(*excelize.File) error) *bytes.Reader {
	t.Helper()
	f := open(t, write(t, r))
	if err := change(f); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes())
}

// says is what the findings of a report say.
func says(r *reports.Report) map[string]string {
	all := map[string]string{}
	for _, f := range r.Findings {
		all[f.ID] = f.Message
	}
	return all
}

func TestReviewComesBack(t *testing.T) {
	t.Parallel()
	r := report(3)
	r.Review([]reports.Review{{Seq: 7, Finding: "F-0003", Disposition: "error", Comment: "misread", Person: "mary@acme.example", At: time.Date(2026, 11, 29, 13, 5, 0, 0, time.UTC)}})
	book := changed(t, r, func(f *excelize.File) error {
		if got, _ := f.GetCellValue("Findings", "S4"); got != "mary@acme.example, 2026-11-29 13:05" {
			t.Errorf("reviewed by %q", got)
		}
		return errors.Join(f.SetCellStr("Findings", "Q3", "waived"), f.SetCellStr("Findings", "R3", "=seen with the broker"), f.SetCellStr("Findings", "Q4", ""))
	})
	head, err := excel.ReadHead(book)
	if err != nil || head != (excel.Head{Run: "run-1", Title: "Discrepancy report", Revision: 7}) {
		t.Errorf("head %+v, %v", head, err)
	}
	if _, err := book.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	got, err := excel.Read(book, says(r))
	want := []excel.Review{
		{Finding: "F-0001", Row: 2},
		{Finding: "F-0002", Disposition: "waived", Comment: "=seen with the broker", Row: 3},
		{Finding: "F-0003", Comment: "misread", Row: 4},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestReviewThatIsNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*excelize.File) error
		want   string
	}{
		"no sheet":    {func(f *excelize.File) error { return f.DeleteSheet("Findings") }, `no sheet "Findings"`},
		"no column":   {func(f *excelize.File) error { return f.SetCellStr("Findings", "Q1", "Else") }, `no column "Disposition"`},
		"other words": {func(f *excelize.File) error { return f.SetCellStr("Findings", "Q2", "fine") }, `row 2: disposition "fine"`},
		"a formula": {func(f *excelize.File) error {
			return errors.Join(f.SetCellStr("Findings", "R2", "x"), f.SetCellFormula("Findings", "R2", `HYPERLINK("http://evil.example","x")`))
		}, "R2 is a formula"},
		"changed id":     {func(f *excelize.File) error { return f.SetCellStr("Findings", "A2", "F-0002") }, "row 2: the row of F-0002 doesn't say"},
		"another's id":   {func(f *excelize.File) error { return f.SetCellStr("Findings", "A2", "F-9999") }, `finding "F-9999" is not of this run`},
		"no id":          {func(f *excelize.File) error { return f.SetCellStr("Findings", "A2", "") }, "row 2: a row without a finding"},
		"changed words":  {func(f *excelize.File) error { return f.SetCellStr("Findings", "I3", "All is well.") }, "row 3: the row of F-0002 doesn't say"},
		"sorted is fine": {func(f *excelize.File) error { return f.RemoveRow("Findings", 2) }, ""},
	} {
		r := report(2)
		r.Findings[1].Message = "Something else."
		got, err := excel.Read(changed(t, r, c.change), says(r))
		switch {
		case c.want == "" && (err != nil || len(got) != 1):
			t.Errorf("%s: %v, %v", name, got, err)
		case c.want != "" && (!errors.Is(err, excel.ErrReview) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	headless := changed(t, report(1), func(f *excelize.File) error { return f.SetCellStr("Summary", "A6", "Else") })
	if _, err := excel.ReadHead(headless); !errors.Is(err, excel.ErrReview) || !strings.Contains(err.Error(), "names no run") {
		t.Errorf("no run: %v", err)
	}
	for name, raw := range map[string]string{"not a zip": "hello", "encrypted": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on", "empty": ""} {
		if _, err := excel.Read(strings.NewReader(raw), says(report(1))); !errors.Is(err, excel.ErrReview) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestZipBomb sends a workbook whose sheet unpacks to more than anybody wrote.
func TestZipBomb(t *testing.T) {
	t.Parallel()
	in, err := zip.NewReader(bytes.NewReader(write(t, report(1))), int64(len(write(t, report(1)))))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range in.File {
		if f.Name != "xl/worksheets/sheet2.xml" {
			if err := w.Copy(f); err != nil {
				t.Fatal(err)
			}
			continue
		}
		part, err := w.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		spaces := bytes.Repeat([]byte(" "), 1<<20)
		for range 600 {
			if _, err := part.Write(spaces); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := excel.Read(bytes.NewReader(out.Bytes()), says(report(1))); !errors.Is(err, excel.ErrReview) {
		t.Errorf("error %v", err)
	}
}
