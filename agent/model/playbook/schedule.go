package playbook

import (
	_ "embed" // the programs that run in the sandbox
	"encoding/json"
	"fmt"
	"strings"
)

// schedule checks the vehicles of a submission, or VINs that the person names, against what their VINs decode to. A few VINs
// are asked for directly; a decode is long, so many are looked at by code in the sandbox, which keeps what differs.
type schedule struct{ slots }

//go:embed vins.py
var vinsProgram string

// fewVINs is how many decodes fit into what a model is shown of one result.
const fewVINs = 3

func (p schedule) next(s *scene) reply {
	switch {
	case len(p.vins) == 0 && len(p.submissions) == 0:
		return say("Whose vehicles shall I check? Name a submission, such as \"check the vehicle schedule of submission S-1\", attach a schedule (.xlsx or .csv), or give the VINs.")
	case len(p.vins) == 0 && len(p.submissions) > 1:
		return say("I check one submission's vehicles at a time. Which one: %s?", strings.Join(p.submissions, ", "))
	case len(p.vins) > 0 && len(p.vins) <= fewVINs:
		d, ok := s.last("decode_vins")
		if !ok {
			return s.do("decode_vins", map[string]any{"vins": p.named()})
		}
		var a decodes
		if err := json.Unmarshal([]byte(d.text), &a); err != nil || a.Results == nil {
			return say("The VINs were decoded, but the answer can't be read here whole. Ask for fewer at once.")
		}
		return say("%s", p.text(a))
	}
	d, ok := s.last("run")
	if !ok {
		return s.do("run", map[string]any{"script": p.script(), "timeout_seconds": 300})
	}
	var out struct {
		VINs *decodes `json:"vins"`
	}
	if !lastJSON(d.text, &out) || out.VINs == nil {
		return say("The VINs were decoded, but the summary can't be read. The program said:\n\n%s", quote(tail(d.text)))
	}
	if out.VINs.Asked == 0 {
		return say("Submission %s has no vehicle row with a VIN, or there is no such submission in your organisation.", plain(p.submissions[0]))
	}
	return say("%s", p.text(*out.VINs))
}

func (p schedule) named() []map[string]any {
	var rows []map[string]any
	for _, v := range p.vins {
		rows = append(rows, map[string]any{"vin": v, "ref": v})
	}
	return rows
}

func (p schedule) script() string {
	head := []string{"set -euo pipefail", "mkdir -p /workspace/work/vins", "cd /workspace/work/vins", "rm -f rows.csv rows.csv.json rows.json"}
	if len(p.vins) > 0 {
		raw, err := json.Marshal(p.named())
		if err != nil {
			raw = []byte("[]")
		}
		head = append(head, "cat > rows.json <<'END_OF_ROWS'", string(raw), "END_OF_ROWS")
	} else {
		head = append(head, "cat > vins.sql <<'END_OF_SQL'",
			"SELECT unit_no, year, make, model, body_type, gvw, vin\nFROM vehicles\nWHERE submission_id = "+literal(p.submissions[0])+"\nORDER BY document_id, row_index",
			"END_OF_SQL", "gov sql -f vins.sql -o rows.csv > gov.log")
	}
	return strings.Join(append(head, "cat > vins.py <<'END_OF_PROGRAM'", strings.TrimRight(vinsProgram, "\n"), "END_OF_PROGRAM",
		"/usr/bin/python3 vins.py"), "\n") + "\n"
}

// decodes is the answer of decode_vins, or what the program made of it.
type decodes struct {
	DataDate   string    `json:"data_date"`
	Results    []decoded `json:"results"`
	Asked      int       `json:"asked"`
	WithoutVIN int       `json:"without_vin"`
	AuditID    string    `json:"audit_id"`
	Generation string    `json:"generation"`
}

type decoded struct {
	Ref         string  `json:"ref"`
	VIN         string  `json:"vin"`
	Year        string  `json:"ModelYear"`
	Make        string  `json:"Make"`
	Model       string  `json:"Model"`
	VehicleType string  `json:"VehicleType"`
	GVWR        string  `json:"GVWR"`
	ErrorText   string  `json:"ErrorText"`
	Conclusive  *bool   `json:"conclusive"`
	Checks      []check `json:"checks"`
}

type check struct {
	Field   string `json:"field"`
	Verdict string `json:"verdict"`
	Stated  string `json:"stated"`
	Decoded string `json:"decoded"`
	Note    string `json:"note"`
}

func (d decoded) notes() []string {
	var notes []string
	for _, c := range d.Checks {
		if c.Verdict == "agrees" || c.Verdict == "variant" {
			continue
		}
		note := c.Field + ": " + c.Verdict
		switch {
		case c.Stated != "" || c.Decoded != "":
			note += fmt.Sprintf(" (stated %s, decoded %s)", or(c.Stated, "nothing"), or(c.Decoded, "nothing"))
		case c.Note != "":
			note += " (" + c.Note + ")"
		}
		notes = append(notes, note)
	}
	if notes == nil && d.Make == "" && d.ErrorText != "" {
		notes = append(notes, d.ErrorText)
	}
	return notes
}

func (p schedule) text(a decodes) string {
	var rows [][]string
	bad := 0
	for _, r := range a.Results {
		notes := r.notes()
		if notes != nil {
			bad++
		}
		if r.Conclusive != nil && !*r.Conclusive {
			notes = append(notes, "the VIN alone doesn't tell the year")
		}
		rows = append(rows, []string{r.Ref, r.VIN, r.Year, r.Make, r.Model, r.VehicleType, or(strings.Join(notes, "; "), "agrees")})
	}
	total := max(a.Asked, len(a.Results))
	var b strings.Builder
	what := "VINs you named"
	if len(p.vins) == 0 {
		what = "vehicle schedule of submission " + plain(p.submissions[0])
	}
	fmt.Fprintf(&b, "## Check of the %s\n\n%s decoded, **%d with something to look at**.\n\n", what, count(total, "vehicle", "vehicles"), bad)
	b.WriteString(table([]string{"ref", "VIN", "year", "make", "model", "type", "check"}, rows))
	if len(rows) < total {
		fmt.Fprintf(&b, "\n%d of %d are shown, those with something to look at first.\n", len(rows), total)
	}
	if a.WithoutVIN > 0 {
		fmt.Fprintf(&b, "\n%s without a VIN could not be decoded.\n", count(a.WithoutVIN, "row", "rows"))
	}
	if a.DataDate != "" {
		fmt.Fprintf(&b, "\nDecoded with NHTSA vPIC data of %s.", plain(a.DataDate))
	}
	if a.AuditID != "" {
		fmt.Fprintf(&b, " Source: audit id `%s`, data generation `%s`.", plain(a.AuditID), plain(a.Generation))
	}
	return b.String()
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
