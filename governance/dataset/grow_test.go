package dataset_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"bordereau/governance/dataset"
	"bordereau/migrations"
)

func edit(t *testing.T, id, to string) string {
	t.Helper()
	return write(t, "edit.ndjson", fmt.Sprintf(`{"type":"edit","id":%q,"field_id":"F-R-D-1-1-3-ssn","from":"987-65-0013","to":%q,"by":"kim","source":"human","at":"2026-08-01T00:00:00Z"}`, id, to))
}

// Small imports into a large organisation leave its files as they are: the generations share them and differ in their logs.
func TestSmallImportsGrowALog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := openGrowing(t, dir, 1)
	importFile(t, s, sample(t, t.TempDir(), 3))
	first, release, err := s.Pin(t.Context(), "acme", dataset.Standard)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var last dataset.Pinned
	for i := range 3 {
		if res := importFile(t, s, edit(t, fmt.Sprintf("E-s%d", i), fmt.Sprintf("111-22-333%d", i))); !res.Changed {
			t.Fatalf("%+v", res)
		}
		var done func()
		if last, done, err = s.Pin(t.Context(), "acme", dataset.Standard); err != nil {
			t.Fatal(err)
		}
		defer done()
		check(t, last)
		if !sameFile(t, first.Path, last.Path) {
			t.Error("the file was copied")
		}
		log, err := os.ReadFile(last.Path + ".wal")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(log), "111-22") || strings.Contains(string(log), "987-65") {
			t.Error("the masked profile's log holds an SSN")
		}
	}
	want(t, ask(t, s, dataset.Full, "SELECT value, edit_count FROM extracted_fields WHERE field_id = 'F-R-D-1-1-3-ssn'"), "111-22-3332|3")
	want(t, ask(t, s, dataset.Standard, "SELECT value LIKE '***3332~%', edit_count FROM extracted_fields WHERE field_id = 'F-R-D-1-1-3-ssn'"), "true|3")
	check(t, first)

	var refused *dataset.ImportError
	path := write(t, "none.ndjson", `{"type":"edit","id":"E-0","field_id":"F-none","from":"a","to":"b","by":"kim","source":"human","at":"2026-08-01T00:00:00Z"}`)
	if _, err := s.Import(t.Context(), "acme", dataset.Source{Files: []dataset.File{{Path: path, Name: "none.ndjson", Format: "ndjson"}}}); !errors.As(err, &refused) {
		t.Errorf("an edit of no field: %v", err)
	}

	// The files of before go only when nobody reads them; what is linked stays.
	release()
	if _, err := s.Retire(t.Context(), "acme", 1); err != nil {
		t.Fatal(err)
	}
	check(t, last)
	importFile(t, s, edit(t, "E-s9", "111-22-3339"))
	want(t, ask(t, s, dataset.Full, "SELECT value FROM extracted_fields WHERE field_id = 'F-R-D-1-1-3-ssn'"), "111-22-3339")

	// A twin that was touched or lost is made again.
	twins, err := filepath.Glob(filepath.Join(dir, "orgs", "acme", "twins", "*"))
	if err != nil || len(twins) < 2 {
		t.Fatal(twins, err)
	}
	if keys, err := filepath.Glob(filepath.Join(dir, "orgs", "acme", "twins", "*.keys")); err != nil || len(keys) != 1 {
		t.Error(keys, err)
	}
	for _, twin := range twins {
		if err := os.Remove(twin); err != nil {
			t.Fatal(err)
		}
	}
	importFile(t, s, edit(t, "E-t1", "111-22-3330"))
	if keys, err := filepath.Glob(filepath.Join(dir, "orgs", "acme", "twins", "*.keys")); err != nil || len(keys) != 1 {
		t.Error(keys, err)
	}
	want(t, ask(t, s, dataset.Full, "SELECT value FROM extracted_fields WHERE field_id = 'F-R-D-1-1-3-ssn'"), "111-22-3330")

	// Twins and their keys are for builders only: damaged at the head or in the middle, they are made anew and no import is refused.
	for i, of := range []struct {
		pattern string
		at      int64
	}{{"*.keys", 0}, {"*.keys", 20 << 10}, {"*[0-9a-f]", 0}} {
		files, err := filepath.Glob(filepath.Join(dir, "orgs", "acme", "twins", of.pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(of, files, err)
		}
		damage(t, files[0], of.at)
		ssn := fmt.Sprintf("111-22-334%d", i)
		importFile(t, s, edit(t, fmt.Sprint("E-u", i), ssn))
		want(t, ask(t, s, dataset.Full, "SELECT value FROM extracted_fields WHERE field_id = 'F-R-D-1-1-3-ssn'"), ssn)
	}
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(x, y)
}

// Replicas fetch a file that generations share once, and keep what others read from being retired.
func TestReplicasShareAFileAndItsLogs(t *testing.T) {
	t.Parallel()
	bucket := memblob.OpenBucket(nil)
	t.Cleanup(func() { _ = bucket.Close() })
	db, dialect, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "governance.db"), migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	now := time.Now()
	replica := func() *dataset.Store {
		s, err := dataset.Open(dataset.Config{
			Dir: t.TempDir(), DB: db, Dialect: dialect, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, Builder: builder(t), Bucket: bucket, GrowAbove: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, b := replica(), replica()
	importFile(t, a, sample(t, t.TempDir(), 2))
	importFile(t, a, edit(t, "E-1", "111-22-3331"))
	one, done, err := b.Pin(t.Context(), "acme", dataset.Full)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	check(t, one)
	importFile(t, a, edit(t, "E-2", "111-22-3332"))
	two, done2, err := b.Pin(t.Context(), "acme", dataset.Full)
	if err != nil {
		t.Fatal(err)
	}
	defer done2()
	check(t, two)
	if !sameFile(t, one.Path, two.Path) {
		t.Error("the shared file was fetched twice")
	}
	want(t, ask(t, b, dataset.Full, "SELECT value FROM extracted_fields WHERE field_id = 'F-R-D-1-1-3-ssn'"), "111-22-3332")
	importFile(t, b, edit(t, "E-3", "111-22-3333")) // the other one goes on
	want(t, ask(t, a, dataset.Standard, "SELECT value LIKE '***3333~%' FROM extracted_fields WHERE field_id = 'F-R-D-1-1-3-ssn'"), "true")

	gone, err := a.Retire(t.Context(), "acme", 1)
	if err != nil || len(gone.Pinned) < 2 {
		t.Errorf("what another replica reads was retired: %+v %v", gone, err)
	}
	if again, done3, err := b.PinGeneration(t.Context(), "acme", dataset.Standard, one.Generation); err != nil {
		t.Errorf("the other profile of a leased generation: %v", err)
	} else {
		check(t, again)
		done3()
	}
	now = now.Add(5 * time.Hour)
	if gone, err = a.Retire(t.Context(), "acme", 1); err != nil || len(gone.Pinned) > 0 {
		t.Errorf("%+v %v", gone, err)
	}
	c := replica() // knows nothing yet, and finds what the newest generation shares with those that are gone
	want(t, ask(t, c, dataset.Full, "SELECT value FROM extracted_fields WHERE field_id = 'F-R-D-1-1-3-ssn'"), "111-22-3333")
}

// damage overwrites all of a file from a place on.
func damage(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, int(info.Size()-at)), at); err != nil {
		t.Fatal(err)
	}
}
