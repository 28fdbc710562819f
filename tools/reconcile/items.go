package reconcile

import (
	"bordereau/tools/vin"
)

// items lists the rows of the submission beside what was computed for them.
func (e *evaluation) items(r *SubmissionResult) {
	for _, v := range e.vehicles {
		item := Item{ID: v.id, DocumentID: v.doc.ID, Label: v.label}
		item.Cells = cells(v.row, "unit_no", "year", "make", "model", "body_type", "vin", "gvw", "stated_value", "garaging_city", "garaging_state", "plate")
		for i := range item.Cells {
			c := &item.Cells[i]
			if check, ok := v.checked.Check(c.Field); ok && check.Field != vin.FieldVIN {
				c.Expected, c.Verdict = check.Decoded, string(check.Verdict)
			} else if ok {
				c.Verdict = string(check.Verdict)
			}
		}
		r.Vehicles = append(r.Vehicles, item)
	}
	for _, d := range e.drivers {
		at := d.row()
		item := Item{ID: at.id, DocumentID: at.doc.ID, Label: d.label}
		item.Cells = append(item.Cells, Cell{Field: "name", Value: d.name})
		for _, name := range []string{"license_number", "license_state", "license_class", "license_status", "date_of_birth", "hire_date", "years_experience"} {
			f := d.cell(name)
			if f == nil {
				continue
			}
			c := Cell{Field: name, Value: masked(name, f.Value)}
			if g := d.recorded(name); g != nil && g != f {
				c.Expected = masked(name, g.Value)
				c.Verdict = "agrees"
				if c.Expected != c.Value {
					c.Verdict = "variant"
				}
			}
			item.Cells = append(item.Cells, c)
		}
		for _, name := range []string{"mvr_run_date", "moving_violations", "accidents", "major_violations"} {
			if f := d.recorded(name); f != nil {
				item.Cells = append(item.Cells, Cell{Field: name, Value: f.Value})
			}
		}
		r.Drivers = append(r.Drivers, item)
	}
	for _, l := range e.losses {
		r.Losses = append(r.Losses, Item{
			ID: l.id, DocumentID: l.doc.ID, Label: "claim " + l.text("claim_number"),
			Cells: cells(l, "claim_number", "policy_number", "date_of_loss", "date_reported", "status", "paid", "reserve", "recovered", "incurred", "driver", "unit_no", "description"),
		})
	}
	for _, c := range e.x.tables[application+"/coverages"] {
		r.Coverages = append(r.Coverages, Item{
			ID: c.id, DocumentID: c.doc.ID, Label: c.text("coverage"),
			Cells: cells(c, "coverage", "limit_amount", "limit_basis", "deductible", "symbol", "effective_date", "expiry_date", "premium"),
		})
	}
}

func cells(r *row, names ...string) []Cell {
	out := make([]Cell, 0, len(names))
	for _, n := range names {
		if f := r.cells[n]; f != nil {
			out = append(out, Cell{Field: n, Value: readable(n, masked(n, f.Value))})
		}
	}
	return out
}
