package relation_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bordereau/governance/policy"
)

// TestDescriptionIsTheDocumentation keeps what describe_data says equal with docs/DATA.md and with what the policy governs.
func TestDescriptionIsTheDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "DATA.md"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("relations.json")
	if err != nil {
		t.Fatal(err)
	}
	type column struct{ Name, Type, Meaning, Example string }
	var described []struct {
		Name, Meaning, Time, Example string
		Columns                      []column
	}
	if err := json.Unmarshal(raw, &described); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	catalogue := policy.Relations()
	for _, r := range described {
		names := []string{}
		for _, c := range r.Columns {
			got[r.Name] = append(got[r.Name], strings.TrimSpace(c.Name+" "+c.Type+" "+c.Meaning))
			names = append(names, c.Name)
		}
		if diff := cmp.Diff(catalogue[r.Name], names); diff != "" {
			t.Errorf("%s: the policy governs other columns than are described\n%s", r.Name, diff)
		}
	}
	if diff := cmp.Diff(documented(string(page)), got); diff != "" {
		t.Errorf("docs/DATA.md and relations.json differ (- is the page)\n%s", diff)
	}
}

// documented reads the relations from the page: a table each, and the rows of one table for the typed relations.
func documented(page string) map[string][]string {
	out := map[string][]string{}
	section := regexp.MustCompile("(?s)`(\\w+)` — [^\n]*\n\n\\| column[^\n]*\n\\|[^\n]*\n((?:\\|[^\n]*\n)+)")
	plain := strings.NewReplacer("`", "")
	for _, m := range section.FindAllStringSubmatch(page, -1) {
		for line := range strings.SplitSeq(strings.TrimSpace(m[2]), "\n") {
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for name := range strings.SplitSeq(cells[0], ",") {
				text := strings.TrimSpace(name) + " " + strings.TrimSpace(cells[1]) + " " + strings.TrimSpace(cells[2])
				out[m[1]] = append(out[m[1]], strings.TrimSpace(plain.Replace(text)))
			}
		}
	}
	types := map[string]string{"row_index": "INTEGER", "page": "INTEGER", "confidence": "DOUBLE the weakest field's"}
	further := regexp.MustCompile(`(?m)^\| (vehicles|drivers|losses|coverages) \| (.*) \|$`)
	column := regexp.MustCompile(`(\w+)(?: ([A-Z]+(?:\(\d+,\d+\))?))?(?: \((\w+)\))?(?:, |$)`)
	for _, m := range further.FindAllStringSubmatch(page, -1) {
		for name := range strings.FieldsSeq("row_id document_id submission_id document_type workflow row_index page confidence") {
			typ := types[name]
			if typ == "" {
				typ = "VARCHAR"
			}
			out[m[1]] = append(out[m[1]], name+" "+typ)
		}
		text := strings.Replace(m[2], "paid, reserve, recovered, incurred (DECIMAL(14,2))",
			"paid DECIMAL(14,2), reserve DECIMAL(14,2), recovered DECIMAL(14,2), incurred DECIMAL(14,2)", 1)
		for _, c := range column.FindAllStringSubmatch(text, -1) {
			if c[2] == "" {
				c[2] = "VARCHAR"
			}
			out[m[1]] = append(out[m[1]], strings.TrimSpace(c[1]+" "+c[2]+" "+c[3]))
		}
	}
	return out
}
