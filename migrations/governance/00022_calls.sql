-- +goose Up
-- Calls by idempotency key: one row a call, held by one process while it runs (lease_until), with its answer after that.
CREATE TABLE calls (
    org TEXT NOT NULL,
    turn TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    state TEXT NOT NULL,
    holder TEXT NOT NULL,
    lease_until BIGINT NOT NULL,
    answer BYTEA,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (org, turn, key, digest)
);
CREATE INDEX calls_by_expiry ON calls (expires_at);

-- +goose Down
DROP TABLE calls;
