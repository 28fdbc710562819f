package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bordereau/agent/journal"
	"bordereau/agent/stream/uimessage"
)

// face is the HTTP API as far as ask uses it, on a bad line.
type face struct {
	parts   []json.RawMessage
	breaks  []string // what happens to the 1st, 2nd, … stream: "refuse", "cut N", "eof N", "gap N"
	content []byte   // of the artifact
	torn    int      // the first download breaks off after so many bytes
	refusal string

	mu       sync.Mutex
	streams  int
	messages []string
	resumes  []string
	ranges   []string
	stops    int
	uploads  map[string]string
}

func (f *face) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer bdr_key" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"code":"auth","message":"the API key is missing or refused","hint":"send a key","retryable":false}}`)
		return
	}
	switch {
	case r.URL.Path == "/api/chat":
		var body struct {
			Message struct{ ID string }
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		f.mu.Lock()
		f.messages = append(f.messages, body.Message.ID)
		f.mu.Unlock()
		if f.refusal != "" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, f.refusal)
			return
		}
		f.stream(w, 0)
	case strings.HasSuffix(r.URL.Path, "/stream"):
		f.mu.Lock()
		f.resumes = append(f.resumes, r.Header.Get("Last-Event-ID")+" "+r.URL.Query().Get("turn"))
		f.mu.Unlock()
		after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
		f.stream(w, after)
	case strings.HasSuffix(r.URL.Path, "/stop"):
		f.mu.Lock()
		f.stops++
		f.mu.Unlock()
	case strings.HasSuffix(r.URL.Path, "/uploads"):
		raw, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		f.uploads[r.URL.Query().Get("name")] = string(raw)
		f.mu.Unlock()
	case r.URL.Path == "/api/artifacts/a":
		f.file(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (f *face) file(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.ranges = append(f.ranges, r.Header.Get("Range"))
	first := len(f.ranges) == 1
	f.mu.Unlock()
	if first && f.torn > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(f.content)))
		_, _ = w.Write(f.content[:f.torn])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	from, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"))
	if from > 0 {
		w.WriteHeader(http.StatusPartialContent)
	}
	_, _ = w.Write(f.content[from:])
}

func (f *face) stream(w http.ResponseWriter, after int) {
	f.mu.Lock()
	f.streams++
	how, at := "", len(f.parts)+1
	if f.streams <= len(f.breaks) {
		_, _ = fmt.Sscanf(f.breaks[f.streams-1], "%s %d", &how, &at)
	}
	f.mu.Unlock()
	if how == "refuse" {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Bordereau-Turn", "t-1")
	w.WriteHeader(http.StatusOK)
	for i := after; i < len(f.parts); i++ {
		if i == at && how != "" {
			w.(http.Flusher).Flush()
			switch how {
			case "cut":
				panic(http.ErrAbortHandler)
			case "eof":
				return
			case "gap":
				continue
			}
		}
		fmt.Fprintf(w, ": alive\n\nid: %d\ndata: %s\n\n", i+1, f.parts[i])
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func turnParts(content []byte, name string, o journal.Outcome) []json.RawMessage {
	sum := sha256.Sum256(content)
	return []json.RawMessage{
		uimessage.Start("m"), uimessage.Data(uimessage.DataTurn, "turn", uimessage.Turn{Turn: "t-1"}), uimessage.StartStep(),
		uimessage.TextStart("1"), uimessage.TextDelta("1", "lost words"), uimessage.ResetStep(),
		uimessage.TextStart("2"), uimessage.TextDelta("2", "Reading.\n"), uimessage.TextEnd("2"),
		uimessage.ToolInputAvailable("c", "reconcile", json.RawMessage(`{"from":"2026-11-29","to":"2026-11-29"}`)),
		uimessage.Passing(uimessage.DataProgress, "c", uimessage.Progress{Tool: "reconcile", Message: "reconciling", Done: 3, Total: 25}),
		uimessage.ToolOutput("c", json.RawMessage(`{"submissions":25,"severities":{"critical":2,"major":3}}`)),
		uimessage.Data(uimessage.DataArtifact, "artifact-a", uimessage.Artifact{ID: "a", Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), URL: "/api/artifacts/a"}),
		uimessage.FinishStep(), uimessage.StartStep(), uimessage.TextStart("3"), uimessage.TextDelta("3", "## Done\n\n| a | count |\n| --- | --- |\n"),
		uimessage.TextDelta("3", "| long name | 5 |\n\x1b[31m"), uimessage.TextEnd("3"), uimessage.FinishStep(),
		uimessage.Data(uimessage.DataOutcome, "outcome", o), uimessage.Finish(uimessage.Stop, nil),
	}
}

// askFace runs the command against a face.
func askFace(t *testing.T, f *face, args ...string) (out, progress, folder string, err error) {
	t.Helper()
	f.uploads = map[string]string{}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	folder = t.TempDir()
	var o, p bytes.Buffer
	std := stdio{Out: &o, Err: &p, Env: func(k string) string { return map[string]string{"BORDEREAU_API_KEY": "bdr_key"}[k] }}
	err = runAsk(t.Context(), append([]string{"--url", s.URL, "--out", folder}, append(args, "reconcile", "today")...), std)
	return o.String(), p.String(), folder, err
}

func TestAskOnABadLine(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("x"), 5000)
	f := &face{
		parts: turnParts(content, "../../discrepancies.xlsx", journal.Outcome{Status: journal.Completed}), content: content, torn: 1200,
		breaks: []string{"refuse", "cut 4", "eof 8", "gap 12", "cut 17"},
	}
	upload := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(upload, []byte("a,b"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, progress, folder, err := askFace(t, f, "--file", upload)
	if err != nil {
		t.Fatalf("%v\n%s", err, progress)
	}
	if want := "Reading.\n## Done\n\n| a         | count |\n| --------- | ----- |\n| long name |     5 |\n[31m\n"; out != want {
		t.Errorf("answer %q, want %q", out, want)
	}
	for _, want := range []string{"reconcile 2026-11-29", "3 of 25", "25 submissions, 5 findings", "file ../../discrepancies.xlsx", "completed", "connection lost", "step 1 is made again", "saved "} {
		if !strings.Contains(progress, want) {
			t.Errorf("progress lacks %q:\n%s", want, progress)
		}
	}
	if len(f.messages) != 2 || f.messages[0] != f.messages[1] || f.messages[0] == "" {
		t.Errorf("the question was sent as %v: again means the same id", f.messages)
	}
	if want := "[4 t-1 8 t-1 12 t-1 17 t-1]"; fmt.Sprint(f.resumes) != want {
		t.Errorf("resumed %v, want %s", f.resumes, want)
	}
	if fmt.Sprint(f.ranges) != "[ bytes=1200-]" {
		t.Errorf("downloads %q", f.ranges)
	}
	got, err := os.ReadFile(filepath.Join(folder, "discrepancies.xlsx"))
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("the file: %d bytes, %v", len(got), err)
	}
	if f.uploads["rows.csv"] != "a,b" {
		t.Errorf("uploads %v", f.uploads)
	}
}

func TestAskExitStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[journal.Status]int{journal.Completed: 0, journal.CutShort: 3, journal.Failed: 1, journal.Cancelled: 4} {
		o := journal.Outcome{Status: status, Reason: "steps", Component: "governance", Class: "unavailable", Fault: "infrastructure", Message: "it does not answer"}
		_, _, folder, err := askFace(t, &face{parts: turnParts([]byte("x"), "a.csv", o), content: []byte("x")})
		var said bytes.Buffer
		if got := exitStatus(err, &said); got != want {
			t.Errorf("%s: exit status %d, want %d (%s)", status, got, want, said.String())
		}
		if status == journal.Failed && !strings.Contains(said.String(), "infrastructure, governance") {
			t.Errorf("a failure doesn't say whose it is: %s", said.String())
		}
		if _, err := os.Stat(filepath.Join(folder, "a.csv")); err != nil {
			t.Errorf("%s: what was delivered is not saved: %v", status, err)
		}
	}
}

func TestAskRefused(t *testing.T) {
	t.Parallel()
	f := &face{refusal: `{"error":{"code":"invalid","message":"there is no model \"x\" here","hint":"the models are playbook","retryable":false}}`}
	_, _, _, err := askFace(t, f, "--model", "x")
	var refused *apiFailure
	if !errors.As(err, &refused) || refused.Code != "invalid" || len(f.messages) != 1 {
		t.Errorf("got %v after %d tries", err, len(f.messages))
	}
	std := stdio{Out: io.Discard, Err: io.Discard, Env: func(string) string { return "" }}
	for name, args := range map[string][]string{
		"no question": {"--org", "acme"}, "no organisation": {"what"}, "a path": {"--org", "../x", "what"}, "bad flag": {"--nope"}, "bad address": {"--org", "acme", "--url", "ftp://x", "what"},
	} {
		std.Env = func(k string) string {
			return map[string]string{"BORDEREAU_API_KEY": map[bool]string{true: "k"}[name == "bad address"]}[k]
		}
		if err := runAsk(t.Context(), args, std); exitStatus(err, io.Discard) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	std.Env = func(string) string { return "" }
	if err := runAsk(t.Context(), []string{"--org", "acme", "--data", t.TempDir(), "what"}, std); err == nil || !strings.Contains(err.Error(), "no key for organisation") {
		t.Errorf("got %v", err)
	}
}

// A file that arrives damaged is not kept, and an address elsewhere doesn't get the key.
func TestAskBadDownload(t *testing.T) {
	t.Parallel()
	f := &face{parts: turnParts([]byte("right"), "a.csv", journal.Outcome{Status: journal.Completed}), content: []byte("wrong")}
	_, _, folder, err := askFace(t, f)
	if err == nil || !strings.Contains(err.Error(), "hash") {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
	c, err := newAskClient(askClientConfig{URL: "http://127.0.0.1:1", Key: "secret", HTTP: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.download(t.Context(), uimessage.Artifact{Name: "x", Size: 1, URL: "http://evil.example/x"}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "leads elsewhere") {
		t.Errorf("got %v", err)
	}
}

// Who interrupts ask wants the turn to stop too.
func TestAskInterrupted(t *testing.T) {
	t.Parallel()
	f := &face{parts: turnParts([]byte("x"), "a.csv", journal.Outcome{Status: journal.Completed}), uploads: map[string]string{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	c, err := newAskClient(askClientConfig{URL: s.URL, Key: "bdr_key", HTTP: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	result, err := ask(ctx, c, askQuestion{Text: "x", Conversation: "c"}, interrupter{cancel})
	if err != nil || result.Outcome.Status != journal.Cancelled || f.stops != 1 {
		t.Errorf("got %+v, %v, %d stops", result.Outcome, err, f.stops)
	}
}

type interrupter struct{ cancel context.CancelFunc }

func (i interrupter) Event(askEvent)         { i.cancel() }
func (interrupter) Cut(error, time.Duration) {}
func (interrupter) Delivered(string, int64)  {}
