-- +goose Up
-- One row a conversation's sandbox, or one that waits in a warm pool; shared by all replicas. The record is JSON of sandbox/lease.
CREATE TABLE sandbox_leases (
    conversation TEXT PRIMARY KEY,
    record TEXT NOT NULL
);
-- Who gets, stops or replaces a conversation's sandbox just now. One whose time is over died.
CREATE TABLE sandbox_locks (
    conversation TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until BIGINT NOT NULL
);

-- +goose Down
DROP TABLE sandbox_locks;
DROP TABLE sandbox_leases;
