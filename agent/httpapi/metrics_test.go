package httpapi

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	r := newRig(t, func(c *Config) { c.Metrics = registry })
	r.get(request{who: me, method: "GET", path: "/api/me"}, 200, nil)
	r.fails(request{who: me, method: "GET", path: "/api/turns/secret-id"}, 404, NotFound)
	r.fails(request{who: me, method: "GET", path: "/secret-path"}, 404, NotFound)
	r.fails(request{who: me, method: "BREW", path: "/api/me"}, 405, Invalid)
	want := `
# HELP bordereau_http_requests_total Requests by route and status.
# TYPE bordereau_http_requests_total counter
bordereau_http_requests_total{method="GET",route="/api/me",status="200"} 1
bordereau_http_requests_total{method="GET",route="/api/turns/:id",status="404"} 1
bordereau_http_requests_total{method="GET",route="none",status="404"} 1
bordereau_http_requests_total{method="other",route="none",status="405"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "bordereau_http_requests_total"); err != nil {
		t.Error(err)
	}
}

// One person who floods is held back; her colleague isn't.
func TestPace(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Limits.PerMinute = 6 })
	for range 2 {
		r.get(request{who: me, method: "POST", path: "/api/conversations", body: `{"title":"x"}`}, 201, nil)
	}
	resp := r.do(request{who: me, method: "POST", path: "/api/conversations", body: `{"title":"x"}`})
	if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "10" {
		t.Errorf("status %d, Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	r.fails(request{who: me, method: "POST", path: "/api/conversations", body: `{"title":"x"}`}, 429, RateLimited)
	r.get(request{who: me, method: "GET", path: "/api/conversations"}, 200, nil)
	r.get(request{who: "acme/analyst", method: "POST", path: "/api/conversations", body: `{"title":"x"}`}, 201, nil)
}

func TestPacerForgets(t *testing.T) {
	t.Parallel()
	p := newPacer(60)
	now := time.Unix(0, 0)
	for i := range 3 * maxPaced {
		p.wait(strconv.Itoa(i), now)
		now = now.Add(time.Second)
	}
	if len(p.by) > maxPaced {
		t.Errorf("%d people remembered", len(p.by))
	}
}
