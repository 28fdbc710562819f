-- +goose Up
-- Reconciliation runs: the head for lists, the body in compressed parts of at most 1 MiB each before compression.
CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    org TEXT NOT NULL,
    role TEXT NOT NULL,
    person TEXT NOT NULL,
    conversation TEXT NOT NULL,
    turn TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    generation TEXT NOT NULL,
    guideline TEXT NOT NULL,
    submissions BIGINT NOT NULL,
    findings BIGINT NOT NULL,
    head TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    parts BIGINT NOT NULL
);
CREATE INDEX runs_by_org ON runs (org, created_at, id);

CREATE TABLE run_parts (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    part BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (run, part)
);

-- +goose Down
DROP TABLE run_parts;
DROP TABLE runs;
