package run

const columns = `id, org, role, person, conversation, turn, created_at, generation, guideline, submissions, findings, head, bytes, sha256, parts`

const insertRun = `
INSERT INTO runs (` + columns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`

const insertPart = `INSERT INTO run_parts (run, part, body) VALUES ($1, $2, $3)`

const selectRun = `SELECT ` + columns + ` FROM runs WHERE org = $1 AND id = $2`

const selectPart = `
SELECT p.body
FROM runs r JOIN run_parts p ON p.run = r.id
WHERE r.org = $1 AND r.id = $2 AND p.part = $3`

const listRuns = `SELECT ` + columns + ` FROM runs WHERE org = $1 AND created_at < $2 ORDER BY created_at DESC, id LIMIT $3`

// lockRun takes the run's row for the transaction, so that two reviews of a run come one after the other.
const lockRun = `UPDATE runs SET id = id WHERE org = $1 AND id = $2`

const selectFindings = `SELECT findings FROM runs WHERE org = $1 AND id = $2`

const insertReview = `
INSERT INTO run_reviews (run, seq, finding, disposition, comment, person, via, source, base, at_us)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

const selectReviews = `
SELECT v.seq, v.finding, v.disposition, v.comment, v.person, v.via, v.source, v.base, v.at_us
FROM runs r JOIN run_reviews v ON v.run = r.id
WHERE r.org = $1 AND r.id = $2 AND v.seq <= $3
ORDER BY v.seq`
