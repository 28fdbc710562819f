package call

// claimCall inserts the call, or takes one over whose holder is gone or whose answer has expired. It returns a row only
// to the process that has it from then on.
const claimCall = `
INSERT INTO calls (org, turn, key, digest, state, holder, lease_until, answer, expires_at)
VALUES ($1, $2, $3, $4, 'started', $5, $6, NULL, $7)
ON CONFLICT (org, turn, key, digest) DO UPDATE
SET state = 'started', holder = excluded.holder, lease_until = excluded.lease_until, answer = NULL, expires_at = excluded.expires_at
WHERE (calls.state = 'started' AND calls.lease_until <= $8) OR calls.expires_at <= $8
RETURNING holder`

const selectCall = `SELECT state, answer FROM calls WHERE org = $1 AND turn = $2 AND key = $3 AND digest = $4`

const renewCall = `
UPDATE calls SET lease_until = $6
WHERE org = $1 AND turn = $2 AND key = $3 AND digest = $4 AND holder = $5 AND state = 'started'`

const finishCall = `
UPDATE calls SET state = $6, answer = $7
WHERE org = $1 AND turn = $2 AND key = $3 AND digest = $4 AND holder = $5 AND state = 'started'`

const deleteCall = `
DELETE FROM calls
WHERE org = $1 AND turn = $2 AND key = $3 AND digest = $4 AND holder = $5 AND state = 'started'`

const deleteExpired = `DELETE FROM calls WHERE expires_at <= $1`
