-- +goose Up
-- Which replica reads which generation, and until when it may rely on that: no other retires it before.
CREATE TABLE dataset_leases (
    org    TEXT   NOT NULL,
    id     TEXT   NOT NULL, -- of the generation
    holder TEXT   NOT NULL, -- the process
    until  BIGINT NOT NULL, -- epoch microseconds
    PRIMARY KEY (org, id, holder)
);
