// Package webhook delivers events to addresses on the web, signed as Standard Webhooks asks.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"bordereau/agent/schedule"
)

// ErrConfig is returned by New for a Config that lacks something.
var ErrConfig = errors.New("webhook: incomplete configuration")

// Config is what a Sender is made of. Key is required.
type Config struct {
	Key     []byte         // the secret that every receiver's own is derived from
	Allow   []netip.Prefix // addresses inside the operator's network that may be reached, and by http
	Timeout time.Duration  // of one attempt; 0: 15 s
	TLS     *tls.Config    // nil: the system's authorities
	Now     func() time.Time
}

// Sender delivers by HTTP.
type Sender struct {
	c    Config
	http *http.Client
}

var (
	_ schedule.Deliverer = (*Sender)(nil)
	_ schedule.Secrets   = (*Sender)(nil)
)

// New checks c and returns a Sender.
func New(c Config) (*Sender, error) {
	if len(c.Key) < 32 {
		return nil, fmt.Errorf("%w: it needs a key of 32 bytes", ErrConfig)
	}
	if c.Timeout == 0 {
		c.Timeout = 15 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	// The address is checked when it is dialled, after the name has been looked up: a name can't point elsewhere in between.
	dialer := &net.Dialer{Timeout: 5 * time.Second, ControlContext: guard{c.Allow}.control}
	return &Sender{c: c, http: &http.Client{
		Timeout: c.Timeout,
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: c.TLS, TLSHandshakeTimeout: 5 * time.Second, ForceAttemptHTTP2: true,
			DisableKeepAlives: true, MaxResponseHeaderBytes: 16 << 10, // and no proxy: it would dial for us, unchecked
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Secret is the secret of one receiver, in the form that Standard Webhooks' libraries take.
func (s *Sender) Secret(scheduleID, to string) string {
	return "whsec_" + base64.StdEncoding.EncodeToString(s.derive(scheduleID, to))
}

// derive makes the receiver's secret from the key, so that none has to be kept.
func (s *Sender) derive(scheduleID, to string) []byte {
	h := hmac.New(sha256.New, s.c.Key)
	fmt.Fprintf(h, "webhook\x00%s\x00%s", scheduleID, to)
	return h.Sum(nil)
}

// body is what a receiver reads.
type body struct {
	Type      string         `json:"type"` // schedule.report or schedule.alert
	Timestamp time.Time      `json:"timestamp"`
	Data      schedule.Event `json:"data"`
	Files     []file         `json:"files"`
}

type file struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Size      int64  `json:"size"`
	SHA256    string `json:"sha256"`
	URL       string `json:"url"` // wants an API key
}

// Deliver posts an event. Only an answer of 2xx counts as accepted.
func (s *Sender) Deliver(ctx context.Context, to schedule.Destination, l schedule.Letter) (string, error) {
	u, err := url.Parse(to.To)
	if err != nil {
		return "", &schedule.Refusal{Final: true, Message: "the webhook's address can't be read", Hint: "write https://host/path", Cause: err}
	}
	b := body{Type: "schedule." + string(l.Parcel), Timestamp: l.At.UTC(), Data: l.Event, Files: []file{}}
	for _, f := range l.Files {
		b.Files = append(b.Files, file{f.Name, f.MediaType, f.Size, f.SHA256, f.Link})
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(raw))
	if err != nil {
		return "", err
	}
	signer, err := standardwebhooks.NewWebhookRaw(s.derive(l.Event.Schedule, to.To))
	if err != nil {
		return "", err
	}
	now := s.c.Now()
	signature, err := signer.Sign(l.ID, now, raw)
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Bordereau-Webhook/1")
	req.Header.Set(standardwebhooks.HeaderWebhookID, l.ID)
	req.Header.Set(standardwebhooks.HeaderWebhookTimestamp, fmt.Sprint(now.Unix()))
	req.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	if u.Scheme == "http" {
		// http is for allowed addresses only; the guard tells by this.
		req = req.WithContext(context.WithValue(ctx, plainHTTP{}, true))
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return "", unreached(u.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // what it says is nobody's business; the status counts
	return answered(u.Host, resp.StatusCode)
}

func answered(host string, status int) (string, error) {
	says := fmt.Sprintf("%s answered %d %s", host, status, http.StatusText(status))
	switch {
	case status >= 200 && status < 300:
		return says, nil
	case status >= 300 && status < 400:
		return "", &schedule.Refusal{Final: true, Message: says, Hint: "redirects are not followed: give the final address"}
	case status == http.StatusGone:
		return "", &schedule.Refusal{Final: true, Message: says, Hint: "the receiver wants no more events: remove the webhook"}
	}
	return "", &schedule.Refusal{Message: says, Hint: "the receiver must answer with a status from 200 to 299"}
}

func unreached(host string, err error) error {
	var g *refusedAddressError
	var unknown *net.DNSError
	var cert *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.As(err, &g):
		return &schedule.Refusal{Final: true, Message: g.Error(), Hint: g.hint, Cause: err}
	case errors.As(err, &unknown):
		return &schedule.Refusal{Message: "the name " + host + " can't be looked up", Hint: "check the address", Cause: err}
	case errors.As(err, &cert):
		return &schedule.Refusal{Message: "the certificate of " + host + " is not trusted", Hint: "the receiver needs a certificate of a public authority", Cause: err}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &schedule.Refusal{Message: host + " did not answer in time", Hint: "the receiver should answer first and work afterwards", Cause: err}
	}
	return &schedule.Refusal{Message: host + " could not be reached", Hint: "check that the receiver runs and speaks HTTP", Cause: err}
}
