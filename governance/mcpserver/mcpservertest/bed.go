// Package mcpservertest sets up a real MCP server over a scripted gate, for the tests of the server and of its clients.
package mcpservertest

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"bordereau/governance/call"
	"bordereau/governance/export"
	"bordereau/governance/mcpserver"
	"bordereau/governance/policy"
	"bordereau/governance/run"
	"bordereau/governance/turntoken"
	"bordereau/migrations"
	"bordereau/tools/vin"
)

// Tools is all that a turn may be given.
func Tools() []string {
	return []string{"sql", "describe_data", "list_submissions", "get_extraction", "decode_vins", "reconcile"}
}

// Bed is a running server with what is needed to call it, and to attack it.
type Bed struct {
	URL      string
	Server   *mcpserver.Server
	Key      ed25519.PrivateKey
	Stamper  turntoken.Stamper
	Live     *Live
	Refusals *Refusals
	Runs     *run.Store
	Desk     *call.Desk
	HTTP     *httptest.Server
}

// Start runs a server until the test ends. change may alter the configuration before that.
func Start(t testing.TB, change func(*mcpserver.Config)) *Bed {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		t.Fatal(err)
	}
	db, _, err := migrations.Open(t.Context(), filepath.Join(t.TempDir(), "governance.db"), migrations.Governance)
	if err != nil {
		t.Fatal(err)
	}
	bucket := memblob.OpenBucket(nil)
	b := &Bed{Key: private, Stamper: turntoken.Stamper{Secret: secret}, Live: &Live{}, Refusals: &Refusals{}}
	log := slog.New(slog.DiscardHandler)
	if os.Getenv("MCPSERVERTEST_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if b.Runs, err = run.NewStore(db); err != nil {
		t.Fatal(err)
	}
	exports, err := export.NewStore(export.Config{DB: db, Bucket: bucket, TTL: time.Hour, MaxBytes: 64 << 20, Now: time.Now, NewID: rand.Text})
	if err != nil {
		t.Fatal(err)
	}
	if b.Desk, err = call.NewDesk(call.Config{DB: db, Live: b.Live, TTL: time.Hour, Now: time.Now, NewID: rand.Text, Log: log}); err != nil {
		t.Fatal(err)
	}
	rules, err := policy.Default(policy.Relations())
	if err != nil {
		t.Fatal(err)
	}
	c := mcpserver.Config{
		Gate:     &Gate{},
		Verifier: turntoken.Verifier{Key: public, Issuer: "https://agent.example", Audience: "https://governance.example", Live: b.Live},
		Stamper:  b.Stamper, Refusals: b.Refusals, VINs: VINs{}, Guidelines: Guidelines{}, Documents: Documents{},
		Policy: rules, Runs: b.Runs, Exports: exports, Calls: b.Desk, Log: log, Now: time.Now, NewID: func() string { return "run-" + rand.Text() },
		Version: "test",
	}
	if change != nil {
		change(&c)
	}
	if c.Reconciler == nil {
		c.Reconciler = Reconciler{Gate: c.Gate}
	}
	if b.Server, err = mcpserver.New(c); err != nil {
		t.Fatal(err)
	}
	b.HTTP = httptest.NewServer(http.StripPrefix("", b.Server))
	b.URL = b.HTTP.URL + "/mcp"
	t.Cleanup(func() {
		b.HTTP.Close()
		b.Desk.Close()
		_ = bucket.Close()
		_ = db.Close()
	})
	return b
}

// Grant is an underwriter's turn with all tools.
func Grant() turntoken.Grant {
	return turntoken.Grant{
		Org: "acme", Person: "mary@acme.example", Role: "underwriter", Conversation: "c1", Turn: "t1", Epoch: 1, Sandbox: "s1", Tools: Tools(),
	}
}

// Mint makes a good token for g.
func (b *Bed) Mint(t testing.TB, g turntoken.Grant) string {
	t.Helper()
	token, _, err := turntoken.Minter{Key: b.Key, Issuer: "https://agent.example", Audience: "https://governance.example"}.Mint(g)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Door is an http.RoundTripper that stamps what passes, as the door of a sandbox does, and adds the token if there is none.
type Door struct {
	Stamper turntoken.Stamper
	Sandbox string
	Token   string
}

// RoundTrip stamps and passes on.
func (d Door) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+d.Token)
	}
	token := r.Header.Get("Authorization")[len("Bearer "):]
	r.Header.Set(turntoken.StampHeader, d.Stamper.Stamp(d.Sandbox, token))
	return http.DefaultTransport.RoundTrip(r)
}

// Client is an HTTP client within the sandbox of g.
func (b *Bed) Client(t testing.TB, g turntoken.Grant) *http.Client {
	return &http.Client{Transport: Door{Stamper: b.Stamper, Sandbox: g.Sandbox, Token: b.Mint(t, g)}}
}

// Socket serves the door of a sandbox on a Unix socket and returns its path.
func (b *Bed) Socket(t testing.TB, sandbox string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "door") // a test's own folder may have too long a name for a socket
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "mcp.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := ""
		if a := r.Header.Get("Authorization"); len(a) > 7 {
			token = a[7:]
		}
		r.Header.Set(turntoken.StampHeader, b.Stamper.Stamp(sandbox, token))
		b.Server.ServeHTTP(w, r)
	})}
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		_ = server.Close()
		done.Wait()
		_ = os.RemoveAll(dir)
	})
	return path
}

// Live says that every turn is live under epoch 1 and later, until it is told otherwise.
type Live struct {
	mu    sync.Mutex
	ended map[string]bool
	epoch map[string]int64
	err   error
}

// TurnLive implements turntoken.Liveness.
func (l *Live) TurnLive(_ context.Context, turn string, epoch int64) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.ended[turn] && (l.epoch[turn] == 0 || l.epoch[turn] == epoch), l.err
}

// End ends a turn.
func (l *Live) End(turn string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		l.ended = map[string]bool{}
	}
	l.ended[turn] = true
}

// Move makes epoch the only live one of a turn.
func (l *Live) Move(turn string, epoch int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoch == nil {
		l.epoch = map[string]int64{}
	}
	l.epoch[turn] = epoch
}

// Fail makes every answer an error; nil mends it.
func (l *Live) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// Refusals keeps what was recorded.
type Refusals struct {
	mu  sync.Mutex
	all []mcpserver.Refusal
}

// Refused implements mcpserver.Refusals.
func (r *Refusals) Refused(_ context.Context, x mcpserver.Refusal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, x)
	return nil
}

// Take returns what was recorded since the last time.
func (r *Refusals) Take() []mcpserver.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.all
	r.all = nil
	return out
}

var _ mcpserver.VINs = VINs{}

// VINs says of each VIN only that it was asked about.
type VINs struct{}

// DataDate implements mcpserver.VINs.
func (VINs) DataDate() string { return "2026-02-06" }

// Check implements mcpserver.VINs.
func (VINs) Check(rows []vin.Row) []vin.Checked {
	out := make([]vin.Checked, len(rows))
	for i, r := range rows {
		out[i] = vin.Checked{Ref: r.Ref, VIN: r.VIN, Checks: []vin.FieldCheck{}}
	}
	return out
}
