package spent_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bordereau/governance/spent"
	"bordereau/migrations/storetest"
)

func TestEachProofIsSpentOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, map[string]func(*testing.T, storetest.Open){"once": spentOnce})
}

func spentOnce(t *testing.T, open storetest.Open) {
	t.Helper()
	db := open(t)
	var clock atomic.Int64
	clock.Store(1_000_000)
	now := func() time.Time { return time.Unix(clock.Load(), 0) }
	replicas := make([]*spent.Store, 2)
	for n := range replicas {
		var err error
		if replicas[n], err = spent.New(db, now); err != nil {
			t.Fatal(err)
		}
	}
	var fresh atomic.Int32
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			ok, err := replicas[n%2].Spend(t.Context(), "one", now().Add(time.Minute))
			if err != nil {
				t.Error(err)
			}
			if ok {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	if fresh.Load() != 1 {
		t.Fatalf("one proof was fresh %d times", fresh.Load())
	}
	clock.Add(61 * 2)
	if ok, err := replicas[0].Spend(t.Context(), "two", now().Add(time.Minute)); err != nil || !ok {
		t.Fatal(ok, err)
	}
	var left int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM spent_proofs`).Scan(&left); err != nil || left != 1 {
		t.Fatalf("%d left, %v; the old one is forgotten", left, err)
	}
}
