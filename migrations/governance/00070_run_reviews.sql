-- +goose Up
-- What people said of a run's findings. Rows are only ever added: the newest of a finding is in force, and a run's revision is its
-- newest seq. Times are microseconds since 1970 UTC.
CREATE TABLE run_reviews (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    finding TEXT NOT NULL,
    disposition TEXT NOT NULL, -- '' where it was taken back
    comment TEXT NOT NULL,
    person TEXT NOT NULL,
    via TEXT NOT NULL, -- page, workbook
    source TEXT NOT NULL, -- SHA-256 of the workbook, '' for none
    base BIGINT NOT NULL, -- the revision that the person saw
    at_us BIGINT NOT NULL,
    PRIMARY KEY (run, seq)
);

-- +goose Down
DROP TABLE run_reviews;
