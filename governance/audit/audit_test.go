package audit_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"bordereau/governance/audit"
	"bordereau/migrations/storetest"
)

// TestLog is what a log does, on each engine.
func TestLog(t *testing.T) {
	t.Parallel()
	storetest.Each(t, map[string]func(*testing.T, storetest.Open){
		"verify": verifyHolds, "attacks": verifyFinds, "replicas at once": chainUnderConcurrency, "caller leaves": recordSurvivesACallerThatLeaves,
		"spent, list, export": spentListExport, "search": searchAndVerify, "search in windows": searchInWindows,
	})
}

func open(t *testing.T, fresh storetest.Open) (*sql.DB, *audit.Log) {
	t.Helper()
	db := fresh(t)
	return db, newLog(t, db)
}

func newLog(t *testing.T, db *sql.DB) *audit.Log {
	t.Helper()
	log, err := audit.New(t.Context(), audit.Config{DB: db, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func fill(t *testing.T, log *audit.Log, org string, n int) {
	t.Helper()
	for i := range n {
		e := audit.Entry{Org: org, AuditID: fmt.Sprint("q", i), Subject: "ann", Turn: "t1", SQLAsked: "SELECT 1", Relations: []string{"submissions"}}
		if err := log.Asked(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		e.Run, e.Bytes, e.Outcome = 2*time.Millisecond, 10, audit.Answered
		if err := log.Outcome(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func verifyHolds(t *testing.T, fresh storetest.Open) {
	t.Helper()
	db, log := open(t, fresh)
	fill(t, log, "acme", 5)
	fill(t, log, "globex", 2)
	v, err := audit.Verify(t.Context(), db, "acme", "")
	if err != nil || v.Entries != 10 || v.Hash == "" {
		t.Fatalf("%+v %v", v, err)
	}
	fill(t, log, "acme", 1)
	if _, err := audit.Verify(t.Context(), db, "acme", v.Hash); err != nil {
		t.Errorf("an anchor that the chain holds: %v", err)
	}
	if _, err := audit.Verify(t.Context(), db, "acme", "other"); err == nil {
		t.Error("an anchor that the chain doesn't hold passed")
	}
	if v, err := audit.Verify(t.Context(), db, "nobody", ""); err != nil || v.Entries != 0 {
		t.Errorf("empty chain: %+v %v", v, err)
	}
}

func verifyFinds(t *testing.T, fresh storetest.Open) {
	t.Helper()
	for name, attack := range map[string]string{
		"changed":           `UPDATE audit_events SET sql_asked = 'SELECT 2' WHERE org = 'acme' AND seq = 4`,
		"a number changed":  `UPDATE audit_events SET row_count = 5 WHERE org = 'acme' AND seq = 4`,
		"moved a character": `UPDATE audit_events SET role = 'xann', subject = '' WHERE org = 'acme' AND seq = 3`,
		"dropped":           `DELETE FROM audit_events WHERE org = 'acme' AND seq = 4`,
		"dropped the first": `DELETE FROM audit_events WHERE org = 'acme' AND seq = 1`,
		"dropped the last":  `DELETE FROM audit_events WHERE org = 'acme' AND seq = 10`,
		"dropped all":       `DELETE FROM audit_events WHERE org = 'acme'`,
		"reordered":         `UPDATE audit_events SET seq = CASE seq WHEN 3 THEN -3 WHEN 5 THEN 3 END WHERE org = 'acme' AND seq IN (3, 5); UPDATE audit_events SET seq = 5 WHERE seq = -3`,
		"from another org":  `DELETE FROM audit_events WHERE org = 'acme' AND seq = 2; UPDATE audit_events SET org = 'acme' WHERE org = 'globex' AND seq = 2`,
		"head dropped":      `DELETE FROM audit_heads WHERE org = 'acme'`,
		"last rewritten":    `UPDATE audit_events SET hash = 'x', rule = 'y' WHERE org = 'acme' AND seq = 10`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, log := open(t, fresh)
			fill(t, log, "acme", 5)
			fill(t, log, "globex", 5)
			if _, err := db.ExecContext(t.Context(), attack); err != nil {
				t.Fatal(err)
			}
			_, err := audit.Verify(t.Context(), db, "acme", "")
			if _, ok := errors.AsType[*audit.BrokenError](err); !ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func chainUnderConcurrency(t *testing.T, fresh storetest.Open) {
	t.Helper()
	db, log := open(t, fresh)
	other := newLog(t, db) // a second replica
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			l := log
			if i%2 == 1 {
				l = other
			}
			for range 25 {
				if err := l.Asked(t.Context(), audit.Entry{Org: "acme", AuditID: "x"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if v, err := audit.Verify(t.Context(), db, "acme", ""); err != nil || v.Entries != 200 {
		t.Errorf("%+v %v", v, err)
	}
}

func recordSurvivesACallerThatLeaves(t *testing.T, fresh storetest.Open) {
	t.Helper()
	db, log := open(t, fresh)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := log.Outcome(ctx, audit.Entry{Org: "acme", AuditID: "x", SQLAsked: "bad \xff \x00 text"}); err != nil {
		t.Fatal(err)
	}
	if v, err := audit.Verify(t.Context(), db, "acme", ""); err != nil || v.Entries != 1 {
		t.Errorf("%+v %v", v, err)
	}
}

func spentListExport(t *testing.T, fresh storetest.Open) {
	t.Helper()
	db, log := open(t, fresh)
	fill(t, log, "acme", 3)
	s, err := log.Spent(t.Context(), audit.Scope{Org: "acme", Turn: "t1", Subject: "ann", Window: 24 * time.Hour})
	want := audit.Use{Queries: 3, Run: 6 * time.Millisecond, Bytes: 30}
	if err != nil || s.Turn != want || s.Person != want || s.Org != want {
		t.Errorf("spent %+v %v", s, err)
	}
	if s, err := log.Spent(t.Context(), audit.Scope{Org: "globex", Turn: "t1", Subject: "ann", Window: 24 * time.Hour}); err != nil || s != (audit.Spent{}) {
		t.Errorf("another organisation's %+v %v", s, err)
	}
	list, err := log.List(t.Context(), audit.Filter{Org: "acme", Event: audit.Outcome, Outcome: audit.Answered, Limit: 2})
	if err != nil || len(list) != 2 || list[0].Seq != 6 || list[1].Seq != 4 || list[0].Relations[0] != "submissions" {
		t.Errorf("list %+v %v", list, err)
	}
	var b bytes.Buffer
	n, err := audit.Export(t.Context(), db, "acme", &b)
	if err != nil || n != 6 || bytes.Count(b.Bytes(), []byte("\n")) != 6 {
		t.Errorf("export %d %v", n, err)
	}
	var e audit.Entry
	if err := json.Unmarshal(bytes.SplitN(b.Bytes(), []byte("\n"), 2)[0], &e); err != nil || e.Seq != 1 || e.Event != audit.Asked {
		t.Errorf("first line %+v %v", e, err)
	}
}
