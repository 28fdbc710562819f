package dataset_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"bordereau/governance/dataset"
	"bordereau/migrations"
)

// The same SQL text on the other engine.
func TestPostgresKeepsTheLedger(t *testing.T) {
	t.Parallel()
	dsn := postgres(t)
	db, dialect, err := migrations.Open(t.Context(), dsn, migrations.Governance)
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); { // it is starting
		db, dialect, err = migrations.Open(t.Context(), dsn, migrations.Governance)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s, err := dataset.Open(dataset.Config{Dir: t.TempDir(), DB: db, Dialect: dialect, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Builder: builder(t)})
	if err != nil {
		t.Fatal(err)
	}
	importFile(t, s, sample(t, t.TempDir(), 1))
	importFile(t, s, sample(t, t.TempDir(), 2))
	want(t, ask(t, s, dataset.Standard, "SELECT count(*) FROM submissions"), "2")
	if f, m, err := s.Document(t.Context(), "acme", "D-1-1"); err != nil || m.Bytes != 14 || f.Close() != nil {
		t.Errorf("%+v %v", m, err)
	}
	if _, err := s.Rebuild(t.Context(), "acme"); err != nil {
		t.Error(err)
	}
	if gone, err := s.Retire(t.Context(), "acme", 1); err != nil || len(gone.Generations) != 2 {
		t.Errorf("%+v %v", gone, err)
	}
	if orgs, err := s.Organisations(t.Context()); err != nil || len(orgs) != 1 {
		t.Errorf("%+v %v", orgs, err)
	}
}

// postgres starts a private server, which ends with the test, as a user without rights.
func postgres(t *testing.T) string {
	t.Helper()
	bins, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(bins) == 0 {
		t.Fatal("initdb is needed (Debian package postgresql)")
	}
	bin := slices.Max(bins)
	dir, err := os.MkdirTemp("", "bordereau-dataset-") // the test's own folder is closed to the server's user
	if err != nil {
		t.Fatal(err)
	}
	attr := &syscall.SysProcAttr{}
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
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, attr
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "-A", "trust", "--no-sync", "-U", "postgres", "-D", data).CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	server := command("postgres", "-D", data, "-k", dir, "-p", port, "-h", "127.0.0.1", "-c", "fsync=off")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Process.Signal(syscall.SIGQUIT); err != nil {
			t.Error(err)
		}
		_ = server.Wait() // its status after a signal says nothing
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable", port)
}
