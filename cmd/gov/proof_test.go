package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/governance/mcpserver"
	"bordereau/governance/mcpserver/mcpservertest"
	"bordereau/governance/spent"
	"bordereau/governance/turntoken"
	"bordereau/migrations"
)

// TestWithoutADoor asks governance at its address, as code in a hosted sandbox does, and replays what went over the wire.
func TestWithoutADoor(t *testing.T) {
	t.Parallel()
	db, _, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "spent.db"), migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store, err := spent.New(db, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	// The wire, with somebody who listens.
	var bed *mcpservertest.Bed
	var mu sync.Mutex
	var heard []http.Header
	wire := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		heard = append(heard, r.Header.Clone())
		mu.Unlock()
		bed.Server.ServeHTTP(w, r)
	}))
	t.Cleanup(wire.Close)
	endpoint := wire.URL + "/mcp"
	bed = mcpservertest.Start(t, func(c *mcpserver.Config) {
		c.Gate = &mcpservertest.Gate{}
		c.Verifier.Proofs = turntoken.Proofs{URL: endpoint, Spent: store}
	})
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	grant := mcpservertest.Grant()
	grant.Key = turntoken.Thumbprint(public)
	file := filepath.Join(t.TempDir(), "token")
	write := func(c turntoken.Credential) {
		if err := os.WriteFile(file, []byte(c.Text()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"BORDEREAU_ENDPOINT": endpoint, "BORDEREAU_TOKEN_FILE": file}
	gov := func() (string, string, int) {
		var out, errs bytes.Buffer
		std := stdio{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(k string) string { return env[k] }}
		c := dial(std)
		c.http = wire.Client() // which knows the wire's certificate
		ask := &command{std: std, client: c, args: []string{"SELECT 42 AS n"}, flags: flag.NewFlagSet("gov", flag.ContinueOnError)}
		status := exit(sql(t.Context(), ask), &errs)
		return out.String(), errs.String(), status
	}
	write(turntoken.Credential{Token: bed.Mint(t, grant), Key: key})
	for range 2 {
		if out, errs, status := gov(); status != 0 || !strings.Contains(out, "42") {
			t.Fatalf("status %d, %q %q", status, out, errs)
		}
	}
	mu.Lock()
	overheard := heard[0]
	mu.Unlock()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = overheard
	answer, err := wire.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("what was overheard worked again: %d", answer.StatusCode)
	}
	_, stranger, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	write(turntoken.Credential{Token: bed.Mint(t, grant), Key: stranger})
	if _, errs, status := gov(); status != exitRefused || !strings.Contains(errs, "proof") {
		t.Errorf("another's key: status %d, %q", status, errs)
	}
	// Without a key nothing is sent at all.
	before := len(heard)
	write(turntoken.Credential{Token: bed.Mint(t, mcpservertest.Grant())})
	if _, errs, status := gov(); status != exitRefused || len(heard) != before {
		t.Errorf("a token without a key: status %d, %q, %d more calls", status, errs, len(heard)-before)
	}
}
