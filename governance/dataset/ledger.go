package dataset

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"bordereau/governance/dataset/generation"
)

// manifest is what is recorded of a generation. Paths are relative to the organisation's folder.
type manifest struct {
	Files     map[string]generation.Built `json:"files"` // by profile
	Relations map[string]int64            `json:"relations"`
	Churn     int64                       `json:"churn"` // rows of extracted_fields replaced since the files were last compact
	Masks     string                      `json:"masks,omitempty"`
}

type generationRow struct {
	seq       int64
	id        string
	createdAt int64
	manifest  manifest
	inForce   string // the masks in force when it was looked up
}

// ledger is the store's part of the governance database. Parameters stand in the order of their first use, for all drivers read them so.
type ledger struct{ db *sql.DB }

// org returns an organisation's key and current generation, making the organisation if need be.
func (l ledger) org(ctx context.Context, org string, now time.Time) (key []byte, current int64, err error) {
	fresh := make([]byte, 32)
	if _, err := rand.Read(fresh); err != nil {
		return nil, 0, err
	}
	_, err = l.db.ExecContext(ctx, "INSERT INTO dataset_orgs (org, mask_key, current, created_at) VALUES ($1, $2, 0, $3) ON CONFLICT (org) DO NOTHING",
		org, hex.EncodeToString(fresh), now.UnixMicro())
	if err != nil {
		return nil, 0, fmt.Errorf("recording organisation: %w", err)
	}
	var text string
	if err := l.db.QueryRowContext(ctx, "SELECT mask_key, current FROM dataset_orgs WHERE org = $1", org).Scan(&text, &current); err != nil {
		return nil, 0, fmt.Errorf("reading organisation: %w", err)
	}
	key, err = hex.DecodeString(text)
	return key, current, err
}

const selectGeneration = "SELECT g.seq, g.id, g.created_at, g.manifest, coalesce((SELECT masks FROM dataset_masks), '') FROM dataset_generations g "

// current returns the organisation's newest generation, or sql.ErrNoRows.
func (l ledger) current(ctx context.Context, org string) (generationRow, error) {
	return scanGeneration(l.db.QueryRowContext(ctx, selectGeneration+"JOIN dataset_orgs o ON o.org = g.org AND o.current = g.seq WHERE o.org = $1", org))
}

// generation returns one that isn't retired, or sql.ErrNoRows.
func (l ledger) generation(ctx context.Context, org, id string) (generationRow, error) {
	return scanGeneration(l.db.QueryRowContext(ctx, selectGeneration+"WHERE g.org = $1 AND g.id = $2 AND g.retired_at IS NULL", org, id))
}

type scanner interface{ Scan(...any) error }

func scanGeneration(row scanner) (g generationRow, err error) {
	var text string
	if err := row.Scan(&g.seq, &g.id, &g.createdAt, &text, &g.inForce); err != nil {
		return g, err
	}
	if err := json.Unmarshal([]byte(text), &g.manifest); err != nil {
		return g, fmt.Errorf("manifest of generation %s: %w", g.id, err)
	}
	return g, nil
}

// generations lists those that aren't retired, newest first.
func (l ledger) generations(ctx context.Context, org string) ([]generationRow, error) {
	rows, err := l.db.QueryContext(ctx, selectGeneration+"WHERE g.org = $1 AND g.retired_at IS NULL ORDER BY g.seq DESC", org)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []generationRow
	for rows.Next() {
		g, err := scanGeneration(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, rows.Err()
}

// ids tells of each generation that ever was whether it is retired.
func (l ledger) ids(ctx context.Context, org string) (map[string]bool, error) {
	rows, err := l.db.QueryContext(ctx, "SELECT id, retired_at IS NOT NULL FROM dataset_generations WHERE org = $1", org)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]bool{}
	for rows.Next() {
		var id string
		var retired bool
		if err := rows.Scan(&id, &retired); err != nil {
			return nil, err
		}
		all[id] = retired
	}
	return all, rows.Err()
}

func (l ledger) organisations(ctx context.Context) ([]Organisation, error) {
	rows, err := l.db.QueryContext(ctx, "SELECT o.org, g.id, g.created_at, g.manifest FROM dataset_orgs o JOIN dataset_generations g ON g.org = o.org AND g.seq = o.current ORDER BY o.org")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Organisation
	for rows.Next() {
		var o Organisation
		var at int64
		var text string
		if err := rows.Scan(&o.Org, &o.Generation, &at, &text); err != nil {
			return nil, err
		}
		var m manifest
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return nil, err
		}
		o.Published, o.Relations = time.UnixMicro(at).UTC(), m.Relations
		all = append(all, o)
	}
	return all, rows.Err()
}

// errMoved is returned when somebody else published meanwhile.
var errMoved = errors.New("another generation was published meanwhile")

// publish makes a generation the one to read, if prev still is. facts is nil when none came with it.
func (l ledger) publish(ctx context.Context, org string, prev int64, g generationRow, facts []generation.Built, stored string) (err error) {
	text, err := json.Marshal(g.manifest)
	if err != nil {
		return err
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // after a commit that failed it does nothing
		}
	}()
	moved, err := tx.ExecContext(ctx, "UPDATE dataset_orgs SET current = $1 WHERE org = $2 AND current = $3", g.seq, org, prev)
	if err != nil {
		return err
	}
	if n, err := moved.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errMoved, err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO dataset_generations (org, seq, id, manifest, created_at) VALUES ($1, $2, $3, $4, $5)",
		org, g.seq, g.id, string(text), g.createdAt); err != nil {
		return err
	}
	if facts != nil {
		text, err := json.Marshal(facts)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO dataset_facts (org, seq, manifest, created_at) VALUES ($1, $2, $3, $4)", org, g.seq, string(text), g.createdAt); err != nil {
			return err
		}
	}
	if err := storeDocuments(ctx, tx, org, stored); err != nil {
		return err
	}
	return tx.Commit()
}

// eachStored calls do for every document that a build lists.
func eachStored(path string, do func(generation.Stored) error) error {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var s generation.Stored
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return err
		}
		if err := do(s); err != nil {
			return err
		}
	}
	return lines.Err()
}

// documentFiles lists the files of the documents that a build lists.
func documentFiles(path string) ([]generation.Built, error) {
	var files []generation.Built
	err := eachStored(path, func(s generation.Stored) error {
		if s.SHA256 != "" {
			files = append(files, generation.Built{Path: documentPath(s.SHA256), SHA256: s.SHA256, Bytes: s.Bytes})
		}
		return nil
	})
	return files, err
}

// storeDocuments records where documents' files are, many rows a statement.
func storeDocuments(ctx context.Context, tx *sql.Tx, org, path string) error {
	const batch = 100
	var values []string
	var args []any
	flush := func() error {
		if len(values) == 0 {
			return nil
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO dataset_documents (org, document_id, sha256, bytes, filename, media_type) VALUES "+strings.Join(values, ", ")+
			" ON CONFLICT (org, document_id) DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes, filename = excluded.filename, media_type = excluded.media_type", args...)
		values, args = values[:0], args[:0]
		return err
	}
	err := eachStored(path, func(s generation.Stored) error {
		n := len(args)
		values = append(values, fmt.Sprintf("($%d, $%d, $%d, $%d, $%d, $%d)", n+1, n+2, n+3, n+4, n+5, n+6))
		args = append(args, org, s.DocumentID, s.SHA256, s.Bytes, s.Filename, s.MediaType)
		if len(values) == batch {
			return flush()
		}
		return nil
	})
	return errors.Join(err, flush())
}

func (l ledger) document(ctx context.Context, org, id string) (m DocumentMeta, err error) {
	m.DocumentID = id
	err = l.db.QueryRowContext(ctx, "SELECT sha256, bytes, filename, media_type FROM dataset_documents WHERE org = $1 AND document_id = $2 AND sha256 <> ''", org, id).
		Scan(&m.SHA256, &m.Bytes, &m.Filename, &m.MediaType)
	return m, err
}

// facts lists the facts of all imports, oldest first, with the generation that each came with.
func (l ledger) facts(ctx context.Context, org string) (seqs []int64, files [][]generation.Built, err error) {
	rows, err := l.db.QueryContext(ctx, "SELECT seq, manifest FROM dataset_facts WHERE org = $1 ORDER BY seq", org)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var text string
		if err := rows.Scan(&seq, &text); err != nil {
			return nil, nil, err
		}
		var built []generation.Built
		if err := json.Unmarshal([]byte(text), &built); err != nil {
			return nil, nil, err
		}
		seqs, files = append(seqs, seq), append(files, built)
	}
	return seqs, files, rows.Err()
}

func (l ledger) retire(ctx context.Context, org string, seq int64, now time.Time) error {
	_, err := l.db.ExecContext(ctx, "UPDATE dataset_generations SET retired_at = $1 WHERE org = $2 AND seq = $3 AND seq <> (SELECT current FROM dataset_orgs WHERE org = $2)",
		now.UnixMicro(), org, seq)
	return err
}
