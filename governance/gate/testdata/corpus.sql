SELECT count(*) FROM submissions
SELECT * FROM submissions ORDER BY submission_id LIMIT 10
SELECT submission_id, insured_name, status FROM submissions WHERE status = 'in_review' ORDER BY submission_id
SELECT workflow, count(*) AS n FROM submissions GROUP BY workflow ORDER BY n DESC, workflow
SELECT status, workflow, count(*) FROM submissions GROUP BY ALL ORDER BY ALL
SELECT date_trunc('week', received_at) AS week, count(*) AS n FROM submissions GROUP BY week ORDER BY week
SELECT CAST(received_at AS DATE) AS day, count(*) FROM submissions GROUP BY 1 ORDER BY 1
SELECT received_at::DATE AS day, workflow, count(*) FROM submissions GROUP BY day, workflow ORDER BY day, workflow
SELECT avg(date_diff('hour', received_at, completed_at)) AS hours FROM submissions WHERE completed_at IS NOT NULL
SELECT workflow, median(completed_at - received_at) FROM submissions WHERE completed_at IS NOT NULL GROUP BY workflow ORDER BY workflow
SELECT status, count(*) FILTER (WHERE completed_at IS NULL) AS open, count(*) AS n FROM submissions GROUP BY status ORDER BY status
SELECT count(DISTINCT insured_name), count(DISTINCT broker_name) FROM submissions
SELECT broker_name, count(*) AS n FROM submissions GROUP BY broker_name HAVING count(*) > 3 ORDER BY n DESC, broker_name
SELECT insured_name FROM submissions WHERE insured_name ILIKE '%insured 1%' ORDER BY insured_name
SELECT * FROM submissions WHERE received_at >= TIMESTAMP '2026-06-05' AND received_at < TIMESTAMP '2026-06-06' ORDER BY submission_id
SELECT * FROM submissions WHERE received_at::DATE = DATE '2026-06-02' ORDER BY submission_id
SELECT * FROM submissions WHERE effective_date BETWEEN DATE '2026-06-10' AND DATE '2026-06-20' ORDER BY submission_id
SELECT submission_id, expiry_date - effective_date AS days FROM submissions ORDER BY submission_id LIMIT 5
SELECT submission_id, effective_date + INTERVAL 30 DAY AS due FROM submissions ORDER BY submission_id LIMIT 5
SELECT submission_id, effective_date + INTERVAL '1 month' AS due FROM submissions ORDER BY submission_id LIMIT 5
SELECT year(received_at) AS y, month(received_at) AS m, count(*) FROM submissions GROUP BY y, m ORDER BY y, m
SELECT extract(dow FROM received_at) AS dow, count(*) FROM submissions GROUP BY dow ORDER BY dow
SELECT dayname(received_at) AS day, count(*) FROM submissions GROUP BY day ORDER BY day
SELECT strftime(received_at, '%Y-%m') AS month, count(*) FROM submissions GROUP BY month ORDER BY month
SELECT CASE WHEN completed_at IS NULL THEN 'open' ELSE 'closed' END AS state, count(*) FROM submissions GROUP BY state ORDER BY state
SELECT CASE status WHEN 'bound' THEN 1 WHEN 'declined' THEN 0 END AS won, count(*) FROM submissions GROUP BY won ORDER BY won NULLS LAST
SELECT coalesce(completed_at, received_at) AS t FROM submissions ORDER BY submission_id LIMIT 4
SELECT nullif(status, 'bound') AS s, count(*) FROM submissions GROUP BY s ORDER BY s NULLS FIRST
SELECT submission_id FROM submissions ORDER BY submission_id OFFSET 20 LIMIT 5
SELECT DISTINCT carrier FROM submissions ORDER BY carrier
SELECT DISTINCT ON (workflow) workflow, submission_id FROM submissions ORDER BY workflow, submission_id
SELECT s.submission_id, count(d.document_id) AS docs FROM submissions s LEFT JOIN documents d USING (submission_id) GROUP BY s.submission_id ORDER BY s.submission_id LIMIT 7
SELECT s.workflow, d.document_type, count(*) FROM submissions s JOIN documents d ON d.submission_id = s.submission_id GROUP BY ALL ORDER BY ALL
SELECT s.submission_id FROM submissions s WHERE NOT EXISTS (SELECT 1 FROM losses l WHERE l.submission_id = s.submission_id) ORDER BY 1
SELECT s.submission_id FROM submissions s WHERE s.submission_id IN (SELECT submission_id FROM losses WHERE status = 'open') ORDER BY 1
SELECT s.submission_id FROM submissions s ANTI JOIN losses l USING (submission_id) ORDER BY 1
SELECT s.submission_id FROM submissions s SEMI JOIN losses l USING (submission_id) ORDER BY 1
SELECT document_type, sum(pages) AS pages, sum(bytes) AS bytes, avg(bytes) FROM documents GROUP BY document_type ORDER BY document_type
SELECT media_type, filename, sha256 FROM documents ORDER BY document_id LIMIT 5
SELECT submission_id, string_agg(document_type, ', ' ORDER BY document_type) FROM documents GROUP BY submission_id ORDER BY submission_id LIMIT 5
SELECT submission_id, list(document_type ORDER BY document_type) AS types FROM documents GROUP BY submission_id ORDER BY submission_id LIMIT 5
SELECT submission_id FROM documents GROUP BY submission_id HAVING NOT bool_or(document_type = 'mvr') ORDER BY submission_id LIMIT 5
SELECT extracted_at::DATE AS day, field_name, 100.0 * avg(CASE WHEN edited_by_human THEN 1 ELSE 0 END) AS pct FROM extracted_fields WHERE workflow = 'Claims Intake' AND extracted_at >= '2026-06-01' AND extracted_at < '2026-08-01' GROUP BY day, field_name ORDER BY day, field_name
SELECT field_name, round(100.0 * sum(edited_by_human::INT) / count(*), 2) AS pct FROM extracted_fields GROUP BY field_name ORDER BY pct DESC, field_name
SELECT date_trunc('day', extracted_at) AS day, count(*) FILTER (edited_by_human) * 100.0 / count(*) AS pct FROM extracted_fields WHERE workflow = 'Claims Intake' AND month(extracted_at) IN (6, 7) GROUP BY 1 ORDER BY 1
SELECT workflow, field_name, count(*) AS n, count_if(edited) AS edited FROM extracted_fields GROUP BY ALL ORDER BY ALL
SELECT field_name, avg(confidence), min(confidence), max(confidence), stddev(confidence) FROM extracted_fields GROUP BY field_name ORDER BY field_name
SELECT field_name, quantile_cont(confidence, 0.5), quantile_cont(confidence, [0.25, 0.75]) FROM extracted_fields GROUP BY field_name ORDER BY field_name
SELECT CAST(confidence * 10 AS INTEGER) AS bucket, count(*) FROM extracted_fields GROUP BY bucket ORDER BY bucket
SELECT floor(confidence * 10) / 10 AS bucket, count(*), avg(edited::INT) FROM extracted_fields GROUP BY bucket ORDER BY bucket
SELECT field_id, original_value, value FROM extracted_fields WHERE original_value IS DISTINCT FROM value ORDER BY field_id LIMIT 10
SELECT field_id, page, x0, y0, x1, y1, (x1 - x0) * (y1 - y0) AS area FROM extracted_fields ORDER BY field_id LIMIT 10
SELECT * FROM extracted_fields WHERE submission_id = 'S-3' ORDER BY field_id
SELECT value FROM extracted_fields WHERE field_name = 'vin' AND submission_id = 'S-3' ORDER BY field_id
SELECT submission_id, max(value) FILTER (WHERE field_name = 'named_insured') AS insured FROM extracted_fields WHERE row_id IS NULL GROUP BY submission_id ORDER BY submission_id LIMIT 5
SELECT f.submission_id, f.field_name, f.value, d.filename FROM extracted_fields f JOIN documents d USING (document_id) WHERE f.confidence < 0.6 ORDER BY f.field_id LIMIT 10
SELECT edited_by, count(*) FROM extracted_fields WHERE edited GROUP BY edited_by ORDER BY edited_by
SELECT edit_source, count(*), count(DISTINCT field_id) FROM field_edits GROUP BY edit_source ORDER BY edit_source
SELECT field_name, reason, count(*) FROM field_edits GROUP BY CUBE (field_name, reason) ORDER BY ALL
SELECT field_name, edited_by, count(*) FROM field_edits GROUP BY ROLLUP (field_name, edited_by) ORDER BY ALL
SELECT grouping(workflow) AS g, workflow, count(*) FROM field_edits GROUP BY GROUPING SETS ((workflow), ()) ORDER BY g, workflow
SELECT f.field_name, avg(date_diff('day', f.extracted_at, e.edited_at)) AS days FROM extracted_fields f JOIN field_edits e USING (field_id) GROUP BY f.field_name ORDER BY f.field_name
SELECT field_id, from_value, to_value, length(to_value) - length(from_value) AS grew FROM field_edits ORDER BY edit_id LIMIT 10
SELECT levenshtein(from_value, to_value) AS distance, count(*) FROM field_edits GROUP BY distance ORDER BY distance
SELECT make, count(*) AS n, avg(stated_value) AS value FROM vehicles GROUP BY make ORDER BY n DESC, make
SELECT make, model, year, vin FROM vehicles WHERE year < 2015 ORDER BY vin LIMIT 10
SELECT sum(stated_value) AS tiv FROM vehicles
SELECT submission_id, sum(stated_value) AS tiv, count(*) AS units FROM vehicles GROUP BY submission_id ORDER BY tiv DESC, submission_id LIMIT 10
SELECT vin, count(*) FROM vehicles GROUP BY vin HAVING count(*) > 1 ORDER BY vin
SELECT length(vin) AS l, count(*) FROM vehicles GROUP BY l ORDER BY l
SELECT vin FROM vehicles WHERE NOT regexp_full_match(vin, '[A-HJ-NPR-Z0-9]{17}') ORDER BY vin
SELECT vin FROM vehicles WHERE vin SIMILAR TO '1XP[0-9]+' ORDER BY vin LIMIT 3
SELECT regexp_extract(vin, '^(...)', 1) AS wmi, count(*) FROM vehicles GROUP BY wmi ORDER BY wmi
SELECT substring(vin, 10, 1) AS y, left(vin, 3) AS wmi, right(vin, 6) AS serial FROM vehicles ORDER BY vin LIMIT 5
SELECT gvw, CASE WHEN gvw <= 26000 THEN 'medium' WHEN gvw > 33000 THEN 'heavy' ELSE 'other' END AS class FROM vehicles WHERE gvw IS NOT NULL ORDER BY row_id LIMIT 6
SELECT garaging_state, radius, count(*) FROM vehicles GROUP BY ALL ORDER BY ALL
SELECT * FROM (SELECT garaging_state, radius FROM vehicles) PIVOT (count(*) FOR radius IN (50, 200, 500) GROUP BY garaging_state) ORDER BY garaging_state
PIVOT vehicles ON make IN ('FORD', 'KENWORTH') USING count(*) GROUP BY garaging_state ORDER BY garaging_state
FROM vehicles PIVOT (avg(stated_value) AS v FOR make IN ('FORD' AS ford, 'KENWORTH' AS kw) GROUP BY workflow) ORDER BY workflow
SELECT * FROM (SELECT row_id, unit_no, plate FROM vehicles) UNPIVOT (v FOR k IN (unit_no, plate)) ORDER BY row_id, k LIMIT 6
UNPIVOT (SELECT row_id, make, model FROM vehicles) ON make, model INTO NAME k VALUE v ORDER BY row_id, k LIMIT 6
SELECT year - min(year) OVER (PARTITION BY submission_id) AS d FROM vehicles ORDER BY row_id LIMIT 5
SELECT submission_id, unit_no, row_number() OVER (PARTITION BY submission_id ORDER BY stated_value DESC, row_id) AS r FROM vehicles ORDER BY submission_id, r LIMIT 9
SELECT submission_id, vin FROM vehicles QUALIFY row_number() OVER (PARTITION BY submission_id ORDER BY stated_value DESC, row_id) = 1 ORDER BY submission_id LIMIT 5
SELECT row_id, rank() OVER w, dense_rank() OVER w, percent_rank() OVER w, cume_dist() OVER w, ntile(4) OVER w FROM vehicles WINDOW w AS (ORDER BY stated_value, row_id) ORDER BY row_id LIMIT 5
SELECT row_id, lag(stated_value) OVER (PARTITION BY submission_id ORDER BY row_index), lead(stated_value, 1, 0) OVER (PARTITION BY submission_id ORDER BY row_index) FROM vehicles ORDER BY row_id LIMIT 5
SELECT row_id, sum(stated_value) OVER (PARTITION BY submission_id ORDER BY row_index ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running FROM vehicles ORDER BY row_id LIMIT 5
SELECT day, n, avg(n) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week FROM (SELECT received_at::DATE AS day, count(*) AS n FROM submissions GROUP BY 1) ORDER BY day
SELECT day, sum(n) OVER (ORDER BY day RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW) FROM (SELECT received_at::DATE AS day, count(*) AS n FROM submissions GROUP BY 1) ORDER BY day
SELECT first_value(vin) OVER (PARTITION BY make ORDER BY row_id) AS f, last_value(vin) OVER (PARTITION BY make ORDER BY row_id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM vehicles ORDER BY row_id LIMIT 5
SELECT first_value(gvw IGNORE NULLS) OVER (PARTITION BY submission_id ORDER BY row_index DESC) FROM vehicles ORDER BY row_id LIMIT 5
SELECT name, license_state, license_class, years_experience FROM drivers WHERE years_experience < 2 ORDER BY name
SELECT submission_id, sum(moving_violations) AS mv, sum(accidents) AS acc FROM drivers GROUP BY submission_id HAVING sum(moving_violations) > 2 ORDER BY submission_id
SELECT license_status, count(*) FROM drivers GROUP BY license_status ORDER BY license_status
SELECT name, date_diff('year', hire_date, DATE '2026-11-29') AS years FROM drivers ORDER BY name LIMIT 5
SELECT name, hire_date, age(TIMESTAMP '2026-11-29', hire_date::TIMESTAMP) FROM drivers ORDER BY name LIMIT 5
SELECT d.submission_id, d.name FROM drivers d JOIN submissions s USING (submission_id) WHERE d.mvr_run_date < s.effective_date - INTERVAL 60 DAY ORDER BY ALL LIMIT 5
SELECT name, right(license_number, 2) AS last2 FROM drivers ORDER BY name LIMIT 3
SELECT status, count(*), sum(paid), sum(reserve), sum(incurred) FROM losses GROUP BY status ORDER BY status
SELECT submission_id, sum(incurred) AS total, max(incurred) AS largest FROM losses GROUP BY submission_id ORDER BY total DESC, submission_id LIMIT 5
SELECT year(date_of_loss) AS y, count(*), sum(incurred), avg(incurred)::DECIMAL(14,2) FROM losses GROUP BY y ORDER BY y
SELECT claim_number, date_reported - date_of_loss AS lag_days FROM losses ORDER BY claim_number LIMIT 5
SELECT claim_number FROM losses WHERE paid + reserve - recovered <> incurred ORDER BY claim_number
SELECT l.submission_id, sum(l.incurred) / nullif(sum(c.premium), 0) AS ratio FROM losses l JOIN coverages c USING (submission_id) GROUP BY 1 ORDER BY 1 LIMIT 5
SELECT coverage, limit_amount, deductible, premium FROM coverages WHERE submission_id = 'S-1' ORDER BY coverage
SELECT coverage, min(limit_amount), max(limit_amount), avg(premium) FROM coverages GROUP BY coverage ORDER BY coverage
SELECT submission_id, max(CASE WHEN coverage = 'auto_liability' THEN limit_amount END) AS al, max(CASE WHEN coverage = 'cargo' THEN limit_amount END) AS cargo FROM coverages GROUP BY submission_id ORDER BY submission_id LIMIT 5
SELECT row_id, cells FROM extracted_rows ORDER BY row_id LIMIT 5
SELECT row_id, cells['vin'] AS vin, cells['make'] AS make FROM extracted_rows WHERE table_name = 'vehicles' ORDER BY row_id LIMIT 5
SELECT row_id, map_keys(cells), cardinality(cells) FROM extracted_rows ORDER BY row_id LIMIT 5
SELECT k, count(*) FROM (SELECT unnest(map_keys(cells)) AS k FROM extracted_rows) GROUP BY k ORDER BY k
SELECT row_id, map_contains(cells, 'vin') FROM extracted_rows ORDER BY row_id LIMIT 5
SELECT table_name, max(row_index) AS rows, count(DISTINCT document_id) AS docs FROM extracted_rows GROUP BY table_name ORDER BY table_name
SELECT r.row_id, v.vin FROM extracted_rows r JOIN vehicles v USING (row_id) WHERE r.cells['vin'] <> v.vin ORDER BY 1
WITH late AS (SELECT * FROM submissions WHERE completed_at IS NULL) SELECT workflow, count(*) FROM late GROUP BY workflow ORDER BY workflow
WITH per AS (SELECT submission_id, count(*) AS n FROM vehicles GROUP BY 1), tot AS (SELECT avg(n) AS a FROM per) SELECT per.submission_id, n FROM per, tot WHERE n >= a ORDER BY 1 LIMIT 5
WITH a AS (SELECT 1 AS x), b AS (SELECT x + 1 AS x FROM a) SELECT * FROM a UNION ALL SELECT * FROM b ORDER BY x
WITH days AS (SELECT unnest(generate_series(DATE '2026-06-01', DATE '2026-06-30', INTERVAL 1 DAY))::DATE AS day) SELECT day, count(s.submission_id) AS n FROM days LEFT JOIN submissions s ON s.received_at::DATE = day GROUP BY day ORDER BY day
SELECT day::DATE AS day, n FROM generate_series(TIMESTAMP '2026-06-01', TIMESTAMP '2026-06-05', INTERVAL 1 DAY) g(day) LEFT JOIN (SELECT received_at::DATE AS d, count(*) AS n FROM submissions GROUP BY 1) ON d = day::DATE ORDER BY 1
SELECT submission_id FROM vehicles INTERSECT SELECT submission_id FROM losses ORDER BY 1
SELECT submission_id FROM vehicles EXCEPT SELECT submission_id FROM losses ORDER BY 1
SELECT 'vehicles' AS t, count(*) FROM vehicles UNION ALL SELECT 'drivers', count(*) FROM drivers ORDER BY 1
SELECT insured_name AS a FROM submissions UNION BY NAME SELECT broker_name AS b FROM submissions ORDER BY ALL LIMIT 5
FROM submissions SELECT workflow, count(*) GROUP BY workflow ORDER BY workflow
FROM submissions WHERE status = 'bound' ORDER BY submission_id LIMIT 3
TABLE submissions ORDER BY submission_id LIMIT 3
SELECT * EXCLUDE (carrier, line_of_business) FROM submissions ORDER BY submission_id LIMIT 3
SELECT * REPLACE (upper(status) AS status) FROM submissions ORDER BY submission_id LIMIT 3
SELECT COLUMNS('.*_date') FROM submissions ORDER BY submission_id LIMIT 3
SELECT min(COLUMNS('paid|reserve|incurred')) FROM losses
SELECT s.*, d.filename FROM submissions s JOIN documents d USING (submission_id) WHERE d.document_type = 'loss_run' ORDER BY s.submission_id LIMIT 3
SELECT s.submission_id, x.n FROM submissions s, LATERAL (SELECT count(*) AS n FROM vehicles v WHERE v.submission_id = s.submission_id) x ORDER BY 1 LIMIT 5
SELECT s.submission_id, (SELECT sum(stated_value) FROM vehicles v WHERE v.submission_id = s.submission_id) AS tiv FROM submissions s ORDER BY 1 LIMIT 5
SELECT a.submission_id, a.vin FROM vehicles a JOIN vehicles b ON a.vin = b.vin AND a.submission_id < b.submission_id ORDER BY 1
SELECT s.submission_id, e.edited_at FROM submissions s ASOF LEFT JOIN field_edits e ON s.submission_id = e.submission_id AND s.received_at <= e.edited_at ORDER BY ALL LIMIT 5
SELECT a.make, b.license_state FROM (SELECT DISTINCT make FROM vehicles) a CROSS JOIN (SELECT DISTINCT license_state FROM drivers) b ORDER BY ALL
SELECT s.submission_id, l.claim_number FROM submissions s FULL JOIN losses l USING (submission_id) ORDER BY ALL LIMIT 5
SELECT list_filter(list(gvw ORDER BY row_id), lambda x: x > 34000) FROM vehicles GROUP BY submission_id ORDER BY submission_id LIMIT 3
SELECT list_transform(list(make ORDER BY row_id), m -> lower(m)) FROM vehicles GROUP BY submission_id ORDER BY submission_id LIMIT 3
SELECT [lower(m) FOR m IN list(make ORDER BY row_id) IF m <> 'FORD'] FROM vehicles GROUP BY submission_id ORDER BY submission_id LIMIT 3
SELECT list_sort(list(DISTINCT make)), len(list(vin)), list_contains(list(make), 'FORD') FROM vehicles GROUP BY submission_id ORDER BY submission_id LIMIT 3
SELECT {'make': make, 'n': count(*)} AS s FROM vehicles GROUP BY make ORDER BY make
SELECT s.make FROM (SELECT {'make': make, 'year': year} AS s, row_id FROM vehicles) ORDER BY row_id LIMIT 3
SELECT struct_pack(a := make, b := year) FROM vehicles ORDER BY row_id LIMIT 3
SELECT MAP {'a': 1, 'b': 2}, [1, 2, 3], [1, 2, 3][2], [1, 2, 3][1:2], {'x': NULL}
SELECT to_json({'make': make, 'year': year}) FROM vehicles ORDER BY row_id LIMIT 3
SELECT json_extract_string('{"a": {"b": "c"}}', '$.a.b'), '{"a": 1}'::JSON ->> 'a', '{"a": [1]}'::JSON -> '$.a'
SELECT arg_max(vin, stated_value), arg_min(vin, row_id) FROM vehicles
SELECT mode(make), any_value(workflow), approx_count_distinct(workflow) > 0 FROM vehicles
SELECT histogram(make) FROM vehicles
SELECT corr(accidents, moving_violations), regr_slope(accidents, moving_violations), covar_pop(accidents, years_experience) FROM drivers
SELECT bool_and(stated_value > 0), bool_or(gvw IS NULL), count(gvw), sum(gvw) FROM vehicles
SELECT 1e6 AS million, 1.5e-3::DOUBLE, 0.1 + 0.2, 1::DECIMAL(10,3) / 3, 7 // 2, 7 % 3, 2 ** 10, -5, +3, 12345678901234567890
SELECT 'it''s', 'a' || 'b', concat_ws('-', 'a', NULL, 'b'), upper('ß'), length('héllo'), reverse('abc'), trim('  x '), replace('aXb', 'X', '-')
SELECT NULL IS NULL, NOT true, true AND NULL, false OR NULL, 1 IN (1, NULL), 2 NOT IN (1, 3), 5 BETWEEN 1 AND 10
SELECT CAST('2026-06-01' AS DATE), '12:30:00'::TIME, TIMESTAMPTZ '2026-06-01 00:00:00+00', INTERVAL '1 day 2 hours', DATE '2026-06-01' - DATE '2026-01-01', make_date(2026, 6, 1)
SELECT TRY_CAST('x' AS INTEGER), TRY_CAST('12' AS INTEGER), CAST(3.7 AS INTEGER), 'true'::BOOLEAN, 1::VARCHAR, 3::TINYINT, 2::HUGEINT, 5::UBIGINT, 1.5::FLOAT
SELECT date_part('week', DATE '2026-06-01'), last_day(DATE '2026-02-03'), date_add(DATE '2026-06-01', INTERVAL 1 MONTH), time_bucket(INTERVAL '7 days', DATE '2026-06-03'), epoch(TIMESTAMP '2026-06-01'), TIMESTAMP '2026-06-01 10:00:00' AT TIME ZONE 'America/Chicago'
SELECT greatest(1, 3, 2), least('a', 'b'), abs(-3), round(2.567, 1), ceil(1.2), floor(-1.2), sqrt(16), power(2, 3), ln(1), mod(7, 3), sign(-2)
SELECT regexp_replace('a1b2', '[0-9]', '', 'g'), regexp_matches('abc', 'b'), split_part('a-b-c', '-', 2), string_split('a,b', ','), starts_with('abc', 'a'), contains('abc', 'b'), position('b' IN 'abc'), 'abc' LIKE 'a%', 'ABC' ILIKE 'a_c', 'a%b' LIKE 'a$%b' ESCAPE '$'
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, s) ORDER BY n
SELECT i, i * i AS sq FROM range(1, 6) t(i) ORDER BY i
SELECT unnest([1, 2, 3]) AS x, unnest(['a', 'b', 'c']) AS y
SELECT count(*) FROM submissions TABLESAMPLE 100%
SELECT workflow, status, count(*) AS n, round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY workflow), 1) AS pct FROM submissions GROUP BY workflow, status ORDER BY workflow, status
SELECT x.workflow, x.n, x.n * 100.0 / sum(x.n) OVER () AS share FROM (SELECT workflow, count(*) AS n FROM submissions GROUP BY workflow) x ORDER BY x.workflow
SELECT s.submission_id, s.insured_name, f.value AS extracted, levenshtein(s.insured_name, f.value) AS distance FROM submissions s JOIN extracted_fields f ON f.submission_id = s.submission_id AND f.field_name = 'named_insured' WHERE lower(trim(s.insured_name)) <> lower(trim(f.value)) ORDER BY 1 LIMIT 5
SELECT v.submission_id, v.unit_no, d.name, l.claim_number FROM vehicles v JOIN losses l ON l.vin = v.vin AND l.submission_id = v.submission_id JOIN drivers d ON d.submission_id = l.submission_id AND d.name = l.driver ORDER BY ALL LIMIT 5
SELECT date_trunc('month', received_at) AS m, count(*) AS n, count(*) - lag(count(*)) OVER (ORDER BY date_trunc('month', received_at)) AS change FROM submissions GROUP BY m ORDER BY m
SELECT submission_id, list(struct_pack(vin := vin, v := stated_value) ORDER BY row_index) AS units FROM vehicles GROUP BY submission_id ORDER BY submission_id LIMIT 2
SELECT status AS "Status", count(*) AS "How many", sum(1) AS "sum of 1's" FROM submissions GROUP BY status ORDER BY "Status"
SELECT (SELECT count(*) FROM vehicles) AS v, (SELECT count(*) FROM drivers) AS d, (SELECT max(received_at) FROM submissions) AS last
SELECT s.status, count(*) FROM submissions AS s GROUP BY s.status ORDER BY count(*) DESC, s.status LIMIT 2
SELECT submission_id FROM submissions WHERE (workflow, status) IN (('Claims Intake', 'bound'), ('Renewal Intake', 'declined')) ORDER BY 1
SELECT submission_id FROM submissions WHERE status = ANY (['bound', 'declined']) ORDER BY 1
SELECT submission_id FROM vehicles WHERE stated_value >= ALL (SELECT stated_value FROM vehicles) ORDER BY row_id
SELECT workflow, count(*) FROM submissions GROUP BY workflow ORDER BY 2 DESC, 1 LIMIT 50%
SELECT trunc(avg(stated_value), 2), sum(stated_value) * 1.05, stated_value::DOUBLE FROM vehicles GROUP BY stated_value ORDER BY stated_value
SELECT approx_quantile(confidence, 0.5) BETWEEN 0 AND 1, mad(confidence), kurtosis(confidence), skewness(confidence), entropy(make) FROM vehicles
DESCRIBE submissions
DESCRIBE SELECT workflow, count(*) AS n, avg(confidence) AS c FROM extracted_fields GROUP BY workflow
SELECT column_name, column_type FROM (DESCRIBE vehicles) WHERE column_type LIKE 'DECIMAL%' ORDER BY 1
SUMMARIZE submissions
SELECT column_name, count, null_percentage FROM (SUMMARIZE SELECT unit_no, year, stated_value FROM vehicles) ORDER BY 1
WITH RECURSIVE days(d) AS (SELECT DATE '2026-06-01' UNION ALL SELECT d + 1 FROM days WHERE d < DATE '2026-06-10') SELECT d::DATE AS d, count(s.submission_id) FROM days LEFT JOIN submissions s ON s.received_at::DATE = d::DATE GROUP BY 1 ORDER BY 1
WITH RECURSIVE chain(field_id, edit_id, n) AS (SELECT field_id, min(edit_id), 1 FROM field_edits GROUP BY field_id UNION ALL SELECT c.field_id, e.edit_id, c.n + 1 FROM chain c JOIN field_edits e ON e.field_id = c.field_id AND e.edit_id > c.edit_id WHERE c.n < 5) SELECT field_id, max(n) FROM chain GROUP BY field_id ORDER BY 1
WITH RECURSIVE fib(a, b, n) AS (SELECT 0, 1, 1 UNION ALL SELECT b, a + b, n + 1 FROM fib WHERE n < 20), s AS (SELECT sum(a) AS total FROM fib) SELECT total FROM s
WITH e AS (SELECT field_name, extracted_at::DATE AS day, edited_by_human FROM extracted_fields), d AS (SELECT field_name, day, avg(edited_by_human::INT) AS rate, count(*) AS n FROM e GROUP BY ALL) SELECT field_name, day, rate, avg(rate) OVER (PARTITION BY field_name ORDER BY day RANGE BETWEEN INTERVAL 6 DAY PRECEDING AND CURRENT ROW) AS week FROM d QUALIFY row_number() OVER (PARTITION BY field_name ORDER BY day DESC) <= 3 ORDER BY ALL
SELECT workflow, count(*) FILTER (WHERE status = 'bound') * 1.0 / nullif(count(*), 0) AS hit_ratio, grouping(workflow) AS total FROM submissions GROUP BY ROLLUP (workflow) ORDER BY 3, 1
SELECT submission_id, epoch(completed_at - received_at) AS took FROM submissions WHERE completed_at IS NOT NULL ORDER BY took DESC, 1 LIMIT 5
SELECT quantile_cont(date_diff('minute', received_at, completed_at), [0.5, 0.9, 0.99]) AS minutes FROM submissions
SELECT v.submission_id, count(*) AS vehicles, count(DISTINCT v.vin) AS vins, count(*) - count(DISTINCT v.vin) AS repeated FROM vehicles v GROUP BY 1 HAVING count(*) > count(DISTINCT v.vin) OR count(*) > 2 ORDER BY 1
SELECT a.submission_id, a.vin, a.unit_no AS one, b.unit_no AS other FROM vehicles a JOIN vehicles b ON a.vin = b.vin AND a.row_id < b.row_id ORDER BY ALL
SELECT s.submission_id, v.total, l.incurred, round(l.incurred / nullif(v.total, 0), 4) AS ratio FROM submissions s LEFT JOIN (SELECT submission_id, sum(stated_value) AS total FROM vehicles GROUP BY 1) v USING (submission_id) LEFT JOIN (SELECT submission_id, sum(incurred) AS incurred FROM losses GROUP BY 1) l USING (submission_id) ORDER BY 1
SELECT submission_id FROM submissions s WHERE NOT EXISTS (FROM documents d WHERE d.submission_id = s.submission_id AND d.document_type = 'loss_run') ORDER BY 1
SELECT submission_id, list_filter(['application', 'loss_run', 'mvr', 'ifta'], lambda t: NOT list_contains(have, t)) AS missing FROM (SELECT submission_id, list(DISTINCT document_type ORDER BY document_type) AS have FROM documents GROUP BY 1) ORDER BY 1
FROM extracted_fields SELECT field_name, count(*) AS n, count(*) FILTER (confidence < 0.7) AS weak, round(100.0 * weak / n, 1) AS pct GROUP BY field_name ORDER BY pct DESC, field_name LIMIT 10
SELECT row_id, cells['vin'] AS vin, map_keys(cells)[1:3] AS first_fields, cardinality(cells) AS n FROM extracted_rows WHERE table_name = 'vehicles' ORDER BY row_id LIMIT 20
SELECT table_name, field, count(*) FROM (SELECT table_name, unnest(map_keys(cells)) AS field FROM extracted_rows) GROUP BY ALL ORDER BY ALL
SELECT field_name, regexp_extract(value, '([0-9]{4})', 1) AS digits, count(*) FROM extracted_fields WHERE regexp_matches(value, '[0-9]{4}') GROUP BY ALL ORDER BY 3 DESC, 1, 2 LIMIT 15
SELECT edited_by, edit_source, count(*) AS edits, count(DISTINCT field_id) AS fields, min(edited_at), max(edited_at) FROM field_edits GROUP BY CUBE (edited_by, edit_source) ORDER BY ALL
SELECT field_name, from_value, to_value, levenshtein(from_value, to_value) AS distance FROM field_edits WHERE length(from_value) < 40 AND length(to_value) < 40 ORDER BY distance DESC, edit_id LIMIT 10
SELECT f.field_id, e.n FROM extracted_fields f, LATERAL (SELECT count(*) AS n FROM field_edits x WHERE x.field_id = f.field_id) e WHERE e.n <> f.edit_count ORDER BY 1 LIMIT 20
SELECT s.submission_id, d.n, d.last FROM submissions s CROSS JOIN LATERAL (SELECT count(*) AS n, max(received_at) AS last FROM documents WHERE submission_id = s.submission_id) d ORDER BY 1
PIVOT (SELECT workflow, status FROM submissions) ON status IN ('received', 'completed', 'bound') USING count(*) GROUP BY workflow ORDER BY workflow
SELECT * FROM (SELECT workflow, status, received_at FROM submissions) PIVOT (count(*) AS n, min(received_at) AS first FOR status IN ('bound' AS b, 'declined' AS d)) ORDER BY workflow
UNPIVOT (SELECT submission_id, effective_date::VARCHAR AS eff, expiry_date::VARCHAR AS exp FROM submissions) ON eff, exp INTO NAME what VALUE day ORDER BY ALL LIMIT 20
SELECT year, make, count(*) AS n, rank() OVER (PARTITION BY year ORDER BY count(*) DESC, make) AS r FROM vehicles GROUP BY year, make QUALIFY r = 1 ORDER BY year
SELECT approx_quantile(confidence, 0.9) > 0 AS some, bool_and(confidence BETWEEN 0 AND 1) AS all_in FROM extracted_fields
SELECT width, count(*) FROM (SELECT floor(confidence * 10) / 10 AS width FROM extracted_fields) GROUP BY width ORDER BY width
SELECT d.license_number, count(DISTINCT d.submission_id) AS submissions, list(DISTINCT d.name ORDER BY d.name) AS names FROM drivers d WHERE d.license_number IS NOT NULL GROUP BY 1 HAVING count(*) >= 1 ORDER BY 1 LIMIT 10
SELECT d.license_number = f.value AS joins, count(*) FROM drivers d JOIN extracted_fields f ON f.row_id = d.row_id AND f.field_name = 'license_number' GROUP BY 1
SELECT extract('year' FROM date_of_birth) AS born, count(*) FROM drivers GROUP BY 1 ORDER BY 1 NULLS LAST
SELECT CASE WHEN years_experience < 2 THEN 'new' WHEN years_experience < 5 THEN 'some' ELSE 'long' END AS band, count(*), avg(accidents) FROM drivers GROUP BY ALL ORDER BY ALL
SELECT l.submission_id, l.term_start, sum(l.paid) AS paid, sum(l.reserve) AS reserve, sum(l.incurred) - sum(l.paid) - sum(l.reserve) + coalesce(sum(l.recovered), 0) AS off FROM losses l GROUP BY ALL ORDER BY ALL
SELECT coverage, max(limit_amount) AS limit_amount, count(*) FROM coverages GROUP BY 1 ORDER BY 1
(SELECT 'vehicles' AS what, count(*) AS n FROM vehicles) UNION ALL BY NAME (SELECT count(*) AS n, 'drivers' AS what FROM drivers) ORDER BY what
SELECT submission_id FROM vehicles INTERSECT SELECT submission_id FROM drivers EXCEPT SELECT submission_id FROM losses ORDER BY 1
SELECT * EXCLUDE (x0, y0, x1, y1) REPLACE (round(confidence, 2) AS confidence) FROM extracted_fields ORDER BY field_id LIMIT 3
SELECT COLUMNS('.*_id') FROM extracted_fields ORDER BY field_id LIMIT 3
SELECT max(COLUMNS(* EXCLUDE (cells))) FROM extracted_rows
SELECT json_object('id', submission_id, 'docs', (SELECT count(*) FROM documents d WHERE d.submission_id = s.submission_id))::VARCHAR AS j FROM submissions s ORDER BY submission_id LIMIT 3
SELECT list_sort(list(value)) AS v, list_sum(list_transform(list(length(value)), lambda x: x)) AS n FROM extracted_fields WHERE field_name = 'make'
SELECT strftime(received_at, '%Y-%m') AS month, dayname(received_at) AS day, count(*) FROM submissions GROUP BY ALL ORDER BY ALL
SELECT g.day::DATE AS day, count(s.submission_id) AS n FROM generate_series(TIMESTAMP '2026-06-01', TIMESTAMP '2026-06-14', INTERVAL 1 DAY) AS g(day) LEFT JOIN submissions s ON date_trunc('day', s.received_at) = g.day GROUP BY 1 ORDER BY 1
SELECT submission_id, lag(received_at) OVER w AS before, first_value(submission_id) OVER w AS first FROM submissions WINDOW w AS (PARTITION BY workflow ORDER BY received_at, submission_id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) ORDER BY submission_id
SELECT workflow, any_value(carrier ORDER BY carrier) AS carrier, count(DISTINCT broker_name) AS brokers FROM submissions GROUP BY ALL ORDER BY ALL
SELECT submission_id, insured_name FROM submissions WHERE insured_name ILIKE '%inc%' OR jaro_winkler_similarity(lower(insured_name), 'acme trucking') > 0.9 ORDER BY 1
SELECT round(corr(confidence, edited::INT), 6) IS NOT NULL AS has, regr_count(confidence, edit_count) AS n FROM extracted_fields
SELECT week, workflow, n, sum(n) OVER (PARTITION BY workflow ORDER BY week) AS running FROM (SELECT date_trunc('week', received_at) AS week, workflow, count(*) AS n FROM submissions GROUP BY ALL) ORDER BY ALL
SELECT struct_pack(w := workflow, n := n) AS s FROM (SELECT workflow, count(*) AS n FROM submissions GROUP BY workflow) ORDER BY workflow
