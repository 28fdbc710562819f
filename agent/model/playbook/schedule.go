package playbook

import (
	"encoding/json"
	"fmt"
	"strings"
)

// schedule checks the vehicles of a submission, or VINs that the person names, against what their VINs decode to.
type schedule struct{ slots }

// maxVehicles is what one look reads; a tool's answer to a model holds no more rows.
const maxVehicles = 500

func (p schedule) next(s *scene) reply {
	var vehicles []map[string]any
	switch {
	case len(p.vins) > 0:
		for _, v := range p.vins {
			vehicles = append(vehicles, map[string]any{"vin": v, "ref": v})
		}
	case len(p.submissions) == 1:
		d, ok := s.last("sql")
		if !ok {
			return s.do("", "sql", map[string]any{"max_rows": maxVehicles, "query": "SELECT unit_no, year, make, model, body_type, gvw, vin, row_index FROM vehicles\n" +
				"WHERE submission_id = " + literal(p.submissions[0]) + "\nORDER BY document_id, row_index"})
		}
		g, ok := readGrid(d.text)
		if !ok {
			return say("The vehicles were read, but the answer can't be understood:\n\n%s", quote(d.text[:min(len(d.text), 400)]))
		}
		if len(g.Rows) == 0 {
			return say("Submission %s has no vehicle rows, or there is no such submission in your organisation.", plain(p.submissions[0]))
		}
		vehicles = g.vehicles()
	case len(p.submissions) > 1:
		return say("I check one submission's vehicles at a time. Which one: %s?", strings.Join(p.submissions, ", "))
	default:
		return say("Whose vehicles shall I check? Name a submission, such as \"check the vehicle schedule of submission S-1\", or give the VINs.")
	}
	if len(vehicles) == 0 {
		return say("No vehicle row of submission %s has a VIN, so there is nothing to decode.", plain(p.submissions[0]))
	}
	d, ok := s.last("decode_vins")
	if !ok {
		return s.do("", "decode_vins", map[string]any{"vins": vehicles})
	}
	return say("%s", p.text(d.text, len(vehicles)))
}

// vehicles makes the rows of the query into what decode_vins takes; absent values stay absent.
func (g grid) vehicles() []map[string]any {
	var out []map[string]any
	for i, row := range g.Rows {
		v := map[string]any{}
		for j, c := range g.Columns {
			if j >= len(row) || row[j] == nil {
				continue
			}
			switch c.Name {
			case "year", "gvw":
				if n, ok := row[j].(json.Number); ok {
					v[c.Name] = n
				}
			case "make", "model", "body_type", "vin":
				v[c.Name] = cell(row[j])
			case "unit_no":
				v["ref"] = "unit " + cell(row[j])
			}
		}
		if v["ref"] == nil {
			v["ref"] = fmt.Sprintf("row %d", i+1)
		}
		if text, ok := v["vin"].(string); ok && text != "" {
			out = append(out, v)
		}
	}
	return out
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

func (p schedule) text(answer string, asked int) string {
	var a struct {
		DataDate string    `json:"data_date"`
		Results  []decoded `json:"results"`
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil || a.Results == nil {
		return "The VINs were decoded, but the answer is too long to read here whole. Ask for a reconciliation of the submission: its report lists each vehicle."
	}
	var rows [][]string
	bad := 0
	for _, r := range a.Results {
		var notes []string
		for _, c := range r.Checks {
			if c.Verdict == "agrees" || c.Verdict == "variant" {
				continue
			}
			note := c.Field + ": " + c.Verdict
			if c.Stated != "" || c.Decoded != "" {
				note += fmt.Sprintf(" (stated %s, decoded %s)", or(c.Stated, "nothing"), or(c.Decoded, "nothing"))
			}
			notes = append(notes, note)
		}
		if notes == nil && r.Make == "" && r.ErrorText != "" {
			notes = append(notes, r.ErrorText)
		}
		if notes != nil {
			bad++
		}
		if r.Conclusive != nil && !*r.Conclusive {
			notes = append(notes, "the decode is not conclusive")
		}
		rows = append(rows, []string{r.Ref, r.VIN, r.Year, r.Make, r.Model, r.VehicleType, or(strings.Join(notes, "; "), "agrees")})
	}
	var b strings.Builder
	what := "VINs you named"
	if len(p.submissions) == 1 && len(p.vins) == 0 {
		what = "vehicle schedule of submission " + plain(p.submissions[0])
	}
	fmt.Fprintf(&b, "## Check of the %s\n\n%s decoded, **%d with something to look at**.\n\n", what, count(len(a.Results), "vehicle", "vehicles"), bad)
	b.WriteString(table([]string{"ref", "VIN", "year", "make", "model", "type", "check"}, rows))
	if asked >= maxVehicles {
		fmt.Fprintf(&b, "\nOnly the first %d vehicles were read.\n", maxVehicles)
	}
	if a.DataDate != "" {
		fmt.Fprintf(&b, "\nDecoded with NHTSA vPIC data of %s.", plain(a.DataDate))
	}
	return b.String()
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
