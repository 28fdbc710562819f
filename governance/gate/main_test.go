package gate_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"bordereau/governance/audit"
	"bordereau/governance/duck"
	"bordereau/governance/gate"
	"bordereau/governance/policy"
	"bordereau/governance/statement"
	"bordereau/migrations"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == duck.WorkerCommand {
		os.Exit(duck.WorkerMain())
	}
	os.Exit(m.Run())
}

// house is a gate with everything real about it.
type house struct {
	*gate.Gate
	log    *audit.Log
	pool   *duck.Pool
	reader *statement.Reader
	db     *sql.DB
	files  map[string]string // by organisation and profile
}

func (h *house) Pin(_ context.Context, org, profile, generation string) (gate.Pinned, func(), error) {
	path, ok := h.files[org+"/"+profile]
	if !ok || generation != "" && generation != filepath.Base(path) {
		return gate.Pinned{}, nil, fmt.Errorf("no data of %s", org)
	}
	return gate.Pinned{Generation: filepath.Base(path), Path: path, SHA256: "00"}, func() {}, nil
}

type options struct {
	policy    string // YAML, "" for the default
	catalogue policy.Catalogue
	duck      duck.Config
	recorder  gate.Recorder
	db        string
}

func newHouse(t testing.TB, files map[string]string, o options) *house {
	t.Helper()
	if o.catalogue == nil {
		o.catalogue = policy.Relations()
	}
	p, err := policy.Default(o.catalogue)
	if o.policy != "" {
		p, err = policy.Parse("test.yaml", []byte(o.policy), o.catalogue)
	}
	if err != nil {
		t.Fatal(err)
	}
	if o.db == "" {
		o.db = filepath.Join(t.TempDir(), "governance.db")
	}
	db, _, err := migrations.Open(t.Context(), o.db, migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	log, err := audit.New(t.Context(), audit.Config{DB: db, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	o.duck.Log = slog.New(slog.DiscardHandler)
	pool, err := duck.New(o.duck)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	reader, err := statement.New(statement.Config{Parser: pool})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{log: log, pool: pool, reader: reader, db: db, files: files}
	var n atomic.Int64
	c := gate.Config{
		Reader: reader, Policy: p, Pinner: h, Runner: pool, Recorder: log, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		NewID: func() string { return fmt.Sprintf("q-%d", n.Add(1)) },
	}
	if o.recorder != nil {
		c.Recorder = o.recorder
	}
	if h.Gate, err = gate.New(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return h
}

func asker(org, role string) gate.Principal {
	return gate.Principal{Org: org, Subject: "ann", Role: role, Via: "cli"}
}

// table keeps an answer.
type table struct {
	columns []gate.Column
	rows    [][]any
}

func (a *table) Begin(c []gate.Column) error { a.columns = c; return nil }
func (a *table) Row(v []any) error           { a.rows = append(a.rows, v); return nil }
