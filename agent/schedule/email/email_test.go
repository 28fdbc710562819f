package email_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"bordereau/agent/schedule"
	"bordereau/agent/schedule/email"
)

// post is a real SMTP server that keeps what it takes.
type post struct {
	port  int
	roots *x509.CertPool

	mu       sync.Mutex
	messages []message
	refuse   map[string]*smtp.SMTPError // by "mail", "rcpt", "data"
	rude     bool                       // hangs up after it has taken a message
}

type message struct {
	from, to string
	raw      []byte
	signedIn bool
	secure   bool
}

type session struct {
	p        *post
	c        *smtp.Conn
	m        message
	signedIn bool
}

func (p *post) NewSession(c *smtp.Conn) (smtp.Session, error) { return &session{p: p, c: c}, nil }

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "bordereau" || password != "secret" {
			return smtp.ErrAuthFailed
		}
		s.signedIn = true
		return nil
	}), nil
}

func (s *session) refused(what string) error {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if e := s.p.refuse[what]; e != nil {
		return e
	}
	return nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	_, secure := s.c.TLSConnectionState()
	s.m = message{from: from, signedIn: s.signedIn, secure: secure}
	return s.refused("mail")
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.m.to = to
	return s.refused("rcpt")
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.refused("data"); err != nil {
		return err
	}
	s.m.raw = raw
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.messages = append(s.p.messages, s.m)
	return nil
}

func (s *session) Reset() {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if s.p.rude && len(s.p.messages) > 0 {
		_ = s.c.Conn().Close()
	}
}

func (s *session) Logout() error { return nil }

func (p *post) received(t *testing.T, n int) []message {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.messages) != n {
		t.Fatalf("%d messages, want %d", len(p.messages), n)
	}
	return p.messages
}

func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// startPost starts a server: security as in email.Config.
func startPost(t *testing.T, security string) *post {
	t.Helper()
	p := &post{refuse: map[string]*smtp.SMTPError{}}
	cert, pool := certificate(t)
	p.roots = pool
	server := smtp.NewServer(p)
	server.Domain, server.AllowInsecureAuth = "localhost", false
	server.ErrorLog = quiet{}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if security == email.StartTLS {
		server.TLSConfig = config
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if security == email.TLS {
		l = tls.NewListener(l, config)
	}
	addr, _ := l.Addr().(*net.TCPAddr)
	p.port = addr.Port
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return p
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

func (p *post) sender(t *testing.T, change func(*email.Config)) *email.Sender {
	t.Helper()
	c := email.Config{Host: "127.0.0.1", Port: p.port, From: "Bordereau <reports@bordereau.example>", User: "bordereau", Password: "secret", Roots: p.roots, Timeout: 2 * time.Second}
	if change != nil {
		change(&c)
	}
	s, err := email.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type content struct{ *strings.Reader }

func (content) Close() error { return nil }

func file(name, text string) schedule.File {
	return schedule.File{
		Name: name, MediaType: "application/pdf", Size: int64(len(text)), Link: "https://bordereau.example/api/artifacts/" + name,
		Open: func(context.Context) (io.ReadSeekCloser, error) { return content{strings.NewReader(text)}, nil },
	}
}

func letter() schedule.Letter {
	return schedule.Letter{
		ID: "d-1", Parcel: schedule.Report, Org: "acme", Subject: "Zgodność\r\nBcc: victim@evil.example", Text: "3 findings.\n.\nQUIT\r\n<script>alert(1)</script>",
		Link: "https://bordereau.example/chat/c", Attempt: 1, At: time.Date(2026, 11, 30, 11, 30, 0, 0, time.UTC),
		Files: []schedule.File{file("report.pdf", strings.Repeat("P", 700)), file("big.xlsx", strings.Repeat("X", 600)), file("small\r\nX-Evil: 1.csv", "a,b")},
	}
}

var kim = schedule.Destination{Kind: schedule.Email, To: "kim@acme.example"}

func TestMessageArrives(t *testing.T) {
	t.Parallel()
	for _, security := range []string{email.StartTLS, email.TLS} {
		t.Run(security, func(t *testing.T) {
			t.Parallel()
			p := startPost(t, security)
			receipt, err := p.sender(t, func(c *email.Config) { c.Security, c.Attach = security, 1000 }).Deliver(t.Context(), kim, letter())
			if err != nil || !strings.HasPrefix(receipt, "accepted by 127.0.0.1:") {
				t.Fatalf("%v, %v: %v", receipt, err, errors.Unwrap(err))
			}
			m := p.received(t, 1)[0]
			if m.from != "reports@bordereau.example" || m.to != "kim@acme.example" || !m.signedIn || security == email.StartTLS && !m.secure {
				t.Errorf("%+v", m)
			}
			parsed, err := netmail.ReadMessage(bytes.NewReader(m.raw))
			if err != nil {
				t.Fatal(err)
			}
			h := parsed.Header
			subject, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
			if err != nil || subject != "Zgodność Bcc: victim@evil.example" || h.Get("Bcc") != "" || h.Get("X-Evil") != "" {
				t.Errorf("subject %q, %v, %v", subject, h, err)
			}
			if h.Get("Message-Id") != "<d-1@bordereau.example>" || h.Get("Auto-Submitted") != "auto-generated" || h.Get("Date") == "" {
				t.Errorf("%v", h)
			}
			parts := parts(t, parsed)
			if len(parts) != 3 {
				t.Fatalf("%d parts", len(parts))
			}
			text := strings.ReplaceAll(parts[0], "\r\n", "\n")
			for _, want := range []string{"3 findings.\n.\nQUIT\n<script>", "big.xlsx (1 KiB): https://bordereau.example/api/artifacts/big.xlsx", "https://bordereau.example/chat/c"} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %q", want, text)
				}
			}
		})
	}
}

// parts reads a message's parts, decoded.
func parts(t *testing.T, m *netmail.Message) (all []string) {
	t.Helper()
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	r := multipart.NewReader(m.Body, params["boundary"])
	for {
		p, err := r.NextPart() // decodes quoted-printable
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		if ct := p.Header.Get("Content-Type"); len(all) == 0 && !strings.HasPrefix(ct, "text/plain") {
			t.Errorf("the first part is %s", ct)
		}
		all = append(all, string(raw))
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, at string
		code     int
		says     string
		final    bool
	}{
		{"unknown recipient", "rcpt", 550, "refused the recipient: 550 5.0.0 no such user", true},
		{"full mailbox", "rcpt", 452, "refused the recipient: 452", false},
		{"sender not allowed", "mail", 553, "refused the sender: 553", true},
		{"greylisted", "mail", 451, "refused the sender: 451", false},
		{"too large", "data", 552, "refused the message: 552", true},
		{"busy", "data", 421, "refused the message: 421", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := startPost(t, email.StartTLS)
			p.refuse[c.at] = &smtp.SMTPError{Code: c.code, EnhancedCode: smtp.EnhancedCode{c.code / 100, 0, 0}, Message: "no such user"}
			_, err := p.sender(t, nil).Deliver(t.Context(), kim, letter())
			refused(t, err, c.says, c.final)
			p.received(t, 0)
		})
	}
}

func refused(t *testing.T, err error, says string, final bool) {
	t.Helper()
	var r *schedule.Refusal
	if !errors.As(err, &r) || !strings.Contains(r.Message, says) || r.Final != final || r.Hint == "" {
		t.Errorf("%#v, want %q, final %v", err, says, final)
	}
}

func TestServersThatFail(t *testing.T) {
	t.Parallel()
	p := startPost(t, email.StartTLS)
	_, err := p.sender(t, func(c *email.Config) { c.Password = "wrong" }).Deliver(t.Context(), kim, letter())
	refused(t, err, "refused the connection: 535", false)
	_, err = p.sender(t, func(c *email.Config) { c.Roots = x509.NewCertPool() }).Deliver(t.Context(), kim, letter())
	refused(t, err, "certificate", false)
	bare := startPost(t, email.Plain)
	_, err = bare.sender(t, nil).Deliver(t.Context(), kim, letter())
	refused(t, err, "offers no STARTTLS", false)
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr, _ := l.Addr().(*net.TCPAddr)
	silent := &post{port: addr.Port, roots: p.roots}
	_, err = silent.sender(t, func(c *email.Config) { c.Timeout = 200 * time.Millisecond }).Deliver(t.Context(), kim, letter())
	refused(t, err, "did not answer in time", false)
	// A server that says something before each timeout is cut by the attempt's own bound.
	go drip(l)
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err = silent.sender(t, func(c *email.Config) { c.Timeout = time.Minute }).Deliver(ctx, kim, letter())
	refused(t, err, "did not answer in time", false)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = silent.sender(t, nil).Deliver(t.Context(), kim, letter())
	refused(t, err, "could not be reached", false)
}

func drip(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = c.Close() }()
			for {
				if _, err := c.Write([]byte("220-wait\r\n")); err != nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
		}()
	}
}

// A server that hangs up after it has taken the message has it: sending it again would be sending it twice knowingly.
func TestTakenIsTaken(t *testing.T) {
	t.Parallel()
	p := startPost(t, email.StartTLS)
	p.rude = true
	if _, err := p.sender(t, nil).Deliver(t.Context(), kim, letter()); err != nil {
		t.Error(err)
	}
	p.received(t, 1)
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]email.Config{
		"nothing":                 {},
		"no sender":               {Host: "mail.example"},
		"plain to elsewhere":      {Host: "mail.example", From: "a@b.example", Security: email.Plain},
		"plain with a password":   {Host: "localhost", From: "a@b.example", Security: email.Plain, User: "u", Password: "p"},
		"a user without password": {Host: "mail.example", From: "a@b.example", User: "u"},
		"unknown security":        {Host: "mail.example", From: "a@b.example", Security: "maybe"},
	} {
		if _, err := email.New(c); !errors.Is(err, email.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
