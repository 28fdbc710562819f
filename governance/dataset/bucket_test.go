package dataset_test

import (
	"database/sql"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gocloud.dev/blob/memblob"

	"bordereau/governance/dataset"
	"bordereau/governance/fault"
	"bordereau/migrations"
)

// Two replicas with folders of their own share a database and a bucket.
func TestReplicasShareABucket(t *testing.T) {
	t.Parallel()
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	db, dialect, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "governance.db"), migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	now := time.Now()
	replica := func(db *sql.DB) (*dataset.Store, string) {
		dir := t.TempDir()
		s, err := dataset.Open(dataset.Config{Dir: dir, DB: db, Dialect: dialect, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, Builder: builder(t), Bucket: bucket})
		if err != nil {
			t.Fatal(err)
		}
		return s, dir
	}
	a, _ := replica(db)
	b, dirB := replica(db)
	importFile(t, a, sample(t, t.TempDir(), 2))
	p, release, err := b.Pin(t.Context(), "acme", dataset.Standard)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	check(t, p)
	// The other replica goes on from what the first one published, and the first one sees that.
	importFile(t, b, write(t, "e.ndjson", `{"type":"submission","id":"S-b","workflow":"W","status":"received","received_at":"2026-08-02T00:00:00Z"}`))
	want(t, ask(t, a, dataset.Full, "SELECT count(*) FROM submissions"), "3")
	f, _, err := b.Document(t.Context(), "acme", "D-0-0")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := io.ReadAll(f); err != nil || string(text) != "document D-0-0" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := b.Rebuild(t.Context(), "acme"); err != nil {
		t.Errorf("rebuilding from facts in the bucket: %v", err)
	}
	if diff := cmp.Diff(everything(t, a, dataset.Standard), everything(t, b, dataset.Standard)); diff != "" {
		t.Error(diff)
	}
	// What was changed in the bucket is not used.
	c, _ := replica(db)
	newest, release2, err := a.Pin(t.Context(), "acme", dataset.Full)
	if err != nil {
		t.Fatal(err)
	}
	defer release2()
	key := "orgs/acme/generations/" + newest.Generation + "/full.duckdb"
	good, err := bucket.ReadAll(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	good[len(good)/2] ^= 1
	if err := bucket.WriteAll(t.Context(), key, good, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Pin(t.Context(), "acme", dataset.Full); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a changed object was used: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dirB, "orgs", "acme", "generations", "*", ".fetch-*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	now = now.Add(5 * time.Hour) // what the others read is theirs for a while
	if _, err := a.Retire(t.Context(), "acme", 1); err != nil {
		t.Fatal(err)
	}
	if ok, err := bucket.Exists(t.Context(), "orgs/acme/generations/"+p.Generation+"/standard.duckdb"); ok || err != nil {
		t.Errorf("retired, but still in the bucket: %v %v", ok, err)
	}
	if _, err := os.Stat(p.Path); err != nil {
		t.Errorf("the other replica's pinned file: %v", err)
	}
}
