package generation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

func (b *build) exec(ctx context.Context, query string) error { return execOn(ctx, b.conn, query) }

func execOn(ctx context.Context, conn *sql.Conn, query string) error {
	_, err := changeOn(ctx, conn, query)
	return err
}

// changeOn tells how many rows changed.
func changeOn(ctx context.Context, conn *sql.Conn, query string) (int64, error) {
	res, err := conn.ExecContext(ctx, query)
	if err != nil {
		return 0, wrapSQL("building", query, err)
	}
	return res.RowsAffected()
}

func (b *build) count(ctx context.Context, query string) (n int64, err error) {
	if err := b.conn.QueryRowContext(ctx, query).Scan(&n); err != nil {
		return 0, wrapSQL("counting", query, err)
	}
	return n, nil
}

// wrapSQL names the beginning of the statement that failed. Statements hold no data but the key's, and that comes later in its one.
func wrapSQL(doing, query string, err error) error {
	const most = 60
	query = strings.Join(strings.Fields(query), " ")
	return fmt.Errorf("%s: %s: %w", doing, query[:min(len(query), most)], err)
}

// redacted hides the text of an error that could quote the key.
func redacted(error) error { return errors.New("DuckDB refused one") }
