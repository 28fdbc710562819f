-- +goose Up
-- Guidelines that an organisation writes itself. Rows are only ever added: a draft's newest revision is what it says now, and a published
-- version never changes. Times are microseconds since 1970 UTC.
CREATE TABLE guideline_drafts (
    org TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    title TEXT NOT NULL,   -- its key, or its first words where it has none yet
    body TEXT NOT NULL,
    person TEXT NOT NULL,
    at_us BIGINT NOT NULL,
    closed TEXT NOT NULL DEFAULT '', -- 'published' or 'discarded' in the last revision
    PRIMARY KEY (org, id, revision)
);

CREATE TABLE guideline_versions (
    org TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL,
    version TEXT NOT NULL,
    effective TEXT NOT NULL,
    body TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    draft TEXT NOT NULL,
    author TEXT NOT NULL,  -- of the draft's last revision
    person TEXT NOT NULL,  -- who published it
    at_us BIGINT NOT NULL,
    PRIMARY KEY (org, seq),
    UNIQUE (org, id, version)
);

-- +goose Down
DROP TABLE guideline_versions;
DROP TABLE guideline_drafts;
