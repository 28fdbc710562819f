-- How people sign in: passwords, sessions of browsers, one-time links, attempts that failed lately, and the record of who did what.
-- Times are milliseconds since 1970 in UTC; 0 is "never". Of secrets only hashes are kept.

-- +goose Up
ALTER TABLE people ADD COLUMN password TEXT NOT NULL DEFAULT ''; -- Argon2id with its parameters, or '': signs in otherwise
CREATE INDEX people_email ON people (email);

ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'read ask query edit import admin'; -- what older keys may do stays

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (id),
    hash TEXT NOT NULL,
    method TEXT NOT NULL, -- password, link, oidc
    address TEXT NOT NULL,
    agent TEXT NOT NULL,
    created BIGINT NOT NULL,
    used BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    ended BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX sessions_person ON sessions (person, created);

CREATE TABLE links (
    id TEXT PRIMARY KEY,
    org TEXT NOT NULL REFERENCES organisations (id),
    person TEXT NOT NULL DEFAULT '', -- '': the organisation's first administrator, who says who she is
    hash TEXT NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    used BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX links_person ON links (person);

CREATE TABLE sign_ins (
    id TEXT PRIMARY KEY,
    subject TEXT NOT NULL, -- a hash of the account or address that is counted
    at BIGINT NOT NULL
);
CREATE INDEX sign_ins_subject ON sign_ins (subject, at);
CREATE INDEX sign_ins_at ON sign_ins (at);

-- Rows are only ever added. org is '' for what concerns none, such as an attempt with an unknown address.
CREATE TABLE admin_log (
    id TEXT PRIMARY KEY, -- UUIDv7: in the order of time
    at BIGINT NOT NULL,
    org TEXT NOT NULL,
    actor TEXT NOT NULL, -- a person's id, or '': the operator's command line, or nobody yet
    actor_name TEXT NOT NULL, -- as it was then
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL,
    address TEXT NOT NULL
);
CREATE INDEX admin_log_org ON admin_log (org, id);

-- +goose Down
DROP TABLE admin_log;
DROP TABLE sign_ins;
DROP TABLE links;
DROP TABLE sessions;
ALTER TABLE api_keys DROP COLUMN scopes;
DROP INDEX people_email;
ALTER TABLE people DROP COLUMN password;
