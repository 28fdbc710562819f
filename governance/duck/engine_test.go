package duck

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == WorkerCommand {
		os.Exit(WorkerMain())
	}
	os.Exit(m.Run())
}

type collect struct {
	columns []column
	names   []string
	data    []byte
}

func (c *collect) head(columns []column, names []string) error {
	c.columns, c.names = columns, names
	return nil
}
func (c *collect) rows(b []byte) error { c.data = append(c.data, b...); return nil }

func TestEngine(t *testing.T) {
	e, err := openEngine(openRequest{Memory: 256 << 20, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.text("SELECT json_serialize_sql(?::VARCHAR)::VARCHAR", "SELECT 1")
	t.Log(s, err)
	var c collect
	d, err := e.query(queryRequest{SQL: "SELECT range AS a, 'x' AS b FROM range(5000)", MaxRows: 10000, MaxBytes: 1 << 30}, &c)
	t.Log(d, err, c.names, len(c.data))
}
