-- +goose Up
-- Which generation of an organisation's data is the one to read. Moving this row publishes; nothing else does.
CREATE TABLE dataset_orgs (
    org        TEXT   NOT NULL PRIMARY KEY,
    mask_key   TEXT   NOT NULL, -- hex; tokens in masked values are made with it, so that it must be in no data file
    current    BIGINT NOT NULL, -- seq of the generation to read, 0 for none
    created_at BIGINT NOT NULL  -- epoch microseconds, as all times here
);

-- Each generation that was published. Its files are immutable; the manifest names them with their hashes.
CREATE TABLE dataset_generations (
    org        TEXT   NOT NULL,
    seq        BIGINT NOT NULL,
    id         TEXT   NOT NULL,
    manifest   TEXT   NOT NULL, -- JSON
    created_at BIGINT NOT NULL,
    retired_at BIGINT,          -- its files are gone
    PRIMARY KEY (org, seq)
);

CREATE UNIQUE INDEX dataset_generations_id ON dataset_generations (org, id);

-- The facts of each import, append-only: from these alone every generation can be built again.
CREATE TABLE dataset_facts (
    org        TEXT   NOT NULL,
    seq        BIGINT NOT NULL, -- of the generation that they came with
    manifest   TEXT   NOT NULL, -- JSON
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org, seq)
);

-- The stored files of documents, for those who serve the bytes.
CREATE TABLE dataset_documents (
    org         TEXT   NOT NULL,
    document_id TEXT   NOT NULL,
    sha256      TEXT   NOT NULL,
    bytes       BIGINT NOT NULL,
    filename    TEXT   NOT NULL,
    media_type  TEXT   NOT NULL,
    PRIMARY KEY (org, document_id)
);
