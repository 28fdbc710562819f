package turntoken

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Where governance doesn't share a process with the agent, it asks the agent whether a turn is live, in the form of token
// introspection (RFC 7662). What is asked about is a turn under an epoch, named as "<turn>.<epoch>": the token itself, which is
// a credential, stays where it is.

// IntrospectionPath is where an agent answers.
const IntrospectionPath = "/introspect"

// Bounds of asking.
const (
	introspectionKeep = time.Second // the longest that an answer may be used again
	introspectionWait = 2 * time.Second
	introspectionMax  = 4 << 10
	rememberedMax     = 10_000 // answers that are kept at most
)

// active is an introspection's answer.
type active struct {
	Active *bool `json:"active"`
}

// password is what the one who asks presents: derived from the secret that stamps are made with, which both sides have.
func password(secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("bordereau introspection"))
	return hex.EncodeToString(mac.Sum(nil))
}

// Introspector answers for an agent. Both fields are required.
type Introspector struct {
	Live   Liveness
	Secret []byte // the Stamper's
}

// Check returns ErrConfig unless the introspector can do its work; call it at start.
func (i Introspector) Check() error {
	if i.Live == nil {
		return fmt.Errorf("%w: an introspector needs liveness", ErrConfig)
	}
	return Stamper{Secret: i.Secret}.Check()
}

// ServeHTTP answers POST with token=<turn>.<epoch>.
func (i Introspector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !hmac.Equal([]byte(given), []byte(password(i.Secret))) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="introspection"`)
		http.Error(w, "the password is missing or wrong: agent and governance must share the stamp's secret", http.StatusUnauthorized)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, introspectionMax)
	turn, epoch, err := readName(r.PostFormValue("token"))
	if r.Method != http.MethodPost || err != nil {
		http.Error(w, "want POST with token=<turn>.<epoch>", http.StatusBadRequest)
		return
	}
	live, err := i.Live.TurnLive(r.Context(), turn, epoch)
	if err != nil {
		http.Error(w, "nobody knows whether the turn is live", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(active{Active: &live}) // whoever asked may have left
}

func readName(name string) (turn string, epoch int64, err error) {
	at := strings.LastIndexByte(name, '.')
	if at < 1 {
		return "", 0, ErrMalformed
	}
	epoch, err = strconv.ParseInt(name[at+1:], 10, 64)
	return name[:at], epoch, err
}

// IntrospectionConfig is what an Introspection is made from. URL and Secret are required.
type IntrospectionConfig struct {
	URL    string // the agent's inner address, such as http://agent:8702
	Secret []byte // the Stamper's
	HTTP   *http.Client
	Now    func() time.Time
}

// Introspection is a Liveness that asks an agent elsewhere. Answers are used again for a second at most; no answer is an
// error, never a yes.
type Introspection struct {
	c    IntrospectionConfig
	url  string
	asks singleflight.Group

	mu   sync.Mutex
	kept map[string]remembered
}

type remembered struct {
	live  bool
	until time.Time
}

var _ Liveness = (*Introspection)(nil)

// NewIntrospection checks c. It asks nobody yet.
func NewIntrospection(c IntrospectionConfig) (*Introspection, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%w: %q is no http address of an agent", ErrConfig, c.URL)
	}
	if err := (Stamper{Secret: c.Secret}).Check(); err != nil {
		return nil, err
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: introspectionWait}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Introspection{c: c, url: u.JoinPath(IntrospectionPath).String(), kept: map[string]remembered{}}, nil
}

// TurnLive implements Liveness.
func (i *Introspection) TurnLive(ctx context.Context, turn string, epoch int64) (bool, error) {
	name := turn + "." + strconv.FormatInt(epoch, 10)
	i.mu.Lock()
	known, ok := i.kept[name]
	i.mu.Unlock()
	if ok && i.c.Now().Before(known.until) {
		return known.live, nil
	}
	// Many calls of one turn ask at once; one of them leaving must not end the question of the others.
	answer := i.asks.DoChan(name, func() (any, error) {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), introspectionWait)
		defer cancel()
		return i.ask(bounded, name)
	})
	select {
	case a := <-answer:
		if a.Err != nil {
			return false, a.Err
		}
		live, _ := a.Val.(bool)
		return live, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func (i *Introspection) ask(ctx context.Context, name string) (bool, error) {
	asked := i.c.Now()
	body := url.Values{"token": {name}, "token_type_hint": {"turn"}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url, strings.NewReader(body)) //nolint:gosec // the address is the configuration's
	if err != nil {
		return false, fmt.Errorf("introspection: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+password(i.c.Secret))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	res, err := i.c.HTTP.Do(req) //nolint:gosec // the address is the configuration's
	if err != nil {
		return false, fmt.Errorf("introspection: the agent doesn't answer: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, introspectionMax))
	if err != nil {
		return false, fmt.Errorf("introspection: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return false, fmt.Errorf("introspection: the agent answered %d", res.StatusCode)
	}
	var a active
	if err := json.Unmarshal(raw, &a); err != nil || a.Active == nil {
		return false, errors.Join(errors.New("introspection: the agent's answer can't be read"), err)
	}
	i.remember(name, remembered{live: *a.Active, until: asked.Add(introspectionKeep)})
	return *a.Active, nil
}

func (i *Introspection) remember(name string, r remembered) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.kept) >= rememberedMax {
		now := i.c.Now()
		for other, k := range i.kept {
			if !now.Before(k.until) {
				delete(i.kept, other)
			}
		}
	}
	if len(i.kept) < rememberedMax {
		i.kept[name] = r
	}
}
