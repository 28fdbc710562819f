-- +goose Up
-- Exports: whole results of SQL as files beside the database, until they expire.
CREATE TABLE exports (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL,
    turn TEXT NOT NULL,
    format TEXT NOT NULL,
    row_count BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    parts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX exports_by_expiry ON exports (expires_at);

-- +goose Down
DROP TABLE exports;
