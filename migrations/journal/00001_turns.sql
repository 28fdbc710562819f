-- The durable record of conversations, turns and their steps.
-- In these tables a time is a count of microseconds since 1970 in UTC, 0 for "not yet"; money is in millionths of a US dollar.

-- +goose Up
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    org TEXT NOT NULL,
    person TEXT NOT NULL,
    title TEXT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE INDEX conversations_listed ON conversations (org, person, updated);

CREATE TABLE turns (
    id TEXT PRIMARY KEY,
    org TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES conversations (id),
    person TEXT NOT NULL,
    role TEXT NOT NULL,
    model TEXT NOT NULL,
    cause TEXT NOT NULL,              -- what started it: chat, schedule, api
    status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'completed', 'cut_short', 'cancelled', 'failed')),
    outcome TEXT NOT NULL DEFAULT '', -- JSON
    runner TEXT NOT NULL DEFAULT '',
    epoch BIGINT NOT NULL DEFAULT 0,  -- the fencing token
    lease_until BIGINT NOT NULL DEFAULT 0,
    idle_claims BIGINT NOT NULL DEFAULT 0, -- claims since the last finished step
    cancel BOOLEAN NOT NULL DEFAULT FALSE,
    event_mark BIGINT NOT NULL DEFAULT 0,  -- no event with a higher sequence number was ever published
    published BOOLEAN NOT NULL DEFAULT FALSE, -- the terminal event reached the buffer
    created BIGINT NOT NULL,
    started BIGINT NOT NULL DEFAULT 0,
    ended BIGINT NOT NULL DEFAULT 0,
    deadline BIGINT NOT NULL DEFAULT 0
);
-- One live turn a conversation, whoever asks at the same time.
CREATE UNIQUE INDEX turns_one_live ON turns (conversation) WHERE status IN ('queued', 'running');
CREATE INDEX turns_claimable ON turns (lease_until) WHERE status IN ('queued', 'running');
CREATE INDEX turns_unpublished ON turns (lease_until) WHERE status IN ('completed', 'cut_short', 'cancelled', 'failed') AND NOT published;
CREATE INDEX turns_listed ON turns (conversation, created);

CREATE TABLE messages (
    conversation TEXT NOT NULL REFERENCES conversations (id),
    id TEXT NOT NULL,
    position BIGINT NOT NULL,
    turn TEXT NOT NULL DEFAULT '',       -- '' while no turn has taken it
    after_step BIGINT NOT NULL DEFAULT 0, -- the turn took it after this step
    content TEXT NOT NULL,               -- JSON of a message as models see it
    ui TEXT NOT NULL DEFAULT '',         -- JSON of the parts that people see, of an answer
    created BIGINT NOT NULL,
    PRIMARY KEY (conversation, id),
    UNIQUE (conversation, position)
);

CREATE TABLE steps (
    turn TEXT NOT NULL REFERENCES turns (id),
    n BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('model', 'tool')),
    name TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'done', 'failed')),
    epoch BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    request TEXT NOT NULL,
    result TEXT NOT NULL DEFAULT '',
    error_class TEXT NOT NULL DEFAULT '',
    started BIGINT NOT NULL,
    ended BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (turn, n)
);

CREATE TABLE attempts (
    turn TEXT NOT NULL REFERENCES turns (id),
    n BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'done', 'failed')),
    error_class TEXT NOT NULL DEFAULT '',
    error TEXT NOT NULL DEFAULT '',
    started BIGINT NOT NULL,
    first_byte BIGINT NOT NULL DEFAULT 0,
    ended BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (turn, n, attempt)
);

CREATE TABLE ledger (
    turn TEXT NOT NULL REFERENCES turns (id),
    n BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    org TEXT NOT NULL,
    person TEXT NOT NULL,
    model TEXT NOT NULL,
    input BIGINT NOT NULL,
    output BIGINT NOT NULL,
    cache_read BIGINT NOT NULL,
    cache_write BIGINT NOT NULL,
    cost_micros BIGINT NOT NULL,
    estimated BOOLEAN NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (turn, n, attempt)
);
CREATE INDEX ledger_spent ON ledger (org, at);

CREATE TABLE events (
    turn TEXT NOT NULL REFERENCES turns (id),
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    body BYTEA NOT NULL, -- compressed
    PRIMARY KEY (turn, first_seq)
);

CREATE TABLE marks (
    turn TEXT NOT NULL REFERENCES turns (id),
    at BIGINT NOT NULL,
    n BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    kind TEXT NOT NULL,
    took BIGINT NOT NULL,
    note TEXT NOT NULL
);
CREATE INDEX marks_turn ON marks (turn, at);

CREATE TABLE artifacts (
    id TEXT PRIMARY KEY,
    org TEXT NOT NULL,
    conversation TEXT NOT NULL,
    turn TEXT NOT NULL REFERENCES turns (id),
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    created BIGINT NOT NULL,
    UNIQUE (turn, name)
);
CREATE INDEX artifacts_conversation ON artifacts (org, conversation, created);

-- +goose Down
DROP TABLE artifacts;
DROP TABLE marks;
DROP TABLE events;
DROP TABLE ledger;
DROP TABLE attempts;
DROP TABLE steps;
DROP TABLE messages;
DROP TABLE turns;
DROP TABLE conversations;
