// Package web holds the pages and serves them: a browser gets nothing from anywhere else.
package web

import (
	"bytes"
	"embed"
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// What 'make web' built. A clone has only the placeholder, so that Go code builds without Node.
//
//go:embed all:dist
var dist embed.FS

// policy lets pages run their own scripts and ask their own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; font-src 'self'; worker-src 'self'; " +
	"manifest-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

const unbuilt = "The pages are not built. Build them with 'make web' (needs Node.js 20.19 or newer) and build the program again.\n" +
	"The API and the commands work without them; GET /openapi.json describes the API.\n"

// Handler serves the pages that were built into the program.
func Handler() http.Handler {
	built, err := fs.Sub(dist, "dist/pages")
	if err != nil { // the name is constant and valid
		built = embed.FS{}
	}
	return pages{built}
}

// pages serves files, and index.html for every page address: the browser knows which pages there are.
type pages struct{ files fs.FS }

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-DNS-Prefetch-Control", "off") // a link in an answer tells nobody that it was seen
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "pages are only read", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if path.Ext(name) == "" || strings.HasPrefix(name, "guidelines/") { // a page address; a guideline's ends in its version
		name = "index.html"
	}
	if strings.HasPrefix(name, ".") { // what the build keeps for itself
		http.NotFound(w, r)
		return
	}
	p.send(w, r, name)
}

func (p pages) send(w http.ResponseWriter, r *http.Request, name string) {
	content, err := fs.ReadFile(p.files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == "index.html":
		w.Header().Set("Cache-Control", "no-store")
		http.Error(w, unbuilt, http.StatusServiceUnavailable)
		return
	case err != nil:
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") { // its name changes with its content
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Content-Type", contentType(name))
	if zipped, err := fs.ReadFile(p.files, name+".gz"); err == nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content = zipped
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// contentType doesn't ask the machine's tables, which differ.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}
