package generation

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"bordereau/governance/dataset/record"
)

// seal makes both files final: written out, closed, never to be changed, counted and hashed. Of twins the logs are.
func (b *build) seal(ctx context.Context, res Result) (Result, error) {
	if !b.job.Grow {
		err := b.both(ctx, func(ctx context.Context, conn *sql.Conn, catalog string) error {
			return execOn(ctx, conn, "CHECKPOINT "+catalog)
		})
		if err != nil {
			return Result{}, err
		}
		b.mark("checkpoint")
	}
	var err error
	if res.Relations, err = b.countRelations(ctx); err != nil {
		return Result{}, err
	}
	for _, catalog := range []string{"f", "m"} {
		if err := b.exec(ctx, "DETACH "+catalog); err != nil {
			return Result{}, err
		}
	}
	if b.job.Grow {
		return b.sealLogs(res)
	}
	var group errgroup.Group
	group.Go(func() (err error) { res.Full, err = finish(filepath.Join(b.job.Dir, fullFile)); return err })
	group.Go(func() (err error) { res.Standard, err = finish(filepath.Join(b.job.Dir, standardFile)); return err })
	err = group.Wait()
	b.mark("hash")
	return res, err
}

// countRelations counts the rows of each relation, which are as many in one file as in the other.
func (b *build) countRelations(ctx context.Context) (map[string]int64, error) {
	if b.job.Grow && b.job.Relations != nil {
		if !maps.Equal(b.more[0], b.more[1]) {
			return nil, fmt.Errorf("the full file got %v rows and the masked one %v", b.more[0], b.more[1])
		}
		counts := maps.Clone(b.job.Relations)
		for name, n := range b.more[0] {
			counts[name] += n
		}
		return counts, nil
	}
	var parts [2][]string
	for _, r := range relations() {
		for i, catalog := range []string{"f", "m"} {
			parts[i] = append(parts[i], "SELECT "+literal(r.name)+" AS name, count(*) AS n FROM "+catalog+"."+r.name)
		}
	}
	rows, err := b.conn.QueryContext(ctx, "SELECT f.name, f.n, m.n FROM ("+strings.Join(parts[0], " UNION ALL ")+") f JOIN ("+strings.Join(parts[1], " UNION ALL ")+") m USING (name)")
	if err != nil {
		return nil, fmt.Errorf("counting rows: %w", err)
	}
	defer rows.Close()
	counts := map[string]int64{}
	for rows.Next() {
		var name string
		var n, masked int64
		if err := rows.Scan(&name, &n, &masked); err != nil {
			return nil, err
		}
		if n != masked {
			return nil, fmt.Errorf("%s has %d rows in the full file and %d in the masked one", name, n, masked)
		}
		counts[name] = n
	}
	return counts, rows.Err()
}

// finish takes a file's write permission away and hashes it. DuckDB has synced it.
func finish(path string) (Built, error) {
	if err := os.Chmod(path, 0o444); err != nil {
		return Built{}, err
	}
	if _, err := os.Stat(path + ".wal"); err == nil {
		return Built{}, fmt.Errorf("%s still has a write-ahead log", filepath.Base(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return Built{}, err
	}
	defer f.Close() // only read
	h := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, make([]byte, 1<<20))
	if err != nil {
		return Built{}, err
	}
	return Built{Path: path, SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, nil
}

// writeFacts keeps what changed, as it came, one Parquet file a kind. The organisation's data can be built again from these alone.
func (b *build) writeFacts(ctx context.Context) ([]Built, error) {
	var all []Built
	for _, k := range record.Kinds() {
		n := b.counts[k].New + b.counts[k].Replaced
		if n == 0 {
			continue
		}
		path := filepath.Join(b.job.Dir, "facts", k.String()+".parquet")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := b.exec(ctx, fmt.Sprintf("COPY (SELECT * EXCLUDE (file, line, replaced) FROM c_%s) TO %s (FORMAT parquet, COMPRESSION zstd)", k, literal(path))); err != nil {
			return nil, err
		}
		built, err := finish(path)
		if err != nil {
			return nil, err
		}
		if err := syncFile(path); err != nil {
			return nil, err
		}
		built.Rows = n
		all = append(all, built)
	}
	return all, nil
}

// writeStored lists the documents that changed, with their files' hashes, for whoever serves the files. Without a hash: there is none any more.
func (b *build) writeStored(ctx context.Context) (_ string, err error) {
	rows, err := b.conn.QueryContext(ctx, "SELECT document_id, coalesce(sha256, ''), coalesce(bytes, 0), coalesce(filename, ''), coalesce(media_type, '') FROM n_documents")
	if err != nil {
		return "", fmt.Errorf("listing documents: %w", err)
	}
	defer rows.Close()
	path := filepath.Join(b.job.Dir, storedFile)
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	enc := json.NewEncoder(f)
	for rows.Next() {
		var s Stored
		if err := rows.Scan(&s.DocumentID, &s.SHA256, &s.Bytes, &s.Filename, &s.MediaType); err != nil {
			return "", err
		}
		if err := enc.Encode(s); err != nil {
			return "", err
		}
	}
	return path, rows.Err()
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
