package gate_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"bordereau/governance/audit"
	"bordereau/governance/duck/ducktest"
	"bordereau/governance/gate"
	"bordereau/governance/statement"
)

func TestPhases(t *testing.T) {
	if os.Getenv("PHASES") == "" {
		return
	}
	path := ducktest.Generation(t, "acme", false, 5000)
	h := newHouse(t, map[string]string{"acme/full": path}, options{policy: unbudgeted})
	r, _ := statement.New(statement.Config{Parser: h.pool})
	sql := "SELECT submission_id, insured_name, status, received_at FROM submissions WHERE submission_id = 'S-7'"
	m := map[string][]time.Duration{}
	var pr *statement.Statement
	for i := range 300 {
		t0 := time.Now()
		s, err := r.Read(t.Context(), sql)
		if err != nil {
			t.Fatal(err)
		}
		t1 := time.Now()
		pr, err = r.Rewrite(t.Context(), s, nil, 1000)
		if err != nil {
			t.Fatal(err)
		}
		t2 := time.Now()
		var out table
		_, err = h.pool.Run(t.Context(), gate.Job{Org: "acme", Path: path, SQL: pr.SQL, Timeout: time.Second, MaxRows: 1000, MaxBytes: 1 << 20, Memory: 512 << 20}, &out)
		t3 := time.Now()
		_ = h.log.Asked(t.Context(), audit.Entry{Org: "acme", AuditID: fmt.Sprint(i), SQLAsked: sql})
		t4 := time.Now()
		_ = h.log.Outcome(t.Context(), audit.Entry{Org: "acme", Subject: "ann", AuditID: fmt.Sprint(i), SQLAsked: sql})
		t5 := time.Now()
		_, _ = h.log.Spent(t.Context(), audit.Scope{Org: "acme", Subject: "ann", Window: 24 * time.Hour})
		t6 := time.Now()
		m["read"] = append(m["read"], t1.Sub(t0))
		m["rewrite"] = append(m["rewrite"], t2.Sub(t1))
		m["run"] = append(m["run"], t3.Sub(t2))
		m["asked"] = append(m["asked"], t4.Sub(t3))
		m["outcome"] = append(m["outcome"], t5.Sub(t4))
		m["spent"] = append(m["spent"], t6.Sub(t5))
	}
	for k, v := range m {
		slices.Sort(v)
		t.Log(k, v[len(v)/2], v[len(v)*9/10])
	}
}
