package httpapi

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"bordereau/agent/journal"
)

// kept counts everything that a request could leave behind: rows of every table that holds what people do, and files.
func (r *rig) kept() map[string]int {
	r.t.Helper()
	all := map[string]int{}
	for _, table := range []string{"conversations", "messages", "turns", "steps", "events", "artifacts", "uploads", "schedules"} {
		var n int
		if err := r.db.QueryRowContext(r.t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			r.t.Fatal(err)
		}
		all[table] = n
	}
	err := filepath.WalkDir(r.folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all["files"]++
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// bomb is an archive of little that unpacks to much.
func bomb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("zeros")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, zeros{}, 100<<20); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Whatever is wrong with a request is told by type and with a hint, and the request leaves nothing.
func TestBadInputChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	first := r.do(request{who: me, method: "POST", path: "/api/chat", body: chat("c-1", "hi")})
	turn := first.Header.Get("Bordereau-Turn")
	events(t, first.Body, 0)
	r.runner.wg.Wait()
	long := chat("c-1", "x")
	long["message"].(map[string]any)["parts"] = []any{map[string]any{"type": "text", "text": strings.Repeat("x", journal.MaxMessage+1)}}
	odd := chat("c-1", "y")
	odd["model"] = "gpt-99"
	dotted := chat("c-1", "z")
	dotted["message"].(map[string]any)["parts"] = []any{map[string]any{"type": "text", "text": "read"}, map[string]any{"type": "file", "filename": "../../x", "url": "data:,x"}}
	filed := chat("c-1", "f")
	filed["message"].(map[string]any)["parts"] = []any{map[string]any{"type": "text", "text": "read"}, map[string]any{"type": "file", "filename": "a.csv", "url": "data:,intruder"}}
	file := filed["message"].(map[string]any)["parts"].([]any)[1]
	longFiled := chat("c-1", "x")
	longFiled["message"].(map[string]any)["parts"] = []any{map[string]any{"type": "text", "text": strings.Repeat("x", journal.MaxMessage+1)}, file}
	oddID := chat("c\x01", "f")
	oddID["message"].(map[string]any)["parts"] = []any{map[string]any{"type": "text", "text": "read"}, file}
	good := r.keys[me]
	before := r.kept()
	for name, c := range map[string]struct {
		ask    request
		status int
		code   Code
	}{
		"no key":                                            {request{method: "POST", path: "/api/chat", body: chat("c-2", "hi")}, 401, Auth},
		"a wrong key":                                       {request{who: good[:len(good)-1] + "x", method: "POST", path: "/api/chat", body: chat("c-2", "hi")}, 401, Auth},
		"a wrong key for a file":                            {request{who: "bdr_x", method: "POST", path: "/api/conversations/c-2/uploads?name=a.csv", body: "a"}, 401, Auth},
		"an unknown model":                                  {request{who: me, method: "POST", path: "/api/chat", body: odd}, 400, Invalid},
		"a malformed message":                               {request{who: me, method: "POST", path: "/api/chat", body: `{"id":"c-2","message":{"role":"user","parts":[{"type":"text","text":7}]}}`}, 400, Invalid},
		"not JSON":                                          {request{who: me, method: "POST", path: "/api/chat", body: "hello"}, 400, Invalid},
		"a message that is too long":                        {request{who: me, method: "POST", path: "/api/chat", body: long}, 413, TooLarge},
		"an unknown conversation's stream":                  {request{who: me, method: "GET", path: "/api/chat/nope/stream"}, 404, NotFound},
		"an unknown conversation's stop":                    {request{who: me, method: "POST", path: "/api/chat/nope/stop"}, 404, NotFound},
		"an unknown conversation's messages":                {request{who: me, method: "GET", path: "/api/conversations/nope/messages"}, 404, NotFound},
		"an unknown conversation's name":                    {request{who: me, method: "PATCH", path: "/api/conversations/nope", body: `{"title":"x"}`}, 404, NotFound},
		"an unknown turn":                                   {request{who: me, method: "GET", path: "/api/turns/nope"}, 404, NotFound},
		"another organisation's conversation":               {request{who: "other/admin", method: "GET", path: "/api/conversations/c-1"}, 404, NotFound},
		"a message into another organisation's":             {request{who: "other/underwriter", method: "POST", path: "/api/chat", body: chat("c-1", "intruder")}, 404, NotFound},
		"a message with a file into another organisation's": {request{who: "other/underwriter", method: "POST", path: "/api/chat", body: filed}, 404, NotFound},
		"a message with a file into a colleague's":          {request{who: "acme/analyst", method: "POST", path: "/api/chat", body: filed}, 404, NotFound},
		"a file into a colleague's":                         {request{who: "acme/analyst", method: "POST", path: "/api/conversations/c-1/uploads?name=a.csv", body: "b"}, 404, NotFound},
		"a file into another organisation's":                {request{who: "other/underwriter", method: "POST", path: "/api/conversations/c-1/uploads?name=a.csv", body: "a"}, 404, NotFound},
		"another organisation's stop":                       {request{who: "other/admin", method: "POST", path: "/api/chat/c-1/stop"}, 404, NotFound},
		"another organisation's turn":                       {request{who: "other/auditor", method: "GET", path: "/api/turns/" + turn}, 404, NotFound},
		"a zip bomb":                                        {request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=bomb.zip", body: bomb(t)}, 422, Invalid},
		"a message that is too long, with a file":           {request{who: me, method: "POST", path: "/api/chat", body: longFiled}, 413, TooLarge},
		"a file in a conversation of no usable id":          {request{who: me, method: "POST", path: "/api/chat", body: oddID}, 400, Invalid},
		"an upload to a conversation of no usable id":       {request{who: me, method: "POST", path: "/api/conversations/c%01/uploads?name=a.csv", body: "a,b\n1,2\n"}, 400, Invalid},
		"a zip bomb as a workbook":                          {request{who: me, method: "POST", path: "/api/conversations/c-2/uploads?name=bomb.xlsx", body: bomb(t)}, 422, Invalid},
		"a file named ../../x":                              {request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=..%2F..%2Fx", body: "x"}, 400, Invalid},
		"a file named ../../x in a message":                 {request{who: me, method: "POST", path: "/api/chat", body: dotted}, 400, Invalid},
	} {
		e := r.fails(c.ask, c.status, c.code)
		if e != nil && strings.Contains(e.Message+e.Hint, "acme") {
			t.Errorf("%s: the refusal tells of the organisation: %+v", name, e)
		}
		r.runner.wg.Wait()
		for what, n := range r.kept() {
			if n != before[what] {
				t.Errorf("%s: %s were %d and are %d", name, what, before[what], n)
			}
		}
	}
}
