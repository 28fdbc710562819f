package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"bordereau/agent/schedule"
	"bordereau/agent/schedule/webhook"
)

func sender(t *testing.T, change func(*webhook.Config)) *webhook.Sender {
	t.Helper()
	c := webhook.Config{Key: []byte(strings.Repeat("k", 32)), Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Timeout: time.Second}
	if change != nil {
		change(&c)
	}
	s, err := webhook.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func letter() schedule.Letter {
	return schedule.Letter{
		ID: "d-1", Parcel: schedule.Report, Org: "acme", Text: "3 findings.", At: time.Date(2026, 11, 30, 11, 30, 0, 0, time.UTC),
		Event: schedule.Event{Schedule: "s-1", Name: "Daily", Run: "r-1", Status: "completed", Text: "3 findings."},
		Files: []schedule.File{{Name: "report.pdf", Size: 3, SHA256: "abc", Link: "https://bordereau.example/api/artifacts/1"}},
	}
}

func to(address string) schedule.Destination {
	return schedule.Destination{Kind: schedule.Webhook, To: address}
}

// The receiver checks with Standard Webhooks' own library, and refuses a body that was changed.
func TestSigned(t *testing.T) {
	t.Parallel()
	type got struct {
		head http.Header
		body []byte
	}
	seen := make(chan got, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		seen <- got{r.Header, raw}
	}))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s := sender(t, func(c *webhook.Config) { c.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12} })
	receipt, err := s.Deliver(t.Context(), to(server.URL+"/hook"), letter())
	if err != nil || !strings.HasSuffix(receipt, "answered 200 OK") {
		t.Fatal(receipt, err)
	}
	g := <-seen
	check, err := standardwebhooks.NewWebhook(s.Secret("s-1", server.URL+"/hook"))
	if err != nil {
		t.Fatal(err)
	}
	if err := check.Verify(g.body, g.head); err != nil {
		t.Error(err)
	}
	if err := check.Verify(append(g.body, ' '), g.head); err == nil {
		t.Error("a changed body was accepted")
	}
	other, err := standardwebhooks.NewWebhook(s.Secret("s-2", server.URL+"/hook"))
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Verify(g.body, g.head); err == nil {
		t.Error("another schedule's secret was accepted")
	}
	if g.head.Get("webhook-id") != "d-1" {
		t.Error(g.head)
	}
	var b struct {
		Type string `json:"type"`
		Data struct {
			Name string `json:"name"`
		} `json:"data"`
		Files []struct {
			URL string `json:"url"`
		} `json:"files"`
	}
	if err := json.Unmarshal(g.body, &b); err != nil || b.Type != "schedule.report" || b.Data.Name != "Daily" || len(b.Files) != 1 {
		t.Errorf("%s: %v", g.body, err)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 1)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	defer elsewhere.Close()
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		says   string
		final  bool
	}{
		{"error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "answered 500", false},
		{"too many", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, "answered 429", false},
		{"gone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, "answered 410", true},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, "answered 307", true},
		{"slow", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then is the client's leaving noticed
			select {
			case <-r.Context().Done():
			case <-time.After(5 * time.Second):
			}
		}, "did not answer in time", false},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "could not be reached", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			_, err := sender(t, func(c *webhook.Config) { c.Timeout = 300 * time.Millisecond }).Deliver(t.Context(), to(server.URL), letter())
			refused(t, err, c.says, c.final)
		})
	}
	select {
	case <-reached:
		t.Error("a redirect was followed")
	default:
	}
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	_, err := sender(t, nil).Deliver(t.Context(), to(untrusted.URL), letter())
	refused(t, err, "certificate", false)
}

func refused(t *testing.T, err error, says string, final bool) {
	t.Helper()
	var r *schedule.Refusal
	if !errors.As(err, &r) || !strings.Contains(r.Message, says) || r.Final != final || r.Hint == "" {
		t.Errorf("%#v, want %q, final %v", err, says, final)
	}
}

// No form of an inside address is dialled, whether written as a number or behind a name.
func TestInsideAddressesAreRefused(t *testing.T) {
	t.Parallel()
	hit := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hit <- r.Host }))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	closed := sender(t, func(c *webhook.Config) { c.Allow = nil })
	for _, host := range []string{
		"127.0.0.1", "127.1.2.3", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254",
		"[fe80::1]", "[fd00::1]", "100.64.0.1", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]", "224.0.0.1", "198.18.0.1", "240.0.0.1", "255.255.255.255",
	} {
		_, err := closed.Deliver(t.Context(), to("https://"+host+port+"/latest/meta-data"), letter())
		refused(t, err, "a webhook may not go to", true)
	}
	for _, odd := range []string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1"} {
		if _, err := closed.Deliver(t.Context(), to("http://"+odd+port), letter()); err == nil {
			t.Errorf("%s was reached", odd)
		}
	}
	select {
	case host := <-hit:
		t.Errorf("%s was reached", host)
	default:
	}
	// A public address is reached by TLS only. Nothing listens there: the refusal comes before the first packet.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := closed.Deliver(ctx, to("http://93.184.215.14/hook"), letter())
	refused(t, err, "without TLS", true)
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if _, err := webhook.New(webhook.Config{Key: []byte("short")}); !errors.Is(err, webhook.ErrConfig) {
		t.Error(err)
	}
}
