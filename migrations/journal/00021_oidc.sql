-- Who an organisation's identity provider says a person is: its issuer and subject, once she signed in there. An e-mail address may be
-- given to somebody else later; a subject never is.

-- +goose Up
ALTER TABLE people ADD COLUMN subject TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE people DROP COLUMN subject;
