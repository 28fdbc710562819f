package schedule_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"bordereau/tools/vin"
	"bordereau/tools/vin/schedule"
)

const (
	vinA = "1XPBDP9X0LD123456"
	vinB = "3AKJHHDR7LSLA1234"
)

// odd is a workbook as people make them: a letterhead, two rows of headings with merged cells, one make for two rows, a date for a
// year, and totals in between and below.
func odd(t *testing.T) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer func() { _ = f.Close() }()
	for i, row := range [][]any{
		{"Amber Run Freight LLC: equipment"},
		{},
		{"Unit", "Vehicle", nil, nil, "Gross", "VIN"},
		{"No.", "Year", "Make", "Model", "Weight", nil},
		{"101", "01/01/2020", "Peterbilt", "579", "80,000 lbs", vinA},
		{"102", "2020-03-01", nil, "567", "80000", vinB},
		{"Subtotal", nil, nil, nil, "160,000", "2"},
		{"103", "2019", "Freightliner", "Cascadia", "33k", vinB},
		{"TOTAL:", nil, nil, nil, "193,000", "3 units"},
	} {
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range [][2]string{{"A1", "F1"}, {"B3", "D3"}, {"F3", "F4"}, {"C5", "C6"}} {
		if err := f.MergeCell("Sheet1", m[0], m[1]); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestOddWorkbook(t *testing.T) {
	t.Parallel()
	want := []vin.Row{
		{Ref: "5", VIN: vinA, Year: 2020, Make: "Peterbilt", Model: "579", GVW: 80000},
		{Ref: "6", VIN: vinB, Year: 2020, Make: "Peterbilt", Model: "567", GVW: 80000},
		{Ref: "8", VIN: vinB, Year: 2019, Make: "Freightliner", Model: "Cascadia", GVW: 33000},
	}
	s, err := schedule.Read("odd.xlsx", odd(t), isMake)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, s.VINRows()); diff != "" {
		t.Errorf("%s\n%s", s.Describe(), diff)
	}
	if unit := s.Cell(s.Rows[2], schedule.ColumnUnit); unit != "103" {
		t.Errorf("unit %q: %s", unit, s.Describe())
	}
	text := "Unit,Vehicle,,,Gross,VIN\nNo.,Year,Make,Model,Weight,\n101,01/01/2020,Peterbilt,579,\"80,000 lbs\"," + vinA + "\nTotal,,,,80000,1\n"
	if s, err = schedule.Read("odd.csv", []byte(text), isMake); err != nil {
		t.Fatal(err)
	}
	want[0].Ref = "3"
	if diff := cmp.Diff(want[:1], s.VINRows()); diff != "" {
		t.Errorf("%s\n%s", s.Describe(), diff)
	}
}

func TestFiftyThousandRows(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("Unit,Year,Make,VIN\n")
	for i := range 50_000 {
		fmt.Fprintf(&b, "%d,2020,Peterbilt,1XPBDP9X0LD%06d\n", i, i)
	}
	s, err := schedule.Read("long.csv", []byte(b.String()), isMake)
	if err != nil || len(s.Rows) != 50_000 {
		t.Fatalf("%v", err)
	}
	b.Reset()
	for i := range 200_001 {
		fmt.Fprintf(&b, "%d,2020,Peterbilt,1XPBDP9X0LD%06d\n", i, i)
	}
	var typed *schedule.Error
	if _, err := schedule.Read("longer.csv", []byte(b.String()), isMake); !errors.As(err, &typed) {
		t.Errorf("error %v", err)
	}
}
