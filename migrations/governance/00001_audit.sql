-- +goose Up
-- One row an event of a governed query: asked, and later its outcome. Rows are only ever added; each carries the hash of the one
-- before it in its organisation, and its own over all its columns. Times are microseconds since 1970 UTC.
CREATE TABLE audit_events (
    org          TEXT    NOT NULL,
    seq          BIGINT  NOT NULL,
    audit_id     TEXT    NOT NULL,
    event        TEXT    NOT NULL, -- asked, outcome
    at_us        BIGINT  NOT NULL,
    subject      TEXT    NOT NULL,
    role         TEXT    NOT NULL,
    via          TEXT    NOT NULL,
    conversation TEXT    NOT NULL,
    turn         TEXT    NOT NULL,
    epoch        BIGINT  NOT NULL,
    sandbox      TEXT    NOT NULL,
    request_key  TEXT    NOT NULL,
    sql_asked    TEXT    NOT NULL,
    sql_run      TEXT    NOT NULL,
    decision     TEXT    NOT NULL, -- '' when asked; allowed, refused
    rule         TEXT    NOT NULL,
    relations    TEXT    NOT NULL, -- JSON list
    columns      TEXT    NOT NULL, -- JSON list of relation.column
    profile      TEXT    NOT NULL,
    generation   TEXT    NOT NULL,
    sha256       TEXT    NOT NULL, -- of the generation's file
    row_count    BIGINT  NOT NULL,
    byte_count   BIGINT  NOT NULL,
    truncated    BIGINT  NOT NULL,
    queue_us     BIGINT  NOT NULL,
    run_us       BIGINT  NOT NULL,
    outcome      TEXT    NOT NULL, -- '' when asked; answered, or the code of the failure
    prev_hash    TEXT    NOT NULL,
    hash         TEXT    NOT NULL,
    PRIMARY KEY (org, seq)
);
CREATE INDEX audit_events_id ON audit_events (audit_id);
CREATE INDEX audit_events_turn ON audit_events (org, turn, seq);
CREATE INDEX audit_events_at ON audit_events (org, at_us);

-- The end of each organisation's chain; a chain that is shorter has lost its tail.
CREATE TABLE audit_heads (
    org  TEXT   NOT NULL PRIMARY KEY,
    seq  BIGINT NOT NULL,
    hash TEXT   NOT NULL
);

-- What was spent of a budget, an hour a row (0 for a turn, whose budget is for all of it).
CREATE TABLE audit_spent (
    org     TEXT   NOT NULL,
    scope   TEXT   NOT NULL, -- turn, person, org
    id      TEXT   NOT NULL,
    hour    BIGINT NOT NULL,
    queries BIGINT NOT NULL,
    run_us  BIGINT NOT NULL,
    bytes   BIGINT NOT NULL,
    PRIMARY KEY (org, scope, id, hour)
);

-- +goose Down
DROP TABLE audit_spent;
DROP TABLE audit_heads;
DROP TABLE audit_events;
