-- Who may ask: organisations, their people, and the keys that people's programs present.
-- Times are milliseconds since 1970 in UTC; 0 is "never".

-- +goose Up
CREATE TABLE organisations (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    created BIGINT NOT NULL
);

CREATE TABLE people (
    id TEXT PRIMARY KEY,
    org TEXT NOT NULL REFERENCES organisations (id),
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('underwriter', 'analyst', 'auditor', 'admin')),
    created BIGINT NOT NULL,
    disabled BIGINT NOT NULL DEFAULT 0,
    UNIQUE (org, email)
);

-- Only the SHA-256 of a key's secret half is kept; the secret has 256 random bits, so a slow hash would add nothing.
CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (id),
    label TEXT NOT NULL,
    hash TEXT NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL DEFAULT 0,
    revoked BIGINT NOT NULL DEFAULT 0,
    used BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX api_keys_person ON api_keys (person);

-- +goose Down
DROP TABLE api_keys;
DROP TABLE people;
DROP TABLE organisations;
