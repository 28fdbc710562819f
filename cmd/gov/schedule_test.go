package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"bordereau/governance/mcpserver"
	"bordereau/governance/mcpserver/mcpservertest"
	"bordereau/tools/vin"
)

const heading = "Unit,Year,Make,Model,VIN\n"

// decodes puts the real decoder behind the server.
func decodes(t *testing.T) func(*mcpserver.Config) {
	t.Helper()
	d, err := vin.Load()
	if err != nil {
		t.Fatal(err)
	}
	return func(c *mcpserver.Config) { c.VINs = d }
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	_, gov := door(t, &mcpservertest.Gate{}, decodes(t))
	file := write(t, "fleet.csv", heading+"101,2024,Peterbilt,389,1XPXD49XXRD898766\n102,2023,Kenworth,389,1XPXD49XXRD898766\n103,2018,Wabash,,1JJV532D9JL178490\n"+
		"104,2018,Wabash,"+strings.Repeat("long ", 100)+","+strings.Repeat("1JJV532D9JL178490 ", 10)+"\nTotal,,,,4\n")
	book := filepath.Join(t.TempDir(), "checked.xlsx")
	out, errs, status := gov("vin", "--schedule", file, "-o", book, "--limit", "2")
	var got checkedSchedule
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 {
		t.Fatalf("status %d, out %q, errors %q", status, out, errs)
	}
	if got.File != "fleet.csv" || got.Rows != 4 || got.Differ != 3 || len(got.Findings) != 2 || got.Duplicates != 2 || got.DataDate == "" {
		t.Errorf("said %s", out)
	}
	if f := got.Findings[1]; f.Row != "3" || f.Unit != "102" || f.Worst != "conflict" || !strings.Contains(f.Found, `make conflict: stated "Kenworth", VIN says "PETERBILT"`) {
		t.Errorf("finding %+v", f)
	}
	made, err := excelize.OpenFile(book)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = made.Close() }()
	rows, err := made.GetRows("Schedule")
	if err != nil || len(rows) != 5 || rows[2][6] != "conflict" || rows[2][10] != "PETERBILT" || rows[2][8] != "2024" {
		t.Errorf("workbook %v, %v", rows, err)
	}
}

// A file that can't be checked gets a sentence that says what is wrong with which, and what to do.
func TestScheduleThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	_, gov := door(t, &mcpservertest.Gate{}, decodes(t))
	long := heading + strings.Repeat("1,2024,Peterbilt,389,1XPXD49XXRD898766\n", 50_000)
	for name, c := range map[string]struct{ content, want string }{
		"locked.xlsx":  {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 encrypted", "gov: invalid: locked.xlsx: an old .xls workbook, or one with a password\n  hint: save it as .xlsx without a password\n"},
		"broken.xlsx":  {"PK\x03\x04 and no more", "gov: invalid: broken.xlsx: it can't be read as a workbook"},
		"picture.csv":  {"\x89PNG\x00\x00", "gov: invalid: picture.csv: it is neither a workbook nor text\n  hint: a schedule is an .xlsx or .csv file"},
		"printed.pdf":  {"%PDF-1.7\n", "gov: invalid: printed.pdf: a PDF\n  hint: a schedule is"},
		"notes.csv":    {"Dear all,\nplease see the schedule.\n", "gov: invalid: notes.csv: no column of VINs was found"},
		"long.csv":     {long, "gov: too_large: long.csv: 50000 vehicles are more than the 5000 that are checked at once\n  hint: split the schedule"},
		"headings.csv": {heading, "gov: invalid: headings.csv: "},
	} {
		out, errs, status := gov("vin", "--schedule", write(t, name, c.content))
		if out != "" || !strings.HasPrefix(errs, c.want) || status != exitRefused && status != exitLimit {
			t.Errorf("%s: status %d, out %q, errors %q", name, status, out, errs)
		}
	}
	for _, args := range [][]string{
		{"--schedule", "/nowhere.csv"},
		{"--schedule", "x.csv", "1XPXD49XXRD898766"},
		{"--schedule", "x.csv", "-o", "x.pdf"},
		{"-o", "x.xlsx", "1XPXD49XXRD898766"},
	} {
		if _, errs, status := gov(append([]string{"vin"}, args...)...); status != exitUsage {
			t.Errorf("%v: status %d, %s", args, status, errs)
		}
	}
}

func TestScheduleOfFiveThousand(t *testing.T) {
	t.Parallel()
	_, gov := door(t, &mcpservertest.Gate{}, decodes(t))
	var text strings.Builder
	text.WriteString(heading)
	for i := range maxRows {
		fmt.Fprintf(&text, "%d,2024,Peterbilt,389,1XPXD49XXRD%06d\n", i, i)
	}
	out, errs, status := gov("vin", "--schedule", write(t, "fleet.csv", text.String()), "--limit", "1")
	var got checkedSchedule
	if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 || got.Rows != maxRows || len(got.Findings) != 1 {
		t.Errorf("status %d, out %.500q, errors %q", status, out, errs)
	}
}
