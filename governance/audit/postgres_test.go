package audit_test

import (
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"bordereau/governance/audit"
	"bordereau/migrations"
	"bordereau/migrations/postgrestest"
)

// The other engine, from the same SQL text.
func TestPostgres(t *testing.T) {
	t.Parallel()
	dsn := postgrestest.Start(t)
	db, _, err := migrations.Open(t.Context(), dsn, migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	log, other := newLog(t, db), newLog(t, db)
	fill(t, log, "acme", 3)
	if err := log.Outcome(t.Context(), audit.Entry{Org: "acme", AuditID: "x", SQLAsked: "bad \xff \x00 text"}); err != nil {
		t.Error(err)
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for range 20 {
				if err := []*audit.Log{log, other}[i%2].Outcome(t.Context(), audit.Entry{Org: "acme", AuditID: "y", Subject: "bob", Bytes: 5}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if v, err := audit.Verify(t.Context(), db, "acme", ""); err != nil || v.Entries != 127 {
		t.Errorf("%+v %v", v, err)
	}
	s, err := log.Spent(t.Context(), audit.Scope{Org: "acme", Turn: "t1", Subject: "bob", Window: 24 * time.Hour})
	if err != nil || s.Turn.Queries != 3 || s.Person != (audit.Use{Queries: 120, Bytes: 600}) || s.Org.Queries != 124 {
		t.Errorf("%+v %v", s, err)
	}
	if list, err := log.List(t.Context(), audit.Filter{Org: "acme", Subject: "ann", Before: 5, Limit: 2}); err != nil || len(list) != 2 || list[0].Seq != 4 {
		t.Errorf("%+v %v", list, err)
	}
	t.Run("search", func(t *testing.T) { searches(t, log, "searched") })
	if n, err := audit.Export(t.Context(), db, "acme", io.Discard); err != nil || n != 127 {
		t.Errorf("%d %v", n, err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE audit_events SET rule = 'x' WHERE seq = 50"); err != nil {
		t.Fatal(err)
	}
	var broken *audit.BrokenError
	if _, err := audit.Verify(t.Context(), db, "acme", ""); !errors.As(err, &broken) || broken.Seq != 50 {
		t.Errorf("a changed entry: %v", err)
	}
}
