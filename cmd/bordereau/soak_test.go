package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/agent/model/modelserver"
	"bordereau/agent/stream/redis/redistest"
	"bordereau/migrations"
)

// What the soak may grow by, from a tenth of its turns to their end.
const (
	soakGoroutines = 50
	soakFiles      = 30
	soakHeap       = 64 << 20
)

// TestSoak asks many turns with tools over the HTTP API, by clients that stay, come back after a cut, and come late, and
// holds that nothing is left behind: no goroutine, no file, no memory, no row without its turn. 'make soak' asks 5,000.
func TestSoak(t *testing.T) {
	turns := 40
	if n, err := strconv.Atoi(os.Getenv("BORDEREAU_SOAK")); err == nil {
		turns = n
	}
	const clients = 8
	models := httptest.NewServer(modelserver.New(modelserver.Script{Key: "test-key", Replies: []modelserver.Reply{
		{Text: "I look.", Calls: []modelserver.Call{
			{ID: "a", Name: "sql", Input: json.RawMessage(`{"query":"SELECT count(*) AS n FROM submissions"}`)},
			{ID: "b", Name: "list_files", Input: json.RawMessage(`{}`)},
		}},
		{Text: "One more.", Calls: []modelserver.Call{{ID: "c", Name: "write_file", Input: json.RawMessage(`{"path":"notes.txt","content":"fourteen"}`)}}},
		{Text: strings.Repeat("word ", 40), Piece: 10},
	}}))
	t.Cleanup(models.Close)
	bin := programs(t)
	c := defaults()
	c.Data, c.Listen, c.Governance.Listen = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
	c.Events = "redis://" + redistest.Start(t).Addr
	c.Sandbox.Driver, c.Sandbox.Guest, c.Sandbox.Gov = "bubblewrap", filepath.Join(bin, "guest"), filepath.Join(bin, "gov")
	c.Models = modelsConfig{Default: "anthropic", Anthropic: anthropicConfig{Model: "m", BaseURL: models.URL, key: "test-key"}}
	c.PerMinute = 1_000_000
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	if err := importSample(t.Context(), c, discard(), stdio{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	s, err := start(t.Context(), c, discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	raw, err := os.ReadFile(keyFile(c.Data, demoOrg))
	if err != nil {
		t.Fatal(err)
	}
	key := strings.TrimSpace(string(raw))

	began := time.Now()
	first := turns/10/clients + 1
	conversations := min(first, 7)
	soak(t, s.url, key, clients, conversations, 0, first)
	before := held(t)
	soak(t, s.url, key, clients, conversations, first, turns/clients+1)
	after := held(t)
	t.Logf("%d turns in %s; before %+v, after %+v", (turns/clients+1)*clients, time.Since(began).Round(time.Second), before, after)
	if after.goroutines > before.goroutines+soakGoroutines || after.files > before.files+soakFiles || after.heap > before.heap+soakHeap {
		t.Errorf("something was left behind: before %+v, after %+v", before, after)
	}
	noOrphans(t, c, int64((turns/clients+1)*clients))
}

// soak lets each client ask in conversations of its own, one turn after the other. The first turns make all of them, since each holds a sandbox.
func soak(t *testing.T, url, key string, clients, conversations, from, to int) {
	t.Helper()
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for n := from; n < to; n++ {
				conversation := fmt.Sprintf("c-%d-%d", client, n%conversations)
				r := ask1(t, url, key, conversation)
				switch n % 3 {
				case 0: // stays
					r.until(t, func(string) bool { return false })
				case 1: // is cut off and comes back where it was
					_, last := r.until(t, func(text string) bool { return strings.Contains(text, "One more") })
					r = goOn(t, url, key, conversation, last)
					r.until(t, func(string) bool { return false })
				case 2: // leaves, and reads all of it later
					r.until(t, func(string) bool { return true })
					r = goOn(t, url, key, conversation, "")
					r.until(t, func(string) bool { return false })
				}
				if !r.done || n%3 != 1 && !strings.Contains(r.outcome, `"completed"`) {
					t.Errorf("client %d, turn %d: outcome %s, done %t", client, n, r.outcome, r.done)
					return
				}
			}
		})
	}
	all.Wait()
}

// holdings are what a process holds.
type holdings struct {
	goroutines, files int
	heap              int64
}

// held waits for what ends by itself, then counts.
func held(t *testing.T) (h holdings) {
	t.Helper()
	for range 20 {
		time.Sleep(100 * time.Millisecond)
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return holdings{runtime.NumGoroutine(), len(open), int64(m.HeapAlloc)} // #nosec G115 -- far from the border
}

// noOrphans asks the journal for rows that nobody needs.
func noOrphans(t *testing.T, c config, turns int64) {
	t.Helper()
	db, _, err := migrations.Open(t.Context(), c.path("journal.db"), migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for query, want := range map[string]int64{
		`SELECT COUNT(*) FROM turns`: turns,
		`SELECT COUNT(*) FROM turns WHERE status <> 'completed' OR NOT published`:             0,
		`SELECT COUNT(*) FROM messages`:                                                       2 * turns,
		`SELECT COUNT(*) FROM steps`:                                                          6 * turns,
		`SELECT COUNT(*) FROM steps WHERE state <> 'done'`:                                    0,
		`SELECT COUNT(*) FROM attempts WHERE state = 'started'`:                               0,
		`SELECT COUNT(*) FROM ledger`:                                                         3 * turns,
		`SELECT COUNT(*) FROM ledger WHERE estimated`:                                         0,
		`SELECT COUNT(*) FROM events WHERE turn NOT IN (SELECT id FROM turns)`:                0,
		`SELECT COUNT(*) FROM conversations WHERE id NOT IN (SELECT conversation FROM turns)`: 0,
	} {
		var got int64
		if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", query, got, err, want)
		}
	}
}
