package main

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spanLog is an OpenTelemetry collector: it takes spans over OTLP/HTTP.
type spanLog struct {
	url string
	mu  sync.Mutex
	all []oneSpan
}

type oneSpan struct{ service, trace, id, parent, name string }

func collectSpans(t *testing.T) *spanLog {
	t.Helper()
	l := &spanLog{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		raw, err := io.ReadAll(body)
		var batch collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(raw, &batch)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
			return
		}
		l.take(&batch)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(s.Close)
	l.url = s.URL
	return l
}

func (l *spanLog) take(batch *collector.ExportTraceServiceRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range batch.ResourceSpans {
		service := ""
		for _, a := range r.Resource.Attributes {
			if a.Key == "service.name" {
				service = a.Value.GetStringValue()
			}
		}
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				l.all = append(l.all, oneSpan{service, string(s.TraceId), string(s.SpanId), string(s.ParentSpanId), s.Name})
			}
		}
	}
}

// path is the names from a span up to its root.
func (l *spanLog) path(s oneSpan) string {
	names := []string{s.service + ":" + s.name}
	for s.parent != "" {
		i := slices.IndexFunc(l.all, func(p oneSpan) bool { return p.trace == s.trace && p.id == s.parent })
		if i < 0 {
			return "? < " + strings.Join(names, " < ")
		}
		s = l.all[i]
		names = append(names, s.name)
	}
	return strings.Join(names, " < ")
}

// check waits for the spans of one turn with a governed call, those of both processes.
func (l *spanLog) check(t *testing.T) {
	t.Helper()
	want := []string{
		"bordereau-agent:turn",
		"bordereau-agent:preflight < turn",
		"bordereau-agent:step < turn",
		"bordereau-agent:chat anthropic/m < step < turn",
		"bordereau-agent:execute_tool sql < step < turn",
		"bordereau-agent:governance call < execute_tool sql < step < turn",
		"bordereau-governance:governance < governance call < execute_tool sql < step < turn",
		"bordereau-agent:wait sandbox < turn",
	}
	var got []string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		got = got[:0]
		l.mu.Lock()
		for _, s := range l.all {
			got = append(got, l.path(s))
		}
		l.mu.Unlock()
		if !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(got, w) }) {
			return
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("no span %s", w)
		}
	}
	slices.Sort(got)
	t.Logf("there are:\n%s", strings.Join(slices.Compact(got), "\n"))
}
