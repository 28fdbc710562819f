// Package redistest starts a private redis-server for one test.
package redistest

import (
	"fmt"
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Server is a redis-server that dies with its test.
type Server struct {
	Addr string
	port string
	cmd  *exec.Cmd
}

// Start runs a server on a port of its own that keeps nothing on disk.
func Start(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Addr: l.Addr().String()}
	if _, s.port, err = net.SplitHostPort(s.Addr); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	s.Restart(t)
	return s
}

// Restart runs the server again, empty, on the same port.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatalf("redis-server is needed (Debian package redis-server): %v", err)
	}
	s.cmd = exec.Command(path, "--port", s.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir(), "--loglevel", "warning")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; {
		c, err := net.DialTimeout("tcp", s.Addr, time.Second)
		if err == nil {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatal(fmt.Errorf("redis-server doesn't answer: %w", err))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Kill ends the server without a chance to say anything.
func (s *Server) Kill() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}
