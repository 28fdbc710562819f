package turntoken

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// StampHeader carries the proof that a call came through the door of one sandbox, or from the agent on its behalf.
const StampHeader = "Bordereau-Stamp"

// stampLife is how far a stamp's clock may be from the verifier's.
const stampLife = 60 * time.Second

// Stamper makes and checks stamps with a secret that doors, agents and governance share and no sandbox sees.
type Stamper struct {
	Secret []byte // at least 32 bytes
	Now    func() time.Time
}

func (s Stamper) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Check returns ErrConfig for a missing or short secret.
func (s Stamper) Check() error {
	if len(s.Secret) < 32 {
		return fmt.Errorf("%w: a stamp's secret has at least 32 bytes", ErrConfig)
	}
	return nil
}

// Stamp vouches that token is used from sandbox, now.
func (s Stamper) Stamp(sandbox, token string) string {
	at := strconv.FormatInt(s.now().Unix(), 10)
	return sandbox + "." + at + "." + s.mac(sandbox, at, token)
}

// Sandbox returns the sandbox that a stamp vouches for with this token, or ErrSandbox.
func (s Stamper) Sandbox(stamp, token string) (string, error) {
	if err := s.Check(); err != nil {
		return "", err
	}
	parts := strings.Split(stamp, ".")
	if len(stamp) > 512 || len(parts) != 3 {
		return "", ErrSandbox
	}
	at, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || !hmac.Equal([]byte(parts[2]), []byte(s.mac(parts[0], parts[1], token))) {
		return "", ErrSandbox
	}
	if age := s.now().Sub(time.Unix(at, 0)); age > stampLife || age < -stampLife {
		return "", ErrSandbox
	}
	return parts[0], nil
}

func (s Stamper) mac(sandbox, at, token string) string {
	digest := sha256.Sum256([]byte(token))
	m := hmac.New(sha256.New, s.Secret)
	m.Write([]byte("bordereau stamp v1\n" + sandbox + "\n" + at + "\n"))
	m.Write(digest[:])
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}
