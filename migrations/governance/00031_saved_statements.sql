-- +goose Up
-- Statements that people keep under a name, for themselves or for their organisation. Times are microseconds since 1970 UTC.
CREATE TABLE saved_statements (
    id         TEXT    NOT NULL PRIMARY KEY,
    org        TEXT    NOT NULL,
    person     TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    sql_text   TEXT    NOT NULL,
    shared     BOOLEAN NOT NULL,
    created_at BIGINT  NOT NULL,
    updated_at BIGINT  NOT NULL,
    UNIQUE (org, person, name)
);

-- +goose Down
DROP TABLE saved_statements;
