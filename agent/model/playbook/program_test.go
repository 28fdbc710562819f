package playbook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

// runProgram runs a program as the script does in the sandbox, with rows in place of what gov would fetch.
func runProgram(t *testing.T, name, program, ask, rows string) (dir, out string) {
	t.Helper()
	dir = t.TempDir()
	work := filepath.Join(dir, "work", name)
	if err := os.MkdirAll(work, 0o750); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		name + ".json": ask, name + ".py": program, "rows.csv": rows, "rows.csv.json": `{"audit_id":"a-1","generation":"g-1","rows":3}`,
	} {
		if err := os.WriteFile(filepath.Join(work, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", name+".py")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "MPLCONFIGDIR="+t.TempDir())
	raw, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return filepath.Join(dir, "artifacts"), string(raw)
}

// rateRows makes rows of two months: on each day each field, with a number of edits that can be computed again.
func rateRows() (csv string, edited, total int) {
	var b strings.Builder
	b.WriteString("field_name,day,fields,edited\n")
	for d := date(2026, time.June, 1); !d.After(date(2026, time.July, 31)); d = d.Add(day) {
		if d.Weekday() == time.Sunday {
			continue // nothing comes in
		}
		for i, f := range []string{"=HYPERLINK(\"http://evil\")", "vin", "named_insured", "stated_value"} {
			n, e := 20+d.Day(), (d.Day()*(i+1))%7
			fmt.Fprintf(&b, "%q,%s,%d,%d\n", strings.ReplaceAll(f, `"`, `'`), d.Format(iso), n, e)
			edited, total = edited+e, total+n
		}
	}
	return b.String(), edited, total
}

func TestEditRateProgram(t *testing.T) {
	t.Parallel()
	rows, edited, total := rateRows()
	ask := `{"title":"T","workflow":"Claims Intake","from":"2026-06-01","to":"2026-07-31","spans":[["2026-06-01","2026-07-31"]],"sql":"SELECT 1"}`
	dir, out := runProgram(t, "edit-rate", editRateProgram, ask, rows)
	var said struct {
		EditRate rates `json:"edit_rate"`
	}
	if !lastJSON(out, &said) {
		t.Fatalf("no summary in %q", out)
	}
	r := said.EditRate
	if r.All.Total != [2]int{edited, total} || r.Fields != 4 || r.Days != 61 || len(r.Files) != 2 || r.AuditID != "a-1" {
		t.Errorf("summary %+v, want %d of %d", r, edited, total)
	}
	if !strings.Contains(r.text(), "| All fields |") {
		t.Error("no table")
	}
	book, err := excelize.OpenFile(filepath.Join(dir, "edit-rate.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	if got := fmt.Sprint(book.GetSheetList()); got != "[Edit rate Detail SQL]" {
		t.Errorf("sheets %s", got)
	}
	cells, err := book.GetRows("Edit rate", excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != 6 || len(cells[0]) != 63 || cells[1][0] != "All fields" {
		t.Fatalf("%d rows of %d cells", len(cells), len(cells[0]))
	}
	if got, want := cells[1][1], float64(edited)/float64(total); !near(got, want) {
		t.Errorf("rate of all %s, want %v", got, want)
	}
	if sunday := cells[2][2+6]; sunday != "" {
		t.Errorf("2026-06-07 has %q, want a blank: nothing was extracted", sunday)
	}
	for _, sheet := range book.GetSheetList() {
		rows, err := book.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			name, err := excelize.CoordinatesToCellName(1, i+1)
			if err != nil {
				t.Fatal(err)
			}
			if f, err := book.GetCellFormula(sheet, name); err != nil || f != "" {
				t.Errorf("%s!%s holds the formula %q (%v)", sheet, name, f, err)
			}
		}
		if p, err := book.GetPanes(sheet); err != nil || !p.Freeze {
			t.Errorf("%s: header not frozen", sheet)
		}
	}
	if typ, err := book.GetCellType("Detail", "D2"); err != nil || typ != excelize.CellTypeUnset && typ != excelize.CellTypeNumber {
		t.Errorf("a count is of type %v", typ)
	}
	isPicture(t, filepath.Join(dir, "edit-rate.png"))
}

func near(got string, want float64) bool {
	var f float64
	_, err := fmt.Sscan(got, &f)
	return err == nil && f-want < 1e-9 && want-f < 1e-9
}

func isPicture(t *testing.T, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := png.DecodeConfig(bytes.NewReader(raw))
	if err != nil || p.Width < 600 || p.Height < 250 {
		t.Errorf("picture of %d x %d: %v", p.Width, p.Height, err)
	}
}

func TestEditRateProgramWithoutRows(t *testing.T) {
	t.Parallel()
	ask := `{"title":"T","workflow":"","from":"2026-06-01","to":"2026-06-02","spans":[["2026-06-01","2026-06-02"]],"sql":"SELECT 1"}`
	dir, out := runProgram(t, "edit-rate", editRateProgram, ask, "field_name,day,fields,edited\n")
	if !strings.Contains(out, `"fields": 0`) {
		t.Errorf("said %q", out)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("made files of nothing")
	}
}

func TestChartProgram(t *testing.T) {
	t.Parallel()
	ask, err := json.Marshal(map[string]any{"title": "Submissions received", "label": "Submissions", "by": "workflow", "unit": "week", "from": "2026-09-28", "to": "2026-11-29", "file": "chart-submissions.png"})
	if err != nil {
		t.Fatal(err)
	}
	dir, out := runProgram(t, "chart", chartProgram, string(ask), "x,series,y\n2026-09-28,Claims Intake,4\n2026-10-05,Claims Intake,7\n2026-10-05,Renewal $Intake$,2\n")
	var said struct{ Chart drawn }
	if !lastJSON(out, &said) || said.Chart.Total != 13 || said.Chart.Rows != 3 {
		t.Errorf("said %q", out)
	}
	isPicture(t, filepath.Join(dir, "chart-submissions.png"))
}

// The script is what a shell reads: nothing in a workflow's name may end a heredoc or run.
func TestScriptHoldsHostileNames(t *testing.T) {
	t.Parallel()
	p := editRate{slots{spans: []span{{date(2026, 6, 1), date(2026, 6, 2)}}}}
	script := p.script("x'\nEND_OF_SQL\ntouch /tmp/owned; $(id) `id`")
	script = strings.Replace(script, strings.TrimRight(editRateProgram, "\n"), "", 1)
	if n := strings.Count(script, "\nEND_OF_SQL\n"); n != 1 {
		t.Errorf("the heredoc ends %d times:\n%s", n, script)
	}
	if strings.Contains(editRateProgram, "END_OF_") || strings.Contains(chartProgram, "END_OF_") || strings.Contains(vinsProgram, "END_OF_") || strings.Contains(measureProgram, "END_OF_") {
		t.Error("a program could end its heredoc")
	}
	if len(p.script("Claims Intake")) > 60<<10 {
		t.Error("the script is too long for one argument")
	}
}

// The vehicles of a schedule are decoded by gov; a stand-in answers here as gov does.
func TestVINsProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gov := "#!/bin/sh\ncat > /dev/null < \"$4\"\necho '{\"data_date\":\"2026-10-01\",\"results\":[" +
		"{\"ref\":\"unit 1\",\"vin\":\"A\",\"Make\":\"VOLVO\",\"conclusive\":true,\"checks\":[{\"field\":\"make\",\"verdict\":\"agrees\"}],\"BodyClass\":\"x\"}," +
		"{\"ref\":\"row 2\",\"vin\":\"B\",\"Make\":\"\",\"ErrorText\":\"no\",\"conclusive\":false,\"checks\":[{\"field\":\"vin\",\"verdict\":\"conflict\"}]}]}'\n"
	if err := os.WriteFile(filepath.Join(dir, "gov"), []byte(gov), 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	for file, text := range map[string]string{"vins.py": vinsProgram, "rows.csv": "unit_no,year,make,model,body_type,gvw,vin\n1,2015,Volvo,VNL,Tractor,80000,A\n,x,,,,,B\n3,,,,,,\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "vins.py")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	raw, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	var said struct{ VINs decodes }
	if !lastJSON(string(raw), &said) || said.VINs.Asked != 2 || said.VINs.WithoutVIN != 1 || said.VINs.Results[0].Ref != "row 2" || len(said.VINs.Results[1].Checks) != 0 {
		t.Errorf("said %s", raw)
	}
	rows, err := os.ReadFile(filepath.Join(dir, "rows.json"))
	if want := `[{"ref": "unit 1", "vin": "A", "make": "Volvo", "model": "VNL", "body_type": "Tractor", "year": 2015, "gvw": 80000}, {"ref": "row 2", "vin": "B"}]`; err != nil || string(rows) != want {
		t.Errorf("asked for %s, %v", rows, err)
	}
}
