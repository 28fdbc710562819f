-- +goose Up
-- How the standard profile is masked, as the policy in force says: at most one row, the last server's that started. What is masked
-- otherwise is not served in that profile until it has been masked anew.
CREATE TABLE dataset_masks (
    id     BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    masks  TEXT   NOT NULL, -- JSON, by field
    set_at BIGINT NOT NULL
);
