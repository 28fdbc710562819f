package export

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
)

const selectHead = `SELECT format, row_count, bytes, sha256, parts FROM exports WHERE org = $1 AND turn = $2 AND id = $3 AND expires_at > $4`

// Open returns an export of that turn and its whole content, which the caller closes.
func (s *Store) Open(ctx context.Context, org, turn, id string) (Export, io.ReadCloser, error) {
	e := Export{ID: id}
	err := s.c.DB.QueryRowContext(ctx, selectHead, org, turn, id, s.c.Now().UnixMicro()).Scan(&e.Format, &e.Rows, &e.Bytes, &e.SHA256, &e.Parts)
	if errors.Is(err, sql.ErrNoRows) {
		return e, nil, ErrNotFound
	}
	if err != nil {
		return e, nil, fmt.Errorf("reading an export: %w", err)
	}
	r, err := s.c.Bucket.NewReader(ctx, prefix+id, nil)
	if err != nil {
		return e, nil, fmt.Errorf("reading an export: %w", err)
	}
	return e, r, nil
}
