package generation

import (
	"context"
	"fmt"
	"strings"

	"bordereau/governance/dataset/record"
)

// The working tables, all in memory: s_<kind> what came, old_<kind> the rows of the same ids so far, c_<kind> what came and differs,
// n_<relation> the rows as they will be. Look-ups in the large relations go over one column to row ids and fetch whole rows by those,
// which is three times as fast as a join that carries all columns.

// uniqueIDs refuses an id that came twice with different content and forgets repetitions.
func (b *build) uniqueIDs(ctx context.Context, k record.Kind) error {
	s := stage(k)
	var err error
	if b.came[k], err = b.count(ctx, "SELECT count(*) FROM "+s); err != nil || b.came[k] < 2 {
		return err
	}
	if err := b.exec(ctx, "CREATE OR REPLACE TABLE dup AS SELECT id FROM "+s+" GROUP BY id HAVING count(*) > 1"); err != nil {
		return err
	}
	if n, err := b.count(ctx, "SELECT count(*) FROM dup"); err != nil || n == 0 {
		return err
	}
	names := make([]string, 0, 16)
	for _, c := range stagedColumns(k) {
		names = append(names, ident(c.name))
	}
	err = b.find(ctx, "id", "SELECT arg_max(file, (file, line)), arg_max(line, (file, line)), "+
		"id || ' came before in this import with other content, at row ' || arg_min(line, (file, line)) FROM "+
		"(SELECT file, line, id, row("+strings.Join(names, ", ")+")::VARCHAR AS c FROM "+s+" WHERE id IN (FROM dup)) GROUP BY id HAVING count(DISTINCT c) > 1")
	if err != nil {
		return err
	}
	if err := b.exec(ctx, "DELETE FROM "+s+" WHERE id IN (FROM dup) AND rowid NOT IN (SELECT min(rowid) FROM "+s+" WHERE id IN (FROM dup) GROUP BY id)"); err != nil {
		return err
	}
	b.came[k], err = b.count(ctx, "SELECT count(*) FROM "+s)
	return err
}

// fieldFacts are the columns of extracted_fields that don't follow from others. Each that is looked up costs.
const fieldFacts = "t.* EXCLUDE (submission_id, document_type, workflow, table_name, row_index, value, edited, edited_by_human, edited_by, edited_at, edit_count)"

// lookUp copies columns of the rows of a relation that a condition on few columns picks, none if it is "".
func (b *build) lookUp(ctx context.Context, into, relation, columns, where string) error {
	if b.empty || where == "" {
		return b.exec(ctx, "CREATE OR REPLACE TABLE "+into+" AS SELECT "+columns+", t.rowid AS rid FROM f."+relation+" t LIMIT 0")
	}
	if err := b.exec(ctx, "CREATE OR REPLACE TABLE hit AS SELECT rowid AS rid FROM f."+relation+" WHERE "+where); err != nil {
		return err
	}
	return b.exec(ctx, fetch(into, relation, columns))
}

// fetch is the statement that copies the rows that are hit.
func fetch(into, relation, columns string) string {
	return "CREATE OR REPLACE TABLE " + into + " AS SELECT " + columns + ", hit.rid FROM f." + relation + " t JOIN hit ON t.rowid = hit.rid"
}

// changed finds what came and isn't there already with the same content.
func (b *build) changed(ctx context.Context, k record.Kind) error {
	table, rename := relationOf(k)
	var same []string
	for _, c := range stagedColumns(k) {
		there := c.name
		if n, ok := rename[c.name]; ok {
			there = n
		}
		same = append(same, fmt.Sprintf("s.%s IS NOT DISTINCT FROM o.%s", ident(c.name), ident(there)))
	}
	r, err := relationNamed(table)
	if err != nil {
		return err
	}
	err = b.exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE c_%s AS SELECT s.*, o.%[3]s IS NOT NULL AS replaced FROM %[2]s s LEFT JOIN old_%[1]s o ON s.id = o.%[3]s WHERE o.%[3]s IS NULL OR NOT (%[4]s)",
		k, stage(k), ident(r.key), strings.Join(same, " AND ")))
	if err != nil {
		return err
	}
	var c Counts
	query := fmt.Sprintf("SELECT count(*) FILTER (replaced), count(*) FILTER (NOT replaced) FROM c_%s", k)
	if err := b.conn.QueryRowContext(ctx, query).Scan(&c.Replaced, &c.New); err != nil {
		return wrapSQL("counting", query, err)
	}
	c.Unchanged = b.came[k] - c.New - c.Replaced
	b.counts[k] = c
	return nil
}

func relationNamed(name string) (relation, error) {
	for _, r := range relations() {
		if r.name == name {
			return r, nil
		}
	}
	return relation{}, fmt.Errorf("no relation %q", name)
}

// compare fills old_ and c_ for every kind, and the sets of what else is touched.
func (b *build) compare(ctx context.Context) error {
	for _, k := range record.Kinds() {
		if err := b.uniqueIDs(ctx, k); err != nil {
			return err
		}
	}
	for _, k := range []record.Kind{record.Submission, record.Document, record.Row} {
		table, rename := relationOf(k)
		where := ""
		if b.came[k] > 0 {
			where = rename["id"] + " IN (SELECT id FROM " + stage(k) + ")"
		}
		if err := b.lookUp(ctx, "old_"+k.String(), table, "t.*", where); err != nil {
			return err
		}
		if err := b.changed(ctx, k); err != nil {
			return err
		}
	}
	// Documents whose type, submission or workflow changes, for their rows and fields repeat those.
	err := b.exec(ctx, `CREATE OR REPLACE TABLE aff_doc AS SELECT id FROM c_document WHERE replaced UNION SELECT document_id FROM f.documents WHERE submission_id IN (
		SELECT c.id FROM c_submission c JOIN old_submission o ON c.id = o.submission_id WHERE c.workflow IS DISTINCT FROM o.workflow)`)
	if err != nil {
		return err
	}
	if b.affected, err = b.count(ctx, "SELECT count(*) FROM aff_doc"); err != nil {
		return err
	}
	if err := b.lookUpOldFields(ctx); err != nil {
		return err
	}
	if err := b.changed(ctx, record.Field); err != nil {
		return err
	}
	if err := b.lookUp(ctx, "old_edit", "field_edits", "t.*", "edit_id IN (SELECT id FROM s_edit)"); err != nil {
		return err
	}
	if err := b.changed(ctx, record.Edit); err != nil {
		return err
	}
	b.onlyEdits = b.affected == 0
	for _, k := range []record.Kind{record.Row, record.Field} {
		b.onlyEdits = b.onlyEdits && b.counts[k].New+b.counts[k].Replaced == 0
	}
	return nil
}

// lookUpOldFields fills old_field with all fields that may change.
func (b *build) lookUpOldFields(ctx context.Context) error {
	const keys = "SELECT id FROM s_field UNION ALL SELECT field_id FROM s_edit"
	where := ""
	if b.affected > 0 {
		where += " OR document_id IN (FROM aff_doc)"
	}
	if b.counts[record.Row].Replaced > 0 {
		where += " OR row_id IN (SELECT id FROM c_row WHERE replaced)"
	}
	if where != "" || b.empty {
		return b.lookUp(ctx, "old_field", "extracted_fields", fieldFacts, "field_id IN ("+keys+")"+where)
	}
	return b.lookUpFields(ctx, "old_field", keys)
}
