package playbook

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

func measuring(t *testing.T, words string) asked {
	t.Helper()
	s, err := slotsOf(words, date(2026, time.November, 29))
	if err != nil {
		t.Fatal(err)
	}
	p, ok := playFor(s).(measure)
	if !ok {
		t.Fatalf("%q is answered by %T", words, playFor(s))
	}
	return p.asked("Claims Intake")
}

func TestMeasureProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words, rows string
		figures     [][]string
	}{
		"accuracy": {
			"How accurate was extraction by field and workflow for June and July, and show me the extraction accuracy?",
			"workflow,field_name,fields,edited,accuracy,confidence\nClaims Intake,=1+1,200,10,0.95,0.96\nClaims Intake,vin,100,9,0.91,\nNew $Intake$,vin,50,0,1,0.99\n",
			[][]string{{"Claims Intake", "=1+1", "200", "10", "0.95", "0.96"}, {"Claims Intake", "vin", "100", "9", "0.91"}, {"New $Intake$", "vin", "50", "0", "1", "0.99"}},
		},
		"turn-around": {
			"Submission volumes and turn-around for the last 90 days",
			"workflow,month,submissions,completed,mean_hours,median_hours\nClaims Intake,2026-10-01,31,30,55.5,50\nClaims Intake,2026-11-01,29,0,,\n",
			[][]string{{"Claims Intake", "46296", "31", "30", "55.5", "50"}, {"Claims Intake", "46327", "29", "0"}},
		},
	} {
		a := measuring(t, c.words)
		ask, err := json.Marshal(map[string]any{"asked": a})
		if err != nil {
			t.Fatal(err)
		}
		dir, out := runProgram(t, "measure", measureProgram, string(ask), c.rows)
		var said struct{ Measure *measurement }
		if !lastJSON(out, &said) || said.Measure.Rows != len(c.figures) || len(said.Measure.Files) != 2 || said.Measure.AuditID != "a-1" {
			t.Fatalf("%s: said %q", name, out)
		}
		if text := said.Measure.text(a); !strings.Contains(text, "audit id `a-1`") || !strings.Contains(text, a.File+".xlsx") {
			t.Errorf("%s: %s", name, text)
		}
		book, err := excelize.OpenFile(filepath.Join(dir, a.File+".xlsx"))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(book.GetSheetList()); got != "[Figures SQL]" {
			t.Errorf("%s: sheets %s", name, got)
		}
		rows, err := book.GetRows("Figures", excelize.Options{RawCellValue: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.figures, rows[1:]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if f, err := book.GetCellFormula("Figures", "B2"); err != nil || f != "" {
			t.Errorf("%s: a formula %q, %v", name, f, err)
		}
		sql, err := book.GetRows("SQL")
		if err != nil || sql[len(sql)-1][1] != a.SQL {
			t.Errorf("%s: the SQL is not on its sheet: %v", name, err)
		}
		_ = book.Close()
		isPicture(t, filepath.Join(dir, a.File+".png"))
	}
}
