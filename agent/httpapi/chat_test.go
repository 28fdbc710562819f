package httpapi

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bordereau/agent/journal"
	"bordereau/agent/stream/uimessage"
)

const me = "acme/underwriter"

func TestChatStreamsAndReplays(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	resp := r.do(request{who: me, method: "POST", path: "/api/chat", body: chat("c-1", "hi")})
	for k, want := range map[string]string{"Content-Type": "text/event-stream", "X-Vercel-Ai-Ui-Message-Stream": "v1", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"} {
		if got := resp.Header.Get(k); got != want {
			t.Errorf("%s: %q, want %q", k, got, want)
		}
	}
	turn := resp.Header.Get("Bordereau-Turn")
	first, done := events(t, resp.Body, 0)
	if !done || len(first) != 8 {
		t.Fatalf("%d events, done %v: %v", len(first), done, first)
	}
	for i, e := range first {
		if e.id != fmt.Sprint(i+1) {
			t.Errorf("event %d has id %s", i+1, e.id)
		}
	}
	// A reload replays the whole, a cut goes on, and who has seen the end is told that there is nothing.
	for after, want := range map[string]int{"": 8, "0": 8, "5": 3, "1-5": 3} {
		head := map[string]string{}
		if after != "" {
			head["Last-Event-ID"] = after
		}
		again, done := events(t, r.do(request{who: me, method: "GET", path: "/api/chat/c-1/stream", head: head}).Body, 0)
		if !done || len(again) != want {
			t.Errorf("after %q: %d events, done %v", after, len(again), done)
		}
	}
	if s := r.do(request{who: me, method: "GET", path: "/api/chat/c-1/stream", head: map[string]string{"Last-Event-ID": "8"}}).StatusCode; s != http.StatusNoContent {
		t.Errorf("after the end: status %d", s)
	}
	if s := r.do(request{who: me, method: "GET", path: "/api/chat/c-1/stream?turn=" + turn}).StatusCode; s != http.StatusOK {
		t.Errorf("a named turn: status %d", s)
	}
	// The same message again is the same turn.
	resp = r.do(request{who: me, method: "POST", path: "/api/chat", body: chat("c-1", "hi")})
	if got := resp.Header.Get("Bordereau-Turn"); got != turn {
		t.Errorf("the message made another turn: %s", got)
	}
	var messages MessageList
	r.get(request{who: me, method: "GET", path: "/api/conversations/c-1/messages"}, 200, &messages)
	if len(messages.Messages) != 2 || messages.Messages[1].ID != "answer-"+turn || string(messages.Messages[0].Parts) != `[{"type":"text","text":"hi"}]` {
		t.Errorf("messages %+v", messages)
	}
	var turns TurnList
	r.get(request{who: me, method: "GET", path: "/api/conversations/c-1/turns"}, 200, &turns)
	if len(turns.Turns) != 1 || turns.Turns[0].Outcome.Status != journal.Completed || turns.Turns[0].Ended == nil {
		t.Errorf("turns %+v", turns)
	}
	var detail TurnDetail
	r.get(request{who: me, method: "GET", path: "/api/turns/" + turn}, 200, &detail)
	if len(detail.Timeline) == 0 {
		t.Error("no timeline")
	}
	var usage Usage
	r.get(request{who: me, method: "GET", path: "/api/turns/" + turn + "/usage"}, 200, &usage)
	if usage.Turn != turn {
		t.Errorf("usage %+v", usage)
	}
}

// A stock client sends its whole history; the last message counts. It may ask again for the same answer.
func TestChatStockBody(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	text := func(role, id, text string) map[string]any {
		return map[string]any{"id": id, "role": role, "parts": []map[string]any{{"type": "step-start"}, {"type": "text", "text": text, "state": "done"}}}
	}
	last := map[string]any{"id": "m2", "role": "user", "parts": []map[string]any{{"type": "text", "text": "second"}}}
	body := map[string]any{"id": "c-1", "trigger": "submit-message", "messages": []any{text("user", "m1", "first"), text("assistant", "a1", "x"), last}}
	one := r.do(request{who: me, method: "POST", path: "/api/chat", body: body})
	events(t, one.Body, 0)
	body["trigger"] = "regenerate-message"
	two := r.do(request{who: me, method: "POST", path: "/api/chat", body: body})
	events(t, two.Body, 0)
	if a, b := one.Header.Get("Bordereau-Turn"), two.Header.Get("Bordereau-Turn"); a == b || a == "" || b == "" {
		t.Errorf("asked again in the same turn: %s, %s", a, b)
	}
}

func TestChatFilesAreUploaded(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	body := map[string]any{"id": "c-1", "message": map[string]any{"id": "m", "role": "user", "parts": []map[string]any{
		{"type": "file", "mediaType": "text/csv", "filename": "rows.csv", "url": "data:text/csv;base64," + base64.StdEncoding.EncodeToString([]byte("a,b\n"))},
		{"type": "text", "text": "read this"},
	}}}
	events(t, r.do(request{who: me, method: "POST", path: "/api/chat", body: body}).Body, 0)
	var ups UploadList
	r.get(request{who: me, method: "GET", path: "/api/conversations/c-1/uploads"}, 200, &ups)
	if len(ups.Uploads) != 1 || ups.Uploads[0].Name != "rows.csv" || ups.Uploads[0].Size != 4 {
		t.Fatalf("uploads %+v", ups)
	}
	var messages MessageList
	r.get(request{who: me, method: "GET", path: "/api/conversations/c-1/messages"}, 200, &messages)
	if !strings.Contains(string(messages.Messages[0].Parts), "rows.csv") {
		t.Errorf("the model doesn't hear of the file: %s", messages.Messages[0].Parts)
	}
}

func TestStopFromAnotherClient(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.script(func(p *pen) {
		p.say(uimessage.Start("answer-" + p.Turn.ID))
		<-p.Cancel
		p.say(uimessage.Abort("stopped by a person"))
		p.end(journal.Outcome{Status: journal.Cancelled}, "")
	})
	one := r.do(request{who: me, method: "POST", path: "/api/chat", body: chat("c-1", "hi")})
	two := r.do(request{who: me, method: "GET", path: "/api/chat/c-1/stream"})
	if first, _ := events(t, two.Body, 1); len(first) != 1 {
		t.Fatal("the second client sees nothing")
	}
	var s Stopped
	r.get(request{who: me, method: "POST", path: "/api/chat/c-1/stop"}, http.StatusAccepted, &s)
	if s.Status != "stopping" {
		t.Errorf("got %+v", s)
	}
	all, done := events(t, one.Body, 0)
	if !done || !strings.Contains(all[len(all)-2].data, `"cancelled"`) {
		t.Errorf("the first client sees %v", all)
	}
	r.runner.wg.Wait()
	r.get(request{who: me, method: "POST", path: "/api/chat/c-1/stop"}, http.StatusOK, &s)
	if s.Status != "cancelled" {
		t.Errorf("stopped again: %+v", s)
	}
	r.get(request{who: me, method: "POST", path: "/api/conversations", body: `{"id":"c-2"}`}, 201, nil)
	r.get(request{who: me, method: "POST", path: "/api/chat/c-2/stop"}, http.StatusOK, &s)
	if s.Status != "idle" {
		t.Errorf("stopped nothing: %+v", s)
	}
	if code := r.do(request{who: me, method: "GET", path: "/api/chat/c-2/stream"}).StatusCode; code != http.StatusNoContent {
		t.Errorf("the stream of nothing: %d", code)
	}
}

// An idle stream says that it lives, or proxies cut it.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.script(func(p *pen) {
		<-p.Cancel
		p.end(journal.Outcome{Status: journal.Cancelled}, "")
	})
	resp := r.do(request{who: me, method: "POST", path: "/api/chat", body: chat("c-1", "hi")})
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || line != ": alive\n" {
		t.Errorf("read %q, %v", line, err)
	}
	r.get(request{who: me, method: "POST", path: "/api/chat/c-1/stop"}, http.StatusAccepted, nil)
}

func TestChatBadInput(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	part := func(p ...map[string]any) map[string]any {
		return map[string]any{"id": "c-1", "message": map[string]any{"id": "m", "role": "user", "parts": p}}
	}
	text := map[string]any{"type": "text", "text": "hi"}
	for name, c := range map[string]struct {
		body   any
		status int
		code   Code
	}{
		"empty":           {"", 400, Invalid},
		"no JSON":         {"{", 400, Invalid},
		"a list":          {"[]", 400, Invalid},
		"two values":      {"{}{}", 400, Invalid},
		"no id":           {map[string]any{"message": map[string]any{"role": "user", "parts": []any{text}}}, 400, Invalid},
		"no message":      {map[string]any{"id": "c-1"}, 400, Invalid},
		"the assistant's": {map[string]any{"id": "c-1", "message": map[string]any{"role": "assistant", "parts": []any{text}}}, 400, Invalid},
		"no text":         {part(), 400, Invalid},
		"blank":           {part(map[string]any{"type": "text", "text": " \n"}), 400, Invalid},
		"odd part":        {part(map[string]any{"type": "tool-sql"}), 400, Invalid},
		"too long":        {part(map[string]any{"type": "text", "text": strings.Repeat("x", journal.MaxMessage+1)}), 413, TooLarge},
		"odd model":       {map[string]any{"id": "c-1", "model": "gpt-99", "message": map[string]any{"role": "user", "parts": []any{text}}}, 400, Invalid},
		"odd trigger":     {map[string]any{"id": "c-1", "trigger": "x", "message": map[string]any{"role": "user", "parts": []any{text}}}, 400, Invalid},
		"remote file":     {part(text, map[string]any{"type": "file", "filename": "a.csv", "url": "http://169.254.169.254/"}), 400, Invalid},
		"file with path":  {part(text, map[string]any{"type": "file", "filename": "../../x", "url": "data:,x"}), 400, Invalid},
		"bad base64":      {part(text, map[string]any{"type": "file", "filename": "x.csv", "url": "data:;base64,%%%"}), 400, Invalid},
		"control in id":   {map[string]any{"id": "c\n1", "message": map[string]any{"role": "user", "parts": []any{text}}}, 400, Invalid},
	} {
		if e := r.fails(request{who: me, method: "POST", path: "/api/chat", body: c.body}, c.status, c.code); e == nil || e.Hint == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	var list ConversationList
	r.get(request{who: me, method: "GET", path: "/api/conversations"}, 200, &list)
	if len(list.Conversations) != 0 {
		t.Errorf("a refused message left %+v", list)
	}
	r.fails(request{who: me, method: "GET", path: "/api/chat/c-9/stream"}, 404, NotFound)
	events(t, r.do(request{who: me, method: "POST", path: "/api/chat", body: chat("c-1", "hi")}).Body, 0)
	r.fails(request{who: me, method: "GET", path: "/api/chat/c-1/stream", head: map[string]string{"Last-Event-ID": "x"}}, 400, Invalid)
	r.fails(request{who: me, method: "GET", path: "/api/chat/c-1/stream?turn=nope"}, 404, NotFound)
	changed := chat("c-1", "hi")
	changed["message"].(map[string]any)["parts"] = []any{map[string]any{"type": "text", "text": "other words"}}
	r.fails(request{who: me, method: "POST", path: "/api/chat", body: changed}, 409, Invalid)
}

func TestBodyCap(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Limits.Body = 1000 })
	r.fails(request{who: me, method: "POST", path: "/api/chat", body: `{"id":"` + strings.Repeat("x", 2000) + `"}`}, 413, TooLarge)
}
