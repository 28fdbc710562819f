INSERT INTO submissions SELECT 'S-' || i, (['Claims Intake', 'New Business Intake', 'Renewal Intake'])[1 + i % 3],
 (['received', 'in_review', 'completed', 'declined', 'bound'])[1 + i % 5], 'Insured ' || i || ' {ORG}', 'Broker ' || i % 7, 'carrier-' || i % 2,
 'commercial_auto', DATE '2026-06-01' + CAST(i % 90 AS INTEGER), DATE '2027-06-01' + CAST(i % 90 AS INTEGER),
 TIMESTAMP '2026-06-01 08:00:00' + to_hours(i % 1400), CASE WHEN i % 5 >= 2 THEN TIMESTAMP '2026-06-03 08:00:00' + to_hours(i % 1400) END FROM range({N}) r(i);
INSERT INTO documents SELECT 'D-' || i || '-' || d, 'S-' || i, (['application', 'vehicle_schedule', 'driver_list', 'loss_run'])[d],
 'file' || d || '.pdf', 'application/pdf', d, 1000 * d, md5(i || '-' || d), TIMESTAMP '2026-06-01 08:00:00' + to_hours(i % 1400)
 FROM range({N}) r(i), range(1, 5) s(d);
INSERT INTO vehicles SELECT 'R-' || i || '-v' || k, 'D-' || i || '-2', 'S-' || i, 'vehicle_schedule', (['Claims Intake', 'New Business Intake', 'Renewal Intake'])[1 + i % 3],
 k, 1, 0.5 + (i * k % 50) / 100.0, CAST(k AS VARCHAR), 2010 + (i + k) % 15, (['FREIGHTLINER', 'PETERBILT', 'KENWORTH', 'FORD'])[1 + (i + k) % 4], 'Model ' || k, 'TRACTOR',
 '1XP' || lpad(CAST(i * 10 + k AS VARCHAR), 14, '0'), CASE WHEN k = 3 THEN NULL ELSE 33000 + 1000 * k END, 10000.25 * k, 'P' || i || k, i || ' Main St', 'Austin',
 (['TX', 'OK', 'LA'])[1 + i % 3], '78701', (['50', '200', '500'])[1 + k % 3]::INTEGER FROM range({N}) r(i), range(1, 4) s(k);
INSERT INTO drivers SELECT 'R-' || i || '-d' || k, 'D-' || i || '-3', 'S-' || i, 'driver_list', (['Claims Intake', 'New Business Intake', 'Renewal Intake'])[1 + i % 3], k, 1,
 0.6 + (i % 40) / 100.0, 'Driver ' || i || '-' || k, '{MARK}' || i || k, 'TX', 'A', (['valid', 'suspended'])[1 + (i * k) % 2],
 CASE WHEN '{MARK}' = '****' THEN NULL ELSE DATE '1961-03-07' + CAST(i AS INTEGER) END, DATE '2020-01-01' + CAST(i AS INTEGER), 1 + i % 20, i % 3, i % 2, 0, DATE '2026-05-01'
 FROM range({N}) r(i), range(1, 3) s(k);
INSERT INTO losses SELECT 'R-' || i || '-l' || k, 'D-' || i || '-4', 'S-' || i, 'loss_run', (['Claims Intake', 'New Business Intake', 'Renewal Intake'])[1 + i % 3], k, 1, 0.9,
 'carrier-1', 'POL' || i, DATE '2024-01-01', DATE '2024-12-31', DATE '2026-05-01', 'C' || i || '-' || k, DATE '2024-03-01' + CAST(i % 200 AS INTEGER), DATE '2024-03-05' + CAST(i % 200 AS INTEGER),
 (['open', 'closed'])[1 + (i + k) % 2], 1000.10 * k, 500 * (i % 3), 0, 1000.10 * k + 500 * (i % 3), 'Driver ' || i || '-1', '1', '1XP' || lpad(CAST(i * 10 + 1 AS VARCHAR), 14, '0'), 'rear-end collision'
 FROM range({N}) r(i), range(1, 3) s(k) WHERE i % 2 = 0;
INSERT INTO coverages SELECT 'R-' || i || '-c' || k, 'D-' || i || '-1', 'S-' || i, 'application', (['Claims Intake', 'New Business Intake', 'Renewal Intake'])[1 + i % 3], k, 2, 0.95,
 (['auto_liability', 'physical_damage', 'cargo'])[k], 1000000 / k, 'CSL', 1000 * k, '7', DATE '2026-06-01', DATE '2027-06-01', 12345.67 * k FROM range({N}) r(i), range(1, 4) s(k);
INSERT INTO extracted_rows SELECT row_id, document_id, submission_id, document_type, workflow, 'vehicles', row_index, page, 0.1, 0.2, 0.9, 0.25, confidence,
 MAP {'vin': vin, 'make': make, 'year': CAST(year AS VARCHAR)} FROM vehicles
 UNION ALL SELECT row_id, document_id, submission_id, document_type, workflow, 'drivers', row_index, page, 0.1, 0.2, 0.9, 0.25, confidence,
 MAP {'name': name, 'license_number': license_number} FROM drivers;
INSERT INTO extracted_fields SELECT 'F-' || row_id || '-' || f, document_id, submission_id, row_id, document_type, workflow, table_name, row_index, f,
 cells[f], CASE WHEN e THEN cells[f] || ' ' ELSE cells[f] END, NULL, confidence, page, x0, y0, x1, y1,
 TIMESTAMP '2026-06-01 09:00:00' + to_hours(CAST(hash(row_id || f) % 1460 AS INTEGER)), e, e AND hash(row_id) % 3 > 0,
 CASE WHEN e THEN 'ann' END, CASE WHEN e THEN TIMESTAMP '2026-08-01 09:00:00' END, CASE WHEN e THEN 1 ELSE 0 END
 FROM (SELECT *, unnest(map_keys(cells)) AS f FROM extracted_rows) x, LATERAL (SELECT hash(x.row_id || x.f) % 10 = 0 AS e) y;
INSERT INTO extracted_fields SELECT 'F-' || document_id || '-' || f, document_id, submission_id, NULL, document_type, 'Claims Intake', NULL, NULL, f,
 CASE f WHEN 'named_insured' THEN 'Insured {ORG}' ELSE '{MARK}' || document_id END, CASE f WHEN 'named_insured' THEN 'Insured {ORG}' ELSE '{MARK}' || document_id END,
 NULL, 0.9, 1, 0.1, 0.1, 0.2, 0.2, TIMESTAMP '2026-06-01 09:00:00', false, false, NULL, NULL, 0
 FROM documents, (VALUES ('named_insured'), ('fein'), ('ssn')) v(f) WHERE document_type = 'application';
INSERT INTO field_edits SELECT 'E-' || field_id, field_id, document_id, submission_id, workflow, field_name, original_value, value, edited_by,
 CASE WHEN edited_by_human THEN 'human' ELSE 'rule' END, edited_at, 'typo' FROM extracted_fields WHERE edited;
