// Package postgrestest starts a private Postgres for tests.
package postgrestest

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the "pgx" driver
)

// Start runs a private server that dies with the test, as a user without privileges, and returns a DSN of an empty database.
func Start(t testing.TB) string {
	t.Helper()
	bin := postgresBin(t)
	// Not below the test's own folder: the server's user must be able to walk there.
	dir, err := os.MkdirTemp("", "bordereau-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatalf("Postgres doesn't run as root and the user postgres is missing (Debian package postgresql): %v", err)
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2, os.Chown(dir, uid, gid)); err != nil {
			t.Fatal(err)
		}
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)} // #nosec G115 -- ids of the system
	}
	data := filepath.Join(dir, "data")
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, attr
		return cmd
	}
	if out, err := run("initdb", "-A", "trust", "--no-sync", "-U", "postgres", "-D", data).CombinedOutput(); err != nil {
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
	server := run("postgres", "-D", data, "-k", dir, "-p", port, "-h", "127.0.0.1", "-c", "fsync=off", "-c", "max_connections=200")
	log, err := os.Create(filepath.Join(dir, "log")) // #nosec G304 -- a folder of ours
	if err != nil {
		t.Fatal(err)
	}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGQUIT)
		_ = server.Wait()
		_ = log.Close()
	})
	dsn := fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable", port)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ready := func() bool { return db.PingContext(t.Context()) == nil }
	for end := time.Now().Add(20 * time.Second); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("Postgres doesn't answer:\n%s", text)
		}
	}
	return dsn
}

// Database makes another empty database on the server that dsn names, and returns its DSN.
func Database(t testing.TB, dsn, name string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// postgresBin finds the newest server, which Debian keeps out of PATH.
func postgresBin(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(found) == 0 {
		t.Fatalf("initdb is needed (Debian package postgresql): %v", err)
	}
	sort.Strings(found)
	return found[len(found)-1]
}
