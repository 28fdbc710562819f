package vin

import (
	"slices"
	"strconv"
	"strings"

	"bordereau/tools/vin/vpic"
)

// Source says which step of the procedure gave an element. The spellings are NHTSA's.
type Source string

// The sources of elements.
const (
	SourcePattern    Source = "Pattern"
	SourceFormula    Source = "Formula Pattern"
	SourceEngine     Source = "EngineModelPattern"
	SourceModelMake  Source = "pattern - model"
	SourceWMI        Source = "WMI"
	SourceYear       Source = "ModelYear"
	SourceConversion Source = "Conversion"
	SourceSpecs      Source = "Vehicle Specs"
	SourceDefault    Source = "Default"
	SourceOnline     Source = "vPIC API"
)

const (
	notApplicable  = "Not Applicable"
	modelYearByVIN = "***X*|Y" // as NHTSA names position 10
)

// Element is one decoded fact with its provenance.
type Element struct {
	// Name is NHTSA's name of the value in DecodeVinValues, such as BodyClass.
	Name string `json:"name"`
	// Value is the text.
	Value string `json:"value"`
	// Source is the step that gave the value.
	Source Source `json:"source"`
	// Schema is the manufacturer's scheme that the value was read from.
	Schema string `json:"schema,omitempty"`
	// Key is the pattern in that scheme: positions 4-8, a bar, positions 10-17.
	Key string `json:"key,omitempty"`

	id int32 // NHTSA's id of the value in its look-up table, -1 if it is plain text
}

// Candidate is one model year that the VIN can have, and what it decodes to in that year.
type Candidate struct {
	Year  int    `json:"year"`
	Make  string `json:"make,omitempty"`
	Model string `json:"model,omitempty"`
	// Codes are the error codes of this year's pass.
	Codes []int `json:"codes"`
	// Chosen marks the one that the answer was taken from.
	Chosen bool `json:"chosen,omitempty"`
}

// Result is the decode of one VIN. Its JSON is one flat object with NHTSA's DecodeVinValues names, and beside them
// data_date, conclusive, candidates, provenance, not_in_data_set and notes.
type Result struct {
	// Input is the VIN as it was given.
	Input string
	// VIN is what was decoded: trimmed, in upper case, without spaces and dashes.
	VIN string
	// WMI is the manufacturer's code that was looked up: 3 characters, or 6 for small manufacturers.
	WMI string
	// Candidates holds the model years that were tried, the chosen one first.
	Candidates []Candidate
	// Conclusive is true if the VIN alone tells the year.
	Conclusive bool
	// Codes are NHTSA's error codes in ascending order; 0 stands for a clean decode.
	Codes []int
	// SuggestedVIN is NHTSA's correction, with ! where several characters are possible.
	SuggestedVIN string
	// PossibleValues lists what may stand at a position in error, such as (8:LSW).
	PossibleValues string
	// CheckDigit is the character that position 9 should hold; 0 if it can't be computed.
	CheckDigit byte
	// Suspicious is true if characters stand in the VIN that no scheme of that manufacturer and year allows.
	Suspicious bool
	// UnusedPositions are the positions that no pattern explains. With a reduced data set they are information only.
	UnusedPositions []int
	// Notes are sentences for a person: why nothing was decoded, what was cleaned, what may be wrong.
	Notes []string
	// DataDate is the date of the data set.
	DataDate string
	// Online is set if the answer holds elements of NHTSA's service.
	Online bool

	elements   []Element
	additional string
	invalid    string // illegal characters with their positions
	data       *vpic.DataSet
	year       int
	vehicle    int32
	gvwr       WeightRange
	check      checkState
}

// Year is the model year, 0 if the VIN doesn't tell. For a manufacturer that NHTSA doesn't know it is the newer year of position 10, which
// NHTSA's values leave out.
func (r *Result) Year() int { return r.year }

// Make is the make in NHTSA's spelling, in upper case.
func (r *Result) Make() string { return r.Value("Make") }

// Model is NHTSA's model, which for some makes is a series ("T8 Series").
func (r *Result) Model() string { return r.Value("Model") }

// Manufacturer is the maker behind the WMI.
func (r *Result) Manufacturer() string { return r.Value("Manufacturer") }

// VehicleType is the type of vehicle in upper case, such as TRUCK, TRAILER or INCOMPLETE VEHICLE.
func (r *Result) VehicleType() string { return r.Value("VehicleType") }

// BodyClass is the body class, such as Truck-Tractor.
func (r *Result) BodyClass() string { return r.Value("BodyClass") }

// GVWR is the range of gross vehicle weight that the VIN tells, in pounds; ok is false if it tells none.
func (r *Result) GVWR() (WeightRange, bool) { return r.gvwr, r.gvwr.Class != "" }

// Decoded is true if the data explains this VIN: its manufacturer is known and some pattern matched. A make alone is no proof.
func (r *Result) Decoded() bool {
	return r.has(0) || !r.has(codeWMI) && !r.has(codeNoData) && !r.has(codeCharacters) && !r.has(codeYear) && len(r.Codes) > 0 && r.VIN != ""
}

// Clean is true if NHTSA would call the VIN clean: code 0.
func (r *Result) Clean() bool { return r.has(0) }

// CheckDigitOK is true if position 9 is right; ok is false if it can't be told, such as for a short VIN.
func (r *Result) CheckDigitOK() (right, ok bool) {
	return r.check == checkRight, r.check != checkUnknown
}

// ErrorCode is the list of codes as NHTSA joins them, such as "1,11,14,400".
func (r *Result) ErrorCode() string {
	out := make([]string, len(r.Codes))
	for i, c := range r.Codes {
		out[i] = strconv.Itoa(c)
	}
	return strings.Join(out, ",")
}

// ErrorText is NHTSA's sentence for each code.
func (r *Result) ErrorText() string { return errorText(r.Codes) }

// AdditionalErrorText is NHTSA's further explanation.
func (r *Result) AdditionalErrorText() string { return r.additional }

// Element returns the fact of that name with its provenance.
func (r *Result) Element(name string) (Element, bool) {
	for i := range r.elements {
		if r.elements[i].Name == name {
			return r.elements[i], true
		}
	}
	return Element{}, false
}

// Elements returns all facts in NHTSA's order of elements.
func (r *Result) Elements() []Element { return r.elements }

func (r *Result) has(code int) bool {
	return slices.Contains(r.Codes, code)
}
