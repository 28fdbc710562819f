-- Which reconciliation run a report was rendered from; '' for any other file.

-- +goose Up
ALTER TABLE artifacts ADD COLUMN run TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE artifacts DROP COLUMN run;
