package audit_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"bordereau/governance/audit"
	"bordereau/migrations"
)

// The other engine, from the same SQL text.
func TestPostgres(t *testing.T) {
	t.Parallel()
	dsn := postgres(t)
	db, _, err := migrations.Open(t.Context(), dsn, migrations.Governance)
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); { // it is starting
		db, _, err = migrations.Open(t.Context(), dsn, migrations.Governance)
	}
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

// postgres starts a private server that ends with the test, as a user without rights.
func postgres(t *testing.T) string {
	t.Helper()
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		t.Fatal("initdb is needed (Debian package postgresql)")
	}
	bin := slices.Max(bins)
	dir, err := os.MkdirTemp("", "bordereau-audit-") // not in the test's own folder, which the server's user can't reach
	if err != nil {
		t.Fatal(err)
	}
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2, os.Chown(dir, int(uid), int(gid))); err != nil {
			t.Fatal(err)
		}
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, attr
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := run("initdb", "-A", "trust", "--no-sync", "-U", "postgres", "-D", data).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	server := run("postgres", "-D", data, "-k", dir, "-p", port, "-h", "127.0.0.1", "-c", "fsync=off")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGQUIT) // it is not needed any more
		_ = server.Wait()
		_ = os.RemoveAll(dir)
	})
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable", port)
}
