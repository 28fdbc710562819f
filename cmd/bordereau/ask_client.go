package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"bordereau/agent/artifact"
	"bordereau/agent/journal"
	"bordereau/agent/model"
	"bordereau/agent/stream/uimessage"
)

// Bounds of the client's patience.
const (
	askTries      = 12               // failures in a row, with nothing new between them
	askFirstTries = 4                // the same, before anything of the turn is known
	askWaitMax    = 5 * time.Second  // between two of them
	askSilence    = 60 * time.Second // the server says that it lives every 15 s
	maxAskEvent   = 16 << 20         // one event
)

// askClientConfig says where and as whom to ask.
type askClientConfig struct {
	URL  string
	Key  string
	HTTP *http.Client
}

// askClient speaks the public HTTP API.
type askClient struct {
	base *url.URL
	key  string
	http *http.Client
}

func newAskClient(c askClientConfig) (*askClient, error) {
	u, err := url.Parse(strings.TrimSuffix(c.URL, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usagef("%q is no http address", c.URL)
	}
	return &askClient{base: u, key: c.Key, http: c.HTTP}, nil
}

// askQuestion is one question.
type askQuestion struct {
	Text         string
	Conversation string
	Model        string
	Files        []string // to upload first
	Out          string   // the folder for what is delivered
}

// askResult is how it went.
type askResult struct {
	Turn    string
	Outcome journal.Outcome
	Text    string   // the last step's
	Files   []string // paths of what was delivered
}

// askEvents takes what happens, in order and without gaps or repetitions.
type askEvents interface {
	Event(e askEvent)
	Cut(err error, wait time.Duration) // the connection was lost and is made again
	Delivered(path string, size int64)
}

// askEvent is one part of the stream.
type askEvent struct {
	Type       string          `json:"type"`
	ID         string          `json:"id"`
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Delta      string          `json:"delta"`
	Input      json.RawMessage `json:"input"`
	Output     json.RawMessage `json:"output"`
	ErrorText  string          `json:"errorText"`
	Data       json.RawMessage `json:"data"`
}

// apiFailure is a typed refusal of the server.
type apiFailure struct {
	Status    int    `json:"-"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint"`
	Retryable bool   `json:"retryable"`
	RequestID string `json:"request_id"`
}

func (e *apiFailure) Error() string { return join(e.Code, e.Message, e.Hint) }

// ask uploads the files, sends the question, follows its turn to the end, whatever cuts the connection, and downloads what
// was delivered.
func ask(ctx context.Context, c *askClient, q askQuestion, events askEvents) (askResult, error) {
	parts := []map[string]string{{"type": "text", "text": q.Text}}
	var names []string
	for _, f := range q.Files {
		name := artifact.CleanName(filepath.Base(f))
		if err := c.upload(ctx, q.Conversation, f, name); err != nil {
			return askResult{}, err
		}
		names = append(names, name)
	}
	if names != nil {
		parts = append(parts, map[string]string{"type": "text", "text": model.Attached(names).Text})
	}
	body, err := json.Marshal(map[string]any{
		"id": q.Conversation, "model": q.Model,
		"message": map[string]any{"id": uuid.NewString(), "role": "user", "parts": parts},
	})
	if err != nil {
		return askResult{}, err
	}
	f := &follower{c: c, q: q, events: events}
	if err := f.follow(ctx, body); err != nil {
		if ctx.Err() != nil {
			f.stop(ctx)
			f.result.Outcome.Status = journal.Cancelled
			return f.result, nil //nolint:nilerr // it was stopped: that is how the turn ended, and no error
		}
		return f.result, err
	}
	for _, a := range f.artifacts {
		path, err := c.download(ctx, a, q.Out)
		if err != nil {
			return f.result, err
		}
		f.result.Files = append(f.result.Files, path)
		events.Delivered(path, a.Size)
	}
	if f.result.Outcome.Status == "" {
		return f.result, errors.New("the stream ended without saying how the turn ended")
	}
	return f.result, nil
}

// follower follows one turn.
type follower struct {
	c         *askClient
	q         askQuestion
	events    askEvents
	last      int64
	done      bool
	result    askResult
	artifacts []uimessage.Artifact
}

func (f *follower) follow(ctx context.Context, body []byte) error {
	wait := 200 * time.Millisecond
	for failures := 0; ; {
		before := f.last
		err := f.once(ctx, body)
		if f.done || ctx.Err() != nil {
			return ctx.Err()
		}
		var refused *apiFailure
		if errors.As(err, &refused) && !refused.Retryable {
			return err
		}
		if f.last > before {
			failures, wait = 0, 200*time.Millisecond
		}
		failures++
		if f.result.Turn == "" && failures > askFirstTries {
			return fmt.Errorf("gave up after %d tries: %w; is 'bordereau serve' running at %s?", askFirstTries, err, f.c.base)
		}
		if failures > askTries {
			return fmt.Errorf("gave up after %d tries: %w", askTries, err)
		}
		pause := time.Duration(float64(wait) * (0.5 + rand.Float64())) // #nosec G404 -- jitter
		f.events.Cut(err, pause)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
		wait = min(wait*2, askWaitMax)
	}
}

// once opens the stream and reads it until it ends. Before the turn is known the question is sent (again: its message has an
// id, so it is taken once); after that the turn's stream is asked for where it was cut.
func (f *follower) once(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	method, path := http.MethodPost, "/api/chat"
	if f.result.Turn != "" {
		method, path, body = http.MethodGet, "/api/chat/"+url.PathEscape(f.q.Conversation)+"/stream?turn="+url.QueryEscape(f.result.Turn), nil
	}
	// A connection that says nothing is dead: the server says that it lives while nothing happens.
	watchdog := time.AfterFunc(askSilence, func() { cancel(errors.New("nothing came for a minute")) })
	defer watchdog.Stop()
	resp, err := f.c.do(ctx, method, path, "application/json", bytes.NewReader(body), map[string]string{"Last-Event-ID": strconv.FormatInt(f.last, 10)})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		f.done = true
		return nil
	}
	if turn := resp.Header.Get("Bordereau-Turn"); turn != "" {
		f.result.Turn = turn
	}
	r := bufio.NewReaderSize(resp.Body, 64<<10)
	var seq int64
	for {
		line, err := readLine(r)
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		watchdog.Reset(askSilence)
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			if seq, err = strconv.ParseInt(id, 10, 64); err != nil {
				return fmt.Errorf("an event's id can't be read: %w", err)
			}
			continue
		}
		text, ok := strings.CutPrefix(line, "data: ")
		switch {
		case !ok:
		case text == "[DONE]":
			f.done = true
			return nil
		case seq <= f.last: // seen before the cut
		case seq != f.last+1:
			return fmt.Errorf("events %d to %d are missing", f.last+1, seq-1)
		default:
			var e askEvent
			if err := json.Unmarshal([]byte(text), &e); err != nil {
				return fmt.Errorf("an event can't be read: %w", err)
			}
			f.last = seq
			f.take(e)
		}
	}
}

// readLine reads a line of bounded length. An end in the middle is io.ErrUnexpectedEOF.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxAskEvent:
			return "", errors.New("an event is too long")
		case err == nil:
			return strings.TrimRight(string(line), "\r\n"), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return "", io.ErrUnexpectedEOF
		default:
			return "", err
		}
	}
}

func (f *follower) take(e askEvent) {
	switch e.Type {
	case "start-step", "reset-step":
		f.result.Text = ""
	case "text-delta":
		f.result.Text += e.Delta
	case uimessage.DataTurn:
		var t uimessage.Turn
		if json.Unmarshal(e.Data, &t) == nil && t.Turn != "" {
			f.result.Turn = t.Turn
		}
	case uimessage.DataArtifact:
		var a uimessage.Artifact
		if json.Unmarshal(e.Data, &a) == nil {
			f.deliver(a)
		}
	case uimessage.DataOutcome:
		var o journal.Outcome
		if json.Unmarshal(e.Data, &o) == nil {
			f.result.Outcome = o
		}
	}
	f.events.Event(e)
}

// deliver notes a file; a later one of the same name replaces it.
func (f *follower) deliver(a uimessage.Artifact) {
	for i := range f.artifacts {
		if f.artifacts[i].Name == a.Name {
			f.artifacts[i] = a
			return
		}
	}
	f.artifacts = append(f.artifacts, a)
}

// stop ends the turn on the server: who interrupts ask wants nothing more of it.
func (f *follower) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	resp, err := f.c.do(ctx, http.MethodPost, "/api/chat/"+url.PathEscape(f.q.Conversation)+"/stop", "", nil, nil)
	if err == nil {
		_ = resp.Body.Close() // nothing in it is needed
	}
}

// do sends a request. Anything but success is an *apiFailure.
func (c *askClient) do(ctx context.Context, method, path, contentType string, body io.Reader, head map[string]string) (*http.Response, error) {
	u, err := c.base.Parse(path)
	if err != nil || u.Host != c.base.Host {
		return nil, fmt.Errorf("the address %q leads elsewhere", path) // the key goes to this server only
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for k, v := range head {
		req.Header.Set(k, v)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("reaching Bordereau: %w", err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return nil, fmt.Errorf("reading a refusal: %w", err)
	}
	refusal := struct {
		Error *apiFailure `json:"error"`
	}{}
	if json.Unmarshal(raw, &refusal) != nil || refusal.Error == nil {
		refusal.Error = &apiFailure{Code: "unavailable", Message: "HTTP status " + resp.Status, Retryable: resp.StatusCode >= 500}
	}
	refusal.Error.Status = resp.StatusCode
	return nil, refusal.Error
}

func (c *askClient) upload(ctx context.Context, conversation, file, name string) error {
	f, err := os.Open(file) // #nosec G304 -- the person names it
	if err != nil {
		return fmt.Errorf("uploading: %w", err)
	}
	defer f.Close()
	path := "/api/conversations/" + url.PathEscape(conversation) + "/uploads?name=" + url.QueryEscape(name)
	resp, err := c.do(ctx, http.MethodPost, path, "application/octet-stream", f, nil)
	if err != nil {
		return fmt.Errorf("uploading %s: %w", file, err)
	}
	return resp.Body.Close()
}

// download puts a delivered file into a folder, whole or not at all, and checks its hash. A cut is gone on from where it was.
func (c *askClient) download(ctx context.Context, a uimessage.Artifact, folder string) (path string, err error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", fmt.Errorf("making the folder for files: %w", err)
	}
	tmp, err := os.CreateTemp(folder, ".part-*")
	if err != nil {
		return "", fmt.Errorf("keeping %s: %w", a.Name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tmp.Close(), os.Remove(tmp.Name()))
		}
	}()
	var have int64
	sum := sha256.New()
	for try := 1; have < a.Size || try == 1; try++ {
		n, err := c.fetch(ctx, a.URL, have, io.MultiWriter(tmp, sum))
		have += n
		var refused *apiFailure
		switch {
		case err == nil && have == a.Size:
		case ctx.Err() != nil, errors.As(err, &refused) && !refused.Retryable, try == askTries:
			return "", fmt.Errorf("downloading %s: %w", a.Name, errors.Join(err, fmt.Errorf("%d of %d bytes came", have, a.Size)))
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); a.SHA256 != "" && got != a.SHA256 {
		return "", fmt.Errorf("downloading %s: its hash is %s, wanted %s", a.Name, got, a.SHA256)
	}
	if err := tmp.Close(); err != nil {
		return "", fmt.Errorf("keeping %s: %w", a.Name, err)
	}
	path = filepath.Join(folder, artifact.CleanName(a.Name)) // the server's word is not a path
	if err := os.Rename(tmp.Name(), path); err != nil {
		return "", fmt.Errorf("keeping %s: %w", a.Name, err)
	}
	return path, nil
}

func (c *askClient) fetch(ctx context.Context, address string, from int64, w io.Writer) (int64, error) {
	head := map[string]string{}
	if from > 0 {
		head["Range"] = fmt.Sprintf("bytes=%d-", from)
	}
	resp, err := c.do(ctx, http.MethodGet, address, "", nil, head)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if from > 0 && resp.StatusCode != http.StatusPartialContent {
		return 0, errors.New("the server doesn't go on where a download was cut")
	}
	return io.Copy(w, resp.Body)
}
