package turntoken

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// VouchHeader carries the agent's word on who asks, where governance runs elsewhere and people reach it through the agent alone.
const VouchHeader = "Bordereau-Vouch"

// Caller is who asks: an organisation, and in it a person under a role. Governance asks the agent with the organisation alone.
type Caller struct {
	Org    string `json:"org"`
	Person string `json:"person,omitempty"`
	Role   string `json:"role,omitempty"`
}

// vouched is a Caller and when she asked.
type vouched struct {
	Caller
	At int64 `json:"at"`
}

// Vouch says who makes one request, now. It is good for that method and address, for a minute.
func (s Stamper) Vouch(c Caller, method, address string) (string, error) {
	raw, err := json.Marshal(vouched{c, s.now().Unix()})
	if err != nil {
		return "", fmt.Errorf("vouching: %w", err)
	}
	said := base64.RawURLEncoding.EncodeToString(raw)
	return said + "." + s.vouchMAC(said, method, address), nil
}

// Caller returns who makes the request by the word of who shares the secret, or ErrCaller.
func (s Stamper) Caller(vouch, method, address string) (Caller, error) {
	if err := s.Check(); err != nil {
		return Caller{}, err
	}
	said, mac, ok := strings.Cut(vouch, ".")
	if len(vouch) > 4096 || !ok || !hmac.Equal([]byte(mac), []byte(s.vouchMAC(said, method, address))) {
		return Caller{}, ErrCaller
	}
	raw, err := base64.RawURLEncoding.DecodeString(said)
	if err != nil {
		return Caller{}, ErrCaller
	}
	var v vouched
	if err := json.Unmarshal(raw, &v); err != nil || v.Org == "" {
		return Caller{}, ErrCaller
	}
	if age := s.now().Sub(time.Unix(v.At, 0)); age > stampLife || age < -stampLife {
		return Caller{}, ErrCaller
	}
	return v.Caller, nil
}

func (s Stamper) vouchMAC(said, method, address string) string {
	m := hmac.New(sha256.New, s.Secret)
	m.Write([]byte("bordereau vouch v1\n" + said + "\n" + method + "\n" + address))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}
