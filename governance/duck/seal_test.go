package duck

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	bind "github.com/duckdb/duckdb-go-bindings"
)

// probeCommand makes the test binary a process that seals itself and then tries what a statement must never be able to do.
const probeCommand = "sealed-probe"

// probe opens DuckDB without any of its locks, seals the process and reports what still works.
func probe(dir string) int {
	work, done := make(chan func() error), make(chan error)
	go func() { // a thread that was there before the seal
		runtime.LockOSThread()
		for f := range work {
			done <- f()
		}
	}()
	work <- func() error { return nil }
	<-done
	var db bind.Database
	var message string
	var config bind.Config
	bind.CreateConfig(&config)
	if bind.OpenExt("", &db, config, &message) == bind.StateError {
		fmt.Println(message)
		return 1
	}
	var conn bind.Connection
	bind.Connect(db, &conn)
	query := func(sql string) func() error {
		return func() error {
			var res bind.Result
			defer bind.DestroyResult(&res)
			if bind.Query(conn, sql, &res) == bind.StateError {
				return fmt.Errorf("%s", bind.ResultError(&res))
			}
			return nil
		}
	}
	if err := seal(); err != nil {
		fmt.Println(err)
		return 1
	}
	worked := []string{}
	for name, try := range map[string]func() error{
		"read a file":      func() error { _, err := os.ReadFile("/etc/hostname"); return err },
		"write a file":     func() error { return os.WriteFile(filepath.Join(dir, "x"), nil, 0o600) },
		"remove a file":    func() error { return os.Remove(filepath.Join(dir, "victim")) },
		"connect":          func() error { _, err := (&net.Dialer{}).Dial("tcp", "127.0.0.1:9"); return err },
		"listen":           func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		"run a program":    func() error { return exec.Command("/bin/true").Run() },
		"signal":           func() error { return syscall.Kill(os.Getppid(), 0) },
		"become root":      func() error { return syscall.Setuid(0) },
		"trace":            func() error { return syscall.PtraceAttach(os.Getppid()) },
		"DuckDB reads":     query("SELECT * FROM read_text('/etc/hostname')"),
		"DuckDB writes":    query("COPY (SELECT 1) TO '" + filepath.Join(dir, "y") + "'"),
		"DuckDB attaches":  query("ATTACH '" + filepath.Join(dir, "z.duckdb") + "'"),
		"DuckDB globs":     query("SELECT CASE WHEN count(*) = 0 THEN error('found nothing') END FROM glob('/etc/*')"),
		"DuckDB downloads": query("INSTALL httpfs"),
	} {
		failed := try()
		work <- try
		if before := <-done; failed == nil || before == nil {
			worked = append(worked, name)
		}
	}
	// What a worker is for still works, on threads that are made from here on too.
	if err := query("SET threads=4; SELECT count(*) FROM (SELECT x, count(*) FROM range(1000000) t(x) GROUP BY x)")(); err != nil {
		worked = append(worked, "no query: "+err.Error())
	}
	return map[bool]int{true: 0, false: 1}[json.NewEncoder(os.Stdout).Encode(worked) == nil]
}

// A worker that somebody took over, DuckDB's locks and the gate included, still can't touch a file, the network or a process.
func TestSealHoldsWithoutTheEngineLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "victim"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), self, probeCommand, dir).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "[]" {
		t.Errorf("what a sealed process could do: %v %s", err, out)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

// Workers and parsers run sealed.
func TestWorkersAreSealed(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{})
	if _, err := p.Run(t.Context(), job(small(t), "SELECT 1"), &sink{}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(t.Context(), "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	var all []*process
	for _, list := range p.idle {
		all = append(all, list...)
	}
	for range parserCount {
		if w := <-p.parsers; w != nil {
			all = append(all, w)
		}
		p.parsers <- nil
	}
	if len(all) != 2 {
		t.Fatalf("%d processes", len(all))
	}
	for _, w := range all {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		status := strings.Join(strings.Fields(string(raw)), " ")
		for _, want := range []string{"NoNewPrivs: 1", "Seccomp: 2"} {
			if !strings.Contains(status, want) {
				t.Errorf("no %q in %s", want, status)
			}
		}
		if strings.Contains(status, "Uid: 0 ") {
			t.Errorf("runs as root: %s", status)
		}
		w.kill()
	}
}
