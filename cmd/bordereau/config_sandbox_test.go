package main

import (
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// loaded reads a configuration as serve does.
func loaded(t *testing.T, text string, env map[string]string) (config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bordereau.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadConfig(flag.NewFlagSet("test", flag.ContinueOnError), []string{"--config", file}, stdio{Err: t.Output(), Env: func(k string) string { return env[k] }})
}

// TestSandboxConfiguration holds that every driver is named in one block, and that what can't work is refused with what to do.
func TestSandboxConfiguration(t *testing.T) {
	t.Parallel()
	keys := map[string]string{"E2B_API_KEY": "e2b_1", "DAYTONA_API_KEY": "dtn_1"}
	for _, good := range []string{
		"sandbox: {driver: auto}",
		"sandbox: {driver: gvisor, image: build/image, warm: {min: 2, max: 20}}",
		"sandbox: {driver: bubblewrap, warm: {min: 0, max: 0}}",
		"sandbox: {driver: remote, remote: {hosts: ['https://a:8443', 'https://b:8443'], ca: ca.pem, psk_file: psk}}",
		"sandbox: {driver: remote, exclusive: true, remote: {hosts: ['https://a:8443'], cert: c.pem, key: c.key}}",
		"sandbox: {driver: e2b, e2b: {template: documents}}",
		"{governance: {public_url: 'https://data.example/mcp'}, sandbox: {driver: daytona, daytona: {snapshot: s}, networks: [203.0.113.7/32]}}",
	} {
		if _, err := loaded(t, good, keys); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, c := range []struct{ bad, want string }{
		{"sandbox: {driver: docker}", "it is one of auto, gvisor, bubblewrap, remote, e2b, daytona"},
		{"sandbox: {driver: e2b}", "E2B_API_KEY"},
		{"sandbox: {driver: daytona}", "DAYTONA_API_KEY"},
		{"sandbox: {driver: remote}", "hosts is empty"},
		{"sandbox: {driver: remote, remote: {hosts: [a:8443]}}", "psk_file"},
		{"sandbox: {driver: remote, remote: {hosts: ['http://a:8443'], psk_file: p}}", "not https"},
		{"sandbox: {driver: remote, remote: {hosts: ['https://a:8443'], cert: c.pem}}", "cert and key"},
		{"sandbox: {warm: {min: 3, max: 2}}", "warm"},
		{"sandbox: {memory_mib: 1}", "memory_mib"},
		{"sandbox: {idle_stop: 0s}", "idle_stop"},
		{"sandbox: {networks: [everything]}", "everything"},
		{"sandbox: {e2b: {key: secret}}", "key not found"},
	} {
		if _, err := loaded(t, c.bad, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.bad, err, c.want)
		}
	}
	if _, err := loaded(t, "sandbox: {driver: e2b, networks: [203.0.113.7/32]}", keys); err == nil || !strings.Contains(err.Error(), "public_url") {
		t.Errorf("networks without an address: %v", err)
	}
	if _, err := loaded(t, "{governance: {public_url: 'http://data.example/mcp'}, sandbox: {driver: e2b, networks: [203.0.113.7/32]}}", keys); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("data in the clear: %v", err)
	}
}

// TestUnreachableSandboxesAreAnErrorAtTheStart holds that a wrong key or a dead host is said at once, with what to look at.
func TestUnreachableSandboxesAreAnErrorAtTheStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shared := filepath.Join(dir, "psk")
	if err := os.WriteFile(shared, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"message": "invalid key"}`))
	}))
	t.Cleanup(service.Close)
	refusing := service.URL
	for name, c := range map[string]struct{ text, want string }{
		"no host":          {"sandbox: {driver: remote, remote: {hosts: ['https://127.0.0.1:1'], psk_file: " + shared + "}}", "no sandbox host answers"},
		"a missing file":   {"sandbox: {driver: remote, remote: {hosts: ['https://127.0.0.1:1'], psk_file: /no/such/file}}", "/no/such/file"},
		"e2b's key":        {"sandbox: {driver: e2b, e2b: {api: '" + refusing + "'}}", "service"},
		"daytona's key":    {"sandbox: {driver: daytona, daytona: {api: '" + refusing + "'}}", "check the API key"},
		"a missing client": {"{governance: {public_url: 'https://d.example/mcp'}, sandbox: {driver: e2b, gov: /no/such/gov, networks: [203.0.113.7/32]}}", "make build"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := loaded(t, c.text, map[string]string{"E2B_API_KEY": "wrong", "DAYTONA_API_KEY": "wrong"})
			if err != nil {
				t.Fatal(err)
			}
			var open closers
			if _, _, err = openDriver(t.Context(), config, nil, slog.New(slog.DiscardHandler), &open); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
			open.close(t.Context(), slog.New(slog.DiscardHandler))
		})
	}
}
