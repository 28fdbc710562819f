package vin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// UnmarshalJSON reads what MarshalJSON wrote, for a program that asked a service to decode: what the row check left out, such as values that every
// vehicle of the type has, and the data set behind the answer, isn't there.
func (c *Checked) UnmarshalJSON(raw []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return fmt.Errorf("vin: reading a checked row: %w", err)
	}
	*c = Checked{}
	r := &c.Result
	var codes string
	var from map[string]Provenance
	for name, into := range map[string]any{
		"ref": &c.Ref, "vin": &c.VIN, "checks": &c.Checks, "worst": &c.Worst, "duplicates": &c.Duplicates, "near": &c.Near,
		"suspicious": &c.Suspicious, "suspicious_why": &c.Why, "provenance": &from, "ErrorCode": &codes,
		"input": &r.Input, "VIN": &r.VIN, "candidates": &r.Candidates, "conclusive": &r.Conclusive, "SuggestedVIN": &r.SuggestedVIN,
		"PossibleValues": &r.PossibleValues, "unused_positions": &r.UnusedPositions, "notes": &r.Notes, "data_date": &r.DataDate, "gvwr_lb": &r.gvwr,
	} {
		if err := member(members, name, into); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		e := Element{Name: name, Source: from[name].Source, Schema: from[name].Schema, Key: from[name].Key, id: -1}
		if err := member(members, name, &e.Value); err != nil {
			return err
		}
		r.elements = append(r.elements, e)
	}
	for code := range strings.SplitSeq(codes, ",") {
		if n, err := strconv.Atoi(code); err == nil {
			r.Codes = append(r.Codes, n)
		}
	}
	r.Suspicious = c.Suspicious
	if i := slices.IndexFunc(r.Candidates, func(y Candidate) bool { return y.Chosen }); i >= 0 {
		r.year = r.Candidates[i].Year
	}
	return nil
}

func member(members map[string]json.RawMessage, name string, into any) error {
	raw, ok := members[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("vin: reading %s of a checked row: %w", name, err)
	}
	return nil
}
