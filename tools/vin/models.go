package vin

import (
	"strings"

	"bordereau/tools/vin/vpic"
)

// modelSpellings are names of models that rules can't find, by make: what documents and the makers' own codes say, and NHTSA's model.
const modelSpellings = `
FREIGHTLINER Cascadia: CA113, CA116, CA125, CA126, PT113, PT116, PT125, PT126, PX113, PX125, CASC, CASCAD, P4, PT116064ST
FREIGHTLINER Columbia: CL112, CL120, COLUMB, CO120
FREIGHTLINER Coronado: CC122, CC132, SD122
FREIGHTLINER Cascadia: CASCADIA EVOLUTION
FREIGHTLINER M2: BUSINESS CLASS M2, M2100, M2106, M2112, BUSINESS CLASS
FREIGHTLINER CST120: CENTURY, CENTURY CLASS, CENTURY ST, CENTURY CLASS ST
FREIGHTLINER 114SD: 114 SD
FREIGHTLINER 108SD: 108 SD
KENWORTH T8 Series: T800, T800B, T800W, T800H
KENWORTH W9 Series: W900, W900L, W900B, W900S, W990
KENWORTH T6 Series: T600, T660
KENWORTH T7 Series: T700
KENWORTH T4 Series: T400, T440, T450, T470, T480
KENWORTH T3 Series: T300, T330, T370, T380
KENWORTH T2 Series: T170, T180, T270, T280
KENWORTH C5 Series: C500, C540, C550
KENWORTH K3 Series: K300, K360, K370
KENWORTH L7 Series: L700, L770
KENWORTH K270/K370: K270, K370
MACK Anthem: AN42T, AN62T, AN64T, AN
MACK Pinnacle: PI42T, PI62T, PI64T
MACK Granite: GR42, GR64, GR84
MACK CXU (Pinnacle): CXU612, CXU613, PINNACLE
MACK CHU (Pinnacle): CHU612, CHU613, PINNACLE
MACK GU (Granite): GU713, GU813, GRANITE
MACK CX (Vision): CX612, CX613, VISION
MACK CV (Granite): CV512, CV513, CV713, GRANITE
INTERNATIONAL Prostar: PROSTAR+, PROSTAR PLUS
INTERNATIONAL LT625: LT, LT SERIES
INTERNATIONAL LT62F: LT, LT SERIES, LT625
INTERNATIONAL LT62A: LT, LT SERIES, LT625
INTERNATIONAL LT62T: LT, LT SERIES, LT625
INTERNATIONAL RH613: RH, RH SERIES
INTERNATIONAL HX620: HX, HX SERIES
INTERNATIONAL HX520: HX, HX SERIES
INTERNATIONAL MV607: MV, MV SERIES
INTERNATIONAL HV507: HV, HV SERIES
INTERNATIONAL HV607: HV, HV SERIES
INTERNATIONAL 4300: DURASTAR
INTERNATIONAL 4400: DURASTAR
INTERNATIONAL 7400: WORKSTAR
INTERNATIONAL 7600: WORKSTAR
INTERNATIONAL LF687: PROSTAR, LT, LT SERIES, LT625
INTERNATIONAL LF697: PROSTAR
INTERNATIONAL LF627: PROSTAR
INTERNATIONAL LF667: PROSTAR
INTERNATIONAL LA687: PROSTAR
`

// modelNames maps a make and NHTSA's model to further spellings, in plain form.
func modelNames() map[string][]string {
	out := map[string][]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(modelSpellings), "\n") {
		name, spellings, _ := strings.Cut(line, ":")
		mk, model, _ := strings.Cut(name, " ")
		for s := range strings.SplitSeq(spellings, ",") {
			key := mk + " " + plainModel(model)
			out[key] = append(out[key], plainModel(s))
		}
	}
	return out
}

// plainModel keeps only letters and digits, in upper case.
func plainModel(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 127:
			return r
		}
		return -1
	}, s)
}

// placeholder is true for a model that only repeats the make, as NHTSA has it for trailers.
func placeholder(model, mk string) bool {
	return plainModel(plainMake(model)) == plainModel(plainMake(mk)) || strings.EqualFold(model, "Other") || strings.EqualFold(model, "Trailer")
}

// sameModel compares a stated model with the decoded one.
func (d *Decoder) sameModel(stated string, r *Result) (Verdict, string) {
	model, mk := r.Model(), r.Make()
	if model == "" {
		return Unresolved, "the data tells no model for this VIN"
	}
	if strings.EqualFold(strings.TrimSpace(stated), model) {
		return Agrees, ""
	}
	if placeholder(model, mk) {
		return Unresolved, "NHTSA has no models of this make"
	}
	s := plainModel(stated)
	// "Freightliner Cascadia" in the column of models.
	for _, name := range []string{plainModel(mk), plainModel(plainMake(mk))} {
		if rest, ok := strings.CutPrefix(s, name); ok && rest != "" {
			s = rest
		}
	}
	if s == "" {
		return Unresolved, "no model is stated"
	}
	if s == plainModel(model) {
		return Variant, "the same model in another spelling"
	}
	// Another model of the make by its full name is another model, even if one name begins with the other.
	other := d.otherModel(s, r)
	if same, why := d.modelForm(s, model, r); same && (other == "" || d.listed(s, model, mk)) {
		return Variant, why
	}
	if other != "" {
		return Conflict, "the stated model is another one of this make: " + other
	}
	if misspelt(s, plainModel(model)) && !strings.ContainsAny(s, "0123456789") {
		return Variant, "a misspelling of " + model
	}
	return Unresolved, "NHTSA lists no such model of this make"
}

// listed is true if the table of spellings names s for the model.
func (d *Decoder) listed(s, model, mk string) bool {
	for _, other := range d.spellings[firstWord(plainMake(mk))+" "+plainModel(model)] {
		if other == s || len(other) >= 4 && strings.HasPrefix(s, other) {
			return true
		}
	}
	return false
}

// modelForm tells whether a stated model is a form of the decoded one.
func (d *Decoder) modelForm(s, model string, r *Result) (bool, string) {
	if d.listed(s, model, r.Make()) {
		return true, "another name of " + model
	}
	plain := plainModel(model)
	if base, ok := strings.CutSuffix(model, " Series"); ok {
		if strings.HasPrefix(s, plainModel(base)) {
			return true, "a model of the " + model
		}
	}
	for _, part := range strings.FieldsFunc(model, func(c rune) bool { return c == '(' || c == ')' || c == '/' || c == ',' || c == ' ' }) {
		if p := plainModel(part); len(p) >= 2 && (p == s || len(p) >= 3 && strings.HasPrefix(s, p)) && !generic(p) {
			return true, "part of the name " + model
		}
	}
	if len(plain) >= 2 && strings.HasPrefix(s, plain) {
		return true, "a form of the " + model
	}
	if len(s) >= 3 && strings.HasPrefix(plain, s) {
		return true, "an abbreviation of " + model
	}
	for _, name := range []string{"Series", "Series2", "Trim", "Trim2"} {
		if v := r.Value(name); v != "" {
			if p := plainModel(v); p == s || plain+p == s || p != "" && len(p) >= 3 && strings.HasPrefix(s, plain+p) {
				return true, "the model with its " + strings.ToLower(name)
			}
		}
	}
	return false, ""
}

// generic words in a model's name tell no model.
func generic(p string) bool {
	switch p {
	case "SERIES", "CHASSIS", "TRUCK", "TRAILER", "VAN", "DRY", "TYPE", "CONVENTIONAL", "CAB", "BUS", "FRONT", "REAR", "ENGINE", "ELECTRIC", "NEW", "MOTOR", "HOME", "DUTY", "MEDIUM", "HEAVY":
		return true
	}
	return false
}

// modelsByMake lists the models of each make id as indices.
func modelsByMake(data *vpic.DataSet) map[int32][]int32 {
	out := map[int32][]int32{}
	for i := range data.Models {
		if m := data.Models[i].Make; m >= 0 {
			out[data.Makes[m].ID] = append(out[data.Makes[m].ID], int32(i))
		}
	}
	return out
}

// otherModel finds another model of the same make that the stated one names.
func (d *Decoder) otherModel(s string, r *Result) string {
	e, ok := r.Element("Make")
	if !ok || e.id < 0 {
		return ""
	}
	series := ""
	for _, i := range d.modelsOf()[e.id] {
		m := &d.data.Models[i]
		if strings.EqualFold(m.Text, r.Model()) {
			continue
		}
		if plainModel(m.Text) == s {
			return m.Text
		}
		if base, ok := strings.CutSuffix(m.Text, " Series"); ok && strings.HasPrefix(s, plainModel(base)) {
			series = m.Text
		}
		if p := plainModel(m.Text); series == "" && len(p) >= 3 && strings.HasPrefix(s, p) && !strings.HasPrefix(plainModel(r.Model()), p) {
			series = m.Text
		}
	}
	return series
}
