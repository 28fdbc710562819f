CREATE TABLE submissions (submission_id VARCHAR, workflow VARCHAR, status VARCHAR, insured_name VARCHAR, broker_name VARCHAR, carrier VARCHAR,
 line_of_business VARCHAR, effective_date DATE, expiry_date DATE, received_at TIMESTAMP, completed_at TIMESTAMP);
CREATE TABLE documents (document_id VARCHAR, submission_id VARCHAR, document_type VARCHAR, filename VARCHAR, media_type VARCHAR, pages INTEGER,
 bytes BIGINT, sha256 VARCHAR, received_at TIMESTAMP);
CREATE TABLE extracted_rows (row_id VARCHAR, document_id VARCHAR, submission_id VARCHAR, document_type VARCHAR, workflow VARCHAR, table_name VARCHAR,
 row_index INTEGER, page INTEGER, x0 DOUBLE, y0 DOUBLE, x1 DOUBLE, y1 DOUBLE, confidence DOUBLE, cells MAP(VARCHAR, VARCHAR));
CREATE TABLE extracted_fields (field_id VARCHAR, document_id VARCHAR, submission_id VARCHAR, row_id VARCHAR, document_type VARCHAR, workflow VARCHAR,
 table_name VARCHAR, row_index INTEGER, field_name VARCHAR, original_value VARCHAR, value VARCHAR, unit VARCHAR, confidence DOUBLE, page INTEGER,
 x0 DOUBLE, y0 DOUBLE, x1 DOUBLE, y1 DOUBLE, extracted_at TIMESTAMP, edited BOOLEAN, edited_by_human BOOLEAN, edited_by VARCHAR, edited_at TIMESTAMP,
 edit_count INTEGER);
CREATE TABLE field_edits (edit_id VARCHAR, field_id VARCHAR, document_id VARCHAR, submission_id VARCHAR, workflow VARCHAR, field_name VARCHAR,
 from_value VARCHAR, to_value VARCHAR, edited_by VARCHAR, edit_source VARCHAR, edited_at TIMESTAMP, reason VARCHAR);
CREATE TABLE vehicles (row_id VARCHAR, document_id VARCHAR, submission_id VARCHAR, document_type VARCHAR, workflow VARCHAR, row_index INTEGER, page INTEGER,
 confidence DOUBLE, unit_no VARCHAR, year INTEGER, make VARCHAR, model VARCHAR, body_type VARCHAR, vin VARCHAR, gvw INTEGER, stated_value DECIMAL(14,2),
 plate VARCHAR, garaging_address VARCHAR, garaging_city VARCHAR, garaging_state VARCHAR, garaging_zip VARCHAR, radius INTEGER);
CREATE TABLE drivers (row_id VARCHAR, document_id VARCHAR, submission_id VARCHAR, document_type VARCHAR, workflow VARCHAR, row_index INTEGER, page INTEGER,
 confidence DOUBLE, name VARCHAR, license_number VARCHAR, license_state VARCHAR, license_class VARCHAR, license_status VARCHAR, date_of_birth DATE,
 hire_date DATE, years_experience INTEGER, moving_violations INTEGER, accidents INTEGER, major_violations INTEGER, mvr_run_date DATE);
CREATE TABLE losses (row_id VARCHAR, document_id VARCHAR, submission_id VARCHAR, document_type VARCHAR, workflow VARCHAR, row_index INTEGER, page INTEGER,
 confidence DOUBLE, carrier VARCHAR, policy_number VARCHAR, term_start DATE, term_end DATE, valuation_date DATE, claim_number VARCHAR, date_of_loss DATE,
 date_reported DATE, status VARCHAR, paid DECIMAL(14,2), reserve DECIMAL(14,2), recovered DECIMAL(14,2), incurred DECIMAL(14,2), driver VARCHAR,
 unit_no VARCHAR, vin VARCHAR, description VARCHAR);
CREATE TABLE coverages (row_id VARCHAR, document_id VARCHAR, submission_id VARCHAR, document_type VARCHAR, workflow VARCHAR, row_index INTEGER, page INTEGER,
 confidence DOUBLE, coverage VARCHAR, limit_amount DECIMAL(14,2), limit_basis VARCHAR, deductible DECIMAL(14,2), symbol VARCHAR, effective_date DATE,
 expiry_date DATE, premium DECIMAL(14,2));
