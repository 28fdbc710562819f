package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func TestHandler(t *testing.T) {
	t.Parallel()
	built := pages{fstest.MapFS{
		"index.html":            {Data: []byte("<!doctype html>")},
		"assets/app-1a2b.js":    {Data: []byte("run()")},
		"assets/app-1a2b.js.gz": {Data: []byte("zipped")},
		".vite/manifest.json":   {Data: []byte("{}")},
		"favicon.svg":           {Data: []byte("<svg/>")},
	}}
	for _, c := range []struct {
		name, method, path, encoding string
		status                       int
		kind, cache, body            string
	}{
		{"the root", "GET", "/", "", 200, "text/html", "no-cache", "<!doctype"},
		{"a page's address", "GET", "/chat/1234-abcd", "", 200, "text/html", "no-cache", "<!doctype"},
		{"a script", "GET", "/assets/app-1a2b.js", "", 200, "text/javascript", "immutable", "run()"},
		{"a script, compressed", "GET", "/assets/app-1a2b.js", "gzip, br", 200, "text/javascript", "immutable", "zipped"},
		{"a picture", "GET", "/favicon.svg", "", 200, "image/svg+xml", "no-cache", "<svg/>"},
		{"a script of an older build", "GET", "/assets/old.js", "", 404, "text/plain", "", "not found"},
		{"what the build keeps", "GET", "/.vite/manifest.json", "", 404, "text/plain", "", "not found"},
		{"outside", "GET", "/../../etc/passwd.txt", "", 404, "text/plain", "", "not found"},
		{"a write", "POST", "/", "", 405, "text/plain", "", "only read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(c.method, c.path, http.NoBody)
			r.Header.Set("Accept-Encoding", c.encoding)
			w := httptest.NewRecorder()
			built.ServeHTTP(w, r)
			h := w.Header()
			if w.Code != c.status || !strings.HasPrefix(h.Get("Content-Type"), c.kind) || !strings.Contains(h.Get("Cache-Control"), c.cache) || !strings.Contains(w.Body.String(), c.body) {
				t.Errorf("got %d %v %q", w.Code, h, w.Body.String())
			}
			if h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("headers are missing: %v", h)
			}
		})
	}
}

// A clone that nobody built pages in says how to.
func TestUnbuilt(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	pages{fstest.MapFS{}}.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/chat", http.NoBody))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "make web") {
		t.Errorf("got %d %q", w.Code, w.Body.String())
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "img-src 'self' blob:", "object-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		if !strings.Contains(policy, want+";") && !strings.HasSuffix(policy, want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Error("the policy lets something inline or evaluated in")
	}
}
