package playbook

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// attached checks vehicle schedules that the person sent along: gov reads them in the sandbox and has their VINs decoded.
type attached struct{ slots }

// maxDiffering is how many rows of a schedule fit into what a model is shown of one result.
const maxDiffering = 40

var (
	attachedRE = regexp.MustCompile(`\battach|\bupload|\b(?:this|the|my) (?:file|spreadsheet|workbook)\b`)
	refusalRE  = regexp.MustCompile(`(?m)^gov: \w+: (.+)(?:\n  hint: (.+))?`)
)

// tables are the files that can hold a schedule.
func tables(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		return !slices.Contains([]string{".xlsx", ".xlsm", ".xls", ".csv", ".tsv"}, strings.ToLower(path.Ext(name)))
	})
}

func (p attached) next(s *scene) reply {
	files := tables(p.files)
	if len(files) == 0 {
		files = p.files // gov says what is wrong with them
	}
	text, wait := s.checkFiles(files)
	if wait != nil {
		return *wait
	}
	return say("%s", text)
}

// checkFiles checks one file after the other, and says what came of each: one that can't be read keeps no other from being checked. While a check
// isn't made, its call is returned instead.
func (s *scene) checkFiles(files []string) (string, *reply) {
	var said []string
	for _, name := range files {
		script := checkScript(name)
		d, done := s.ran(script)
		if !done {
			r := s.call("run", map[string]any{"script": script, "timeout_seconds": 300})
			return "", &r
		}
		said = append(said, checkOf(name, d))
	}
	return strings.Join(said, "\n\n"), nil
}

func checkScript(name string) string {
	book := strings.TrimSuffix(path.Base(name), path.Ext(name)) + "-checked.xlsx"
	return fmt.Sprintf("mkdir -p /workspace/artifacts\ngov vin --json --limit %d --schedule %s -o %s\n",
		maxDiffering, quoted("/workspace/documents/"+path.Base(name)), quoted("/workspace/artifacts/"+book))
}

// quoted writes a word of a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// ran finds the outcome of a script. One whose outcome is unknown counts when it is the second: then it is told.
func (s *scene) ran(script string) (did, bool) {
	tries := 0
	for _, d := range s.did {
		var in struct{ Script string }
		if d.name != "run" || !d.answered || json.Unmarshal(d.input, &in) != nil || in.Script != script {
			continue
		}
		if tries++; !d.failed || !unknownOutcome(d.text) || tries > 1 {
			return d, true
		}
	}
	return did{}, false
}

// checkedFile is what gov says of a schedule.
type checkedFile struct {
	Sheet    string `json:"sheet"`
	Read     string `json:"read"`
	DataDate string `json:"data_date"`
	Rows     int    `json:"rows"`
	Differ   int    `json:"differ"`
	Findings []struct {
		Row   string `json:"row"`
		Unit  string `json:"unit"`
		VIN   string `json:"vin"`
		Found string `json:"found"`
	} `json:"findings"`
	Workbook string `json:"workbook"`
}

func checkOf(name string, d did) string {
	if refused := refusalRE.FindStringSubmatch(d.text); d.failed && refused != nil {
		text := fmt.Sprintf("I can't check `%s`: %s.", plain(name), plain(strings.TrimPrefix(refused[1], path.Base(name)+": ")))
		if refused[2] != "" {
			text += " What to do: " + plain(refused[2]) + "."
		}
		return text
	}
	if d.failed {
		return trouble(d)
	}
	var c checkedFile
	if !lastJSON(d.text, &c) || c.Read == "" {
		return fmt.Sprintf("`%s` was checked, but the summary can't be read. The program said:\n\n%s", plain(name), quote(tail(d.text)))
	}
	return c.text(name)
}

func (c checkedFile) text(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Check of the attached %s\n\n%s decoded, **%d with something to look at**.", plain(name), count(c.Rows, "vehicle", "vehicles"), c.Differ)
	where := ""
	if c.Sheet != "" {
		where = "sheet " + plain(c.Sheet) + ", "
	}
	fmt.Fprintf(&b, " Read: %s%s.\n\n", where, plain(c.Read))
	var rows [][]string
	for _, f := range c.Findings {
		rows = append(rows, []string{f.Row, f.Unit, f.VIN, f.Found})
	}
	if rows != nil {
		b.WriteString(table([]string{"row", "unit", "VIN", "check"}, rows) + "\n")
	}
	if len(rows) < c.Differ {
		fmt.Fprintf(&b, "The first %d of %d are shown; the workbook has all rows.\n\n", len(rows), c.Differ)
	}
	fmt.Fprintf(&b, "Workbook: `%s`. Decoded with NHTSA vPIC data of %s.", plain(path.Base(c.Workbook)), plain(c.DataDate))
	return b.String()
}
