-- +goose Up
-- Proofs of possession that were used, until they would be refused for their age anyway. The key is a hash.
CREATE TABLE spent_proofs (
    proof TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
);
CREATE INDEX spent_proofs_by_expiry ON spent_proofs (expires_at);

-- +goose Down
DROP TABLE spent_proofs;
