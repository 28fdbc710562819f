package console_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gocloud.dev/blob/fileblob"

	"bordereau/governance/audit"
	"bordereau/governance/console"
	"bordereau/governance/duck"
	"bordereau/governance/duck/ducktest"
	"bordereau/governance/export"
	"bordereau/governance/fault"
	"bordereau/governance/gate"
	"bordereau/governance/policy"
	"bordereau/governance/run"
	"bordereau/governance/statement"
	"bordereau/migrations"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == duck.WorkerCommand {
		os.Exit(duck.WorkerMain())
	}
	os.Exit(m.Run())
}

const roles = `
version: 1
profiles:
  standard: {mask: {ssn: last4, fein: last4, license_number: token, date_of_birth: year}}
  full: {mask: {}}
roles:
  underwriter:
    profile: standard
    limits: {rows: 1000, bytes: 1MiB, seconds: 5, memory: 256MiB}
    hidden: {drivers: [mvr_run_date]}
    rows: {documents: "document_type <> 'other'"}
  analyst: {profile: standard, limits: {rows: 200000, bytes: 64MiB, seconds: 20, memory: 256MiB}}
  auditor: {profile: full, limits: {rows: 200000, bytes: 64MiB, seconds: 20, memory: 256MiB}}
  admin: {profile: full, limits: {rows: 200000, bytes: 64MiB, seconds: 20, memory: 256MiB}}
budgets:
  turn: {queries: 500, seconds: 600, bytes: 2GiB}
  person: {queries: 20000, seconds: 14400, bytes: 32GiB}
  organisation: {queries: 200000, seconds: 86400, bytes: 256GiB}
`

// house is a console over the real gate, DuckDB in worker processes and all.
type house struct {
	t     testing.TB
	mux   *http.ServeMux
	db    *sql.DB
	gate  *gate.Gate
	log   *audit.Log
	runs  *run.Store
	files map[string][]string // paths by organisation and profile, oldest first
}

// Pin implements gate.Pinner.
func (h *house) Pin(_ context.Context, org, profile, generation string) (gate.Pinned, func(), error) {
	all := h.files[org+"/"+profile]
	for i, path := range all {
		if id := fmt.Sprintf("g%d", i+1); id == generation || generation == "" && i == len(all)-1 {
			return gate.Pinned{Generation: id, Path: path, SHA256: "00"}, func() {}, nil
		}
	}
	return gate.Pinned{}, nil, &fault.Error{Code: fault.NotFound, Component: "dataset", Message: "there is no such generation"}
}

// Names implements console.People.
func (h *house) Names(_ context.Context, _ string, subjects []string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range subjects {
		out[s] = "Name of " + s
	}
	return out, nil
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, mux: http.NewServeMux()}
	first, second, full := ducktest.Generation(t, "acme", true, 30), ducktest.Generation(t, "acme", true, 33), ducktest.Generation(t, "acme", false, 33)
	h.files = map[string][]string{"acme/standard": {first, second}, "acme/full": {full, full}, "globex/standard": {first}, "globex/full": {first}}
	var err error
	if h.db, _, err = migrations.Open(t.Context(), filepath.Join(t.TempDir(), "governance.db"), migrations.Governance); err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	pool, err := duck.New(duck.Config{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	bucket, err := fileblob.OpenBucket(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = pool.Close()
		_ = bucket.Close()
		_ = h.db.Close()
	})
	p, err := policy.Parse("test.yaml", []byte(roles), policy.Relations())
	if err != nil {
		t.Fatal(err)
	}
	reader, err := statement.New(statement.Config{Parser: pool})
	if err != nil {
		t.Fatal(err)
	}
	if h.log, err = audit.New(t.Context(), audit.Config{DB: h.db, Now: time.Now}); err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	id := func() string { return fmt.Sprintf("id-%d", n.Add(1)) }
	if h.gate, err = gate.New(t.Context(), gate.Config{Reader: reader, Policy: p, Pinner: h, Runner: pool, Recorder: h.log, Log: quiet, Now: time.Now, NewID: id}); err != nil {
		t.Fatal(err)
	}
	exports, err := export.NewStore(export.Config{DB: h.db, Bucket: bucket, TTL: time.Hour, MaxBytes: 1 << 30, Now: time.Now, NewID: id})
	if err != nil {
		t.Fatal(err)
	}
	if h.runs, err = run.NewStore(h.db); err != nil {
		t.Fatal(err)
	}
	c, err := console.New(console.Config{
		// Tests say who they are: "person role organisation".
		Authorise: func(r *http.Request) (gate.Principal, error) {
			who := strings.Fields(r.Header.Get("Who"))
			if len(who) != 3 {
				return gate.Principal{}, &fault.Error{Code: fault.Auth, Component: "test", Message: "who?"}
			}
			return gate.Principal{Subject: who[0], Role: who[1], Org: who[2], Via: "console"}, nil
		},
		Gate: h.gate, DB: h.db, Record: h.log, Runs: h.runs, Exports: exports, People: h, Policy: p, Log: quiet, Now: time.Now, NewID: id,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Endpoints() {
		h.mux.Handle(e.Pattern, e.Handler)
	}
	return h
}

// call asks as somebody and returns the status and the body.
func (h *house) call(who, method, path string, body any) (int, []byte, http.Header) {
	h.t.Helper()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			h.t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	r := httptest.NewRequestWithContext(h.t.Context(), method, path, in)
	r.Header.Set("Who", who)
	w := httptest.NewRecorder()
	h.mux.ServeHTTP(w, r)
	return w.Code, w.Body.Bytes(), w.Header()
}

// want is call for an answer of a status, read as JSON.
func want[T any](h *house, who, method, path string, body any, status int) T {
	h.t.Helper()
	var out T
	code, raw, _ := h.call(who, method, path, body)
	if code != status {
		h.t.Fatalf("%s %s as %s: %d %s", method, path, who, code, raw)
	}
	if err := json.Unmarshal(raw, &out); err != nil && len(raw) > 0 {
		h.t.Fatalf("%s: %v", raw, err)
	}
	return out
}

type object = map[string]any

// lines reads NDJSON.
func lines(t testing.TB, raw []byte) (out []any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	for d.More() {
		var v any
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		out = append(out, v)
	}
	return out
}

// query runs a statement and returns its audit id.
func (h *house) query(who, sql string) string {
	h.t.Helper()
	code, raw, _ := h.call(who, http.MethodPost, "/api/console/query", object{"sql": sql})
	if code != http.StatusOK {
		h.t.Fatalf("%s: %d %s", sql, code, raw)
	}
	all := lines(h.t, raw)
	last, _ := all[len(all)-1].(object)
	answer, _ := last["answer"].(object)
	id, _ := answer["audit_id"].(string)
	if id == "" {
		h.t.Fatalf("%s: no answer in %s", sql, raw)
	}
	return id
}
