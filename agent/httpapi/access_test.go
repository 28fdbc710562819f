package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"bordereau/agent/artifact"
	"bordereau/agent/journal"
	"bordereau/agent/stream/uimessage"
)

// Every address but the two open ones refuses a bad key, and tells nothing about why.
func TestKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	k, revoked, err := r.people.IssueKey(t.Context(), "acme", r.persons[me], "gone", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.people.RevokeKey(t.Context(), "acme", k.ID); err != nil {
		t.Fatal(err)
	}
	_, expired, err := r.people.IssueKey(t.Context(), "acme", r.persons[me], "old", time.Now().Add(-time.Second))
	if err != nil {
		t.Fatal(err)
	}
	good := r.keys[me]
	said := map[string]bool{}
	for _, key := range []string{"", "x", "bdr_", "bdr_00_", good + "x", good[:len(good)-1], strings.ToUpper(good), revoked, expired, strings.Repeat("a", 5000)} {
		e := r.fails(request{who: key, method: "GET", path: "/api/me"}, 401, Auth)
		said[e.Message+e.Hint] = true
	}
	if len(said) != 1 {
		t.Errorf("refusals differ: %v", said)
	}
	for _, route := range (&API{}).routes() {
		path := strings.NewReplacer(":id", "x", ":upload", "y").Replace(route.path)
		resp := r.do(request{method: route.method, path: path})
		if route.access.IsPublic() != (resp.StatusCode != http.StatusUnauthorized) {
			t.Errorf("%s %s without a key: %d", route.method, route.path, resp.StatusCode)
		}
	}
	var m Me
	r.get(request{method: "GET", path: "/api/me", head: map[string]string{"X-API-Key": good}}, 200, &m)
	if m.Org != "acme" || m.Role != "underwriter" {
		t.Errorf("got %+v", m)
	}
}

// What belongs to another organisation, or to a colleague, is not found: not refused, which would tell that it is there.
func TestOthersAreNotFound(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	kept, err := r.files.Put(t.Context(), artifact.Put{Org: "acme", Name: "a.csv", Content: strings.NewReader("a,b\n")})
	if err != nil {
		t.Fatal(err)
	}
	r.script(func(p *pen) {
		p.say(uimessage.Start("answer-" + p.Turn.ID))
		p.end(journal.Outcome{Status: journal.Completed}, "x", journal.Artifact{ID: "art-1", Name: "a.csv", MediaType: kept.MediaType, Size: kept.Size, SHA256: kept.SHA256})
	})
	resp := r.do(request{who: me, method: "POST", path: "/api/chat", body: chat("c-1", "hi")})
	turn := resp.Header.Get("Bordereau-Turn")
	events(t, resp.Body, 0)
	var u Upload
	r.get(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=b.csv", body: "b"}, 201, &u)
	reads := []string{
		"/api/conversations/c-1", "/api/conversations/c-1/messages", "/api/conversations/c-1/turns", "/api/conversations/c-1/artifacts",
		"/api/conversations/c-1/uploads", "/api/conversations/c-1/uploads/" + u.ID, "/api/artifacts/art-1", "/api/turns/" + turn, "/api/turns/" + turn + "/usage",
		"/api/chat/c-1/stream", "/api/chat/c-1/stream?turn=" + turn,
	}
	writes := []request{
		{method: "POST", path: "/api/chat", body: chat("c-1", "intruder")},
		{method: "POST", path: "/api/chat/c-1/stop"},
		{method: "PATCH", path: "/api/conversations/c-1", body: `{"title":"mine"}`},
		{method: "POST", path: "/api/conversations/c-1/uploads?name=x.csv", body: "x"},
	}
	for _, who := range []string{"other/underwriter", "other/admin", "acme/analyst"} {
		for _, path := range reads {
			r.fails(request{who: who, method: "GET", path: path}, 404, NotFound)
		}
	}
	for _, path := range reads {
		if s := r.do(request{who: "acme/auditor", method: "GET", path: path}).StatusCode; s != 200 {
			t.Errorf("an auditor reads %s: %d", path, s)
		}
	}
	for _, who := range []string{"other/underwriter", "other/admin", "acme/analyst", "acme/auditor", "acme/admin"} {
		for _, q := range writes {
			q.who = who
			r.fails(q, 404, NotFound)
		}
	}
	var messages MessageList
	r.get(request{who: me, method: "GET", path: "/api/conversations/c-1/messages"}, 200, &messages)
	if len(messages.Messages) != 2 {
		t.Errorf("an intruder left something: %+v", messages)
	}
	r.fails(request{who: "acme/underwriter", method: "GET", path: "/api/conversations?of=all"}, 403, Denied)
	var list ConversationList
	r.get(request{who: "acme/auditor", method: "GET", path: "/api/conversations?of=all"}, 200, &list)
	if len(list.Conversations) != 1 {
		t.Errorf("an auditor lists %+v", list)
	}
	r.get(request{who: "other/auditor", method: "GET", path: "/api/conversations?of=all"}, 200, &list)
	if len(list.Conversations) != 0 {
		t.Errorf("another organisation's auditor lists %+v", list)
	}
}

func TestArtifactHeaders(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	add := func(id, name, content string) {
		kept, err := r.files.Put(t.Context(), artifact.Put{Org: "acme", Name: name, Content: strings.NewReader(content)})
		if err != nil {
			t.Fatal(err)
		}
		r.script(func(p *pen) {
			p.end(journal.Outcome{Status: journal.Completed}, "x", journal.Artifact{ID: id, Name: name, MediaType: kept.MediaType, Size: kept.Size, SHA256: kept.SHA256})
		})
		events(t, r.do(request{who: me, method: "POST", path: "/api/chat", body: chat("c-"+id, "hi "+id)}).Body, 0)
	}
	add("html", "page.html", "<script>alert(1)</script>")
	add("png", "p.png", "\x89PNG\r\n\x1a\n rest")
	add("evil", "evil.png", "<html>")
	for _, c := range []struct{ path, mediaType, disposition string }{
		{"/api/artifacts/html", "application/octet-stream", `attachment; filename=page.html`},
		{"/api/artifacts/html?inline=true", "application/octet-stream", `attachment; filename=page.html`},
		{"/api/artifacts/png", "image/png", `attachment; filename=p.png`},
		{"/api/artifacts/png?inline=true", "image/png", `inline; filename=p.png`},
		{"/api/artifacts/evil?inline=true", "application/octet-stream", `attachment; filename=evil.png`},
	} {
		h := r.do(request{who: me, method: "GET", path: c.path}).Header
		if h.Get("Content-Type") != c.mediaType || h.Get("Content-Disposition") != c.disposition || h.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || !strings.HasPrefix(h.Get("Content-Digest"), "sha-256=:") {
			t.Errorf("%s: %v", c.path, h)
		}
	}
	resp := r.do(request{who: me, method: "GET", path: "/api/artifacts/html", head: map[string]string{"Range": "bytes=1-6"}})
	if resp.StatusCode != http.StatusPartialContent || resp.ContentLength != 6 {
		t.Errorf("a range: %d, %d bytes", resp.StatusCode, resp.ContentLength)
	}
	r.fails(request{who: me, method: "GET", path: "/api/artifacts/none"}, 404, NotFound)
}

func TestConversations(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var c Conversation
	r.get(request{who: me, method: "POST", path: "/api/conversations", body: `{"title":"One"}`}, 201, &c)
	r.fails(request{who: me, method: "POST", path: "/api/conversations", body: fmt.Sprintf(`{"id":%q}`, c.ID)}, 409, Invalid)
	r.fails(request{who: me, method: "POST", path: "/api/conversations", body: `{"owner":"x"}`}, 400, Invalid)
	r.get(request{who: me, method: "PATCH", path: "/api/conversations/" + c.ID, body: `{"title":"Two"}`}, 200, &c)
	if c.Title != "Two" {
		t.Errorf("got %+v", c)
	}
	r.fails(request{who: me, method: "PATCH", path: "/api/conversations/" + c.ID, body: `{"title":" "}`}, 400, Invalid)
	for _, q := range []string{"limit=0", "limit=x", "limit=1000", "before=yesterday", "of=them"} {
		r.fails(request{who: me, method: "GET", path: "/api/conversations?" + q}, 400, Invalid)
	}
	r.fails(request{who: me, method: "GET", path: "/nothing"}, 404, NotFound)
	r.fails(request{who: me, method: "DELETE", path: "/api/me"}, 405, Invalid)
	var models ModelList
	r.get(request{who: me, method: "GET", path: "/api/models"}, 200, &models)
	if len(models.Models) != 2 || models.Models[0] != "playbook" {
		t.Errorf("models %+v", models)
	}
}
