package statement

import "context"

// Parser is DuckDB's own parser, in a process that can be killed when it hangs.
type Parser interface {
	// Parse returns what json_serialize_sql answers for sql.
	Parse(ctx context.Context, sql string) (tree []byte, err error)
	// Print returns the text of a tree that Parse could have returned, and what Parse answers for that text.
	Print(ctx context.Context, tree []byte) (sql string, again []byte, err error)
}
