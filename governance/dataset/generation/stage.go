package generation

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"

	"github.com/duckdb/duckdb-go/v2"

	"bordereau/governance/dataset/record"
)

// errEnough ends reading when there are problems enough.
var errEnough = errors.New("too many problems")

// stager puts the records of an import into staging tables.
type stager struct {
	input     Input
	index     int
	documents *documentStore
	appenders [5]*duckdb.Appender
	row       []driver.Value
	problems  []record.Problem
}

// stageFiles reads all files of an import into staging tables.
func (b *build) stageFiles(ctx context.Context) error {
	docs, err := newDocumentStore(b.job.Documents)
	if err != nil {
		return err
	}
	for _, k := range record.Kinds() {
		if err := b.exec(ctx, stageDDL(k)); err != nil {
			return err
		}
	}
	st := &stager{documents: docs}
	err = b.conn.Raw(func(c any) error {
		conn, ok := c.(driver.Conn)
		if !ok {
			return errors.New("not a driver connection")
		}
		for _, k := range record.Kinds() {
			a, err := duckdb.NewAppender(conn, "", "", stage(k))
			if err != nil {
				return fmt.Errorf("staging %s: %w", k, err)
			}
			st.appenders[k] = a
		}
		return nil
	})
	if err == nil {
		err = b.readFiles(ctx, st)
	}
	for _, a := range st.appenders {
		if a != nil {
			err = errors.Join(err, a.Close())
		}
	}
	b.problems = append(b.problems, st.problems...)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return errors.Join(err, docs.close(ctx))
}

func (b *build) readFiles(ctx context.Context, st *stager) error {
	for i, in := range b.job.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		st.input, st.index = in, i
		if in.Format == "parquet" {
			if err := readParquet(ctx, b.db, in, st); err != nil {
				return err
			}
			continue
		}
		if err := readFile(in, st); err != nil {
			return err
		}
	}
	return nil
}

func readFile(in Input, sink record.Sink) error {
	f, err := os.Open(in.Path)
	if err != nil {
		return sink.Problem(record.Problem{File: in.Name, Message: "the file can't be opened: " + errno(err)})
	}
	defer f.Close() // only read
	switch in.Format {
	case "ndjson":
		return record.ReadNDJSON(in.Name, f, sink)
	case "csv":
		return record.ReadCSV(in.Name, f, sink)
	case "xlsx":
		return record.ReadXLSX(in.Name, f, sink)
	}
	return fmt.Errorf("no reader for the format %q", in.Format)
}

// errno is the reason of a file error without the path, which is the server's.
func errno(err error) string {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// Record implements record.Sink.
func (st *stager) Record(r record.Record) error {
	st.row = append(st.row[:0], int32(st.index), int64(r.Row))
	for _, v := range r.Values {
		st.row = append(st.row, v)
	}
	if r.Kind == record.Document {
		path := r.Text("path")
		last := len(st.row) - 1
		st.row[last] = nil
		st.row = append(st.row, nil)
		if path != "" {
			sum, size, why, err := st.documents.keep(st.input.Documents, path)
			if err != nil {
				return err
			}
			if why != "" {
				return st.Problem(record.Problem{File: st.input.Name, Row: r.Row, Column: "path", Message: why})
			}
			st.row[last], st.row[last+1] = sum, size
		}
	}
	return st.appenders[r.Kind].AppendRow(st.row...)
}

// Problem implements record.Sink.
func (st *stager) Problem(p record.Problem) error {
	st.problems = append(st.problems, p)
	if len(st.problems) >= maxProblems {
		return errEnough
	}
	return nil
}

// readParquet reads a Parquet file with DuckDB. Its columns are called like the keys.
func readParquet(ctx context.Context, db *sql.DB, in Input, sink record.Sink) error {
	rows, err := db.QueryContext(ctx, "SELECT * FROM read_parquet("+literal(in.Path)+")")
	if err != nil {
		return sink.Problem(record.Problem{File: in.Name, Message: "not a Parquet file that can be read"})
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	table, err := record.NewTable(in.Name, stem(in.Name), 0, names, sink)
	if table == nil {
		return err
	}
	values := make([]any, len(names))
	targets := make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	cells := make([]record.Cell, len(names))
	n := 0
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		n++
		for i, v := range values {
			cells[i] = parquetCell(v)
		}
		if err := table.Row(n, cells); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return sink.Problem(record.Problem{File: in.Name, Row: n + 1, Message: "the Parquet file is damaged"})
	}
	return nil
}
