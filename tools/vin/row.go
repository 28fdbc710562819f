package vin

// Row is one vehicle as a document states it. Zero values mean "not stated".
type Row struct {
	// Ref is the caller's own id of the row and comes back with the answer.
	Ref      string `json:"ref,omitempty"`
	VIN      string `json:"vin"`
	Year     int    `json:"year,omitempty"`
	Make     string `json:"make,omitempty"`
	Model    string `json:"model,omitempty"`
	BodyType string `json:"body_type,omitempty"`
	// GVW is the stated gross vehicle weight in pounds.
	GVW int `json:"gvw,omitempty"`
}

// Verdict is what comparing one stated field with the decode came to.
type Verdict string

// The verdicts.
const (
	// Agrees: the document says what the VIN says.
	Agrees Verdict = "agrees"
	// Variant: another spelling of the same thing, such as Volvo for VOLVO TRUCK.
	Variant Verdict = "variant"
	// Conflict: both speak, and they can't both be right.
	Conflict Verdict = "conflict"
	// Unresolved: it can't be told from this VIN or this data set.
	Unresolved Verdict = "unresolved"
)

// The fields that a row check compares.
const (
	FieldVIN      = "vin"
	FieldYear     = "year"
	FieldMake     = "make"
	FieldModel    = "model"
	FieldBodyType = "body_type"
	FieldGVW      = "gvw"
)

// FieldCheck is the comparison of one field.
type FieldCheck struct {
	Field   string  `json:"field"`
	Verdict Verdict `json:"verdict"`
	Stated  string  `json:"stated,omitempty"`
	Decoded string  `json:"decoded,omitempty"`
	// Note is a sentence that says why.
	Note string `json:"note,omitempty"`
}

// Near is another row whose VIN is almost the same.
type Near struct {
	Ref string `json:"ref"`
	VIN string `json:"vin"`
	// Positions are the 1-based positions that differ.
	Positions []int `json:"positions"`
}

// Checked is one row of a checked schedule. Its JSON is the flat decode with ref, vin, checks, worst, duplicates, near and suspicious added.
type Checked struct {
	Ref string
	VIN string
	// Result is the decode, with the stated year as the hint.
	Result Result
	// Checks holds one entry for the VIN itself and one for each stated field.
	Checks []FieldCheck
	// Worst is the gravest verdict among the checks: conflict, unresolved, variant, agrees.
	Worst Verdict
	// Duplicates are the refs of other rows with the same VIN (I, O and Q read as 1 and 0), the first twenty of them.
	Duplicates []string
	// Near are rows whose VINs differ in one or two characters that are easily misread or mistyped.
	Near []Near
	// Suspicious is true if no scheme of the manufacturer in that year allows the VIN's characters.
	Suspicious bool
	// Why explains Suspicious.
	Why string
}

// Check returns the comparison of that field; ok is false if the row didn't state it.
func (c *Checked) Check(field string) (FieldCheck, bool) {
	for _, f := range c.Checks {
		if f.Field == field {
			return f, true
		}
	}
	return FieldCheck{}, false
}
