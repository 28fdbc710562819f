// Package email delivers reports and alerts by SMTP.
package email

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"bordereau/agent/schedule"
)

// ErrConfig is returned by New for a Config that can't work or isn't safe.
var ErrConfig = errors.New("email: bad configuration")

// The ways to protect a connection.
const (
	StartTLS = "starttls" // TLS from the first command on that matters; refused where the server offers none
	TLS      = "tls"      // TLS from the first byte
	Plain    = "plain"    // none: for a relay on this machine only
)

// DefaultAttach is the most bytes of files that a message carries, unless Config says otherwise.
const DefaultAttach = 10 << 20

// Config is what a Sender is made of. Host and From are required.
type Config struct {
	Host     string
	Port     int    // 0: 587 for starttls, 465 for tls, 25 for plain
	From     string // "Bordereau <reports@example.com>"
	User     string // "" where the server wants no sign-in
	Password string
	Security string         // "" is starttls
	Roots    *x509.CertPool // nil: the system's
	Attach   int64          // most bytes of files in one message; 0: DefaultAttach
	Timeout  time.Duration  // of the connection and each command; 0: 30 s
}

// Sender sends by one SMTP server.
type Sender struct {
	c    Config
	from *netmail.Address
}

var _ schedule.Deliverer = (*Sender)(nil)

// New checks c and returns a Sender. It doesn't speak to the server.
func New(c Config) (*Sender, error) {
	from, err := netmail.ParseAddress(c.From)
	if err != nil || c.Host == "" {
		return nil, fmt.Errorf("%w: it needs a host, and from as an e-mail address", ErrConfig)
	}
	if c.Security == "" {
		c.Security = StartTLS
	}
	ports := map[string]int{StartTLS: 587, TLS: 465, Plain: 25}
	port, known := ports[c.Security]
	switch {
	case !known:
		return nil, fmt.Errorf("%w: security is starttls, tls or plain", ErrConfig)
	case c.Security == Plain && (c.User != "" || !loopback(c.Host)):
		return nil, fmt.Errorf("%w: plain is for a relay on this machine without sign-in: reports are customer data", ErrConfig)
	case c.User != "" && c.Password == "":
		return nil, fmt.Errorf("%w: a user needs a password", ErrConfig)
	}
	if c.Port == 0 {
		c.Port = port
	}
	if c.Attach == 0 {
		c.Attach = DefaultAttach
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	return &Sender{c: c, from: from}, nil
}

func loopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

func (s *Sender) server() string { return net.JoinHostPort(s.c.Host, fmt.Sprint(s.c.Port)) }

// Deliver sends one message to one address. Its Message-ID is the letter's at every attempt.
func (s *Sender) Deliver(ctx context.Context, to schedule.Destination, l schedule.Letter) (string, error) {
	m, err := s.message(ctx, to, l)
	if err != nil {
		return "", err
	}
	line := &line{}
	client, err := s.client(line)
	if err != nil {
		return "", err
	}
	// The library bounds single commands; closing the line bounds the whole, and ends a server that only drips.
	defer context.AfterFunc(ctx, line.cut)()
	err = client.DialAndSendWithContext(ctx, m)
	// A server that has taken the message and then stumbles over the farewell has taken it.
	if err != nil && !m.IsDelivered() {
		return "", s.refusal(err, line.slow.Load() || ctx.Err() != nil)
	}
	return "accepted by " + s.server(), nil
}

func (s *Sender) client(l *line) (*mail.Client, error) {
	config := &tls.Config{ServerName: s.c.Host, RootCAs: s.c.Roots, MinVersion: tls.VersionTLS12}
	options := []mail.Option{mail.WithPort(s.c.Port), mail.WithTimeout(s.c.Timeout), mail.WithoutNoop(), mail.WithTLSConfig(config), mail.WithDialContextFunc(l.dialer(nil))}
	switch s.c.Security {
	case TLS:
		options = append(options, mail.WithSSL(), mail.WithDialContextFunc(l.dialer(config)))
	case StartTLS:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	default:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	}
	if s.c.User != "" {
		// Named, since the library takes a connection that it hasn't dialled itself for an open one and would pass PLAIN over.
		options = append(options, mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthPlain, mail.SMTPAuthLogin, mail.SMTPAuthCramMD5), mail.WithUsername(s.c.User), mail.WithPassword(s.c.Password))
	}
	return mail.NewClient(s.c.Host, options...)
}

// message writes the letter. Its text is plain: what a model wrote is neither markup nor a link that hides its target.
func (s *Sender) message(ctx context.Context, to schedule.Destination, l schedule.Letter) (*mail.Msg, error) {
	m := mail.NewMsg(mail.WithNoDefaultUserAgent())
	m.FromMailAddress(s.from)
	if err := m.To(to.To); err != nil {
		return nil, &schedule.Refusal{Final: true, Message: "the e-mail address can't be used", Hint: "write it as name@example.com", Cause: err}
	}
	m.Subject(oneLine(l.Subject))
	m.SetDateWithValue(l.At)
	_, domain, _ := strings.Cut(s.from.Address, "@")
	m.SetMessageIDWithValue(l.ID + "@" + domain)
	m.SetGenHeader("Auto-Submitted", "auto-generated") // so that nobody's holiday notice answers
	var attached int64
	var left []string
	for _, f := range l.Files {
		if attached+f.Size > s.c.Attach {
			left = append(left, fmt.Sprintf("  %s (%s): %s", oneLine(f.Name), size(f.Size), f.Link))
			continue
		}
		if err := attach(ctx, m, f); err != nil {
			return nil, err
		}
		attached += f.Size
	}
	m.SetBodyString(mail.TypeTextPlain, text(l, left))
	return m, nil
}

func attach(ctx context.Context, m *mail.Msg, f schedule.File) error {
	in, err := f.Open(ctx)
	if err != nil {
		return fmt.Errorf("opening %s: %w", f.Name, err)
	}
	err = m.AttachReader(oneLine(f.Name), in, mail.WithFileContentType(mail.ContentType(f.MediaType)))
	return errors.Join(err, in.Close())
}

func text(l schedule.Letter, left []string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(l.Text))
	b.WriteString("\n\n")
	if len(left) > 0 {
		b.WriteString("Too large to attach; open them there:\n" + strings.Join(left, "\n") + "\n\n")
	}
	b.WriteString("The conversation, with what each figure comes from: " + l.Link + "\n")
	if l.Attempt > 1 {
		fmt.Fprintf(&b, "\nThis message was attempted %d times. If you have it already, one of them arrived without our knowing.\n", l.Attempt)
	}
	return b.String()
}

func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", (n+1023)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))), " ")
	if r := []rune(s); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return s
}
