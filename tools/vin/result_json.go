package vin

import (
	"encoding/json"
	"strconv"
)

// Values returns the answer as NHTSA's DecodeVinValues would: every name of the loaded elements, with "" where there is no value.
// Elements that the data set can't tell of any vehicle are left out; NotInDataSet names them.
func (r *Result) Values() map[string]string {
	out := make(map[string]string, 160)
	if r.data != nil {
		for i := range r.data.Elements {
			if e := &r.data.Elements[i]; e.Present && e.Code != "" {
				out[e.Code] = ""
			}
		}
	}
	for i := range r.elements {
		e := &r.elements[i]
		out[e.Name] = e.Value
	}
	out["MakeID"], out["ModelID"], out["ManufacturerId"] = r.idOf("Make"), r.idOf("Model"), r.idOf("Manufacturer")
	out["VIN"] = r.VIN
	out["ErrorCode"], out["ErrorText"], out["AdditionalErrorText"] = r.ErrorCode(), r.ErrorText(), r.additional
	out["SuggestedVIN"], out["PossibleValues"] = r.SuggestedVIN, r.PossibleValues
	if r.VIN != "" && r.WMI != "" {
		out["VehicleDescriptor"] = descriptorOf(r.VIN)
	}
	return out
}

// Value returns one of NHTSA's values by name, "" if there is none.
func (r *Result) Value(name string) string {
	if e, ok := r.Element(name); ok {
		return e.Value
	}
	switch name {
	case "VIN":
		return r.VIN
	case "ErrorCode":
		return r.ErrorCode()
	case "ErrorText":
		return r.ErrorText()
	case "AdditionalErrorText":
		return r.additional
	case "SuggestedVIN":
		return r.SuggestedVIN
	case "PossibleValues":
		return r.PossibleValues
	case "MakeID":
		return r.idOf("Make")
	case "ModelID":
		return r.idOf("Model")
	case "ManufacturerId":
		return r.idOf("Manufacturer")
	case "VehicleDescriptor":
		if r.VIN != "" && r.WMI != "" {
			return descriptorOf(r.VIN)
		}
	}
	return ""
}

func (r *Result) idOf(name string) string {
	e, ok := r.Element(name)
	if !ok || e.id < 0 {
		return ""
	}
	return strconv.Itoa(int(e.id))
}

// NotInDataSet names the elements that the loaded data can't tell of any vehicle, so that their absence says nothing about this one.
func (r *Result) NotInDataSet() []string {
	if r.data == nil {
		return nil
	}
	var out []string
	for i := range r.data.Elements {
		e := &r.data.Elements[i]
		if e.Present || e.Code == "" {
			continue
		}
		if _, ok := r.Element(e.Code); !ok {
			out = append(out, e.Code)
		}
	}
	return out
}

// extras are the members beside NHTSA's names.
func (r *Result) extras(elements []Element) map[string]any {
	candidates := r.Candidates
	if candidates == nil {
		candidates = []Candidate{}
	}
	out := map[string]any{
		"input": r.Input, "data_date": r.DataDate, "conclusive": r.Conclusive, "candidates": candidates,
		"provenance": provenance(elements), "suspicious": r.Suspicious,
	}
	if r.gvwr.Class != "" {
		out["gvwr_lb"] = r.gvwr
	}
	if len(r.Notes) > 0 {
		out["notes"] = r.Notes
	}
	if len(r.UnusedPositions) > 0 {
		out["unused_positions"] = r.UnusedPositions
	}
	return out
}

// provenance tells for each value where it came from.
func provenance(elements []Element) map[string]Provenance {
	out := make(map[string]Provenance, len(elements))
	for i := range elements {
		e := &elements[i]
		out[e.Name] = Provenance{Source: e.Source, Schema: e.Schema, Key: e.Key}
	}
	return out
}

// Provenance is where a value came from.
type Provenance struct {
	Source Source `json:"source"`
	Schema string `json:"schema,omitempty"`
	Key    string `json:"key,omitempty"`
}

// object returns the flat object.
func (r *Result) object() map[string]any {
	out := r.extras(r.elements)
	for name, v := range r.Values() {
		out[name] = v
	}
	if missing := r.NotInDataSet(); len(missing) > 0 {
		out["not_in_data_set"] = missing
	}
	return out
}

// MarshalJSON writes one flat object.
func (r Result) MarshalJSON() ([]byte, error) { return json.Marshal(r.object()) }

// MarshalJSON writes the flat decode of the row with its comparison. It is meant for thousands of rows: values that are empty or only say what
// every vehicle of the type says are left out, and of the elements that the data set lacks only those that matter in trucking are named.
func (c Checked) MarshalJSON() ([]byte, error) {
	r := &c.Result
	out := r.extras(r.told())
	for i := range r.elements {
		if e := &r.elements[i]; e.Source != SourceDefault {
			out[e.Name] = e.Value
		}
	}
	out["VIN"], out["ErrorCode"], out["ErrorText"] = r.VIN, r.ErrorCode(), r.ErrorText()
	if r.SuggestedVIN != "" {
		out["SuggestedVIN"], out["PossibleValues"] = r.SuggestedVIN, r.PossibleValues
	}
	if missing := r.missingOf("TrailerType", "TrailerBodyType", "TrailerLength", "Axles", "DriveType", "BodyCabType"); len(missing) > 0 {
		out["not_in_data_set"] = missing
	}
	out["ref"], out["vin"], out["checks"], out["worst"] = c.Ref, c.VIN, c.Checks, c.Worst
	out["suspicious"] = c.Suspicious
	if c.Why != "" {
		out["suspicious_why"] = c.Why
	}
	if len(c.Duplicates) > 0 {
		out["duplicates"] = c.Duplicates
	}
	if len(c.Near) > 0 {
		out["near"] = c.Near
	}
	return json.Marshal(out)
}

// told are the elements that the VIN itself tells, without defaults.
func (r *Result) told() []Element {
	out := make([]Element, 0, len(r.elements))
	for i := range r.elements {
		if r.elements[i].Source != SourceDefault {
			out = append(out, r.elements[i])
		}
	}
	return out
}

// missingOf returns those of the names that the data set lacks and that have no value here.
func (r *Result) missingOf(names ...string) []string {
	if r.data == nil {
		return nil
	}
	var out []string
	for _, name := range names {
		if _, ok := r.Element(name); !ok && !r.data.Tells(name) {
			out = append(out, name)
		}
	}
	return out
}
