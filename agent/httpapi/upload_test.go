package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

func TestUploads(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	sum := sha256.Sum256([]byte("vin\n1\n"))
	digest := map[string]string{"Content-Digest": "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"}
	var one, two Upload
	r.get(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=a.csv", body: "vin\n1\n", head: digest}, 201, &one)
	r.get(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=a.csv", body: "vin\n1\n"}, 201, &two)
	if one.ID != two.ID || one.MediaType != "text/csv" {
		t.Errorf("the same file again: %+v, %+v", one, two)
	}
	r.fails(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=a.csv", body: "other"}, 409, Invalid)
	r.fails(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=b.csv", body: "other", head: digest}, 422, Invalid)
	r.fails(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=b.csv", body: "x", head: map[string]string{"Content-Digest": "md5=:x:"}}, 400, Invalid)
	resp := r.do(request{who: me, method: "GET", path: one.URL})
	raw, err := io.ReadAll(resp.Body)
	if err != nil || string(raw) != "vin\n1\n" {
		t.Errorf("read back %q, %v", raw, err)
	}
	for _, name := range []string{"", "..%2F..%2Fx", "%2Fetc%2Fpasswd", "a%00b", "a%5Cb.csv", ".hidden", "%E2%80%AEfdp.exe", "CON", strings.Repeat("n", 300)} {
		r.fails(request{who: me, method: "POST", path: "/api/conversations/c-new/uploads?name=" + name, body: "x"}, 400, Invalid)
	}
	r.fails(request{who: me, method: "GET", path: "/api/conversations/c-new"}, 404, NotFound) // nothing was made
}

func TestUploadZipBomb(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	b := bomb(t)
	r.fails(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=bomb.xlsx", body: b}, 422, Invalid)
	r.fails(request{who: me, method: "GET", path: "/api/conversations/c-1"}, 404, NotFound)
	data := map[string]any{"id": "c-1", "message": map[string]any{"id": "m", "role": "user", "parts": []map[string]any{
		{"type": "text", "text": "read"}, {"type": "file", "filename": "bomb.zip", "url": "data:application/zip;base64," + base64.StdEncoding.EncodeToString(b)},
	}}}
	r.fails(request{who: me, method: "POST", path: "/api/chat", body: data}, 422, Invalid)
	r.fails(request{who: me, method: "GET", path: "/api/conversations/c-1"}, 404, NotFound)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A large file streams: it never stands in memory.
func TestUploadStreams(t *testing.T) {
	r := newRig(t, nil)
	const size = 128 << 20
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	body := io.TeeReader(io.LimitReader(noise{}, size), writerFunc(func(p []byte) (int, error) {
		if len(p) > 0 && p[0] < 4 {
			runtime.ReadMemStats(&during)
			peak = max(peak, during.HeapInuse)
		}
		return len(p), nil
	}))
	var u Upload
	r.get(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=big.bin", body: body}, 201, &u)
	if u.Size != size {
		t.Errorf("%d bytes kept", u.Size)
	}
	if grown := int64(peak) - int64(before.HeapInuse); grown > 48<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	resp := r.do(request{who: me, method: "GET", path: u.URL})
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != size {
		t.Errorf("read back %d bytes, %v", n, err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// noise is content that doesn't compress to nothing and costs nothing to make.
type noise struct{}

func (noise) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i*31 + i>>8)
	}
	return len(p), nil
}

func TestUploadLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Limits.Upload = 1000 })
	r.fails(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=a.bin", body: strings.Repeat("x", 1001)}, 413, TooLarge)
	// Without a length in front, the cap is met while reading.
	r.fails(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=a.bin", body: io.LimitReader(zeros{}, 5000)}, 413, TooLarge)
	r.get(request{who: me, method: "POST", path: "/api/conversations/c-1/uploads?name=a.bin", body: strings.Repeat("x", 1000)}, 201, nil)
}

func TestHealthz(t *testing.T) {
	t.Parallel()
	ok := true
	r := newRig(t, func(c *Config) {
		c.Health = []Health{{Name: "journal", Check: func(context.Context) error {
			if ok {
				return nil
			}
			return errors.New("secret address 10.0.0.1")
		}}}
	})
	var h Healthz
	r.get(request{method: "GET", path: "/healthz"}, 200, &h)
	ok = false
	resp := r.do(request{method: "GET", path: "/healthz"})
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(raw), "secret") {
		t.Errorf("%d %s, %v", resp.StatusCode, raw, err)
	}
}
