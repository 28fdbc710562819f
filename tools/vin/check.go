package vin

import (
	"fmt"
	"strconv"
	"strings"
)

// Check decodes the rows of a schedule and compares each with what its document says, and the rows with one another.
func (d *Decoder) Check(rows []Row) []Checked {
	out := make([]Checked, len(rows))
	for i := range rows {
		out[i] = d.checkRow(&rows[i])
	}
	d.compareRows(out)
	for i := range out {
		out[i].Worst = worst(out[i].Checks)
	}
	return out
}

// checkRow compares one row with its decode.
func (d *Decoder) checkRow(row *Row) Checked {
	read := row.VIN
	c := clean(row.VIN)
	folded := !c.refused && Fold(c.vin) != c.vin
	if folded {
		read = Fold(c.vin)
	}
	// The stated year only chooses between the years that the VIN can have: a VIN is never decoded for a year that it denies.
	r := d.Decode(read, Hint{})
	if row.Year != 0 && r.Year() != row.Year && candidate(&r, row.Year) {
		r = d.Decode(read, Hint{Year: row.Year})
	}
	if r.has(codeHint) {
		r = d.Decode(read, Hint{})
	}
	r.Input = row.VIN
	out := Checked{Ref: row.Ref, VIN: row.VIN, Result: r}
	out.Checks = append(out.Checks, checkVIN(&r, c, folded))
	if row.Year != 0 {
		out.Checks = append(out.Checks, d.checkYear(row.Year, &r))
	}
	if strings.TrimSpace(row.Make) != "" {
		out.Checks = append(out.Checks, d.checkMake(row.Make, &r))
	}
	if strings.TrimSpace(row.Model) != "" {
		out.Checks = append(out.Checks, d.checkModel(row, &r))
	}
	if strings.TrimSpace(row.BodyType) != "" {
		out.Checks = append(out.Checks, d.checkBody(row.BodyType, &r))
	}
	if row.GVW != 0 {
		out.Checks = append(out.Checks, d.checkGVW(row.GVW, &r))
	}
	if r.Suspicious {
		out.Suspicious = true
		out.Why = fmt.Sprintf("No scheme of %s for model year %d allows what stands at %s.", orElse(r.Make(), r.WMI), r.Year(), positionsIn(r.PossibleValues))
	}
	return out
}

func candidate(r *Result, year int) bool {
	for _, c := range r.Candidates {
		if c.Year == year {
			return true
		}
	}
	return false
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

// positionsIn turns "(6:PRS)(7:AB)" into "positions 6 and 7".
func positionsIn(possible string) string {
	var list []string
	for part := range strings.SplitSeq(possible, "(") {
		if n, _, ok := strings.Cut(part, ":"); ok {
			list = append(list, n)
		}
	}
	switch len(list) {
	case 0:
		return "some position"
	case 1:
		return "position " + list[0]
	}
	return "positions " + strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// checkVIN judges the VIN itself.
func checkVIN(r *Result, c cleaned, folded bool) FieldCheck {
	f := FieldCheck{Field: FieldVIN, Stated: r.Input, Decoded: r.VIN}
	switch {
	case c.refused || r.WMI == "":
		f.Verdict, f.Note = Unresolved, strings.Join(r.Notes, " ")
	case len(r.VIN) < vinLength || strings.Contains(r.VIN, "*"):
		f.Verdict, f.Note = Unresolved, fmt.Sprintf("%d of 17 characters: the vehicle can't be told from others of its kind.", len(strings.ReplaceAll(r.VIN, "*", "")))
	case r.check == checkWrong && !r.has(codeWMI):
		f.Verdict, f.Note = Conflict, fmt.Sprintf("The check digit is %c and should be %c.", r.VIN[8], r.CheckDigit)
		if r.SuggestedVIN != "" {
			f.Note += " NHTSA's rules suggest " + r.SuggestedVIN + "."
		}
	case r.has(codeCharacters):
		f.Verdict, f.Note = Conflict, "Characters stand where no VIN has them: "+r.invalid+"."
	case r.has(codeWMI):
		f.Verdict, f.Note = Unresolved, fmt.Sprintf("NHTSA knows no manufacturer %s.", r.WMI)
	case r.Suspicious:
		f.Verdict, f.Note = Conflict, "No scheme of the manufacturer for that year allows "+positionsIn(r.PossibleValues)+"."
	case r.has(codeNoData):
		f.Verdict, f.Note = Unresolved, "The check digit is right, but no scheme of the manufacturer explains the VIN."
	case folded:
		f.Verdict, f.Note = Variant, "I, O and Q stand in no VIN and were read as 1 and 0."
	default:
		f.Verdict = Agrees
	}
	return f
}

// checkYear compares the stated year with the years that the VIN can have.
func (d *Decoder) checkYear(stated int, r *Result) FieldCheck {
	f := FieldCheck{Field: FieldYear, Stated: strconv.Itoa(stated)}
	if r.Year() != 0 {
		f.Decoded = strconv.Itoa(r.Year())
	}
	switch {
	case r.Year() == 0:
		f.Verdict, f.Note = Unresolved, "the VIN tells no year"
	case candidate(r, stated):
		f.Verdict = Agrees
		if r.Year() != stated {
			f.Note = "the year code stands for both years; the data knows this vehicle in the other one only"
		}
	case r.has(codeWMI):
		f.Verdict, f.Note = Unresolved, "the manufacturer isn't registered with NHTSA, so that position 10 may be no year"
	default:
		f.Verdict = Conflict
		if n := stated - r.Year(); n == 1 || n == -1 {
			f.Note = "one year apart, as a year of build or sale is from a model year"
		}
		f.Note = doubt(f.Note, r)
	}
	return f
}

// doubt adds that the VIN itself may be wrong.
func doubt(note string, r *Result) string {
	if r.check != checkWrong && !r.Suspicious {
		return note
	}
	if note != "" {
		note += "; "
	}
	return note + "the VIN itself is in doubt"
}

func (d *Decoder) checkMake(stated string, r *Result) FieldCheck {
	f := FieldCheck{Field: FieldMake, Stated: stated, Decoded: r.Make()}
	if f.Decoded == "" {
		f.Verdict, f.Note = d.sharedMake(stated, r)
		return f
	}
	trailer := r.VehicleType() == "TRAILER"
	f.Verdict, f.Note = d.names.sameMake(stated, r.Make(), r.Manufacturer(), trailer)
	if f.Verdict == Conflict {
		f.Note = doubt(f.Note, r)
	}
	return f
}

// sharedMake compares with the makes that share a manufacturer's code, when the model doesn't tell which one it is.
func (d *Decoder) sharedMake(stated string, r *Result) (Verdict, string) {
	wmi := d.data.FindWMI(r.WMI)
	if wmi == nil {
		return Unresolved, "the manufacturer's code isn't known"
	}
	var all []string
	for _, m := range d.data.MakesOf(wmi) {
		name := strings.ToUpper(d.data.Makes[m].Text)
		if v, _ := d.names.sameMake(stated, name, r.Manufacturer(), wmi.Type == 6); v != Conflict {
			return Unresolved, fmt.Sprintf("the manufacturer's code %s is shared by several makes, this one among them", r.WMI)
		}
		all = append(all, name)
	}
	if len(all) == 0 {
		return Unresolved, "the data tells no make for this VIN"
	}
	return Conflict, "the manufacturer's code " + r.WMI + " belongs to " + strings.Join(all[:min(4, len(all))], ", ")
}

func (d *Decoder) checkModel(row *Row, r *Result) FieldCheck {
	f := FieldCheck{Field: FieldModel, Stated: row.Model, Decoded: r.Model()}
	f.Verdict, f.Note = d.sameModel(row.Model, r)
	if f.Verdict == Conflict {
		f.Note = doubt(f.Note, r)
	}
	return f
}

func (d *Decoder) checkBody(stated string, r *Result) FieldCheck {
	f := FieldCheck{Field: FieldBodyType, Stated: stated}
	f.Verdict, f.Decoded, f.Note = sameBody(stated, r)
	if f.Verdict == Conflict {
		f.Note = doubt(f.Note, r)
	}
	return f
}

func (d *Decoder) checkGVW(stated int, r *Result) FieldCheck {
	f := FieldCheck{Field: FieldGVW, Stated: strconv.Itoa(stated)}
	w, ok := r.GVWR()
	if !ok {
		f.Verdict, f.Note = Unresolved, "the data tells no weight class for this VIN"
		return f
	}
	f.Decoded = w.String()
	if w.Contains(stated) {
		f.Verdict = Agrees
		return f
	}
	f.Verdict = Conflict
	f.Note = doubt("", r)
	return f
}

// worst is the gravest verdict.
func worst(checks []FieldCheck) Verdict {
	out := Agrees
	for _, c := range checks {
		if gravity(c.Verdict) > gravity(out) {
			out = c.Verdict
		}
	}
	return out
}

func gravity(v Verdict) int {
	switch v {
	case Variant:
		return 1
	case Unresolved:
		return 2
	case Conflict:
		return 3
	}
	return 0
}
