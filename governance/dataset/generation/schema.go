// Package generation builds the immutable files of an organisation: it stages records, checks what they refer to, applies them and masks.
// It runs in a process of its own, the only one that writes such files.
package generation

import (
	"strings"

	"bordereau/governance/dataset/record"
)

// column is one column of a relation.
type column struct {
	name string
	typ  string
	free bool // text in which anything may stand: scrubbed in the masked profile
}

// relation is one table of a generation.
type relation struct {
	name    string
	key     string
	order   string // how its rows lie in the file
	columns []column
	cells   bool // filled from a row's cells: the columns after the head are read from them
}

func cols(spec string) []column {
	var all []column
	for part := range strings.SplitSeq(spec, "|") {
		part = strings.TrimSpace(part)
		free := strings.HasSuffix(part, " *")
		name, typ, _ := strings.Cut(strings.TrimSuffix(part, " *"), " ")
		if typ == "" {
			typ = "VARCHAR"
		}
		all = append(all, column{name: name, typ: typ, free: free})
	}
	return all
}

const head = "row_id|document_id|submission_id|document_type|workflow|row_index INTEGER|page INTEGER|confidence DOUBLE|"

// relations lists the tables of a generation, as docs/DATA.md describes them. Columns that end in * hold free text.
func relations() []relation {
	return []relation{
		{name: "submissions", key: "submission_id", order: "received_at, submission_id", columns: cols("submission_id|workflow|status|insured_name *|broker_name *|carrier|" +
			"line_of_business|effective_date DATE|expiry_date DATE|received_at TIMESTAMP|completed_at TIMESTAMP")},
		{name: "documents", key: "document_id", order: "received_at, document_id", columns: cols("document_id|submission_id|document_type|filename *|media_type|" +
			"pages INTEGER|bytes BIGINT|sha256|received_at TIMESTAMP")},
		{name: "extracted_rows", key: "row_id", order: "document_id, table_name, row_index, row_id", columns: cols("row_id|document_id|submission_id|document_type|workflow|" +
			"table_name|row_index INTEGER|page INTEGER|x0 DOUBLE|y0 DOUBLE|x1 DOUBLE|y1 DOUBLE|confidence DOUBLE|cells MAP(VARCHAR, VARCHAR)")},
		{name: "extracted_fields", key: "field_id", order: "extracted_at, document_id, row_index, field_id", columns: cols("field_id|document_id|submission_id|row_id|" +
			"document_type|workflow|table_name|row_index INTEGER|field_name|original_value|value|unit *|confidence DOUBLE|page INTEGER|" +
			"x0 DOUBLE|y0 DOUBLE|x1 DOUBLE|y1 DOUBLE|extracted_at TIMESTAMP|edited BOOLEAN|edited_by_human BOOLEAN|edited_by|" +
			"edited_at TIMESTAMP|edit_count INTEGER")},
		{name: "field_edits", key: "edit_id", order: "edited_at, edit_id", columns: cols("edit_id|field_id|document_id|submission_id|workflow|field_name|" +
			"from_value|to_value|edited_by|edit_source|edited_at TIMESTAMP|reason *")},
		{name: "vehicles", key: "row_id", order: "document_id, row_index, row_id", cells: true, columns: cols(head + "unit_no *|year INTEGER|make *|model *|body_type *|vin *|gvw INTEGER|" +
			"stated_value DECIMAL(14,2)|plate *|garaging_address *|garaging_city *|garaging_state *|garaging_zip *|radius INTEGER")},
		{name: "drivers", key: "row_id", order: "document_id, row_index, row_id", cells: true, columns: cols(head + "name *|license_number|license_state *|license_class *|license_status *|" +
			"date_of_birth DATE|hire_date DATE|years_experience INTEGER|moving_violations INTEGER|accidents INTEGER|major_violations INTEGER|mvr_run_date DATE")},
		{name: "losses", key: "row_id", order: "document_id, row_index, row_id", cells: true, columns: cols(head + "carrier *|policy_number *|term_start DATE|term_end DATE|valuation_date DATE|" +
			"claim_number *|date_of_loss DATE|date_reported DATE|status *|paid DECIMAL(14,2)|reserve DECIMAL(14,2)|recovered DECIMAL(14,2)|" +
			"incurred DECIMAL(14,2)|driver *|unit_no *|vin *|description *")},
		{name: "coverages", key: "row_id", order: "document_id, row_index, row_id", cells: true, columns: cols(head + "coverage *|limit_amount DECIMAL(14,2)|limit_basis *|deductible DECIMAL(14,2)|" +
			"symbol *|effective_date DATE|expiry_date DATE|premium DECIMAL(14,2)")},
	}
}

// headColumns is how many columns of a typed relation don't come from cells.
const headColumns = 8

func ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// ddl is the statement that makes the relation's table in a catalog.
func (r relation) ddl(catalog string) string {
	parts := make([]string, len(r.columns))
	for i, c := range r.columns {
		parts[i] = ident(c.name) + " " + c.typ
	}
	return "CREATE TABLE " + catalog + "." + r.name + " (" + strings.Join(parts, ", ") + ")"
}

// staged is one column of a staging table.
type staged struct{ name, typ string }

// stagedColumns are a kind's columns as they are staged and kept as facts. A document's path has become the hash and size of its file.
func stagedColumns(k record.Kind) []staged {
	var all []staged
	for _, c := range k.Columns() {
		switch c.Type {
		case record.Text:
			if k == record.Document && c.Name == "path" {
				all = append(all, staged{"sha256", "VARCHAR"}, staged{"bytes", "BIGINT"})
				continue
			}
			all = append(all, staged{c.Name, "VARCHAR"})
		case record.Int:
			all = append(all, staged{c.Name, "INTEGER"})
		case record.Float:
			all = append(all, staged{c.Name, "DOUBLE"})
		case record.Date:
			all = append(all, staged{c.Name, "DATE"})
		case record.Time:
			all = append(all, staged{c.Name, "TIMESTAMP"})
		case record.Box:
			for _, n := range []string{"x0", "y0", "x1", "y1"} {
				all = append(all, staged{n, "DOUBLE"})
			}
		}
	}
	return all
}

// stage is the name of a kind's staging table. Beside the kind's columns it has file (an index) and line.
func stage(k record.Kind) string { return "s_" + k.String() }

func stageDDL(k record.Kind) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + stage(k) + " (file INTEGER, line BIGINT")
	for _, c := range stagedColumns(k) {
		b.WriteString(", " + ident(c.name) + " " + c.typ)
	}
	b.WriteString(")")
	return b.String()
}

// relationOf is the relation whose rows a kind's records become, and how its columns are called there.
func relationOf(k record.Kind) (table string, rename map[string]string) {
	switch k {
	case record.Submission:
		return "submissions", map[string]string{"id": "submission_id"}
	case record.Document:
		return "documents", map[string]string{"id": "document_id"}
	case record.Row:
		return "extracted_rows", map[string]string{"id": "row_id", "table": "table_name", "index": "row_index"}
	case record.Field:
		return "extracted_fields", map[string]string{"id": "field_id", "field": "field_name", "value": "original_value"}
	}
	return "field_edits", map[string]string{"id": "edit_id", "from": "from_value", "to": "to_value", "by": "edited_by", "source": "edit_source", "at": "edited_at"}
}
