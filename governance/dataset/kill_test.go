package dataset_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"bordereau/governance/dataset"
	"bordereau/migrations"
)

// importer is the process that the kill test kills: it imports one file and says so.
func importer(dir, org, path string, growAbove int64) int {
	ctx := context.Background()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	db, dialect, err := migrations.Open(ctx, filepath.Join(dir, "governance.db"), migrations.Governance)
	if err != nil {
		return fail(err)
	}
	self, err := os.Executable()
	if err != nil {
		return fail(err)
	}
	s, err := dataset.Open(dataset.Config{
		Dir: dir, DB: db, Dialect: dialect, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		Builder: dataset.Command{Path: self, Args: []string{"dataset-builder"}}, GrowAbove: growAbove,
	})
	if err != nil {
		return fail(err)
	}
	src, err := dataset.SourceOf(path)
	if err != nil {
		return fail(err)
	}
	if _, err := s.Import(ctx, org, src); err != nil {
		return fail(err)
	}
	return 0
}

func check(t *testing.T, p dataset.Pinned) {
	t.Helper()
	sum := hashOf(t, p.Path)
	if _, err := os.Stat(p.Path + ".wal"); err == nil {
		both := sha256.Sum256([]byte(sum + hashOf(t, p.Path+".wal")))
		sum = hex.EncodeToString(both[:])
	}
	if sum != p.SHA256 {
		t.Errorf("%s doesn't have the hash it was published with", p.Generation)
	}
}

func hashOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("%s: %v %v", path, info.Mode(), err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// An importer and its builder are killed again and again, at every twentieth of their life and at random; each time the last good generation is
// there, whole, and the same import then goes through.
func TestKilledImportsLeaveTheLastGeneration(t *testing.T) {
	t.Parallel()
	t.Run("files of their own", func(t *testing.T) { t.Parallel(); killImports(t, 0) })
	t.Run("logs", func(t *testing.T) { t.Parallel(); killImports(t, 1) })
}

func killImports(t *testing.T, growAbove int64) {
	t.Helper()
	dir := t.TempDir()
	s, _ := openGrowing(t, dir, growAbove)
	importFile(t, s, sample(t, t.TempDir(), 2))
	importFile(t, s, write(t, "edit.ndjson", `{"type":"edit","id":"E-k","field_id":"F-R-D-1-0-3-vin","from":"a","to":"b","by":"kim","source":"human","at":"2026-08-01T00:00:00Z"}`))
	const count = "SELECT count(*), count(DISTINCT submission_id), count(*) FILTER (edited) FROM extracted_fields"
	before := ask(t, s, dataset.Standard, count)
	next := sample(t, t.TempDir(), 12)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(org string, kill time.Duration) (took time.Duration, finished bool) {
		cmd := exec.CommandContext(t.Context(), self, "test-importer", dir, org, next, fmt.Sprint(growAbove))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if kill > 0 {
			timer := time.AfterFunc(kill, func() {
				target := cmd.Process.Pid // alone, so that its builder is orphaned, or with its builder
				if kill%2 == 0 {
					target = -target
				}
				_ = syscall.Kill(target, syscall.SIGKILL)
			})
			defer timer.Stop()
		}
		err := cmd.Wait()
		return time.Since(began), err == nil
	}
	life, _ := run("other", 0)
	points := make([]time.Duration, 0, 24)
	for i := range 20 { // many, since a machine that others leave in peace meanwhile is faster than life says
		points = append(points, life*time.Duration(i+1)/20)
	}
	for range 4 {
		points = append(points, time.Duration(rand.Int64N(int64(life))))
	}
	slices.Sort(points) // the early ones first: the import that finishes is the last
	killed := 0
	for i, at := range points {
		if _, finished := run("acme", at|time.Duration(i%2)); finished {
			break
		}
		killed++
		p, release, err := s.Pin(t.Context(), "acme", dataset.Standard)
		if err != nil {
			t.Fatalf("after kill %d: %v", i, err)
		}
		check(t, p)
		got := ask(t, s, dataset.Standard, count)
		release()
		if got[0] == before[0] {
			continue
		}
		if n := ask(t, s, dataset.Standard, "SELECT count(DISTINCT submission_id) FROM extracted_fields"); n[0] != "12" {
			t.Fatalf("after kill %d a part of the import is visible: %s", i, got)
		}
		break // it was killed after it had published
	}
	if killed < 5 {
		t.Errorf("only %d imports were killed", killed)
	}
	t.Logf("killed %d of an import that takes %v", killed, life)
	importFile(t, s, next)
	want(t, ask(t, s, dataset.Standard, "SELECT count(*), (SELECT count(*) FROM field_edits WHERE edit_id = 'E-k') FROM submissions"), "12|1")
	left, err := os.ReadDir(filepath.Join(dir, "orgs", "acme", "generations"))
	if err != nil || len(left) > 4 {
		t.Errorf("%d generations on disk, %v", len(left), err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "orgs", "acme", "building")); err != nil || len(left) != 0 {
		t.Errorf("left in building: %v %v", left, err)
	}
	if _, err := s.Rebuild(t.Context(), "acme"); err != nil {
		t.Errorf("the facts: %v", err)
	}
}
