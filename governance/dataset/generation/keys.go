package generation

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// To find a thousand of ten million fields by their keys would mean to read all of those. A file beside the twins has four bytes of each
// key's hash, and where its row lies. It knows nothing of the logs, whose few rows come after those of the files and are looked through.

// KeysPath is where the keys of a pair of twins are.
func KeysPath(full, standard string) string { return full + "." + filepath.Base(standard) + ".keys" }

const keyHash = "(hash(%s) >> 32)::UINTEGER"

// runKeys writes the keys of twins, which may have logs beside them. There are none if the rows lie elsewhere in one file than in the other.
func (b *build) runKeys(ctx context.Context) error {
	for catalog, twin := range map[string]string{"f": b.job.Full, "m": b.job.Standard} {
		alone := filepath.Join(b.job.Dir, catalog) // a name that no log belongs to
		if err := os.Link(twin, alone); err != nil {
			return fmt.Errorf("reading a twin without its log: %w", err)
		}
		if err := b.exec(ctx, "ATTACH "+literal(alone)+" AS "+catalog+" (READ_ONLY)"); err != nil {
			return err
		}
	}
	path := filepath.Join(b.job.Dir, "keys")
	const places = "(SELECT bit_xor(hash(rowid, field_id)) FROM %s.extracted_fields)"
	for _, q := range []string{
		"ATTACH " + literal(path) + " AS k",
		"CREATE TABLE same AS SELECT " + fmt.Sprintf(places, "f") + " = " + fmt.Sprintf(places, "m") + " AS yes",
		"CREATE TABLE k.keys AS SELECT " + fmt.Sprintf(keyHash, "field_id") + " AS h, rowid AS rid FROM f.extracted_fields WHERE (FROM same)",
		// Another version of DuckDB may hash otherwise.
		"CREATE TABLE k.about AS SELECT coalesce(max(rid) + 1, 0) AS below, version() AS hashed_by FROM k.keys",
		"CHECKPOINT k", // which syncs it
		"DETACH k",
	} {
		if err := b.exec(ctx, q); err != nil {
			return err
		}
	}
	b.mark("keys")
	return os.Rename(path, KeysPath(b.job.Full, b.job.Standard))
}

// attachKeys opens the twins' keys, if they are there. Those of another version go, and the next ones are written after this build.
func (b *build) attachKeys(ctx context.Context) error {
	path := KeysPath(b.job.Full, b.job.Standard)
	if _, err := os.Stat(path); !b.job.Grow || err != nil {
		return nil //nolint:nilerr // it goes without
	}
	if err := b.exec(ctx, "ATTACH "+literal(path)+" AS k (READ_ONLY)"); err != nil {
		return err
	}
	const query = "SELECT CASE WHEN hashed_by = version() THEN below ELSE -1 END FROM k.about"
	var err error
	if b.keyed, err = b.count(ctx, query); err != nil || b.keyed >= 0 {
		return err
	}
	b.keyed = 0
	return os.Remove(path)
}

// lookUpFields copies the rows of extracted_fields whose keys a query gives, as id.
func (b *build) lookUpFields(ctx context.Context, into, keys string) error {
	if b.keyed == 0 {
		return b.lookUp(ctx, into, "extracted_fields", fieldFacts, "field_id IN ("+keys+")")
	}
	for _, q := range []string{
		"CREATE OR REPLACE TABLE wanted AS SELECT id FROM (" + keys + ")",
		"CREATE OR REPLACE TABLE hit AS SELECT rid FROM k.keys WHERE h IN (SELECT " + fmt.Sprintf(keyHash, "id") + " FROM wanted) UNION ALL " +
			fmt.Sprintf("SELECT rowid FROM f.extracted_fields WHERE rowid >= %d AND field_id IN (FROM wanted)", b.keyed),
		fetch(into, "extracted_fields", fieldFacts),
		"DELETE FROM " + into + " WHERE field_id NOT IN (FROM wanted)", // another key with the same hash
	} {
		if err := b.exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}
