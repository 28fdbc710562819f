package generation

import (
	"context"

	"bordereau/governance/dataset/record"
)

// find adds a problem for each row of a query that gives file, line and message.
func (b *build) find(ctx context.Context, column, query string) error {
	rows, err := b.conn.QueryContext(ctx, "SELECT * FROM ("+query+") AS t(file, line, message) ORDER BY file, line LIMIT 20")
	if err != nil {
		return wrapSQL("checking "+column, query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var file int
		p := record.Problem{Column: column}
		if err := rows.Scan(&file, &p.Row, &p.Message); err != nil {
			return err
		}
		if file < len(b.job.Files) {
			p.File = b.job.Files[file].Name
		}
		if len(b.problems) < maxProblems {
			b.problems = append(b.problems, p)
		}
	}
	return rows.Err()
}

// checkReferences makes sure that everything which changed refers to something that is there.
func (b *build) checkReferences(ctx context.Context) error {
	for _, c := range []struct {
		kind          record.Kind
		column, query string
	}{
		{record.Document, "submission_id", `SELECT file, line, 'there is no submission ' || submission_id FROM c_document
			WHERE submission_id NOT IN (SELECT id FROM s_submission) AND submission_id NOT IN (SELECT submission_id FROM f.submissions)`},
		{record.Row, "document_id", `SELECT file, line, 'there is no document ' || document_id FROM c_row
			WHERE document_id NOT IN (SELECT id FROM s_document) AND document_id NOT IN (SELECT document_id FROM f.documents)`},
		{record.Row, "document_id", `SELECT c.file, c.line, 'row ' || c.id || ' belongs to document ' || o.document_id || ', and a row does not move' FROM c_row c
			JOIN old_row o ON c.id = o.row_id WHERE c.document_id <> o.document_id`},
		{record.Field, "document_id", `SELECT file, line, 'there is no document ' || document_id FROM c_field
			WHERE document_id NOT IN (SELECT id FROM s_document) AND document_id NOT IN (SELECT document_id FROM f.documents)`},
		{record.Field, "row_id", `SELECT c.file, c.line, CASE WHEN r.id IS NULL THEN 'there is no row ' || c.row_id ELSE 'row ' || r.id || ' belongs to document ' || r.document_id END
			FROM c_field c LEFT JOIN (SELECT id, document_id FROM s_row UNION SELECT row_id, document_id FROM f.extracted_rows WHERE row_id IN (SELECT row_id FROM c_field)
			AND row_id NOT IN (SELECT id FROM s_row)) r ON c.row_id = r.id WHERE c.row_id IS NOT NULL AND (r.id IS NULL OR r.document_id <> c.document_id)`},
		{record.Edit, "field_id", `SELECT file, line, 'there is no field ' || field_id FROM c_edit
			WHERE field_id NOT IN (SELECT id FROM s_field) AND field_id NOT IN (SELECT field_id FROM old_field)`},
		{record.Edit, "id", `SELECT file, line, 'edit ' || id || ' is there with other content, and an edit is never replaced' FROM c_edit WHERE replaced`},
	} {
		if b.counts[c.kind].New+b.counts[c.kind].Replaced == 0 {
			continue
		}
		if err := b.find(ctx, c.column, c.query); err != nil {
			return err
		}
	}
	return nil
}

// checkCells makes sure that no row has a field twice: its cell could hold only one.
func (b *build) checkCells(ctx context.Context) error {
	if b.counts[record.Field].New+b.counts[record.Field].Replaced == 0 {
		return nil
	}
	return b.find(ctx, "field", `SELECT c.file, c.line, 'row ' || c.row_id || ' has a field ' || c.field || ' already' FROM c_field c WHERE (c.row_id, c.field) IN
		(SELECT (row_id, field_name) FROM rf GROUP BY row_id, field_name HAVING count(*) > 1)`)
}
