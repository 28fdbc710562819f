package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func load(t *testing.T, text string, args ...string) (config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadConfig(flag.NewFlagSet("t", flag.ContinueOnError), append([]string{"--config", file}, args...), stdio{Err: io.Discard, Env: func(string) string { return "" }})
}

func TestConfigurationThatIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"lissen: x":                                                    "lissen",
		"listen: 0.0.0.0:8700":                                         "behind_tls_proxy",
		"listen: 8700":                                                 "is not host:port",
		"governance: {listen: '10.1.1.1:1'}":                           "behind_tls_proxy",
		"models: {default: anthropic}":                                 "ANTHROPIC_API_KEY",
		"models: {default: openai}":                                    "models.openai.model",
		"turns: {runners: 0}":                                          "runners",
		"sessions: {idle: 1s}":                                         "idle",
		"sessions: {idle: 2h, life: 1h}":                               "life",
		"public_url: bordereau.example":                                "is no address",
		"public_url: https://b.example/x":                              "is no address",
		"public_url: javascript://b.example":                           "is no address",
		"{public_url: 'http://b.example', behind_tls_proxy: true}":     "is not https",
		"oidc: [{organisation: a, issuer: 'https://i', client_id: c}]": "public_url",
		"data: [a": "yaml",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one that names %q", text, err, want)
		}
	}
}

func TestFlagsGoBeforeTheFile(t *testing.T) {
	t.Parallel()
	c, err := load(t, "listen: 0.0.0.0:1\nbehind_tls_proxy: true\ndata: /a\n", "--data", "/b")
	if err != nil || c.Data != "/b" || c.Listen != "0.0.0.0:1" || c.Governance.Workers != defaults().Governance.Workers {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestSecretsAreMadeOnceAndNeverGuessed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys", "stamp")
	first, err := secret(file)
	if err != nil || len(first) != secretBytes {
		t.Fatal(first, err)
	}
	if again, err := secret(file); err != nil || string(again) != string(first) {
		t.Errorf("another secret the second time, %v", err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(file, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := secret(file); err == nil {
		t.Error("a cut secret was taken")
	}
}
