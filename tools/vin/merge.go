package vin

import (
	"fmt"
	"strings"
)

// AddOnline adds what NHTSA's service knows and the offline data doesn't tell. It never replaces what was decoded here: where the two differ,
// a note says so.
func (r *Result) AddOnline(values map[string]string) {
	if r.data == nil || len(values) == 0 {
		return
	}
	r.Online = true
	for i := range r.data.Elements {
		name := r.data.Elements[i].Code
		v := values[name]
		if name == "" || v == "" {
			continue
		}
		have, ok := r.Element(name)
		switch {
		case !ok && v != notApplicable:
			r.elements = append(r.elements, Element{Name: name, Value: v, Source: SourceOnline, id: -1})
			if name == "ModelYear" {
				r.addYear(v)
			}
		case ok && have.Source == SourceDefault && v != notApplicable:
			r.replace(name, v)
		case ok && (name == "Make" || name == "Model" || name == "ModelYear") && !strings.EqualFold(have.Value, v):
			r.Notes = append(r.Notes, fmt.Sprintf("NHTSA's service says %s %s where the data of %s says %s.", name, v, r.DataDate, have.Value))
		}
	}
}

// addYear takes the service's year where the VIN told none.
func (r *Result) addYear(v string) {
	var year int
	if _, err := fmt.Sscanf(v, "%4d", &year); err == nil && r.year == 0 {
		r.year = year
	}
}

func (r *Result) replace(name, value string) {
	for i := range r.elements {
		if r.elements[i].Name == name {
			r.elements[i] = Element{Name: name, Value: value, Source: SourceOnline, id: -1}
		}
	}
}
