-- Each line of the admin log carries the hash of the one before it in its organisation, so that a line that was changed, dropped or put
-- elsewhere shows. Lines from before are taken into the chain with the first one after it (seq 0: not yet).

-- +goose Up
ALTER TABLE admin_log ADD COLUMN seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE admin_log ADD COLUMN prev_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE admin_log ADD COLUMN hash TEXT NOT NULL DEFAULT '';
CREATE INDEX admin_log_seq ON admin_log (org, seq);

CREATE TABLE admin_log_heads (
    org TEXT PRIMARY KEY,
    seq BIGINT NOT NULL, -- of the newest line
    hash TEXT NOT NULL
);

-- +goose Down
DROP TABLE admin_log_heads;
DROP INDEX admin_log_seq;
ALTER TABLE admin_log DROP COLUMN hash;
ALTER TABLE admin_log DROP COLUMN prev_hash;
ALTER TABLE admin_log DROP COLUMN seq;
