package generation

import (
	"context"
	"fmt"
	"strings"
)

// derive fills n_<relation> with the rows as they will be, in the order in which they will lie.
func (b *build) derive(ctx context.Context) error {
	fieldWhere := "o.field_id IN (SELECT field_id FROM c_edit)"
	if b.affected > 0 {
		fieldWhere += " OR o.document_id IN (FROM aff_doc)"
	}
	fieldWhere += " OR o.row_id IN (SELECT id FROM c_row WHERE replaced)"
	for _, q := range []string{
		`CREATE OR REPLACE TABLE n_submissions AS SELECT id AS submission_id, * EXCLUDE (file, line, id, replaced) FROM c_submission ORDER BY received_at, id`,
		`CREATE OR REPLACE TABLE n_documents AS SELECT id AS document_id, submission_id, document_type, filename, media_type, pages, bytes, sha256, received_at
			FROM c_document ORDER BY received_at, id`,
		// What rows and fields repeat of their document and submission.
		`CREATE OR REPLACE TABLE ctx_doc AS SELECT document_id FROM c_row UNION SELECT document_id FROM c_field UNION SELECT document_id FROM old_field UNION SELECT document_id FROM old_row UNION FROM aff_doc`,
		`CREATE OR REPLACE TABLE d AS SELECT document_id, submission_id, document_type FROM n_documents UNION ALL
			SELECT document_id, submission_id, document_type FROM f.documents WHERE document_id IN (FROM ctx_doc) AND document_id NOT IN (SELECT document_id FROM n_documents)`,
		`CREATE OR REPLACE TABLE ctx AS WITH s AS (SELECT submission_id, workflow FROM n_submissions UNION ALL
				SELECT submission_id, workflow FROM f.submissions WHERE submission_id IN (SELECT submission_id FROM d) AND submission_id NOT IN (SELECT submission_id FROM n_submissions))
			SELECT d.document_id, d.submission_id, d.document_type, s.workflow FROM d JOIN s USING (submission_id)`,
		// The facts of every field that changes in any way.
		`CREATE OR REPLACE TABLE field_facts AS SELECT id AS field_id, document_id, row_id, field AS field_name, value AS original_value, unit, confidence, page, x0, y0, x1, y1, extracted_at
			FROM c_field UNION ALL SELECT o.field_id, o.document_id, o.row_id, o.field_name, o.original_value, o.unit, o.confidence, o.page, o.x0, o.y0, o.x1, o.y1, o.extracted_at
			FROM old_field o WHERE o.field_id NOT IN (SELECT id FROM c_field) AND (` + fieldWhere + `)`,
		// Every row whose cells or columns change.
		`CREATE OR REPLACE TABLE touched AS SELECT DISTINCT row_id FROM (SELECT id AS row_id FROM c_row UNION ALL SELECT row_id FROM field_facts
			UNION ALL SELECT row_id FROM old_field WHERE field_id IN (SELECT id FROM c_field)
			UNION ALL SELECT row_id FROM f.extracted_rows WHERE document_id IN (FROM aff_doc)) WHERE row_id IS NOT NULL`,
	} {
		if err := b.exec(ctx, q); err != nil {
			return err
		}
	}
	if err := b.lookUp(ctx, "old_rows", "extracted_rows", "t.* EXCLUDE (submission_id, document_type, workflow)", "row_id IN (FROM touched)"); err != nil {
		return err
	}
	for _, q := range []string{
		`CREATE OR REPLACE TABLE row_facts AS SELECT id AS row_id, document_id, "table" AS table_name, "index" AS row_index, page, x0, y0, x1, y1, confidence FROM c_row
			UNION ALL SELECT row_id, document_id, table_name, row_index, page, x0, y0, x1, y1, confidence FROM old_rows WHERE row_id NOT IN (SELECT id FROM c_row)`,
		// Of a field's edits the last counts: by time, then by id, shorter ids first so that E-9 comes before E-10.
		`CREATE OR REPLACE TABLE edit_sum AS SELECT field_id, count(*)::INTEGER AS n, bool_or(source = 'human') AS human, arg_max({'v': "to", 'by': "by", 'at': "at"}, {'at': "at", 'n': length(id), 'id': id}) AS last
			FROM (SELECT field_id, id, "to", "by", source, "at" FROM c_edit UNION ALL SELECT field_id, edit_id, to_value, edited_by, edit_source, edited_at FROM f.field_edits
				WHERE field_id IN (SELECT field_id FROM field_facts)) GROUP BY field_id`,
		`CREATE OR REPLACE TABLE n_extracted_fields AS SELECT t.field_id, t.document_id, x.submission_id, t.row_id, x.document_type, x.workflow, r.table_name, r.row_index, t.field_name, t.original_value,
				CASE WHEN e.n IS NULL THEN t.original_value ELSE e.last.v END AS value, t.unit, t.confidence, t.page, t.x0, t.y0, t.x1, t.y1, t.extracted_at,
				e.n IS NOT NULL AS edited, coalesce(e.human, false) AS edited_by_human, e.last."by" AS edited_by, e.last."at" AS edited_at, coalesce(e.n, 0)::INTEGER AS edit_count
			FROM field_facts t JOIN ctx x USING (document_id) LEFT JOIN row_facts r USING (row_id) LEFT JOIN edit_sum e USING (field_id)
			ORDER BY t.extracted_at, t.document_id, r.row_index, t.field_id`,
		`CREATE OR REPLACE TABLE n_field_edits AS SELECT e.id AS edit_id, e.field_id, t.document_id, t.submission_id, t.workflow, t.field_name, e."from" AS from_value, e."to" AS to_value, e."by" AS edited_by,
				e.source AS edit_source, e."at" AS edited_at, e.reason
			FROM (SELECT id, field_id, "from", "to", "by", source, "at", reason FROM c_edit UNION ALL SELECT edit_id, field_id, from_value, to_value, edited_by, edit_source, edited_at, reason FROM f.field_edits
				WHERE field_id IN (SELECT id FROM c_field UNION ALL SELECT field_id FROM old_field o WHERE o.document_id IN (FROM aff_doc))) e
			JOIN n_extracted_fields t USING (field_id) ORDER BY edited_at, edit_id`,
	} {
		if err := b.exec(ctx, q); err != nil {
			return err
		}
	}
	if err := b.deriveCells(ctx); err != nil {
		return err
	}
	if err := b.exec(ctx, `CREATE OR REPLACE TABLE n_extracted_rows AS SELECT t.row_id, t.document_id, x.submission_id, x.document_type, x.workflow, t.table_name, t.row_index, t.page, t.x0, t.y0, t.x1, t.y1, t.confidence,
			coalesce(c.cells, MAP {}::MAP(VARCHAR, VARCHAR)) AS cells FROM row_facts t JOIN ctx x USING (document_id) LEFT JOIN cells c USING (row_id) ORDER BY t.document_id, t.table_name, t.row_index, t.row_id`); err != nil {
		return err
	}
	for _, r := range relations() {
		if !r.cells {
			continue
		}
		n, err := b.count(ctx, "SELECT count(*) FROM n_extracted_rows WHERE table_name = "+literal(r.name))
		if err != nil {
			return err
		}
		q := typedSQL(r)
		if n == 0 {
			q = "CREATE OR REPLACE TABLE n_" + r.name + " AS FROM f." + r.name + " LIMIT 0"
		}
		if err := b.exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// deriveCells fills cells with the current values of each touched row's fields, keys in order, and the weakest confidence among them.
func (b *build) deriveCells(ctx context.Context) error {
	if b.onlyEdits {
		// Nothing but values changes, so what the rows hold already need not be read again from the fields.
		return b.exec(ctx, `CREATE OR REPLACE TABLE cells AS SELECT o.row_id, map_from_entries(list_sort(map_entries(map_concat(o.cells, e.cells)))) AS cells, NULL::DOUBLE AS weakest
			FROM old_rows o JOIN (SELECT row_id, map_from_entries(list({'key': field_name, 'value': value})) AS cells FROM n_extracted_fields WHERE row_id IS NOT NULL GROUP BY row_id) e USING (row_id)`)
	}
	if err := b.lookUp(ctx, "row_fields", "extracted_fields", "t.row_id, t.field_id, t.field_name, t.value, t.confidence", "row_id IN (FROM touched)"); err != nil {
		return err
	}
	if err := b.exec(ctx, `CREATE OR REPLACE TABLE rf AS SELECT row_id, field_name, value, confidence FROM n_extracted_fields WHERE row_id IS NOT NULL UNION ALL
		SELECT row_id, field_name, value, confidence FROM row_fields WHERE field_id NOT IN (SELECT field_id FROM field_facts)`); err != nil {
		return err
	}
	if err := b.checkCells(ctx); err != nil || len(b.problems) > 0 {
		return orEnough(err)
	}
	return b.exec(ctx, `CREATE OR REPLACE TABLE cells AS SELECT row_id, map_from_entries(list({'key': field_name, 'value': value} ORDER BY field_name)) AS cells, min(confidence) AS weakest FROM rf GROUP BY row_id`)
}

func orEnough(err error) error {
	if err == nil {
		return errEnough
	}
	return err
}

// typedSQL fills a typed relation's new rows from the cells. A value that doesn't read as its type is NULL.
func typedSQL(r relation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE OR REPLACE TABLE n_%s AS SELECT t.row_id, t.document_id, t.submission_id, t.document_type, t.workflow, t.row_index, t.page, coalesce(c.weakest, o.confidence, t.confidence) AS confidence", r.name)
	for _, c := range r.columns[headColumns:] {
		cell := "t.cells[" + literal(c.name) + "]"
		switch c.typ {
		case "INTEGER":
			cell = "as_int(" + cell + ")"
		case "DATE":
			cell = "as_date(" + cell + ")"
		case "DECIMAL(14,2)":
			cell = "as_money(" + cell + ")"
		}
		b.WriteString(", " + cell + " AS " + ident(c.name))
	}
	fmt.Fprintf(&b, " FROM n_extracted_rows t LEFT JOIN cells c USING (row_id) LEFT JOIN (SELECT row_id, confidence FROM f.%s WHERE row_id IN (FROM touched)) o USING (row_id) WHERE t.table_name = %s ORDER BY %s",
		r.name, literal(r.name), "t.document_id, t.row_index, t.row_id")
	return b.String()
}

// readers are the macros that read typed values from text as documents print them.
func readers() []string {
	return []string{
		// Whole numbers: "2,021", "80,000 lbs", "12 yrs".
		`CREATE OR REPLACE MACRO as_int(v) AS TRY_CAST(replace(nullif(regexp_extract(trim(v), '^([+-]?[0-9]{1,3}(?:,[0-9]{3})+|[+-]?[0-9]+)(?:\.0*)?\s*(?i:lbs?\.?|pounds?|mi\.?|miles?|yrs?\.?|years?)?$', 1), ''), ',', '') AS INTEGER)`,
		// Money: "$45,000.00", "(1,234.50)" for less than nothing, "1,000,000 CSL" is not money.
		`CREATE OR REPLACE MACRO as_money(v) AS CASE WHEN regexp_full_match(trim(v), '\(?\s*-?\s*(?:USD|US\$|\$)?\s*-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?\s*\)?')
			THEN TRY_CAST(CASE WHEN trim(v) LIKE '(%)' THEN '-' ELSE '' END || regexp_replace(v, '[^0-9.\-]', '', 'g') AS DECIMAL(14,2)) END`,
		// Dates; a year of two digits says nothing about its century, so it doesn't read.
		// The patterns go first, since a text that isn't a date costs strptime thirty times as much.
		`CREATE OR REPLACE MACRO as_date(v) AS CASE WHEN regexp_matches(v, '^\s*\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{2}:\d{2}.*)?\s*$') THEN TRY_CAST(regexp_extract(v, '\d{4}-\d{1,2}-\d{1,2}') AS DATE)
			WHEN regexp_matches(v, '^\s*(?:\d{1,2}[/-]\d{1,2}[/-]\d{4}|[A-Za-z]{3,9} \d{1,2}, \d{4}|\d{1,2} [A-Za-z]{3,9} \d{4})\s*$')
			THEN TRY_CAST(try_strptime(trim(v), ['%m/%d/%Y', '%m-%d-%Y', '%b %d, %Y', '%B %d, %Y', '%d %b %Y', '%d %B %Y']) AS DATE) END`,
	}
}
