-- Files that people put into a conversation. Their bytes are in the artifact store under their hash.

-- +goose Up
CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    org TEXT NOT NULL,
    conversation TEXT NOT NULL,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    created BIGINT NOT NULL,
    UNIQUE (org, conversation, name)
);

CREATE INDEX uploads_conversation ON uploads (org, conversation, created);

-- +goose Down
DROP TABLE uploads;
