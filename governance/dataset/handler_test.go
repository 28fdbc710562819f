package dataset_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"bordereau/governance/dataset"
	"bordereau/governance/fault"
)

func TestImportOverHTTP(t *testing.T) {
	t.Parallel()
	s, _ := open(t, t.TempDir())
	spool := t.TempDir()
	h, err := dataset.NewHandler(dataset.HandlerConfig{Store: s, MaxBytes: 1 << 16, Dir: spool, Authorise: func(r *http.Request) (string, error) {
		if r.Header.Get("Authorization") != "yes" {
			return "", &fault.Error{Code: fault.Auth, Component: "test", Message: "who are you"}
		}
		return "acme", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	post := func(target, contentType, auth string, body []byte) (int, map[string]any) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, bytes.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Authorization", auth)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var m map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
			t.Fatalf("%q: %v", w.Body, err)
		}
		return w.Code, m
	}
	archive := func(entries map[string]string, mode fs.FileMode) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, content := range entries {
			header := &zip.FileHeader{Name: name, Method: zip.Deflate}
			header.SetMode(mode)
			w, err := z.CreateHeader(header)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write([]byte(content)); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	const sub = `{"type":"submission","id":"S-1","workflow":"W","status":"received","received_at":"2026-11-29T09:12:00Z"}`
	const doc = sub + "\n" + `{"type":"document","id":"D-1","submission_id":"S-1","document_type":"other","path":"documents/a.txt"}`
	for _, c := range []struct {
		name, target, contentType, auth string
		body                            []byte
		status                          int
		want                            string
	}{
		{"no credentials", "/", "application/x-ndjson", "", []byte(sub), 401, "who are you"},
		{"unknown type", "/", "text/html", "yes", []byte(sub), 422, "content type"},
		{"broken", "/", "application/x-ndjson", "yes", []byte("{"), 422, "byte 2"},
		{"no documents here", "/", "application/x-ndjson", "yes", []byte(doc), 422, "without documents' files"},
		{"too large", "/", "application/x-ndjson", "yes", bytes.Repeat([]byte(" "), 1<<17), 413, "more than 65536 bytes"},
		{"new", "/", "application/x-ndjson", "yes", []byte(sub), 200, `"changed":true`},
		{"again", "/?kind=submissions", "text/csv; charset=utf-8", "yes", []byte("id,workflow,status,received_at\nS-1,W,received,2026-11-29T09:12:00Z\n"), 200, `"changed":false`},
		{"zip that climbs out", "/", "application/zip", "yes", archive(map[string]string{"../import.ndjson": sub}, 0o600), 422, "not a plain name"},
		{"zip with a link", "/", "application/zip", "yes", archive(map[string]string{"import.ndjson": "/etc/passwd"}, fs.ModeSymlink|0o777), 422, "not a plain file"},
		{"zip bomb", "/", "application/zip", "yes", archive(map[string]string{"a": strings.Repeat("0", 1<<20)}, 0o600), 413, "unpacks to more"},
		{"zip without an import", "/", "application/zip", "yes", archive(map[string]string{"a": ""}, 0o600), 422, "no import.ndjson"},
		{"zip", "/", "application/zip", "yes", archive(map[string]string{"import.ndjson": doc, "documents/a.txt": "hello"}, 0o600), 200, `"document":{"new":1`},
	} {
		status, m := post(c.target, c.contentType, c.auth, c.body)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if status != c.status || !strings.Contains(string(text), c.want) {
			t.Errorf("%s: %d %s", c.name, status, text)
		}
	}
	if left, err := filepath.Glob(filepath.Join(spool, "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	_, meta, err := s.Document(t.Context(), "acme", "D-1")
	if err != nil || meta.Bytes != 5 {
		t.Errorf("%+v %v", meta, err)
	}
}
