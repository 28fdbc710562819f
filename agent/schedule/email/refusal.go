package email

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/textproto"
	"strings"

	"github.com/wneessen/go-mail"

	"bordereau/agent/schedule"
)

// refusal says what the server refused, and whether for good: by SMTP a code of 4xx may change, 5xx won't.
func (s *Sender) refusal(err error, slow bool) *schedule.Refusal {
	r := &schedule.Refusal{Cause: err}
	server := "the mail server " + s.server()
	var sent *mail.SendError
	var reply *textproto.Error
	var cert *tls.CertificateVerificationError
	switch {
	case slow:
		r.Message, r.Hint = server+" did not answer in time", "it may be overloaded, or a firewall in between drops the connection"
	case errors.As(err, &sent) && sent.ErrorCode() == 530:
		r.Message, r.Hint = server+" wants another kind of sign-in: "+reason(sent), "check mail.user in the configuration, and which mechanisms the server offers"
	case errors.As(err, &sent) && sent.ErrorCode() >= 400:
		r.Final = sent.ErrorCode() >= 500
		r.Message = fmt.Sprintf("%s refused the %s: %s", server, stage(sent.Reason), reason(sent))
		r.Hint = "it is tried again"
		if r.Final {
			r.Hint = "check the address, and what the server says"
		}
	case errors.As(err, &reply):
		// Before a message: greeting or sign-in. Neither is the recipient's fault, and an administrator may mend it.
		r.Message = fmt.Sprintf("%s refused the connection: %d %s", server, reply.Code, oneLine(reply.Msg))
		r.Hint = "check user and password of the mail server in the configuration"
	case errors.As(err, &cert):
		r.Message, r.Hint = "the certificate of "+server+" is not trusted", "set mail.ca in the configuration where the server has a certificate of your own authority"
	case strings.Contains(err.Error(), "STARTTLS"): // the library has no type for it
		r.Message, r.Hint = server+" offers no STARTTLS", "set mail.security to tls where the server speaks TLS from the start"
	default:
		r.Message, r.Hint = server+" could not be reached", "check mail.host and mail.port in the configuration, and that the server runs"
	}
	return r
}

// stage names what was refused.
func stage(r mail.SendErrReason) string {
	switch r {
	case mail.ErrSMTPMailFrom:
		return "sender"
	case mail.ErrSMTPRcptTo:
		return "recipient"
	default:
		return "message"
	}
}

// reason is what the server said, without the library's words around it.
func reason(e *mail.SendError) string {
	said, _, _ := strings.Cut(strings.TrimPrefix(e.Error(), e.Reason.String()+":"), ", affected recipient(s)")
	return strings.ReplaceAll(oneLine(said), `"`, "") // the library quotes what the server said
}
