package export

const insertExport = `
INSERT INTO exports (id, org, turn, format, row_count, bytes, sha256, parts, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

const selectExport = `SELECT bytes, parts FROM exports WHERE org = $1 AND turn = $2 AND id = $3 AND expires_at > $4`

const selectAny = `SELECT 1 FROM exports WHERE id = $1`

const deleteExpired = `DELETE FROM exports WHERE expires_at <= $1`
