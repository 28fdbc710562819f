-- +goose Up
-- What NHTSA's service answered, kept so that nobody is asked twice: one row a VIN and stated year (0: none).
CREATE TABLE vin_answers (
    vin TEXT NOT NULL,
    year INTEGER NOT NULL,
    answer TEXT NOT NULL,
    fetched_at BIGINT NOT NULL,
    PRIMARY KEY (vin, year)
);
CREATE INDEX vin_answers_by_age ON vin_answers (fetched_at);

-- +goose Down
DROP TABLE vin_answers;
