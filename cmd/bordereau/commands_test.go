package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/migrations"
)

// command runs a command and returns what it printed.
func runCommand(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := run(ctx, args, stdio{In: strings.NewReader(""), Out: &out, Err: io.Discard, Env: func(string) string { return "" }})
	return out.String(), err
}

func TestTurnShow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, dialect, err := migrations.Open(t.Context(), filepath.Join(dir, "journal.db"), migrations.Journal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store, err := journal.Open(journal.Config{DB: db, Dialect: dialect, NewID: uuid.NewString})
	if err != nil {
		t.Fatal(err)
	}
	kim := journal.Owner{Org: "acme", Person: "kim", Role: "underwriter"}
	p, err := store.Post(t.Context(), journal.Post{
		Owner: kim, Conversation: "c", Create: true, Content: model.Message{Role: model.User, Blocks: []model.Block{{Kind: model.Text, Text: "x"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	claimed, err := store.Claim(t.Context(), "a runner")
	if err != nil {
		t.Fatal(err)
	}
	l := journal.Lease{Turn: claimed.ID, Epoch: claimed.Epoch}
	now := time.Now()
	if _, err := store.BeginStep(t.Context(), l, journal.Intent{N: 1, Kind: journal.ModelStep, Name: "anthropic/m", Marks: []journal.Mark{
		{At: now, Kind: "preflight", Took: time.Millisecond}, {At: now, Kind: "sandbox", Took: 2 * time.Second, Note: "fetched"}, {At: now, Kind: "governance", Took: time.Second, Note: "asked 2 times"},
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.FinishStep(t.Context(), l, journal.End{N: 1, Attempt: 1, State: journal.StepFail, ErrorClass: "overloaded", FirstByte: now, Charge: &journal.Charge{Model: "anthropic/m", Usage: model.Usage{Input: 7}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.FinishTurn(t.Context(), l, journal.Ending{Outcome: journal.Outcome{
		Status: journal.Failed, Class: "overloaded", Fault: "infrastructure", Component: "model", Message: "the model is overloaded", Hint: "try later",
	}}); err != nil {
		t.Fatal(err)
	}
	out, err := runCommand(t.Context(), "turn", "show", "--data", dir, p.Turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"failed, class overloaded, component model, fault infrastructure", "the model is overloaded; try later",
		"queued", "claimed", "preflight", "model anthropic/m", "first_byte", "sandbox", "fetched", "governance", "asked 2 times", "ended", "charge step 1 attempt 1",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if out, err := runCommand(t.Context(), "turn", "show", "--data", dir, "--json", p.Turn.ID); err != nil || !strings.Contains(out, `"sandbox": 2`) {
		t.Errorf("%v, %s", err, out)
	}
	for want, args := range map[string][]string{
		"want show": {"turn"}, "one turn id": {"turn", "show", "--data", dir}, "no turn": {"turn", "show", "--data", dir, "nothing"}, "no journal": {"turn", "show", "--data", t.TempDir(), "x"},
	} {
		if _, err := runCommand(t.Context(), args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

func TestModelServer(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(script, []byte(`{"replies":[{"text":"fourteen of them"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"modelserver", "-listen", "127.0.0.1:0", "-script", script}, stdio{Out: in, Err: io.Discard, Env: func(string) string { return "" }})
	}()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(strings.TrimSpace(string(line[:n])), "http://")
	res, err := http.Post("http://"+address+"/v1/messages", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"how many?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	if err != nil || !strings.Contains(string(raw), "four") || !strings.Contains(string(raw), "message_stop") {
		t.Errorf("%v, %s", err, raw)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for want, args := range map[string][]string{
		"reading the script": {"modelserver", "-script", "/nowhere"}, "not defined": {"modelserver", "-x"},
	} {
		if _, err := runCommand(t.Context(), args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
