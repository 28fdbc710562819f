-- Work that the clock starts, each tick once, and what was delivered of it.
-- Times are microseconds since 1970 in UTC, 0 for "not yet".

-- +goose Up
ALTER TABLE turns ADD COLUMN today TEXT NOT NULL DEFAULT ''; -- the day that "today" means to the turn; '' is the day on which it runs

CREATE TABLE schedules (
    id TEXT PRIMARY KEY,
    org TEXT NOT NULL,
    person TEXT NOT NULL,             -- on whose behalf it runs
    name TEXT NOT NULL,
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    cron TEXT NOT NULL,
    zone TEXT NOT NULL,
    missed TEXT NOT NULL CHECK (missed IN ('run_once', 'skip')),
    overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue')),
    deliver TEXT NOT NULL,            -- JSON: where a report goes
    alert TEXT NOT NULL,              -- JSON: where an alert goes
    paused BOOLEAN NOT NULL DEFAULT FALSE,
    paused_why TEXT NOT NULL DEFAULT '',
    next BIGINT NOT NULL,             -- the next tick that nobody has claimed
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    removed BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX schedules_due ON schedules (next) WHERE NOT paused AND removed = 0;
CREATE INDEX schedules_listed ON schedules (org, person, name);

-- A tick has one row, whoever comes first, made in the transaction that makes its conversation and its turn.
CREATE TABLE schedule_runs (
    schedule TEXT NOT NULL REFERENCES schedules (id),
    tick BIGINT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    org TEXT NOT NULL,
    cause TEXT NOT NULL CHECK (cause IN ('clock', 'person')),
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'cut_short', 'cancelled', 'failed', 'skipped', 'missed')),
    note TEXT NOT NULL DEFAULT '',
    missed BIGINT NOT NULL DEFAULT 0, -- earlier ticks that this one stands for
    conversation TEXT NOT NULL DEFAULT '',
    turn TEXT NOT NULL DEFAULT '',
    found BIGINT NOT NULL DEFAULT -1, -- what it found; -1 for "not known"
    alert TEXT NOT NULL DEFAULT '',   -- why somebody was alerted
    created BIGINT NOT NULL,
    ended BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (schedule, tick)
);
CREATE INDEX schedule_runs_live ON schedule_runs (state) WHERE state IN ('queued', 'running');

CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    org TEXT NOT NULL,
    run TEXT NOT NULL REFERENCES schedule_runs (id),
    kind TEXT NOT NULL CHECK (kind IN ('report', 'alert')),
    position BIGINT NOT NULL,
    destination TEXT NOT NULL,        -- JSON
    state TEXT NOT NULL CHECK (state IN ('due', 'sending', 'sent', 'failed')),
    attempts BIGINT NOT NULL DEFAULT 0,
    next_try BIGINT NOT NULL,         -- while sending: until when the attempt has it to itself
    created BIGINT NOT NULL,
    ended BIGINT NOT NULL DEFAULT 0,
    UNIQUE (run, kind, position)
);
CREATE INDEX deliveries_due ON deliveries (next_try) WHERE state IN ('due', 'sending');

CREATE TABLE delivery_attempts (
    delivery TEXT NOT NULL REFERENCES deliveries (id),
    n BIGINT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('started', 'accepted', 'refused', 'failed', 'unknown')),
    message TEXT NOT NULL DEFAULT '',
    hint TEXT NOT NULL DEFAULT '',
    started BIGINT NOT NULL,
    ended BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (delivery, n)
);

-- +goose Down
DROP TABLE delivery_attempts;
DROP TABLE deliveries;
DROP TABLE schedule_runs;
DROP TABLE schedules;
ALTER TABLE turns DROP COLUMN today;
