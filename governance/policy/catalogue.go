package policy

import (
	"slices"
	"strings"
)

// Catalogue is the relations that may be governed at all, and their columns.
type Catalogue map[string][]string

// Relations returns the relations of every organisation's generation.
func Relations() Catalogue {
	const rowHead = "row_id document_id submission_id document_type workflow row_index page confidence "
	c := Catalogue{}
	for name, columns := range map[string]string{
		"submissions":    "submission_id workflow status insured_name broker_name carrier line_of_business effective_date expiry_date received_at completed_at",
		"documents":      "document_id submission_id document_type filename media_type pages bytes sha256 received_at",
		"extracted_rows": "row_id document_id submission_id document_type workflow table_name row_index page x0 y0 x1 y1 confidence cells",
		"extracted_fields": "field_id document_id submission_id row_id document_type workflow table_name row_index field_name original_value value unit " +
			"confidence page x0 y0 x1 y1 extracted_at edited edited_by_human edited_by edited_at edit_count",
		"field_edits": "edit_id field_id document_id submission_id workflow field_name from_value to_value edited_by edit_source edited_at reason",
		"vehicles": rowHead + "unit_no year make model body_type vin gvw stated_value plate garaging_address garaging_city garaging_state " +
			"garaging_zip radius",
		"drivers": rowHead + "name license_number license_state license_class license_status date_of_birth hire_date years_experience " +
			"moving_violations accidents major_violations mvr_run_date",
		"losses": rowHead + "carrier policy_number term_start term_end valuation_date claim_number date_of_loss date_reported status paid reserve " +
			"recovered incurred driver unit_no vin description",
		"coverages": rowHead + "coverage limit_amount limit_basis deductible symbol effective_date expiry_date premium",
	} {
		c[name] = strings.Fields(columns)
	}
	return c
}

// Has tells whether a relation has a column; names are compared in lower case.
func (c Catalogue) Has(relation, column string) bool { return slices.Contains(c[relation], column) }

// Sensitive tells whether a column may hold values that some profile masks: the columns named like a masked field, and those
// that hold any field's value.
func (p *Policy) Sensitive(column string) bool {
	switch column {
	case "value", "original_value", "from_value", "to_value", "cells":
		return true
	}
	for _, profile := range p.Profiles {
		if _, ok := profile.Mask[column]; ok {
			return true
		}
	}
	return false
}
