package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"bordereau/agent/journal"
	"bordereau/agent/stream/uimessage"
)

// aiModule is the real `ai` package's entry: that of BORDEREAU_AI_MODULE, or installed once into the user's cache.
var aiModule = sync.OnceValues(func() (string, error) {
	if m := os.Getenv("BORDEREAU_AI_MODULE"); m != "" {
		return m, nil
	}
	lock, err := os.ReadFile(filepath.Join("testdata", "aisdk", "package-lock.json"))
	if err != nil {
		return "", err
	}
	manifest, err := os.ReadFile(filepath.Join("testdata", "aisdk", "package.json"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "bordereau", "aisdk-"+hex.EncodeToString(sum[:6]))
	entry := filepath.Join(dir, "node_modules", "ai", "dist", "index.js")
	if _, err := os.Stat(entry); err == nil {
		return entry, nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "package.json"), manifest, 0o600), os.WriteFile(filepath.Join(dir, "package-lock.json"), lock, 0o600)); err != nil {
		return "", err
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w (Node 20 and the npm registry are needed once)\n%s", err, out)
	}
	return entry, nil
})

// sawByClient is what client.mjs prints.
type sawByClient struct {
	Data     []string
	Errors   []string
	Finished []string
	Status   string
	Count    int
	Role     string
	Text     string
	Parts    []string
	Stored   []string
	Before   int
	Broken   struct{ Status, Text string }
	Other    struct {
		Text, Status string
		Count        int
	}
}

// cutter stands in front of the API and cuts streams after so many events, as networks and proxies do.
func cutter(t *testing.T, behind string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, behind+r.URL.RequestURI(), bytes.NewReader(body))
		if err != nil {
			return
		}
		req.Header = r.Header.Clone()
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		cut, _ := strconv.Atoi(r.Header.Get("x-test-cut"))
		eof, _ := strconv.Atoi(r.Header.Get("x-test-eof"))
		if cut+eof == 0 {
			buf := make([]byte, 4096)
			for {
				n, err := resp.Body.Read(buf)
				if _, werr := w.Write(buf[:n]); werr != nil || err != nil {
					return
				}
				w.(http.Flusher).Flush()
			}
		}
		all, _ := events(t, resp.Body, cut+eof)
		for _, e := range all {
			fmt.Fprintf(w, "id: %s\ndata: %s\n\n", e.id, e.data)
		}
		w.(http.Flusher).Flush()
		if cut > 0 {
			panic(http.ErrAbortHandler) // the connection breaks
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestStockClient(t *testing.T) {
	t.Parallel()
	module, err := aiModule()
	if err != nil {
		t.Fatal(err)
	}
	const want = "one two three four five six seven"
	for name, check := range map[string]func(t *testing.T, s sawByClient){
		"ask": func(t *testing.T, s sawByClient) {
			if s.Text != want || s.Count != 2 || s.Role != "assistant" || strings.Join(s.Finished, "") != "stop" {
				t.Errorf("saw %+v", s)
			}
			if parts := strings.Join(s.Parts, " "); parts != "data-turn step-start text:done dynamic-tool:output-available data-artifact file data-outcome" {
				t.Errorf("parts %s", parts)
			}
		},
		"cut": func(t *testing.T, s sawByClient) {
			if s.Text != want || s.Count != 2 || s.Broken.Text == want || s.Broken.Status != "error" {
				t.Errorf("saw %+v", s)
			}
		},
		"eof": func(t *testing.T, s sawByClient) {
			if s.Text != want || s.Count != 2 || s.Broken.Text == want {
				t.Errorf("saw %+v", s)
			}
		},
		"two": func(t *testing.T, s sawByClient) {
			if s.Text != want || s.Other.Text != want || s.Count != 2 || s.Other.Count != 2 {
				t.Errorf("saw %+v", s)
			}
		},
		"stop": func(t *testing.T, s sawByClient) {
			if s.Status != "ready" || s.Text != "waiting" || len(s.Stored) != 2 {
				t.Errorf("saw %+v", s)
			}
		},
		"reload": func(t *testing.T, s sawByClient) {
			if s.Text != want || s.Count != 2 || s.Before != 2 {
				t.Errorf("saw %+v", s)
			}
		},
		"regenerate": func(t *testing.T, s sawByClient) {
			if s.Text != want || s.Count != 2 || len(s.Stored) != 4 {
				t.Errorf("saw %+v", s)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.script(writeStockTurn(want))
			cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "aisdk", "client.mjs"), module, cutter(t, r.server.URL), r.keys[me], name, "chat-1")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			var s sawByClient
			if err := json.Unmarshal(out, &s); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			if len(s.Errors) > 0 && name != "cut" {
				t.Errorf("errors %v", s.Errors)
			}
			check(t, s)
		})
	}
}

// writeStockTurn writes a turn with every kind of part that turns have.
func writeStockTurn(text string) func(p *pen) {
	return func(p *pen) {
		p.say(uimessage.Start("answer-"+p.Turn.ID), uimessage.Data(uimessage.DataTurn, "turn", uimessage.Turn{Turn: p.Turn.ID, Conversation: p.Turn.Conversation, Epoch: 1}),
			uimessage.StartStep(), uimessage.TextStart("1"))
		messages, err := p.s.store.History(p.context(), p.Turn)
		if err == nil && len(messages) > 0 && strings.Contains(messages[len(messages)-1].Content.Blocks[0].Text, "wait") {
			p.say(uimessage.TextDelta("1", "waiting"))
			<-p.Cancel
			p.say(uimessage.TextEnd("1"), uimessage.FinishStep())
			p.end(journal.Outcome{Status: journal.Cancelled}, "waiting")
			return
		}
		for i, word := range strings.SplitAfter(text, " ") {
			p.say(uimessage.TextDelta("1", word))
			if i == 3 {
				p.pause()
			}
		}
		p.say(uimessage.TextEnd("1"), uimessage.ToolInputStart("c", "sql"), uimessage.ToolInputAvailable("c", "sql", json.RawMessage(`{"query":"SELECT 1"}`)),
			uimessage.Passing(uimessage.DataProgress, "c", uimessage.Progress{Tool: "sql", Done: 1, Total: 2}), uimessage.ToolOutput("c", json.RawMessage(`{"row_count":1}`)),
			uimessage.Data(uimessage.DataArtifact, "artifact-a.csv", uimessage.Artifact{ID: "a", Name: "a.csv", URL: "/api/artifacts/a"}), uimessage.File("/api/artifacts/a", "text/csv"), uimessage.FinishStep())
		p.end(journal.Outcome{Status: journal.Completed}, text)
	}
}
