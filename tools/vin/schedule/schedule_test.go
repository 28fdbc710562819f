package schedule_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"bordereau/tools/vin"
	"bordereau/tools/vin/schedule"
)

func isMake(s string) bool {
	return slices.Contains([]string{"FREIGHTLINER", "PETERBILT", "FORD", "WABASH", "VOLVO"}, strings.ToUpper(s))
}

const table = `ACME TRUCKING LLC,,,,,,
,,,,,,
Unit,Yr,Make,Model,Type,Vehicle Identification Number,GVWR
1,2024,Peterbilt,389,Tractor,1XPXD49XXRD898766,"80,000 lbs"
2,'18,Wabash,Duraplate,Dry Van,1JJV532D9JL178490,

3,2013,Ford,=CMD(),Pickup,1FTFW1ET9DFC10312,7.5k
4,2012,Freightliner,Cascadia,Tractor,,
Total,,,,,,
`

func TestColumnsByHeading(t *testing.T) {
	t.Parallel()
	s, err := schedule.Read("fleet.csv", []byte(table), isMake)
	if err != nil {
		t.Fatal(err)
	}
	if s.HeaderRow != 3 || len(s.Rows) != 4 {
		t.Fatalf("header in row %d, %d rows", s.HeaderRow, len(s.Rows))
	}
	want := []vin.Row{
		{Ref: "4", VIN: "1XPXD49XXRD898766", Year: 2024, Make: "Peterbilt", Model: "389", BodyType: "Tractor", GVW: 80_000},
		{Ref: "5", VIN: "1JJV532D9JL178490", Year: 2018, Make: "Wabash", Model: "Duraplate", BodyType: "Dry Van"},
		{Ref: "7", VIN: "1FTFW1ET9DFC10312", Year: 2013, Make: "Ford", Model: "=CMD()", BodyType: "Pickup", GVW: 7500},
		{Ref: "8", Year: 2012, Make: "Freightliner", Model: "Cascadia", BodyType: "Tractor"},
	}
	if got := s.VINRows(); !slices.Equal(got, want) {
		t.Errorf("rows %+v", got)
	}
}

func TestColumnsByContent(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no headings":         "A1;1XPXD49XXRD898766;2024;Peterbilt\nA2;4V4NC9EH3NN315325;2022;Volvo\n",
		"a misleading VIN":    "VIN?;Identification;Built;Brand\nyes;1XPXD49XXRD898766;2024;Peterbilt\nno;4V4NC9EH3NN315325;2022;Volvo\n",
		"tabs and lower case": "unit\tid\tbuilt\tbrand\n1\t1xpxd49xxrd898766\t2024\tPeterbilt\n2\t4v4nc9eh3nn315325\t2022\tVolvo\n",
		"UTF-16":              "\xff\xfe" + wide("unit,id,built,brand\n1,1XPXD49XXRD898766,2024,Peterbilt\n2,4V4NC9EH3NN315325,2022,Volvo\n"),
		"Latin 1":             "Einheit,Fahrgestell\xfcnummer,built,brand\n1,1XPXD49XXRD898766,2024,Peterbilt\n2,4V4NC9EH3NN315325,2022,Volvo\n",
	} {
		s, err := schedule.Read("x.csv", []byte(text), isMake)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		rows := s.VINRows()
		last := rows[len(rows)-1]
		if !strings.EqualFold(last.VIN, "4V4NC9EH3NN315325") || last.Year != 2022 || last.Make != "Volvo" {
			t.Errorf("%s: %+v, columns %v", name, last, s.Columns)
		}
	}
}

func wide(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteByte(c)
		b.WriteByte(0)
	}
	return b.String()
}

func TestFilesThatAreNoSchedules(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]string{
		"empty": "", "no VINs": "a,b\n1,2\n", "old workbook": "\xd0\xcf\x11\xe0rest", "a picture": "\x89PNG\x00\x00", "a broken workbook": "PK\x03\x04rest",
		"headings only": "Unit,VIN\n",
	} {
		_, err := schedule.Read("x", []byte(b), isMake)
		var typed *schedule.Error
		if !errors.As(err, &typed) || typed.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := schedule.Open(filepath.Join(t.TempDir(), "none.csv"), isMake); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestCheckedWorkbook(t *testing.T) {
	t.Parallel()
	// The schedule as a workbook, on the second sheet.
	in := excelize.NewFile()
	if _, err := in.NewSheet("Vehicles"); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		for j, cell := range strings.Split(strings.ReplaceAll(line, `"80,000 lbs"`, "80000"), ",") {
			at, _ := excelize.CoordinatesToCellName(j+1, i+1)
			if err := in.SetCellStr("Vehicles", at, cell); err != nil {
				t.Fatal(err)
			}
		}
	}
	var file bytes.Buffer
	if err := in.Write(&file); err != nil {
		t.Fatal(err)
	}
	s, err := schedule.Read("fleet.xlsx", file.Bytes(), isMake)
	if err != nil {
		t.Fatal(err)
	}
	if s.Sheet != "Vehicles" || len(s.Rows) != 4 {
		t.Fatalf("sheet %s, %d rows", s.Sheet, len(s.Rows))
	}
	d, err := vin.Load()
	if err != nil {
		t.Fatal(err)
	}
	checked := d.Check(s.VINRows())
	var out bytes.Buffer
	if err := schedule.Write(&out, s, checked, schedule.Meta{DataDate: d.DataDate(), At: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}); err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(book.GetSheetList(), []string{"Summary", "Schedule"}) {
		t.Errorf("sheets %v", book.GetSheetList())
	}
	rows, err := book.GetRows("Schedule")
	if err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if rows[0][0] != "Row" || rows[0][6] != "Vehicle Identification Number" || rows[1][6] != "1XPXD49XXRD898766" || rows[1][8] != "agrees" {
		t.Errorf("%q", rows[:2])
	}
	// What looks like a formula stays a text.
	if formula, _ := book.GetCellFormula("Schedule", "E4"); formula != "" || rows[3][4] != "=CMD()" {
		t.Errorf("formula %q, value %q", formula, rows[3][4])
	}
	// Cells are coloured by verdict: the make of row 2 is a variant, the year agrees.
	colour := func(cell string) string {
		id, err := book.GetCellStyle("Schedule", cell)
		if err != nil {
			t.Fatal(err)
		}
		style, err := book.GetStyle(id)
		if err != nil || len(style.Fill.Color) == 0 {
			return fmt.Sprint("none ", err)
		}
		return style.Fill.Color[0]
	}
	if a, b := colour("C3"), colour("D3"); a != "C6EFCE" || b != "DDEBF7" {
		t.Errorf("colours %s and %s", a, b)
	}
	summary, err := book.GetRows("Summary")
	if err != nil || !strings.Contains(fmt.Sprint(summary), d.DataDate()) || !strings.Contains(fmt.Sprint(summary), "fleet.xlsx") {
		t.Errorf("summary %v, %v", summary, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(table))
	f.Add([]byte("VIN\n\"\n"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		if s, err := schedule.Read("x", b, isMake); err == nil {
			s.VINRows()
			s.Describe()
		}
	})
}
