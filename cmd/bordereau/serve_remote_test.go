package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bordereau/agent/identity"
	"bordereau/agent/journal"
	"bordereau/agent/model/modelserver"
	"bordereau/migrations"
	"bordereau/sandbox/sandboxtest"
)

// sandboxHost is one machine that runs sandboxd, as a process of its own.
type sandboxHost struct {
	t       *testing.T
	args    []string
	program string
	address string
	process *exec.Cmd
}

// freePort is a port that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatal("no port")
	}
	return address.Port
}

func (h *sandboxHost) start() {
	h.t.Helper()
	h.process = exec.CommandContext(h.t.Context(), h.program, h.args...)
	h.process.Stdout, h.process.Stderr = h.t.Output(), h.t.Output()
	if err := h.process.Start(); err != nil {
		h.t.Fatal(err)
	}
	for range 300 {
		if conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(h.t.Context(), "tcp", strings.TrimPrefix(h.address, "https://")); err == nil {
			_ = conn.Close()
			return
		}
		<-time.After(100 * time.Millisecond)
	}
	h.t.Fatal("sandboxd does not listen")
}

// kill ends it without a word, as a power cut does.
func (h *sandboxHost) kill() {
	_ = h.process.Process.Kill()
	_ = h.process.Wait()
}

// sandboxes lists the ids that its folder holds.
func (h *sandboxHost) sandboxes() (ids []string) {
	records, _ := filepath.Glob(filepath.Join(h.args[3], "bubblewrap", "homes", "*", "record.json"))
	for _, file := range records {
		var r struct{ ID string }
		if raw, err := os.ReadFile(file); err == nil && json.Unmarshal(raw, &r) == nil && !strings.HasPrefix(r.ID, "warm-") {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// certificate makes one for the loopback address that is its own authority.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sandbox host"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "host.pem"), filepath.Join(dir, "host.key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// scripted is a reply of the model that runs a script in the sandbox.
func scripted(id, script string) modelserver.Reply {
	input, _ := json.Marshal(map[string]any{"script": script, "timeout_seconds": 60})
	return modelserver.Reply{Calls: []modelserver.Call{{ID: id, Name: "run", Input: input}}}
}

// TestSandboxHosts serves with two hosts of sandboxes: one is drained, so the sandbox comes to the other; that one is killed under a
// command and comes back, and the turn goes on with its files; then it is gone for good, and they come from the checkpoint.
func TestSandboxHosts(t *testing.T) {
	t.Parallel()
	bin, dir := programs(t), t.TempDir()
	program := filepath.Join(dir, "sandboxd")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "bordereau/cmd/sandboxd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cert, certKey := certificate(t, dir)
	shared := filepath.Join(dir, "psk")
	if err := os.WriteFile(shared, []byte(rand.Text()+rand.Text()), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	if _, err := secret(filepath.Join(data, "keys", "stamp")); err != nil {
		t.Fatal(err)
	}
	governance := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	hosts := map[string]*sandboxHost{}
	folders := map[string]string{"a": sandboxtest.Folder(t), "b": sandboxtest.Folder(t)}
	for _, name := range []string{"a", "b"} {
		listen := fmt.Sprintf("127.0.0.1:%d", freePort(t))
		hosts[name] = &sandboxHost{t: t, program: program, address: "https://" + listen, args: []string{
			"-listen", listen, "-data", folders[name], "-driver", "bubblewrap", "-gov", filepath.Join(bin, "gov"), "-cert", cert, "-key", certKey,
			"-psk-file", shared, "-upstream", "http://" + governance + "/mcp", "-stamp-file", filepath.Join(data, "keys", "stamp"),
		}}
		hosts[name].start()
		t.Cleanup(hosts[name].kill)
	}
	a, b := hosts["a"], hosts["b"]
	if err := a.process.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	script := modelserver.New(modelserver.Script{Replies: []modelserver.Reply{{Text: "nothing"}}})
	model := httptest.NewServer(script)
	t.Cleanup(model.Close)
	settings := filepath.Join(dir, "bordereau.yaml")
	configure := func(addresses ...string) config {
		t.Helper()
		text := fmt.Sprintf(`
data: %s
listen: 127.0.0.1:0
governance: {listen: "%s"}
models: {default: openai, openai: {model: scripted, base_url: "%s/v1"}}
sandbox:
  driver: remote
  exclusive: true
  warm: {min: 0, max: 0}
  remote: {hosts: [%s], ca: %s, psk_file: %s}
`, data, governance, model.URL, strings.Join(addresses, ", "), cert, shared)
		if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := loadConfig(flag.NewFlagSet("test", flag.ContinueOnError), []string{"--config", settings}, stdio{Err: t.Output(), Env: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	serve := func(c config) *system {
		t.Helper()
		s, err := start(t.Context(), c, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	c := configure(a.address, b.address)
	s := serve(c)
	key := ""
	err := withDirectory(t.Context(), c, func(d *identity.Directory) error {
		person, err := enlist(t.Context(), d, identity.Person{Org: "acme", Email: "mary@acme.example"})
		if err == nil {
			_, key, err = d.IssueKey(t.Context(), "acme", person.ID, "test", time.Time{}, identity.AllScopes()...)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	turn := func(s *system, calls ...modelserver.Reply) (string, journal.Outcome) {
		t.Helper()
		script.Play(modelserver.Script{Replies: append(calls, modelserver.Reply{Text: "done"})})
		client, err := newAskClient(askClientConfig{URL: s.url, Key: key, HTTP: &http.Client{}})
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		r, err := ask(ctx, client, askQuestion{Text: "go on", Conversation: "c1", Out: dir}, newAskPrinter(io.Discard, &said, time.Now))
		if err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		return said.String(), r.Outcome
	}
	if said, outcome := turn(s, scripted("1", "echo kept > f; gov vin 1HGCM82633A004352 | grep -o HONDA | head -1")); outcome.Status != journal.Completed {
		t.Fatalf("%+v\n%s", outcome, said)
	}
	if len(a.sandboxes()) != 0 || len(b.sandboxes()) != 1 {
		t.Fatalf("the drained host has %v, the other %v", a.sandboxes(), b.sandboxes())
	}
	checkRan(t, data, "1", func(text string) bool { return strings.Contains(text, "HONDA") }) // by way of the door on that host
	// Killed in mid-turn, and back a moment later.
	back := make(chan struct{})
	go func() {
		defer close(back)
		for range 600 {
			if found, _ := filepath.Glob(filepath.Join(folders["b"], "bubblewrap", "homes", "*", "volume", "workspace", "begun")); len(found) > 0 {
				break
			}
			<-time.After(100 * time.Millisecond)
		}
		b.kill()
		<-time.After(time.Second)
		b.start()
	}()
	said, outcome := turn(s, scripted("2", "touch begun; sleep 50"), scripted("3", "cat f; ls begun"))
	<-back
	if outcome.Status != journal.Completed {
		t.Fatalf("%+v\n%s", outcome, said)
	}
	s.stop()
	checkRan(t, data, "2", func(text string) bool {
		text = strings.ToLower(text)
		return strings.Contains(text, "interrupted") || strings.Contains(text, "unavailable")
	})
	checkRan(t, data, "3", func(text string) bool { return strings.Contains(text, "kept") && strings.Contains(text, "begun") })
	// Gone for good: its operator takes it off the list, and the other takes sandboxes again.
	b.kill()
	if err := a.process.Process.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	s = serve(configure(a.address))
	defer s.stop()
	if said, outcome = turn(s, scripted("4", "cat f")); outcome.Status != journal.Completed {
		t.Fatalf("%+v\n%s", outcome, said)
	}
	checkRan(t, data, "4", func(text string) bool {
		return strings.Contains(text, "kept") && strings.Contains(text, "The sandbox was replaced: the sandbox no longer exists.")
	})
	if ids := a.sandboxes(); len(ids) != 1 || !strings.HasSuffix(ids[0], "-2") {
		t.Errorf("the host that is left has %v", ids)
	}
}

// checkRan looks at what the model was told of its n-th tool call in the conversation.
func checkRan(t *testing.T, data, n string, good func(text string) bool) {
	t.Helper()
	db, _, err := migrations.Open(t.Context(), filepath.Join(data, "journal.db"), migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var text string
	err = db.QueryRowContext(t.Context(), `SELECT result || ' ' || error_class || ' ' || state FROM steps WHERE kind = 'tool' AND request LIKE $1`, `%"call":"`+n+`"%`).Scan(&text)
	if err != nil {
		t.Fatalf("call %s: %v", n, err)
	}
	if !good(text) {
		t.Errorf("call %s: %s", n, text)
	}
}
