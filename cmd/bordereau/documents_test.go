package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"bordereau/governance/audit"
	"bordereau/governance/dataset"
	"bordereau/governance/turntoken"
	"bordereau/migrations/postgrestest"
	"bordereau/tools/vin"
)

// always says that every turn is live.
type always struct{}

func (always) TurnLive(context.Context, string, int64) (bool, error) { return true, nil }

// stamping is the door of the sandbox s1.
type stamping struct {
	stamper turntoken.Stamper
	token   string
}

func (s stamping) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set(turntoken.StampHeader, s.stamper.Stamp("s1", s.token))
	return http.DefaultTransport.RoundTrip(r)
}

// TestDocumentsAsTheyCame reads the file of a document over MCP, part by part, from the store in which it was imported: on one machine, and
// on another one that shares only a Postgres and a bucket.
func TestDocumentsAsTheyCame(t *testing.T) {
	t.Parallel()
	t.Run("one machine", func(t *testing.T) {
		t.Parallel()
		c := defaults()
		c.Data = t.TempDir()
		documentsComeBack(t, c, c)
	})
	t.Run("two machines", func(t *testing.T) {
		t.Parallel()
		imports := defaults()
		imports.Data, imports.Governance.Database, imports.Governance.Bucket = t.TempDir(), postgrestest.Start(t), "file://"+t.TempDir()
		serves := imports
		serves.Data = t.TempDir()
		documentsComeBack(t, imports, serves)
	})
}

func documentsComeBack(t *testing.T, imports, serves config) {
	t.Helper()
	content := make([]byte, 5<<19) // two parts and a half
	if _, err := rand.Read(content); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	records := strings.Replace(driverRecords, `"filename":"list.pdf"`, `"filename":"list.pdf","media_type":"application/pdf","path":"list.pdf"`, 1)
	for name, raw := range map[string][]byte{"list.pdf": content, "import.ndjson": []byte(records)} {
		if err := os.WriteFile(filepath.Join(folder, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var open closers
	defer func() { open.close(context.WithoutCancel(t.Context()), discard()) }()
	_, store, err := openStore(t.Context(), imports, discard(), &open)
	if err != nil {
		t.Fatal(err)
	}
	src, err := dataset.SourceOf(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Import(t.Context(), "acme", src); err != nil {
		t.Fatal(err)
	}

	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := vin.Load()
	if err != nil {
		t.Fatal(err)
	}
	plane, err := openDataPlane(t.Context(), serves, discard(), &open)
	if err != nil {
		t.Fatal(err)
	}
	stamper := turntoken.Stamper{Secret: bytes.Repeat([]byte("k"), 32)}
	handler, err := serveGovernance(t.Context(), plane, serves, decoder, always{}, public, stamper, discard(), &open)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	session := func(org, role string) *mcp.ClientSession {
		token, _, err := turntoken.Minter{Key: private, Issuer: tokenIssuer, Audience: tokenAudience}.Mint(turntoken.Grant{
			Org: org, Person: "ann", Role: role, Conversation: "c", Turn: "t-" + org + role, Epoch: 1, Sandbox: "s1", Tools: []string{"get_extraction"},
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: server.URL + "/mcp", HTTPClient: &http.Client{Transport: stamping{stamper, token}}, DisableStandaloneSSE: true,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	auditor := session("acme", "auditor")
	var whole []byte
	for n := 1; n <= 3; n++ {
		res, err := auditor.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: fmt.Sprintf("bordereau://document/D-1/%d", n)})
		if err != nil || len(res.Contents) != 1 {
			t.Fatalf("part %d: %+v, %v", n, res, err)
		}
		whole = append(whole, res.Contents[0].Blob...)
	}
	if !bytes.Equal(whole, content) {
		t.Errorf("%d bytes came back of %d", len(whole), len(content))
	}
	for uri, s := range map[string]*mcp.ClientSession{
		"bordereau://document/D-1/4": auditor, "bordereau://document/D-9/1": auditor, "bordereau://document/..%2F..%2Fetc/1": auditor,
		"bordereau://document/D-1/1": session("acme", "underwriter"), "bordereau://document/D-1/2": session("globex", "auditor"),
	} {
		if res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s came back: %d", uri, len(res.Contents))
		}
	}
	// One reading, though in parts, is one question on record.
	list, err := plane.audit.List(t.Context(), audit.Filter{Org: "acme", Subject: "ann", Event: audit.Outcome, Outcome: audit.Answered, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, e := range list {
		if strings.Contains(e.SQLAsked, "'D-1'") {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("%d questions on record: %+v", asked, list)
	}
}
