-- +goose Up
-- What a refusal or a failure said, and where in the recorded text: a 1-based byte offset, 0 for none.
ALTER TABLE audit_events ADD COLUMN message TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_events ADD COLUMN hint TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_events ADD COLUMN position BIGINT NOT NULL DEFAULT 0;

-- One row a statement, for those who search: what is asked for most, and where the rest is. Derived from audit_events, which alone is
-- the record.
CREATE TABLE audit_statements (
    org          TEXT   NOT NULL,
    audit_id     TEXT   NOT NULL,
    at_us        BIGINT NOT NULL, -- when it was asked
    first_seq    BIGINT NOT NULL, -- of its first event, which also tells statements of one microsecond apart
    last_seq     BIGINT NOT NULL, -- of its newest event
    subject      TEXT   NOT NULL,
    via          TEXT   NOT NULL,
    conversation TEXT   NOT NULL,
    turn         TEXT   NOT NULL,
    decision     TEXT   NOT NULL,
    rule         TEXT   NOT NULL,
    outcome      TEXT   NOT NULL,
    run_us       BIGINT NOT NULL,
    PRIMARY KEY (org, audit_id)
);
CREATE INDEX audit_statements_at ON audit_statements (org, at_us, first_seq, run_us);
CREATE INDEX audit_statements_subject ON audit_statements (org, subject, at_us, first_seq);
CREATE INDEX audit_statements_conversation ON audit_statements (org, conversation, at_us, first_seq);
CREATE INDEX audit_statements_turn ON audit_statements (org, turn, at_us, first_seq);
CREATE INDEX audit_statements_decision ON audit_statements (org, decision, at_us, first_seq);
CREATE INDEX audit_statements_rule ON audit_statements (org, rule, at_us, first_seq);
CREATE INDEX audit_statements_outcome ON audit_statements (org, outcome, at_us, first_seq);

-- The relations and columns (relation.column, relation.* for all) that each statement read.
CREATE TABLE audit_touched (
    org       TEXT   NOT NULL,
    name      TEXT   NOT NULL,
    at_us     BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    audit_id  TEXT   NOT NULL,
    PRIMARY KEY (org, name, at_us, first_seq)
);

INSERT INTO audit_statements (org, audit_id, at_us, first_seq, last_seq, subject, via, conversation, turn, decision, rule, outcome, run_us)
SELECT e.org, e.audit_id, s.at_us, s.first_seq, e.seq, e.subject, e.via, e.conversation, e.turn, e.decision, e.rule, e.outcome, e.run_us
FROM (SELECT org, audit_id, MIN(at_us) AS at_us, MIN(seq) AS first_seq, MAX(seq) AS last_seq FROM audit_events GROUP BY org, audit_id) s
JOIN audit_events e ON e.org = s.org AND e.seq = s.last_seq;

-- The lists are few and the statements many, so each list is taken apart once.
INSERT INTO audit_touched (org, name, at_us, first_seq, audit_id)
WITH names (name) AS (VALUES
    ('submissions'), ('submissions.*'), ('submissions.submission_id'), ('submissions.workflow'), ('submissions.status'),
    ('submissions.insured_name'), ('submissions.broker_name'), ('submissions.carrier'), ('submissions.line_of_business'),
    ('submissions.effective_date'), ('submissions.expiry_date'), ('submissions.received_at'), ('submissions.completed_at'),
    ('documents'), ('documents.*'), ('documents.document_id'), ('documents.submission_id'), ('documents.document_type'),
    ('documents.filename'), ('documents.media_type'), ('documents.pages'), ('documents.bytes'), ('documents.sha256'),
    ('documents.received_at'), ('extracted_rows'), ('extracted_rows.*'), ('extracted_rows.row_id'),
    ('extracted_rows.document_id'), ('extracted_rows.submission_id'), ('extracted_rows.document_type'),
    ('extracted_rows.workflow'), ('extracted_rows.table_name'), ('extracted_rows.row_index'), ('extracted_rows.page'),
    ('extracted_rows.x0'), ('extracted_rows.y0'), ('extracted_rows.x1'), ('extracted_rows.y1'), ('extracted_rows.confidence'),
    ('extracted_rows.cells'), ('extracted_fields'), ('extracted_fields.*'), ('extracted_fields.field_id'),
    ('extracted_fields.document_id'), ('extracted_fields.submission_id'), ('extracted_fields.row_id'),
    ('extracted_fields.document_type'), ('extracted_fields.workflow'), ('extracted_fields.table_name'),
    ('extracted_fields.row_index'), ('extracted_fields.field_name'), ('extracted_fields.original_value'),
    ('extracted_fields.value'), ('extracted_fields.unit'), ('extracted_fields.confidence'), ('extracted_fields.page'),
    ('extracted_fields.x0'), ('extracted_fields.y0'), ('extracted_fields.x1'), ('extracted_fields.y1'),
    ('extracted_fields.extracted_at'), ('extracted_fields.edited'), ('extracted_fields.edited_by_human'),
    ('extracted_fields.edited_by'), ('extracted_fields.edited_at'), ('extracted_fields.edit_count'), ('field_edits'),
    ('field_edits.*'), ('field_edits.edit_id'), ('field_edits.field_id'), ('field_edits.document_id'),
    ('field_edits.submission_id'), ('field_edits.workflow'), ('field_edits.field_name'), ('field_edits.from_value'),
    ('field_edits.to_value'), ('field_edits.edited_by'), ('field_edits.edit_source'), ('field_edits.edited_at'),
    ('field_edits.reason'), ('vehicles'), ('vehicles.*'), ('vehicles.row_id'), ('vehicles.document_id'),
    ('vehicles.submission_id'), ('vehicles.document_type'), ('vehicles.workflow'), ('vehicles.row_index'), ('vehicles.page'),
    ('vehicles.confidence'), ('vehicles.unit_no'), ('vehicles.year'), ('vehicles.make'), ('vehicles.model'),
    ('vehicles.body_type'), ('vehicles.vin'), ('vehicles.gvw'), ('vehicles.stated_value'), ('vehicles.plate'),
    ('vehicles.garaging_address'), ('vehicles.garaging_city'), ('vehicles.garaging_state'), ('vehicles.garaging_zip'),
    ('vehicles.radius'), ('drivers'), ('drivers.*'), ('drivers.row_id'), ('drivers.document_id'), ('drivers.submission_id'),
    ('drivers.document_type'), ('drivers.workflow'), ('drivers.row_index'), ('drivers.page'), ('drivers.confidence'),
    ('drivers.name'), ('drivers.license_number'), ('drivers.license_state'), ('drivers.license_class'),
    ('drivers.license_status'), ('drivers.date_of_birth'), ('drivers.hire_date'), ('drivers.years_experience'),
    ('drivers.moving_violations'), ('drivers.accidents'), ('drivers.major_violations'), ('drivers.mvr_run_date'), ('losses'),
    ('losses.*'), ('losses.row_id'), ('losses.document_id'), ('losses.submission_id'), ('losses.document_type'),
    ('losses.workflow'), ('losses.row_index'), ('losses.page'), ('losses.confidence'), ('losses.carrier'),
    ('losses.policy_number'), ('losses.term_start'), ('losses.term_end'), ('losses.valuation_date'), ('losses.claim_number'),
    ('losses.date_of_loss'), ('losses.date_reported'), ('losses.status'), ('losses.paid'), ('losses.reserve'),
    ('losses.recovered'), ('losses.incurred'), ('losses.driver'), ('losses.unit_no'), ('losses.vin'), ('losses.description'),
    ('coverages'), ('coverages.*'), ('coverages.row_id'), ('coverages.document_id'), ('coverages.submission_id'),
    ('coverages.document_type'), ('coverages.workflow'), ('coverages.row_index'), ('coverages.page'), ('coverages.confidence'),
    ('coverages.coverage'), ('coverages.limit_amount'), ('coverages.limit_basis'), ('coverages.deductible'), ('coverages.symbol'),
    ('coverages.effective_date'), ('coverages.expiry_date'), ('coverages.premium')),
lists AS (SELECT relations AS list FROM audit_events UNION SELECT columns FROM audit_events),
parts AS (SELECT lists.list, names.name FROM lists JOIN names ON lists.list LIKE '%"' || names.name || '"%')
SELECT s.org, p.name, s.at_us, s.first_seq, s.audit_id
FROM audit_statements s
JOIN audit_events e ON e.org = s.org AND e.seq = s.last_seq
JOIN parts p ON p.list = e.relations
UNION
SELECT s.org, p.name, s.at_us, s.first_seq, s.audit_id
FROM audit_statements s
JOIN audit_events e ON e.org = s.org AND e.seq = s.last_seq
JOIN parts p ON p.list = e.columns;

CREATE INDEX runs_by_turn ON runs (org, turn);

-- +goose Down
DROP INDEX runs_by_turn;
DROP TABLE audit_touched;
DROP TABLE audit_statements;
ALTER TABLE audit_events DROP COLUMN position;
ALTER TABLE audit_events DROP COLUMN hint;
ALTER TABLE audit_events DROP COLUMN message;
