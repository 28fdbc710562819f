package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// reader reads a chat's stream as a browser does.
type reader struct {
	body    io.ReadCloser
	lines   *bufio.Scanner
	last    string // the id of the last event
	text    string
	before  string // the text before the running step
	outcome string
	done    bool
}

func ask1(t testing.TB, url, key, conversation string) *reader {
	t.Helper()
	body := fmt.Sprintf(`{"id":%q,"message":{"role":"user","parts":[{"type":"text","text":"How many submissions?"}]}}`, conversation)
	return openStream(t, http.MethodPost, url+"/api/chat", key, "", body)
}

func goOn(t testing.TB, url, key, conversation, last string) *reader {
	t.Helper()
	return openStream(t, http.MethodGet, url+"/api/chat/"+conversation+"/stream", key, last, "")
}

func openStream(t testing.TB, method, url, key, last, body string) *reader {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(res.Body)
		t.Fatalf("%s: %d %s", url, res.StatusCode, raw)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return &reader{body: res.Body, lines: lines}
}

// until reads until the text is as wanted, or the stream ends, and leaves the stream. A step that is reset begins anew.
func (r *reader) until(t testing.TB, enough func(text string) bool) (text, last string) {
	t.Helper()
	for !enough(r.text) && r.lines.Scan() {
		if id, ok := strings.CutPrefix(r.lines.Text(), "id: "); ok {
			r.last = id
		}
		data, ok := strings.CutPrefix(r.lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			r.done = true
			break
		}
		var part struct{ Type, Delta string }
		if err := json.Unmarshal([]byte(data), &part); err != nil {
			t.Fatal(err)
		}
		switch part.Type {
		case "text-delta":
			r.text += part.Delta
		case "start-step":
			r.before = r.text
		case "reset-step":
			r.text = r.before
		case "data-outcome":
			r.outcome = data
		}
	}
	_ = r.body.Close()
	return r.text, r.last
}
