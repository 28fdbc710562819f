package submission

// matching is what narrows a list: $1 and $2 days of receipt, $3 workflow, $4 status, $5 part of the insured's name.
const matching = `
WHERE ($1 IS NULL OR s.received_at >= CAST($1 AS TIMESTAMP))
  AND ($2 IS NULL OR s.received_at < CAST($2 AS TIMESTAMP) + INTERVAL 1 DAY)
  AND ($3 IS NULL OR s.workflow = $3)
  AND ($4 IS NULL OR s.status = $4)
  AND ($5 IS NULL OR contains(lower(s.insured_name), lower($5)))`

// listSQL is one page, the newest first, each row with the count of all.
const listSQL = `
SELECT s.submission_id, s.workflow, s.status, s.insured_name, s.broker_name, s.carrier, s.line_of_business,
       s.effective_date, s.expiry_date, s.received_at, s.completed_at, count(*) OVER () AS total
FROM submissions s` + matching + `` + paging

const paging = `
ORDER BY s.received_at DESC, s.submission_id
LIMIT $6 OFFSET $7`

const countSQL = `
SELECT count(*) AS total
FROM submissions s` + matching

// documentsSQL is the files of the submissions on a page. It names the page again instead of its ids, which could be
// longer than a statement may be.
const documentsSQL = `
SELECT submission_id, document_id, document_type, filename, pages
FROM documents
WHERE submission_id IN (SELECT s.submission_id FROM submissions s` + matching + paging + `)
ORDER BY submission_id, document_id`
