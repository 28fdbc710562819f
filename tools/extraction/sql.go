package extraction

// fieldsSQL is one page of fields in reading order, each row with the count of all. Exactly one of $1 submission,
// $2 document and $3 field is not NULL.
const fieldsSQL = `
SELECT f.field_id, f.document_id, f.submission_id, f.document_type, f.workflow, f.row_id, f.table_name, f.row_index, f.field_name,
       f.original_value, f.value, f.unit, f.confidence, f.page, f.x0, f.y0, f.x1, f.y1, f.extracted_at,
       f.edited, f.edited_by_human, f.edit_count, count(*) OVER () AS total
FROM extracted_fields f` + scope + `` + paging

const paging = `
ORDER BY f.document_id, f.table_name NULLS FIRST, f.row_index NULLS FIRST, f.page, f.field_name, f.field_id
LIMIT $4 OFFSET $5`

const countSQL = `
SELECT count(*) AS total
FROM extracted_fields f` + scope

const scope = `
WHERE ($1 IS NULL OR f.submission_id = $1)
  AND ($2 IS NULL OR f.document_id = $2)
  AND ($3 IS NULL OR f.field_id = $3)`

// editsSQL is the edits of the fields on a page, in the order they were made. It names the page again instead of its
// ids, which could be longer than a statement may be.
const editsSQL = `
SELECT field_id, edit_id, from_value, to_value, edited_by, edit_source, edited_at, reason
FROM field_edits
WHERE field_id IN (SELECT f.field_id FROM extracted_fields f` + scope + paging + `)
ORDER BY field_id, edited_at, edit_id`

// Whether the thing that has no fields exists at all.
const (
	submissionSQL = `SELECT count(*) AS n FROM submissions WHERE submission_id = $1`
	documentSQL   = `SELECT count(*) AS n FROM documents WHERE document_id = $1`
)
